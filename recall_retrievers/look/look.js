// Memories on a timeline, and a question explained by its picture.
// `serve` is the page of `recall serve`, `render` the widget of a notebook. Both hand `mount` a host that asks; nothing
// else here knows where it runs. A memory is data: its text only ever becomes text, and no markup is read anywhere.

const DAY = 86_400_000; // milliseconds
const UNDO_MS = 10_000;
const MOST_DRAWN = 10_000; // memories whose times are read for the picture
const NOTHING = { memories: [], times: [], left_out: [], degraded: [] };
const ITS_DAY = { timeZone: "UTC", day: "numeric", month: "short", year: "numeric" };
const CONTROLS = [
  ["k", "Memories (k)", { min: 1, max: 50, step: 1 }],
  ["semantic_weight", "Share of meaning", { min: 0, max: 1, step: 0.05, value: 0.5 }],
  ["token_weight", "Share of single words in it", { min: 0, max: 1, step: 0.05, value: 0.5 }],
  ["time_ratio", "Weight of the time", { min: 1, max: 5, step: 0.1 }],
  ["method", "Search by", { hybrid: "meaning and words", semantic: "meaning", keyword: "words" }],
  ["time_mode", "The time asked for", { prefer: "is preferred", require: "is required", ignore: "is ignored" }],
];

// ---- Elements and words
/** Make an element. Attributes that begin with "on" are listeners; null and false are left out. */
function h(tag, attributes = {}, ...children) {
  const isDrawn = /^(svg|g|rect|circle|line|path|text|title)$/.test(tag);
  const node = document.createElementNS(`http://www.w3.org/${isDrawn ? "2000/svg" : "1999/xhtml"}`, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if ((value ?? false) !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => (child ?? false) !== false));
  return node;
}

/** A form that does something itself, and sends nothing. In JupyterLab, Enter alone does not submit it. */
const form = (act, attributes, ...children) =>
  h("form", { ...attributes, onsubmit: (event) => (event.preventDefault(), act()), onkeydown: entered }, ...children);
const entered = (event) => event.key === "Enter" && event.target.tagName === "INPUT" && !event.isComposing
  && (event.preventDefault(), event.currentTarget.requestSubmit());
const button = (text, onclick, more = {}) => h("button", { type: "button", onclick, ...more }, text);
const main = (text) => h("button", { class: "main" }, text);
const labelled = (label, control, output) => h("label", {}, h("span", {}, label), output, control);
const joined = (...facts) => facts.filter(Boolean).join(" · ");
const quiet = (...facts) => h("p", { class: "quiet" }, joined(...facts));
const written = (text) => h("p", { class: "text", dir: "auto" }, text);
const shortened = (text, most) => (text.length > most ? `${text.slice(0, most).trimEnd()}…` : text);
const memories = (count) => `${count.toLocaleString("en")} ${count === 1 ? "memory" : "memories"}`;

// ---- Times
const parsed = (time, open) => (time ? Date.parse(time) : open);
const recorded = (memory) => (memory.at ??= parsed(memory.created_at, NaN)); // thousands are drawn again and again
const spanOf = ({ start, end }) => ({ start: parsed(start, -Infinity), end: parsed(end, Infinity) });

/** The days of a time zone: that of the moment of asking, or else the reader's. */
class Calendar {
  constructor(moment) {
    const wall = moment && Date.parse(`${moment.slice(0, 19)}Z`);
    this.offset = 60_000 * (moment ? Math.round((wall - Date.parse(moment)) / 60_000) : -new Date().getTimezoneOffset());
  }

  /** A date whose UTC fields are what a clock on the wall shows. */
  wall = (time) => new Date(time + this.offset);
  date = (time) => (Number.isFinite(time) ? this.wall(time).toISOString().slice(0, 10) : "");
  day = (time, more = { weekday: "short" }) => this.wall(time).toLocaleString("en-GB", { ...ITS_DAY, ...more });
  floor = (time) => Math.floor((time + this.offset) / DAY) * DAY - this.offset;

  /** The whole days from one moment to another, whichever comes first, as dates, too. */
  days(one, other) {
    const [start, last] = [Math.min(one, other), Math.max(one, other)].map(this.floor);
    return { start, end: last + DAY, since: this.date(start), until: this.date(last) };
  }
}

// ---- The picture
const [DOT, EDGE] = [6, 14]; // pixels: of a small dot, or a bin; and of the margin

/** The times as a picture. The SVG element stays, as a finger may hold it; what is in it is drawn again. */
class Timeline {
  view = null; // the first and the last time that are shown; null = whatever fits

  constructor(look) {
    this.look = look;
    this.svg = h("svg", { class: "timeline", role: "img", onpointerdown: (event) => this.#drag(event) });
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  zoom(factor) {
    const [first, last] = this.view;
    const { start, end } = this.look.band() ?? { start: first, end: last };
    const middle = (Math.max(start, first) + Math.min(end, last)) / 2;
    const half = Math.max(((last - first) * factor) / 2, DAY / 2);
    this.view = [middle - half, middle + half];
    this.draw();
  }

  draw() {
    const { look, svg } = this;
    const width = svg.clientWidth;
    if (!width) return;
    const results = look.ranked();
    const [first, last] = (this.view ??= this.#fitted(results));
    this.scale = (width - 2 * EDGE) / (last - first);
    // Far outside is as good as just outside, and browsers draw no endless shapes.
    this.x = (time) => Math.min(Math.max(EDGE + (time - first) * this.scale, -999), width + 999);
    const lane = Math.min(22, Math.max(7, 260 / (results.length || 1)));
    const top = 8 + lane * results.length;
    const bottom = top + (results.length ? 64 : 120);
    svg.setAttribute("viewBox", `0 0 ${width} ${bottom + 24}`);
    svg.setAttribute("height", bottom + 24);
    svg.setAttribute("aria-label", `Timeline of ${memories(results.length || look.all.length)}`);
    svg.replaceChildren(
      ...this.#axis(bottom, width),
      ...this.#bands(bottom),
      ...this.#piles(bottom, bottom - top - 8, width),
      ...results.map((memory, n) => this.#result(memory, n + 1, 8 + lane * (n + 0.5), lane, width)),
    );
  }

  #axis(bottom, width) {
    const { calendar } = this.look;
    const [first, last] = this.view;
    const step = Math.ceil(((last - first) / DAY) * (100 / width)) * DAY; // a label has 100 pixels
    const drawn = [h("line", { class: "axis", x2: width, y1: bottom, y2: bottom })];
    for (let day = calendar.floor(first) + DAY; day <= last; day += step) {
      const x = this.x(day);
      drawn.push(h("line", { class: "grid", x1: x, x2: x, y2: bottom + 4 }));
      if (x < 36 || x > width - 36) continue; // its label would be cut off
      drawn.push(h("text", { class: "tick", x, y: bottom + 18 }, calendar.day(day, {})));
    }
    return drawn;
  }

  /** The span of all that is to be seen, with a margin; at least two days. */
  #fitted(results) {
    const { answer, all } = this.look;
    const ranges = answer.times.flatMap((time) => [time, ...time.other]);
    const spans = [...ranges, ...results.flatMap((memory) => memory.events)].map(spanOf);
    const shown = results.length ? results : [...all, ...answer.left_out];
    const times = [...shown.map(recorded), ...spans.flatMap(({ start, end }) => [start, end])];
    const known = times.filter(Number.isFinite).sort((one, other) => one - other);
    const [first, last] = [known.at(0) ?? Date.now(), known.at(-1) ?? Date.now()];
    const margin = Math.max((last - first) * 0.06, DAY - (last - first) / 2);
    return [first - margin, last + margin];
  }

  /** The time asked for with its two ends, and the other readings of its words. */
  #bands(bottom) {
    const { chosen, answer } = this.look;
    const shaded = (kind) => ({ start, end }) => {
      const [from, to] = [this.x(start), this.x(end)];
      return h("rect", { class: kind, x: from, width: Math.max(to - from, 2), height: bottom });
    };
    const times = chosen ? [] : answer.times.filter(({ start, end }) => start || end);
    const others = times.flatMap(({ other }) => other).map(spanOf).map(shaded("band other"));
    const band = this.look.band() ?? {};
    const ends = ["start", "end"].filter((end) => Number.isFinite(band[end])).map((end) => {
      const x = this.x(band[end]);
      return h("g", { "data-end": end },
        h("rect", { class: "reach", x: x - 12, width: 24, height: bottom }),
        h("line", { x1: x, x2: x, y2: bottom }),
        h("rect", { x: x - 4, y: bottom - 44, width: 8, height: 26, rx: 4 }));
    });
    return [...others, ...(chosen ? [chosen] : times.map(spanOf)).map(shaded("band")), ...ends];
  }

  /** A result: its dot, its text, and a thin line from the day of writing to the day told of. */
  #result(memory, rank, y, lane, width) {
    const at = this.x(recorded(memory));
    if (Number.isNaN(at)) return "";
    const spans = memory.events.map(spanOf).map(({ start, end }) => [this.x(start), this.x(end)]);
    const events = spans.map(([from, to]) => [
      h("line", { class: "tells", x1: at, x2: (from + to) / 2, y1: y, y2: y }),
      h("rect", { class: "event", x: from, y: y - 3.5, width: Math.max(to - from, 5), height: 7, rx: 3 }),
    ]);
    // The text stands on the side that has more room, unless the line to an event is there.
    const side = at > width * 0.55 ? -1 : 1;
    const room = Math.min(60, Math.floor((side < 0 ? at : width - at) / 6.6) - 4);
    const isFree = lane > 15 && room > 12 && spans.every(([from]) => (from - at) * side < 12);
    const place = { x: at + 14 * side, y: y + 4, "text-anchor": side < 0 ? "end" : "start" };
    const radius = Math.min(8.5, lane / 2 - 0.5);
    const kind = this.look.isInTime(memory) ? "result in-time" : "result";
    return h("g", { class: kind, onclick: () => this.look.cardOf(memory.id)?.focus() },
      h("title", {}, `${rank}. ${shortened(memory.content, 200)}`),
      events,
      isFree && h("text", { class: "said", ...place }, shortened(memory.content, room)),
      h("circle", { cx: at, cy: y, r: radius }),
      radius > 6 && h("text", { class: "number", x: at, y: y + 4 }, String(rank)));
  }

  /** All memories, piled up above the axis: a dot each where there is room, else bars. */
  #piles(bottom, room, width) {
    const { answer, all } = this.look;
    const kinds = [[all, "known"], [answer.left_out, "dropped"], [this.look.ranked(), "found"]];
    const kindOf = new Map(kinds.flatMap(([list, kind]) => list.map((memory) => [memory.id, [kind, memory]])));
    const piles = new Map();
    for (const [kind, memory] of kindOf.values()) {
      const x = (Math.floor(this.x(recorded(memory)) / DOT) + 0.5) * DOT;
      if (!(x > 0 && x < width)) continue;
      if (!piles.has(x)) piles.set(x, { found: 0, dropped: 0, known: 0 });
      piles.get(x)[kind] += 1;
    }
    const sizes = [...piles.values()].map(({ found, dropped, known }) => found + dropped + known);
    const each = Math.min(DOT, room / Math.max(...sizes));
    return [...piles].flatMap(([x, counts]) => {
      let y = bottom - 1 - each / 2;
      return Object.entries(counts).filter(([, count]) => count).map(([kind, count]) => {
        // Dashes of no length with round ends are dots; the line is a little longer, so that it ends with one.
        const place = { x1: x, x2: x, y1: y, y2: y - (count - 1) * each - 0.01 };
        y -= count * each;
        const dots = each === DOT && `0 ${DOT}`;
        return h("line", { class: kind, "stroke-dasharray": dots, ...place }, h("title", {}, memories(count)));
      });
    });
  }

  /** Drag an end of the band, the whole of it, or a new one; whole days are chosen. */
  #drag(pressed) {
    const { look, svg } = this;
    const left = svg.getBoundingClientRect().left + EDGE;
    const timeAt = ({ clientX }) => this.view[0] + (clientX - left) / this.scale;
    const [from, band] = [timeAt(pressed), look.band()];
    const end = pressed.target.closest("[data-end]")?.dataset.end;
    const held = end && (end === "start" ? band.end - 1 : band.start); // the other end stays
    const moves = !end && band && from > band.start && from < band.end;
    const dragging = new AbortController();
    const listen = (type, act) => svg.addEventListener(type, act, { signal: dragging.signal });
    listen("pointermove", (moved) => {
      if (!end && Math.abs(moved.clientX - pressed.clientX) < 4) return; // a click is no drag
      svg.setPointerCapture(pressed.pointerId);
      const [to, by] = [timeAt(moved), Math.round((timeAt(moved) - from) / DAY) * DAY];
      look.choose(look.calendar.days(...(moves ? [band.start + by, band.end - 1 + by] : [held ?? from, to])));
    });
    for (const type of ["pointerup", "pointercancel"]) listen(type, () => dragging.abort());
  }
}

// ---- Cards
/** The way to a score as one bar: what each step added. A step that takes shrinks all before it. */
function bar(steps, most) {
  let scale = 100 / most;
  const parts = [...steps].reverse().map(({ label, before, after, colour_name }) => {
    if (after < before) scale *= after / before;
    const width = Math.max((after - before) * scale - 0.4, 0);
    return h("rect", { class: `c-${colour_name}`, x: before * scale, width, height: 10 }, h("title", {}, label));
  });
  return h("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, parts);
}

const THUMB = "M3 10h4v10H3zM7 19V10l5-8c2 0 3 1 2 4l-1 3h5c2 0 2 1 2 3l-2 6c0 1-1 2-2 2h-8z";

function thumb(look, memory) {
  return h("button", {
    type: "button", class: "thumb", "data-key": `thumb ${memory.id}`, onclick: () => look.judge(memory.id),
    title: "This answers the question", "aria-pressed": String(look.isRight(memory.id)),
  }, h("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, h("path", { d: THUMB })));
}

/** A memory: a result with the way to its score, or one of a list. */
function card(look, memory, rank) {
  const { calendar, host } = look;
  const waits = look.waiting.has(memory.id);
  const steps = rank && memory.steps.map(({ label, before, after, colour_name }) => h("li", {},
    h("svg", { "aria-hidden": "true" }, h("rect", { width: 9, height: 9, class: `c-${colour_name}` })),
    h("span", {}, label), before ? ` = ${after.toFixed(3)}` : ""));
  const kind = `card${waits ? " waits" : ""}${rank ? "" : " listed"}${look.isInTime(memory) ? " in-time" : ""}`;
  return h("li", { class: kind, "data-id": memory.id, tabindex: -1 },
    h("div", {},
      h("div", { class: "head" }, rank && h("span", { class: "rank" }, String(rank)), quiet(
        memory.created_at ? calendar.day(recorded(memory)) : "no date",
        memory.author,
        memory.memory_type !== "observation" && memory.memory_type,
        memory.events?.length && `tells of ${memory.events.map(({ means }) => means).join(", ")}`,
        memory.superseded_by && "superseded",
        memory.expires_at && `expires on ${calendar.day(Date.parse(memory.expires_at))}`)),
      written(memory.content),
      h("div", { class: "actions" },
        rank && look.answer.query && thumb(look, memory),
        host.change && !waits && changes(look, memory, host.change))),
    rank && h("div", { class: "why" },
      h("p", {}, h("b", {}, memory.score?.toFixed(3) ?? "–"), " score"),
      bar(memory.steps, look.best), h("ul", {}, steps), memory.remarks.map((remark) => quiet(remark))));
}

/** The buttons that change a memory. */
function changes(look, { id, content }, change) {
  const open = (label, control, done, act) => {
    const close = (isSaved) => {
      edit.remove();
      if (isSaved && control.value.trim()) look.later({ id, content }, done, () => act(control.value.trim()));
      else look.show();
    };
    const edit = form(() => close(true), { class: "edit" },
      labelled(label, control), main("Save"), button("Cancel", () => close(false)));
    look.cardOf(id).querySelector(".actions").replaceChildren(edit);
    control.focus();
  };
  const area = () => h("textarea", { rows: 4, "data-key": `text ${id}` }, content);
  const day = h("input", { type: "date", value: look.calendar.date(Date.now()) });
  return [
    button("Edit", () => open("The text", area(), "changed", (text) => change.update(id, { content: text }))),
    button("Supersede", () =>
      open("What is true now", area(), "superseded", (text) => change.supersede(id, { content: text }))),
    button("Expire", () => open("Forget it on", day, "set to expire", (when) => change.expire(id, when))),
    button("Delete", () => look.later({ id, content }, "deleted", () => change.remove(id))),
  ];
}

// ---- The whole
class Look {
  answer = NOTHING; // of the last question; or, without one, a page of the list of memories
  all = []; // the memories of the picture, where the host can list them
  chosen = null; // a time that was chosen by hand
  moved = {}; // the settings that were moved
  waiting = new Set(); // the ids of memories with a change that is not sent yet
  questions = new Map(); // those with a thumb, by their text
  calendar = new Calendar();
  controls = new Map();
  number = 0; // of the last request: answers to earlier ones are not shown

  constructor(root, host) {
    Object.assign(this, { root, host, timeline: new Timeline(this) });
    this.query = h("input", { type: "search", "aria-label": "Question", placeholder: "What did I say about …?" });
    this.understood = h("div", { class: "understood" });
    this.status = h("p", { class: "quiet", role: "status" });
    this.results = h("ol");
    this.rest = h("div");
    this.undo = h("ul", { class: "undo", "aria-live": "polite" });
    root.classList.add("recall-look");
    root.replaceChildren(
      form(() => this.ask({ anew: true }), { class: "ask", role: "search" }, this.query, main("Ask")),
      this.understood,
      h("section", { class: "times", "aria-label": "Timeline" }, this.timeline.svg, this.#dates()),
      h("div", { class: "columns" },
        h("section", { "aria-label": "Memories" }, this.status, this.results, this.rest),
        h("aside", { "aria-label": "Settings" }, this.#settings(), this.#ownQuestions())),
      this.undo);
    this.show();
  }

  #dates() {
    const onchange = () => {
      const [start, end] = [this.since, this.until].map(({ value }) => Date.parse(value) - this.calendar.offset);
      if (start <= end) this.choose(this.calendar.days(start, end));
    };
    const day = (label) => h("input", { type: "date", "aria-label": label, onchange });
    [this.since, this.until] = [day("First day"), day("Last day")];
    return h("div", { class: "when" }, this.since, "to", this.until, button("Clear", () => this.choose(null)),
      h("span", { class: "space" }),
      button("−", () => this.timeline.zoom(2), { "aria-label": "Zoom out" }),
      button("+", () => this.timeline.zoom(0.5), { "aria-label": "Zoom in" }));
  }

  #settings() {
    const controls = CONTROLS.map(([name, label, values]) => {
      const oninput = () => {
        this.moved[name] = values.step ? Number(input.value) : input.value;
        this.choose();
      };
      const options = Object.entries(values).map(([value, text]) => h("option", { value }, text));
      const input = values.step ? h("input", { type: "range", oninput, ...values }) : h("select", { oninput }, options);
      const output = h("b"); // an <output> would take the label from the slider
      this.controls.set(name, { input, output });
      return labelled(label, input, values.step && output);
    });
    const onchange = () => {
      this.ask({ anew: true });
      this.overview();
    };
    this.asked = h("input", { type: "datetime-local", onchange });
    this.user = h("input", { type: "text", placeholder: "anyone", onchange });
    this.code = h("pre", { tabindex: 0, "aria-label": "The settings in Python" });
    const copy = () => {
      getSelection().selectAllChildren(this.code);
      navigator.clipboard?.writeText(this.code.textContent); // without TLS there is no clipboard
    };
    const reset = () => ((this.moved = {}), this.ask());
    return h("details", { open: !matchMedia("(max-width: 760px)").matches }, h("summary", {}, "Settings"), controls,
      labelled("As if asked on", this.asked),
      this.host.browse && labelled("Memories of the user", this.user),
      this.code,
      h("div", { class: "actions" }, button("Copy as Python", copy), button("Reset", reset)));
  }

  #ownQuestions() {
    const save = () => {
      const text = [...this.questions.values()].map((line) => `${JSON.stringify(line)}\n`).join("");
      h("a", { href: `data:,${encodeURIComponent(text)}`, download: "questions.jsonl" }).click();
    };
    this.lines = h("ul");
    return h("section", { class: "own", "aria-label": "Questions of your own" },
      h("h2", {}, "Questions of your own"), this.lines, button("Save questions.jsonl", save));
  }

  cardOf = (id) => this.results.querySelector(`[data-id="${CSS.escape(id)}"]`);
  isRight = (id) => this.questions.get(this.answer.query)?.relevant.includes(id) ?? false;
  #say = (textContent, className = "quiet") => Object.assign(this.status, { textContent, className });
  ranked = () => (this.answer.asked_at ? this.answer.memories : []); // a list of memories has no results

  /** The time chosen by hand, or else the first one that the question names; null = none. */
  band() {
    const [time] = this.answer.times;
    return this.chosen ?? (time && (time.start || time.end) ? spanOf(time) : null);
  }

  /** Whether a memory was recorded in the time asked for, or tells of it. */
  isInTime(memory) {
    const { start, end } = (this.answer.asked_at && this.band()) || {};
    const spans = [{ start: recorded(memory), end: recorded(memory) + 1 }, ...(memory.events ?? []).map(spanOf)];
    return spans.some((each) => each.start < end && each.end > start);
  }

  /** Choose a time by hand, null = none. It asks soon: a hand moves faster than answers come. */
  choose(span = this.chosen) {
    this.chosen = span;
    this.timeline.draw();
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.ask(), 80);
  }

  /** Ask, or list the memories where there is no question. `anew`: it has other times; `after`: the page before. */
  async ask({ anew = false, after } = {}) {
    const number = ++this.number;
    if (anew) this.chosen = null;
    try {
      const answer = { ...NOTHING, ...(await this.#answer(after)) };
      if (number !== this.number) return;
      if (after) answer.memories = [...this.answer.memories, ...answer.memories];
      Object.assign(this, { answer, calendar: new Calendar(answer.asked_at) });
      if (anew) this.timeline.view = null;
      this.show();
    } catch (error) {
      if (number === this.number) this.#say(error.message, "error");
    }
  }

  #answer(after) {
    const { chosen, host, user, asked } = this;
    const query = this.query.value.trim();
    const sent = (value) => value || undefined; // what is undefined is not sent
    const request = { since: sent(chosen?.since), until: sent(chosen?.until), user_id: sent(user.value) };
    if (host.browse && !query) return host.browse({ ...request, after, limit: 20 });
    // A time that is chosen does what a time in the question would do.
    const own = { timestamp: sent(asked.value), time_mode: sent(chosen && "prefer"), ...this.moved };
    return query || chosen ? host.ask({ query, ...own, ...request }) : NOTHING;
  }

  /** Read the times of all memories, and draw them as they come. */
  async overview() {
    const all = (this.all = []);
    for (let after; this.host.browse && after !== null && all.length < MOST_DRAWN; ) {
      const request = { limit: 100, after, user_id: this.user.value || undefined };
      const page = await this.host.browse(request).catch(() => NOTHING); // `ask` says what is wrong
      if (all !== this.all) return; // another user was named
      all.push(...page.memories);
      if (!this.ranked().length) this.timeline.view = null;
      if (!after || !page.next || all.length % 2000 === 0) this.timeline.draw();
      after = page.next ?? null;
    }
  }

  show() {
    const { answer, results } = this;
    this.best = answer.memories.reduce((best, { score }) => Math.max(best, score ?? 0), 0) || 1;
    this.timeline.draw();
    this.#showUnderstood();
    this.#showSettings();
    // A form that is open stays, and so does the focus.
    const open = new Map([...results.querySelectorAll(".card:has(form)")].map((each) => [each.dataset.id, each]));
    const key = this.root.getRootNode().activeElement?.dataset?.key;
    results.replaceChildren(
      ...answer.memories.map((memory, n) => open.get(memory.id) ?? card(this, memory, answer.asked_at && n + 1)));
    const more = () => button("Show more", () => this.ask({ after: answer.next }), { "data-key": "more" });
    this.rest.replaceChildren(answer.next ? more() : this.#leftOut());
    if (key) this.root.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
    const sign = answer.evidence && `evidence: ${answer.evidence}`;
    const { length } = answer.memories;
    if (answer.asked_at) this.#say(joined(memories(length), sign, answer.evidence_about, ...answer.degraded));
    else this.#say(length ? "All memories, the newest first" : "Ask a question, or choose a time.");
  }

  #showUnderstood() {
    const { answer, chosen, calendar } = this;
    const band = this.band();
    const focused = this.root.getRootNode().activeElement; // nothing is written over while it is typed
    if (focused !== this.since) this.since.value = calendar.date(band?.start);
    if (focused !== this.until) this.until.value = calendar.date(band?.end - 1);
    const reading = (each) => {
      const choose = () => this.choose({ ...spanOf(each), since: each.start, until: each.end });
      return ["; or ", button(each.means, choose, { class: "link" })];
    };
    const times = answer.times.map(({ words, means, other }) =>
      h("p", {}, chosen ? "The time you chose" : h("q", {}, words), ` is ${means}`, other.map(reading)));
    this.understood.replaceChildren(...times, answer.searched ? quiet(`searched for: ${answer.searched}`) : "");
  }

  #leftOut() {
    const { answer, calendar } = this;
    if (!answer.left_out.length) return "";
    const rows = answer.left_out.map((memory) => h("li", {},
      answer.query && thumb(this, memory),
      quiet(memory.created_at && calendar.day(recorded(memory)), memory.score?.toFixed(3), memory.reason),
      written(memory.content)));
    return h("details", { class: "left-out", open: Boolean(this.rest.querySelector("[open]")) },
      h("summary", {}, `Left out: ${answer.left_out_counts}`), h("ul", {}, rows));
  }

  #showSettings() {
    const { defaults, python, own } = this.host;
    const now = { ...defaults, ...own, ...this.answer.settings, ...this.moved };
    for (const [name, { input, output }] of this.controls) {
      input.value = now[name] ?? input.value;
      output.textContent = now[name] ?? "auto";
    }
    const moved = Object.entries({ ...own, ...this.moved }).filter(([name, value]) => value !== defaults[name]);
    const inPython = ([name, value]) =>
      name === "time_ratio" ? `replace=[FuseRerank(fuse_time_ratio=${value})]` : `${name}=${JSON.stringify(value)}`;
    this.code.textContent = `${[python, ...moved.map(inPython)].join(", ")})`;
  }

  /** Note, or take back, that a memory answers the question: a line for `recall eval`. */
  judge(id) {
    const { query: question, asked_at: timestamp } = this.answer;
    const owner = this.user.value && { user_id: this.user.value };
    const line = this.questions.get(question) ?? { question, relevant: [], timestamp, ...owner };
    const relevant = this.isRight(id) ? line.relevant.filter((each) => each !== id) : [...line.relevant, id];
    if (relevant.length) this.questions.set(question, { ...line, relevant });
    else this.questions.delete(question);
    const lines = [...this.questions.values()];
    const shown = (each) => h("li", {}, each.question, quiet(memories(each.relevant.length)));
    this.lines.replaceChildren(...lines.map(shown));
    this.host.thumbs?.(lines);
    this.show();
  }

  /** Change a memory in ten seconds; until then nothing is sent, and it can be undone. */
  later({ id, content }, done, act) {
    const finish = async (act) => {
      clearTimeout(timer);
      const failed = await act?.().then(() => "", (error) => error.message);
      this.waiting.delete(id);
      row.remove();
      await this.ask();
      if (failed) this.#say(failed, "error");
      else if (act) this.overview();
      else this.cardOf(id)?.focus();
    };
    const timer = setTimeout(() => finish(act), UNDO_MS);
    const undo = button("Undo", () => finish());
    const row = h("li", {}, h("span", {}, `“${shortened(content, 40)}” will be ${done} in ten seconds`), undo);
    this.undo.append(row);
    this.waiting.add(id);
    this.show();
    undo.focus();
  }
}

/** Draw into an element, for a host: `ask`, `defaults`, `python`; and `own`, `browse`, `change`, `thumbs`. */
export const mount = (root, host) => new Look(root, host);

// ---- Two hosts
/** The page of a server, over its HTTP API. The token is in a variable of this tab, and nowhere else. */
export async function serve(root, token = location.hash.slice(1)) {
  history.replaceState(null, "", location.pathname); // `recall look` puts a token there
  const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  if ((await fetch("count", { headers })).status === 401) {
    const label = token ? "The server does not know this token. Another one:" : "The token of this server:";
    const input = h("input", { type: "password", autocomplete: "off", required: true });
    const enter = () => serve(root, input.value.trim());
    root.classList.add("recall-look");
    root.replaceChildren(form(enter, { class: "token" }, labelled(label, input), main("Open")));
    return input.focus();
  }
  const send = async (method, path, sent) => {
    const response = await fetch(path, { method, headers, body: JSON.stringify(sent), cache: "no-store" });
    const read = await response.json();
    if (!response.ok) throw new Error(read.error);
    return read;
  };
  const query = (values) => new URLSearchParams(Object.entries(values).filter(([, value]) => value));
  const at = (id) => `memories/${encodeURIComponent(id)}`;
  const look = mount(root, {
    ask: (request) => send("POST", "explain", request),
    browse: (request) => send("GET", `memories?${query(request)}`),
    change: {
      update: (id, fields) => send("PATCH", at(id), fields),
      supersede: (id, fields) => send("POST", `${at(id)}/supersede`, fields),
      expire: (id, when) => send("PATCH", at(id), { expires_at: when }),
      remove: (id) => send("DELETE", `memories?${query({ ids: id })}`),
    },
    defaults: { k: 5, method: "hybrid", time_ratio: 2, time_mode: "prefer" },
    python: "RecallRetriever(store=store",
  });
  look.ask({ anew: true }).then(() => look.overview());
  addEventListener("beforeunload", (event) => look.waiting.size && event.preventDefault());
}

/** The widget of a notebook, over messages to the kernel. */
function render({ model, el }) {
  const waiting = new Map(); // by a number of its own, as a widget may be shown twice
  const send = (kind) => (request) => new Promise((resolve, reject) => {
    const id = Math.random();
    waiting.set(id, ({ answer, error }) => (error ? reject(new Error(error)) : resolve(answer)));
    model.send({ id, [kind]: request });
  });
  const receive = (reply) => waiting.get(reply.id)?.(reply);
  const thumbs = (lines) => (model.set("questions", lines), model.save_changes());
  model.on("msg:custom", receive);
  const [defaults, own, python] = ["defaults", "own", "python"].map((name) => model.get(name));
  const browse = model.get("browses") && send("browse");
  const look = mount(el, { ask: send("ask"), browse, thumbs, defaults, own, python });
  look.query.value = model.get("question");
  look.ask({ anew: true }).then(() => look.overview());
  return () => model.off("msg:custom", receive);
}
export default { render };
document.querySelectorAll("#recall-page").forEach((root) => serve(root));
