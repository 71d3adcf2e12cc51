// Memories on a timeline, and a question explained by its picture.
//
// One module for two places: `serve` is the page of `recall serve`, `render` the widget of a
// notebook. Both give `mount` a host that asks; nothing else here knows where it runs. The text of
// a memory only ever becomes text: elements are made one by one, and no markup is read.

const DAY = 86_400_000;
const UNDO_MS = 10_000;
const MOST_DRAWN = 10_000; // memories whose times are read for the picture
const PAGE = 100;

const SLIDERS = [
  { name: "k", label: "How many (k)", min: 1, max: 50, step: 1 },
  { name: "semantic_weight", label: "Share of meaning", min: 0, max: 1, step: 0.05 },
  { name: "token_weight", label: "Single words in it", min: 0, max: 1, step: 0.05 },
  { name: "time_ratio", label: "Weight of the time", min: 1, max: 5, step: 0.1 },
];
const CHOICES = [
  {
    name: "method",
    label: "Search by",
    values: { hybrid: "meaning and words", semantic: "meaning", keyword: "words" },
  },
  {
    name: "time_mode",
    label: "The time asked for",
    values: { prefer: "is preferred", require: "is all there is", ignore: "is not read" },
  },
];

// ---- Elements -----------------------------------------------------------------------------------

const DRAWN = new Set(["svg", "g", "rect", "circle", "line", "path", "text", "title"]);

/** Make an element. Attributes that start with "on" are listeners; null and false are left out. */
function h(tag, attributes = {}, ...children) {
  const node = DRAWN.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const button = (text, onclick, more = {}) => h("button", { type: "button", onclick, ...more }, text);

const labelled = (label, control, more = {}) => h("label", more, h("span", {}, label), control);

const shortened = (text, most) => (text.length > most ? `${text.slice(0, most).trimEnd()}…` : text);

const counted = (number, word) => `${number.toLocaleString("en")} ${number === 1 ? word : word.replace(/y$/, "ie") + "s"}`;

// ---- Times --------------------------------------------------------------------------------------

/** The days of one time zone: that in which the question was asked. */
class Calendar {
  constructor(moment) {
    const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)$/.exec(moment ?? "") ?? [];
    const here = moment ? 0 : -new Date().getTimezoneOffset();
    this.offset = 60_000 * (sign ? (sign === "-" ? -1 : 1) * (60 * hours + Number(minutes)) : here);
  }

  wall(time) {
    return new Date(time + this.offset); // its UTC fields are what a clock on the wall shows
  }

  dayOf(time) {
    return Math.floor((time + this.offset) / DAY) * DAY - this.offset;
  }

  iso(time) {
    const minutes = Math.abs(this.offset) / 60_000;
    const two = (number) => String(Math.floor(number)).padStart(2, "0");
    const zone = `${this.offset < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
    return `${this.wall(time).toISOString().slice(0, 19)}${zone}`;
  }

  date(time) {
    return this.wall(time).toISOString().slice(0, 10);
  }

  text(time, options) {
    return this.wall(time).toLocaleString("en-GB", { timeZone: "UTC", ...options });
  }

  day(time) {
    return this.text(time, { weekday: "short", day: "numeric", month: "short", year: "numeric" });
  }

  /** About `most` round moments between two times, each with its label. */
  ticks([first, last], most) {
    const hour = DAY / 24;
    const steps = [hour, 3 * hour, 6 * hour, 12 * hour, DAY, 2 * DAY, 7 * DAY, 14 * DAY];
    const step = steps.find((each) => (last - first) / each <= most);
    if (step) {
      const form = step < DAY ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short" };
      const begin = Math.ceil((first + this.offset) / step) * step - this.offset;
      const count = Math.max(0, Math.floor((last - begin) / step) + 1);
      return Array.from({ length: count }, (_, n) => ({
        time: begin + n * step,
        label: this.text(begin + n * step, form),
      }));
    }
    const months = [1, 2, 3, 6, 12, 24, 60, 120, 600, 1200, 12_000];
    const every = months.find((each) => (last - first) / (30.4 * DAY) / each <= most) ?? 120_000;
    const ticks = [];
    const start = this.wall(first);
    let month = Math.ceil((start.getUTCFullYear() * 12 + start.getUTCMonth() + 1) / every) * every;
    for (; ; month += every) {
      const time = new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1) - this.offset;
      if (time > last || Number.isNaN(time)) return ticks;
      const form = every % 12 ? { month: "short", year: "numeric" } : { year: "numeric" };
      ticks.push({ time, label: this.text(time, form) });
    }
  }
}

const recorded = (memory) => (memory.created_at ? Date.parse(memory.created_at) : NaN);

const spanOf = (range) => ({
  start: range.start ? Date.parse(range.start) : -Infinity,
  end: range.end ? Date.parse(range.end) : Infinity,
});

/** The span of all these times with a margin; at least two days. */
function fitted(times) {
  const known = times.filter(Number.isFinite);
  if (!known.length) return [Date.now() - 30 * DAY, Date.now() + DAY];
  const first = known.reduce((a, b) => Math.min(a, b));
  const last = known.reduce((a, b) => Math.max(a, b));
  const margin = Math.max((last - first) * 0.06, DAY - (last - first) / 2);
  return [first - margin, last + margin];
}

// ---- The picture --------------------------------------------------------------------------------

const DOT = 6; // pixels of a small dot, and of a bin
const STRIP = 66;
const EDGE = 14;

/** The picture of the times, in an SVG element that stays while what it shows changes. */
class Timeline {
  constructor(look) {
    this.look = look;
    this.view = null; // the first and the last time that is shown; null = all that there is
    this.svg = h("svg", { class: "timeline", onpointerdown: (event) => this.#begin(event) });
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  /** Show everything again, as a new question has other times. */
  refit() {
    this.view = null;
  }

  zoom(factor) {
    const [first, last] = this.view;
    const band = this.look.band();
    const middle = band ? (Math.max(band.start, first) + Math.min(band.end, last)) / 2 : (first + last) / 2;
    const half = Math.max(((last - first) * factor) / 2, DAY / 4);
    this.view = [middle - half, middle + half];
    this.draw();
  }

  draw() {
    const { answer, calendar } = this.look;
    const results = answer?.memories.filter((memory) => memory.score !== undefined) ?? [];
    const width = this.svg.clientWidth;
    if (!width) return;
    this.view ??= this.#fitted(results);
    const [first, last] = this.view;
    this.scale = (width - 2 * EDGE) / (last - first);
    this.x = (time) => Math.min(Math.max(EDGE + (time - first) * this.scale, -99), width + 99);
    const lane = results.length ? Math.min(22, Math.max(7, 260 / results.length)) : 0;
    const strip = { top: 8 + lane * results.length, bottom: 8 + lane * results.length + STRIP };
    const height = strip.bottom + 24;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    const focused = this.svg.getRootNode().activeElement?.dataset?.grip;
    this.svg.replaceChildren(
      h(
        "g",
        { role: "img", "aria-label": this.#inWords(results) },
        this.#bands(strip.bottom),
        this.#axis(calendar.ticks(this.view, width / 88), strip.bottom, width),
        this.#others(strip, width),
        results.map((memory, n) => this.#lane(memory, n, 8 + lane * (n + 0.5), lane, width)),
      ),
      this.#grips(strip.bottom),
    );
    if (focused) this.svg.querySelector(`[data-grip=${focused}]`)?.focus();
  }

  #fitted(results) {
    const { answer, all } = this.look;
    const ranges = (answer?.times ?? []).flatMap((time) => [time, ...(time.other ?? [])]).map(spanOf);
    const events = results.flatMap((memory) => memory.events).map(spanOf);
    const moments = (results.length ? results : [...all, ...(answer?.left_out ?? [])]).map(recorded);
    return fitted([...moments, ...[...ranges, ...events].flatMap(({ start, end }) => [start, end])]);
  }

  #inWords(results) {
    const { answer, all } = this.look;
    const times = (answer?.times ?? []).map((time) => ` ${time.words} is ${time.means}.`).join("");
    const others = all.length + (answer?.left_out.length ?? 0);
    return `Timeline of ${counted(results.length || others, "memory")}.${times}`;
  }

  #bands(bottom) {
    const shaded = (span, kind, title, onclick) => {
      const [from, to] = [this.x(span.start), this.x(span.end)];
      const place = { x: from, y: 0, width: Math.max(to - from, 2), height: bottom };
      return h("rect", { class: kind, ...place, onclick }, h("title", {}, title));
    };
    const { answer, chosen } = this.look;
    if (chosen) return [shaded(chosen, "band", "the time that you chose")];
    return (answer?.times ?? [])
      .filter((time) => time.start || time.end)
      .flatMap((time) => [
        ...(time.other ?? []).map((other) =>
          shaded(spanOf(other), "band other", `${time.words}: ${other.means}`),
        ),
        shaded(spanOf(time), "band", `${time.words}: ${time.means}`),
      ]);
  }

  #axis(ticks, y, width) {
    return [
      h("line", { class: "axis", x1: 0, x2: width, y1: y, y2: y }),
      ...ticks.map(({ time, label }) =>
        h("text", { class: "tick", x: this.x(time), y: y + 17, "text-anchor": "middle" }, label),
      ),
      ...ticks.map(({ time }) =>
        h("line", { class: "grid", x1: this.x(time), x2: this.x(time), y1: 0, y2: y + 4 }),
      ),
    ];
  }

  /** A result: its dot, its text, and a thin line from the day of writing to the day told of. */
  #lane(memory, n, y, lane, width) {
    const at = this.x(recorded(memory));
    const spans = memory.events.map(spanOf);
    const bars = spans.map(({ start, end }) => {
      const [from, to] = [this.x(start), this.x(end)];
      return [
        Number.isFinite(at) && h("line", { class: "tells", x1: at, x2: (from + to) / 2, y1: y, y2: y }),
        h("rect", { class: "event", x: from, y: y - 3.5, width: Math.max(to - from, 5), height: 7, rx: 3 }),
      ];
    });
    const title = h("title", {}, `${n + 1}. ${shortened(memory.content, 200)}`);
    if (!Number.isFinite(at)) return h("g", { class: "result" }, title, bars);
    const radius = Math.min(8.5, lane / 2 - 0.5);
    const onTheLeft = at > width * 0.6;
    const room = (onTheLeft ? at : width - at) - 20;
    const near = spans.some((span) => this.x(span.start) > at !== onTheLeft && Math.abs(this.x(span.start) - at) < 200);
    const place = { x: onTheLeft ? at - 13 : at + 13, y: y + 4, "text-anchor": onTheLeft ? "end" : "start" };
    const inside = this.look.isInTime(memory) ? " in-time" : "";
    return h(
      "g",
      { class: `result${inside}`, "data-id": memory.id, onclick: () => this.look.point(memory.id) },
      title,
      bars,
      lane > 15 && !near && h("text", { class: "said", ...place }, shortened(memory.content, Math.min(room / 6, 60))),
      h("circle", { cx: at, cy: y, r: radius }),
      radius > 6 && h("text", { class: "rank", x: at, y: y + 3.5, "text-anchor": "middle" }, String(n + 1)),
    );
  }

  /** All other memories: a dot each where there is room, else bars. */
  #others({ top, bottom }, width) {
    const { answer, all } = this.look;
    const shown = new Map(all.map((memory) => [memory.id, { memory, kind: "known" }]));
    for (const memory of answer?.left_out ?? []) shown.set(memory.id, { memory, kind: "left-out-dot" });
    for (const memory of answer?.memories ?? []) shown.set(memory.id, { memory, kind: "found" });
    const bins = new Map();
    for (const each of shown.values()) {
      const place = Math.floor(this.x(recorded(each.memory)) / DOT);
      if (place >= 0 && place * DOT <= width) bins.set(place, [...(bins.get(place) ?? []), each]);
    }
    const room = bottom - top - 8;
    const most = Math.max(0, ...[...bins.values()].map((bin) => bin.length));
    const dots = most * DOT <= room;
    return [...bins].flatMap(([place, bin]) => {
      const x = place * DOT;
      if (!dots) {
        const tall = Math.max(2, (room * bin.length) / most);
        const title = h("title", {}, counted(bin.length, "memory"));
        return [h("rect", { class: "bin", x, y: bottom - tall, width: DOT - 1, height: tall }, title)];
      }
      return bin.map(({ memory, kind }, n) => {
        const title = h("title", {}, shortened(memory.content, 200));
        return h("circle", { class: kind, cx: x + DOT / 2, cy: bottom - DOT * (n + 0.6), r: DOT / 2 - 0.6 }, title);
      });
    });
  }

  /** The two ends of the band: dragged, or moved with the keys. */
  #grips(bottom) {
    const band = this.look.band();
    if (!band) return h("g");
    return ["start", "end"]
      .filter((end) => Number.isFinite(band[end]))
      .map((end) => {
        const x = this.x(band[end]);
        const said = {
          "aria-label": `${end} of the time asked for`,
          "aria-valuenow": Math.round(band[end] / DAY),
          "aria-valuetext": this.look.calendar.day(band[end] - (end === "end" ? 1 : 0)),
        };
        return h(
          "g",
          { role: "slider", tabindex: 0, "data-grip": end, ...said, onkeydown: (event) => this.#key(event, end) },
          h("rect", { class: "reach", x: x - 12, y: 0, width: 24, height: bottom }),
          h("line", { x1: x, x2: x, y1: 0, y2: bottom }),
          h("rect", { class: "grip", x: x - 4, y: bottom / 2 - 12, width: 8, height: 24, rx: 4 }),
        );
      });
  }

  #key(event, end) {
    const days = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -7, PageUp: 7 }[event.key];
    if (!days) return;
    event.preventDefault();
    const band = { ...this.look.band() };
    band[end] += days * DAY;
    if (band.start < band.end) this.look.choose(band);
  }

  /** Drag an end of the band, all of it, or a new one. Whole days are chosen. */
  #begin(event) {
    const { calendar } = this.look;
    const timeAt = (at) => this.view[0] + (at.clientX - this.svg.getBoundingClientRect().left - EDGE) / this.scale;
    const from = timeAt(event);
    const band = this.look.band();
    const grip = event.target.closest("[data-grip]")?.dataset.grip;
    const moved = !grip && band && from > band.start && from < band.end && band;
    const drag = (move) => {
      if (Math.abs(move.clientX - event.clientX) < 4 && !grip) return;
      const to = timeAt(move);
      if (moved) {
        const by = Math.round((to - from) / DAY) * DAY;
        this.look.choose({ start: moved.start + by, end: moved.end + by });
        return;
      }
      const fixed = grip ? band[grip === "start" ? "end" : "start"] : from;
      const [start, end] = [Math.min(fixed, to), Math.max(fixed, to)];
      const last = calendar.dayOf(end);
      const whole = fixed === end && grip ? end : last + DAY;
      this.look.choose({ start: fixed === start && grip ? start : calendar.dayOf(start), end: whole });
    };
    const end = () => {
      this.svg.removeEventListener("pointermove", drag);
      this.svg.removeEventListener("pointerup", end);
      this.svg.removeEventListener("pointercancel", end);
    };
    this.svg.setPointerCapture(event.pointerId);
    this.svg.addEventListener("pointermove", drag);
    this.svg.addEventListener("pointerup", end);
    this.svg.addEventListener("pointercancel", end);
  }
}

// ---- Cards --------------------------------------------------------------------------------------

const stepText = (step) => (step.before ? `${step.label} = ${step.after.toFixed(3)}` : step.label);

/** The way to a score as one bar. Dividing only changes the scale; what a step takes is hatched. */
function bar(steps, most) {
  const scaled = [];
  for (const step of steps) {
    if (step.label.startsWith("/")) {
      for (const each of scaled) {
        each.before *= step.after / step.before;
        each.after *= step.after / step.before;
      }
    } else scaled.push({ ...step });
  }
  const parts = scaled.map(({ before, after, colour_name, label }) => {
    const [from, to] = [Math.min(before, after), Math.max(before, after)];
    const place = { x: (100 * from) / most, width: Math.max((100 * (to - from)) / most - 0.4, 0.3) };
    return h(
      "rect",
      { ...place, height: 10, class: `c-${colour_name}${after < before ? " lost" : ""}` },
      h("title", {}, label),
    );
  });
  return h("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, parts);
}

function thumb(look, memory) {
  const pressed = look.isRight(memory.id);
  const path = "M2 10h4v10H2zM8 20V9l5-7c2 0 2.5 1.500 2 3.500L14 9h6c1.500 0 2.500 1 2 3l-2 6.500c-.3 1-1 1.500-2 1.500z";
  return h(
    "button",
    {
      type: "button",
      class: "thumb",
      title: "This answers the question",
      "aria-label": `This answers the question: ${shortened(memory.content, 60)}`,
      "aria-pressed": String(pressed),
      onclick: () => look.judge(memory.id),
    },
    h("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, h("path", { d: path })),
  );
}

/** A memory: a result with the way to its score, or one of the list of all. */
function card(look, memory, rank) {
  const { calendar } = look;
  const events = (memory.events ?? []).map((event) => event.means).join(", ");
  const facts = [
    memory.created_at ? calendar.day(recorded(memory)) : "no date",
    memory.author,
    memory.memory_type !== "observation" && memory.memory_type,
    events && `tells of ${events}`,
    memory.superseded_by && "superseded",
    memory.expires_at && `forgotten on ${calendar.day(Date.parse(memory.expires_at))}`,
  ].filter(Boolean);
  const text = memory.content;
  const long = text.length > 500;
  const steps = memory.steps ?? [];
  return h(
    "li",
    { class: `card${look.pending.has(memory.id) ? " going" : ""}`, "data-id": memory.id, tabindex: -1 },
    h(
      "div",
      { class: "memory" },
      h("p", { class: "facts" }, rank && h("span", { class: "rank" }, String(rank)), facts.join(" · ")),
      h("p", { class: "text", dir: "auto" }, long ? `${text.slice(0, 400)}…` : text),
      long && h("details", {}, h("summary", {}, "All of it"), h("p", { class: "text", dir: "auto" }, text)),
      h(
        "div",
        { class: "actions" },
        rank && look.answer.query && thumb(look, memory),
        look.host.change && manageButtons(look, memory),
      ),
    ),
    rank &&
      h(
        "div",
        { class: "why" },
        h("p", { class: "score" }, h("b", {}, memory.score?.toFixed(3) ?? ""), " score"),
        bar(steps, look.mostScore),
        h("ul", {}, steps.map((step) => h("li", {}, swatch(step.colour_name), stepText(step)))),
        (memory.remarks ?? []).map((remark) => h("p", { class: "facts" }, remark)),
      ),
  );
}

const swatch = (name) => h("svg", { class: "swatch", viewBox: "0 0 8 8", "aria-hidden": "true" }, h("rect", { width: 8, height: 8, rx: 2, class: `c-${name}` }));

/** What may be done with a memory. Nothing is sent for ten seconds, so that it can be undone. */
function manageButtons(look, memory) {
  const { change } = look.host;
  const open = (name, control, done, act) => {
    const form = h("form", { class: "edit" }, labelled(name, control), h("button", { class: "main" }, "Save"), button("Cancel", () => look.show()));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const value = control.value.trim();
      if (value) look.later(memory, done, () => act(value));
    });
    look.root.querySelector(`.card[data-id="${CSS.escape(memory.id)}"] .actions`).replaceChildren(form);
    control.focus();
  };
  const area = () => {
    const control = h("textarea", { rows: 4 });
    control.value = memory.content;
    return control;
  };
  const day = h("input", { type: "date", value: look.calendar.date(Date.now()) });
  return [
    button("Edit", () => open("Text", area(), "changed", (content) => change.update(memory.id, { content }))),
    button("Supersede", () => open("What is true now", area(), "superseded", (content) => change.supersede(memory.id, { content }))),
    button("Expire", () => open("Forget it on", day, "made to expire", (when) => change.expire(memory.id, when))),
    button("Delete", () => look.later(memory, "deleted", () => change.remove(memory.id))),
  ];
}

// ---- The whole ----------------------------------------------------------------------------------

class Look {
  constructor(root, host) {
    Object.assign(this, { root, host, answer: null, all: [], listed: null, chosen: null });
    this.settings = {}; // those that the sliders changed
    this.pending = new Map(); // what is not sent yet, by the id of its memory
    this.questions = new Map(); // those with a thumb, by their text
    this.calendar = new Calendar();
    this.number = 0; // of the last request: answers to older ones are not shown
    this.timeline = new Timeline(this);
    this.#build();
  }

  #build() {
    const form = h("form", { class: "ask", role: "search" });
    this.query = h("input", { type: "search", "aria-label": "Question", placeholder: "What did I say about …?", autocomplete: "off" });
    form.append(this.query, h("button", { class: "main" }, "Ask"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.chosen = null;
      this.ask({ anew: true });
    });
    this.understood = h("div", { class: "understood" });
    this.status = h("p", { class: "status", role: "status" });
    this.results = h("ol", { class: "results" });
    this.more = h("div");
    this.undo = h("ul", { class: "undo", "aria-live": "polite" });
    this.since = h("input", { type: "date", "aria-label": "from" });
    this.until = h("input", { type: "date", "aria-label": "to" });
    for (const input of [this.since, this.until]) input.addEventListener("change", () => this.#chooseDates());
    const when = h(
      "div",
      { class: "when" },
      h("span", {}, "Time"),
      this.since,
      "–",
      this.until,
      button("Clear", () => this.choose(null), { "aria-label": "Clear the time" }),
      h("span", { class: "space" }),
      button("−", () => this.timeline.zoom(2), { "aria-label": "Zoom out" }),
      button("+", () => this.timeline.zoom(0.5), { "aria-label": "Zoom in" }),
    );
    this.side = h("aside", { class: "side", "aria-label": "Settings" }, this.#settings(), this.#own());
    this.root.classList.add("recall-look");
    this.root.replaceChildren(
      form,
      this.understood,
      h("section", { class: "times", "aria-label": "Timeline" }, this.timeline.svg, when),
      h("div", { class: "columns" }, h("section", { "aria-label": "Memories" }, this.status, this.results, this.more), this.side),
      this.undo,
    );
  }

  #settings() {
    this.controls = new Map();
    const sliders = SLIDERS.map(({ name, label, ...range }) => {
      const input = h("input", { type: "range", ...range });
      const output = h("output");
      this.controls.set(name, { input, output });
      input.addEventListener("input", () => this.#set(name, Number(input.value)));
      return h("label", { class: "slider" }, h("span", {}, label), output, input);
    });
    const choices = CHOICES.map(({ name, label, values }) => {
      const input = h("select", {}, Object.entries(values).map(([value, text]) => h("option", { value }, text)));
      this.controls.set(name, { input });
      input.addEventListener("change", () => this.#set(name, input.value));
      return labelled(label, input);
    });
    this.asked = h("input", { type: "datetime-local" });
    this.user = h("input", { type: "text", autocomplete: "off" });
    const again = () => this.ask({ anew: true, reload: true });
    for (const input of [this.asked, this.user]) input.addEventListener("change", again);
    this.code = h("code");
    return h(
      "details",
      { open: this.root.clientWidth > 800 },
      h("summary", {}, "Settings"),
      sliders,
      choices,
      labelled("As if asked on", this.asked),
      this.host.browse && labelled("Only of the user", this.user),
      h("pre", { tabindex: 0, "aria-label": "These settings in Python" }, this.code),
      h("div", { class: "actions" }, button("Copy as Python", () => navigator.clipboard.writeText(this.python())), button("Reset", () => this.#reset())),
    );
  }

  #own() {
    this.lines = h("ul");
    this.kept = h(
      "section",
      { hidden: true, "aria-label": "Questions of your own" },
      h("h2", {}, "Questions of your own"),
      this.lines,
      button("Save as questions.jsonl", () => this.#save()),
      h("p", { class: "facts" }, "recall eval --queries questions.jsonl"),
    );
    return this.kept;
  }

  #set(name, value) {
    this.settings[name] = value;
    this.askSoon();
  }

  #reset() {
    this.settings = {};
    this.ask();
  }

  #chooseDates() {
    const [start, end] = [this.since, this.until].map((input) => Date.parse(input.value) - this.calendar.offset);
    if (start <= end) this.choose({ start, end: end + DAY });
  }

  /** The time that was chosen by hand, or else the first one that the question names. */
  band() {
    const time = this.chosen ? null : this.answer?.times?.[0];
    const span = time && spanOf(time);
    return this.chosen ?? (span && (time.start || time.end) ? span : null);
  }

  isInTime(memory) {
    const band = this.band();
    const at = recorded(memory);
    return Boolean(band) && at >= band.start && at < band.end;
  }

  choose(span) {
    this.chosen = span;
    this.timeline.draw();
    this.askSoon();
  }

  askSoon() {
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.ask(), 80);
  }

  request() {
    const { chosen, calendar } = this;
    const asked = this.asked.value && { timestamp: this.asked.value };
    const time = chosen && { since: calendar.iso(chosen.start), until: calendar.iso(chosen.end) };
    const user = this.user.value && { user_id: this.user.value };
    return { query: this.query.value.trim(), ...this.settings, ...asked, ...time, ...user };
  }

  /** Ask, or list the memories where there is no question. */
  async ask({ anew = false, reload = false } = {}) {
    const number = ++this.number;
    const request = this.request();
    if (reload) this.all = [];
    try {
      const asks = request.query || (request.since && !this.host.browse);
      const answer = asks ? await this.host.ask(request) : null;
      const listed = asks || !this.host.browse ? null : await this.#list(request);
      if (number !== this.number) return;
      Object.assign(this, { answer, listed });
      this.calendar = new Calendar(answer?.asked_at);
      if (anew) this.timeline.refit();
      this.show();
    } catch (error) {
      if (number === this.number) this.#say(error.message, "error");
    }
  }

  #list({ since, until, user_id, after }) {
    return this.host.browse({ since, until, user_id, after, limit: 20 });
  }

  /** Read the times of all memories, page by page, and draw them as they come. */
  async overview() {
    for (let after; this.all.length < MOST_DRAWN; ) {
      const page = await this.host.browse({ limit: PAGE, after });
      this.all.push(...page.memories);
      if (!this.answer) this.timeline.refit();
      if (!after || !page.next || this.all.length % 2000 === 0) this.timeline.draw();
      after = page.next;
      if (!after) return;
    }
  }

  show() {
    const { answer, listed } = this;
    const memories = answer?.memories ?? listed?.memories ?? [];
    this.mostScore = Math.max(...memories.map((memory) => memory.score ?? 0), 1e-9);
    this.timeline.draw();
    this.#showUnderstood();
    this.results.replaceChildren(...memories.map((memory, n) => card(this, memory, answer && n + 1)));
    this.more.replaceChildren(...(answer ? [this.#leftOut()] : listed?.next ? [button("Show more", () => this.#listMore())] : []));
    this.#showSettings();
    if (answer) {
      const said = [counted(memories.length, "memory"), answer.evidence && `evidence: ${answer.evidence}`, answer.evidence_about, ...(answer.degraded ?? [])];
      this.#say(said.filter(Boolean).join(" · "));
    } else if (listed) this.#say(memories.length ? "The newest memories" : "There are no memories here.");
  }

  async #listMore() {
    const page = await this.#list({ ...this.request(), after: this.listed.next });
    this.listed = { memories: [...this.listed.memories, ...page.memories], next: page.next };
    this.show();
  }

  #say(text, kind = "") {
    this.status.textContent = text;
    this.status.classList.toggle("error", kind === "error");
  }

  #showUnderstood() {
    const { answer, chosen, calendar } = this;
    const band = this.band();
    if (document.activeElement !== this.since) this.since.value = Number.isFinite(band?.start) ? calendar.date(band.start) : "";
    if (document.activeElement !== this.until) this.until.value = Number.isFinite(band?.end) ? calendar.date(band.end - 1) : "";
    const times = chosen ? [] : (answer?.times ?? []);
    this.understood.replaceChildren(
      ...times.map((time) =>
        h(
          "p",
          {},
          h("q", {}, time.words),
          ` is ${time.means}`,
          (time.other ?? []).map((other) => [" or ", button(other.means, () => this.choose(spanOf(other)), { class: "link" })]),
        ),
      ),
      ...(answer?.searched ? [h("p", {}, `searched for: ${answer.searched}`)] : []),
    );
  }

  #leftOut() {
    const { answer } = this;
    const rows = answer.left_out.map((memory) =>
      h(
        "li",
        {},
        h("span", { class: "facts" }, [memory.created_at && this.calendar.day(recorded(memory)), memory.score?.toFixed(3), memory.reason].filter(Boolean).join(" · ")),
        h("p", { class: "text", dir: "auto" }, memory.content),
        answer.query && thumb(this, memory),
      ),
    );
    return rows.length ? h("details", { class: "left-out", open: this.showsLeftOut, ontoggle: (event) => (this.showsLeftOut = event.target.open) }, h("summary", {}, `Left out: ${answer.left_out_counts}`), h("ul", {}, rows)) : "";
  }

  #showSettings() {
    const now = { ...this.host.defaults, ...this.answer?.settings, ...this.settings };
    for (const [name, { input, output }] of this.controls) {
      if (now[name] !== undefined && now[name] !== null) input.value = now[name];
      if (output) output.textContent = Number(input.value).toString();
      const off = { semantic_weight: now.method !== "hybrid", token_weight: now.method !== "hybrid", time_ratio: now.time_mode === "ignore" };
      input.disabled = Boolean(off[name]);
    }
    this.code.textContent = this.python();
  }

  /** The settings that differ from the defaults, as a line of Python. */
  python() {
    const changed = Object.entries(this.settings).filter(([name, value]) => value !== this.host.defaults[name]);
    const written = changed.map(([name, value]) =>
      name === "time_ratio" ? `replace=[FuseRerank(fuse_time_ratio=${value})]` : `${name}=${JSON.stringify(value)}`,
    );
    return `${[this.host.python, ...written].join(", ")})`;
  }

  // -- Questions of one's own

  isRight(id) {
    return this.questions.get(this.answer?.query)?.relevant.includes(id) ?? false;
  }

  judge(id) {
    const { query, asked_at } = this.answer;
    const line = this.questions.get(query) ?? { question: query, relevant: [], timestamp: asked_at, ...(this.user.value && { user_id: this.user.value }) };
    line.relevant = line.relevant.includes(id) ? line.relevant.filter((each) => each !== id) : [...line.relevant, id];
    this.questions.set(query, line);
    if (!line.relevant.length) this.questions.delete(query);
    const lines = [...this.questions.values()];
    this.lines.replaceChildren(...lines.map((each) => h("li", {}, `${each.question} (${counted(each.relevant.length, "memory")})`)));
    this.kept.hidden = !lines.length;
    this.host.thumbs?.(lines);
    this.show();
  }

  #save() {
    const text = [...this.questions.values()].map((line) => `${JSON.stringify(line)}\n`).join("");
    const url = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
    h("a", { href: url, download: "questions.jsonl" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  // -- Changes, which wait for ten seconds

  later(memory, done, act) {
    const name = `“${shortened(memory.content, 40)}”`;
    const row = h("li", {}, h("span", {}, `${name} is ${done}`));
    const end = () => {
      this.pending.delete(memory.id);
      row.remove();
    };
    const timer = setTimeout(async () => {
      try {
        await act();
        if (done !== "changed") this.all = this.all.filter((each) => each.id !== memory.id);
      } catch (error) {
        this.#say(error.message, "error");
      }
      end();
      this.ask();
    }, UNDO_MS);
    row.append(
      button("Undo", () => {
        clearTimeout(timer);
        end();
        this.show();
      }),
    );
    this.undo.append(row);
    this.pending.set(memory.id, timer);
    this.show();
  }

  /** Show the card of a dot. */
  point(id) {
    const found = this.results.querySelector(`[data-id="${CSS.escape(id)}"]`);
    found?.scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    found?.focus({ preventScroll: true });
  }
}

/** Draw into an element, and ask the host; see the head of this file. */
export function mount(root, host) {
  const look = new Look(root, host);
  look.show();
  return look;
}

// ---- Two hosts ----------------------------------------------------------------------------------

/** The page of `recall serve`: over its HTTP API. The token is in a variable of this tab alone. */
export function serve(root) {
  let token = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
  const send = async (method, path, body) => {
    const headers = { ...(token && { Authorization: `Bearer ${token}` }), ...(body && { "Content-Type": "application/json" }) };
    const response = await fetch(path, { method, headers, body: body && JSON.stringify(body), cache: "no-store" });
    if (response.status === 401) {
      token = await askToken(Boolean(token));
      return send(method, path, body);
    }
    const read = await response.json();
    if (!response.ok) throw new Error(read.error);
    return read;
  };
  let asking = null; // several requests may need the token at once; it is asked for once
  const askToken = (wasWrong) => {
    asking ??= new Promise((resolve) => {
      const input = h("input", { type: "password", autocomplete: "off", required: true });
      const form = h("form", { method: "dialog" }, labelled(wasWrong ? "This token is not known. Another one" : "Token", input), h("button", { class: "main" }, "Open"));
      const dialog = h("dialog", { class: "token", "aria-label": "Token" }, form);
      form.addEventListener("submit", () => {
        asking = null;
        dialog.remove();
        resolve(input.value.trim());
      });
      dialog.addEventListener("cancel", (event) => event.preventDefault());
      root.append(dialog);
      dialog.showModal();
    });
    return asking;
  };
  const at = (id, rest = "") => `memories/${encodeURIComponent(id)}${rest}`;
  const named = (values) => new URLSearchParams(Object.entries(values).filter(([, value]) => value));
  const look = mount(root, {
    ask: (request) => send("POST", "explain", request),
    browse: (request) => send("GET", `memories?${named(request)}`),
    change: {
      update: (id, fields) => send("PATCH", at(id), fields),
      supersede: (id, fields) => send("POST", at(id, "/supersede"), fields),
      expire: (id, when) => send("PATCH", at(id), { expires_at: when }),
      remove: (id) => send("DELETE", `memories?${named({ ids: id })}`),
    },
    defaults: { k: 5, method: "hybrid", time_ratio: 2, time_mode: "prefer" },
    python: "RecallRetriever(store=store",
  });
  look.ask({ anew: true });
  look.overview();
  addEventListener("beforeunload", (event) => look.pending.size && event.preventDefault());
  return look;
}

/** The widget of a notebook: over messages to the kernel. */
function render({ model, el }) {
  const waiting = new Map();
  let number = 0;
  const receive = ({ id, answer, error }) => {
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error) reject?.(new Error(error));
    else resolve?.(answer);
  };
  model.on("msg:custom", receive);
  const look = mount(el, {
    ask: (request) =>
      new Promise((resolve, reject) => {
        waiting.set(++number, { resolve, reject });
        model.send({ id: number, ask: request });
      }),
    thumbs: (lines) => {
      model.set("questions", lines);
      model.save_changes();
    },
    defaults: model.get("defaults"),
    python: model.get("python"),
  });
  look.ask({ anew: true });
  return () => model.off("msg:custom", receive);
}

export default { render };

const page = document.querySelector("#recall-page");
if (page) serve(page);
