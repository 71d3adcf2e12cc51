"""What models say when they are asked for JSON: the good, the sloppy and the useless."""

import json
from collections.abc import Callable

from stages.reply_kit import CONTENTS, KITS, LEFT_OUT, RANK, RANKS, RERANK, SCORES, Make, bad, good

from benchmarks.conformance.material import ERRORS, UNUSABLE

PAIRS = KITS[0].pairs()


def of(entries: object) -> Make:
    return lambda kit: kit.json(entries)


def each(entry: Callable[[int, float], object]) -> Make:
    return of([entry(n, s) for n, s in PAIRS])


def scaled(top: int) -> Make:
    return each(lambda n, s: [n, s * top])


WRAPPED = [
    good("bare", lambda kit: kit.json()),
    good("fenced", lambda kit: f"```json\n{kit.json()}\n```"),
    good("fence that is never closed", lambda kit: f"```json\n{kit.json()}"),
    good("before a thought", lambda kit: f"{kit.json()}<think>Was that right? {kit.draft()}"),
    good("a brace that opens nothing", lambda kit: f"I {{think}} so: {kit.json()}"),
    good("other JSON before", lambda kit: f'{{"thoughts": ["so so"]}} {kit.json()}'),
    good("prose before", lambda kit: f"Sure, here you are: {kit.json()}"),
    good("prose with brackets", lambda kit: f"I looked {{closely}} [twice]: {kit.json()} [end]"),
    good("after a thought", lambda kit: f'<think>{{"{kit.key}": []}}?</think>{kit.json()}'),
    good(
        "after two thoughts",
        lambda kit: f"<think>{kit.draft()}?</think><think>No: {kit.draft()}</think>{kit.json()}",
    ),
    good("after a thought begun before", lambda kit: f"hm, so</think>\n{kit.json()}"),
    good("trailing commas", lambda kit: kit.json().replace("}]", "},]").replace("]}", "],}")),
    good("line breaks in a string", lambda kit: f'{{"why": "a\nb", {kit.json()[1:]}'),
    good(
        "more than was asked for", lambda kit: json.dumps({"why": ["x"], **kit.payload(), "n": 4})
    ),
    good("the list alone", lambda kit: json.dumps(kit.entries())),
    good("inside another object", lambda kit: json.dumps({"result": {"data": kit.payload()}})),
    good("an empty object before", lambda kit: "{} " + kit.json()),
    good("said twice", lambda kit: f"{kit.json()}\n{kit.json()}"),
    good("a tool call", lambda kit: json.dumps({"name": "f", "arguments": kit.payload()})),
    good("a tool call as text", lambda kit: json.dumps({"name": "f", "arguments": kit.json()})),
    good(
        "a tool call as an API writes it",
        lambda kit: json.dumps({"tool_calls": [{"function": {"arguments": kit.json()}}]}),
    ),
]

NUMBERED = [
    *[
        good(f"numbers {numbers}", lambda kit, given=numbers: kit.json(kit.entries(given)))
        for numbers in (
            ["1", "2", "3", "4"],
            ["[1]", "[2]", "[3]", "[4]"],
            ["Memory 1", "#2", "no. 3", 4],
            ["1.", "2)", "memory-3", "<4>"],
            [1.0, 2.0, 3.0, 4.0],
        )
    ],
    good("duplicates", lambda kit: kit.json(kit.entries() * 2)),
    good("one missing", lambda kit: kit.json(kit.entries()[:3]), order="bacd"),
    good("only one", lambda kit: kit.json([kit.entry(2, 2)]), order="bacd"),
    good("an empty list", lambda kit: kit.json([]), *RANKS, order="abcd"),
    good("one out of range", lambda kit: kit.json([*kit.entries(), kit.entry(1, 9)])),
    *[
        good(f"number {x}", lambda kit, x=x: kit.json([kit.entry(1, x), *kit.entries()]))
        for x in (0, -1, 10**40, None, [[1]], {"n": 1}, "-1", "1.5")
    ],
    good("a boolean", lambda kit: kit.json([kit.entry(2, True), *kit.entries()])),
    good("junk among the entries", lambda kit: kit.json([None, 7.5, [], {}, *kit.entries()])),
    bad("all out of range", lambda kit: kit.json(kit.entries([5, 6, 7, 8]))),
    bad("all between two", lambda kit: kit.json(kit.entries([1.5, 2.5, 3.5, 0.5]))),
    bad("all in words", lambda kit: kit.json(kit.entries(["one", "two", "three", "four"]))),
    bad("another name for everything", lambda kit: json.dumps({"items": {"x": kit.entries()}})),
]

FROM_0, LAST = "numbers from 0", "of several scores, the last one counts"
SAME = [[{"memory": n, "score": score} for n in (1, 2, 3, 4)] for score in (0, 0.5, 1)]
RATED: list[tuple[str, object, str, str]] = [
    ("a score as a text", [{"memory": 1, "score": "0.8"}], "abcd", ""),
    ("two alike", [{"memory": n, "score": 1} for n in (1, 2)], "abcd", ""),
    *[(f"all {same[0]['score']}", same, "abcd", "") for same in SAME],
    ("one of 0.05", [[4, 0.05]], "dabc", ""),
    ("scored twice, and the last counts", [[1, 1.0], *PAIRS], "bdac", LAST),
    ("one score of none", [{"memory": 3}, *PAIRS], "bdac", ""),
    ("one score below zero", [*PAIRS[:3], [4, -1]], "bdac", LEFT_OUT.format(1)),
]
ORDERED = [
    ([2, 4, 1, 3], "bdac", ""),
    ([1, 3, 0, 2], "bdac", FROM_0),
    ([2, 2, 2, 2], "bacd", LEFT_OUT.format(3)),
    ([9, 2, 0, -1, "1"], "bacd", LEFT_OUT.format(2)),
    ([{"rank": rank, "id": n} for rank, n in enumerate([2, 4, 1, 3], 1)], "bdac", ""),
]
SCORED = [
    *[good(name, of(x), *RANKS, order=order, note=note) for name, x, order, note in RATED],
    *[good(f"{x}", of(x), RERANK, order=order, note=note) for x, order, note in ORDERED],
    bad("a list of scores", of(SCORES), *RANKS),
    bad("a bare list of scores", lambda kit: f"{SCORES}", RANK),
    bad("numbers and scores in one list", of([x for pair in PAIRS for x in pair]), *RANKS),
    bad("scores on two scales", of([[1, 0.9], [2, 0.7], [3, 8]]), *RANKS),
    bad("scores of thousands", of([[1, 9000], [2, 700]]), *RANKS),
    bad("negative scores", lambda kit: kit.json([kit.entry(1, 1, score=-0.5)]), RANK),
    bad("scores in words", lambda kit: kit.json([kit.entry(1, 1, score="high")]), RANK),
    bad("scores of null", lambda kit: kit.json([kit.entry(1, 1, score=None)]), RANK),
    bad("NaN", lambda kit: '{"scores": [{"memory": 1, "score": NaN}]}', RANK),
    bad("infinity", lambda kit: '{"scores": [{"memory": 1, "score": Infinity}]}', RANK),
    bad("a division by zero", of([[1, "3/0"]]), RANK),
    bad("integers in prose", lambda kit: "Of the 4 memories 2 is the best, then 1 and 3.", *RANKS),
]

TOLD = ("RewriteMemory", "Reflect")
A, TEA = CONTENTS["a"], CONTENTS["c"]
ENTRIES: dict[str, Callable[[int, float], object]] = {
    "pairs": lambda n, s: [n, s],
    "pairs of texts": lambda n, s: [f"[{n}]", str(s)],
    "percent": lambda n, s: [n, f"{s:.0%}"],
    "fractions": lambda n, s: [n, f"{s * 5}/5"],
    "out of ten": lambda n, s: [n, f"{s * 10:g} out of 10"],
    "with a reason": lambda n, s: [n, s, "so"],
    "texts": lambda n, s: f"Memory {n}: {s}",
    "an object for each": lambda n, s: {str(n): s},
    "an id": lambda n, s: {"id": n, "score": s},
    "a number": lambda n, s: {"number": n, "score": s},
    "an index": lambda n, s: {"index": n, "score": s},
    "a relevance": lambda n, s: {"memory": n, "relevance": s},
    "a rating": lambda n, s: {"rating": s, "memory": n},
    "Cohere's names": lambda n, s: {"doc_id": n, "relevance_score": s},
    "names of their own": lambda n, s: {"Relevance to it": s, "passage": n},
    "names in capitals": lambda n, s: {"MEMORY": n, "SCORE": s},
    "names that say nothing": lambda n, s: {"a": n, "b": s},
    "a rank beside": lambda n, s: {"rank": 1, "memory": n, "score": s, "why": "so"},
}
LOWER = [lambda n, s: [n - 1, s], lambda n, s: {"memory": n - 1, "score": s}]
UNDER_TEXTS = json.dumps(dict(PAIRS))
UNDER = {
    "scores under the numbers": of(dict(PAIRS)),
    "scores under names with numbers": of({f"Memory {n}": s for n, s in PAIRS}),
    "objects under the numbers": of({n: {"score": s} for n, s in PAIRS}),
    "objects with reasons": of({f"Memory {n}": {"why": "so", "p": s} for n, s in PAIRS}),
}
CUT, ALONE, PYTHON = "the list is cut off", "the entries stand alone", "it is Python"
FORMED = [
    *[good(name, each(entry), *RANKS) for name, entry in ENTRIES.items()],
    *[good(f"from 0: {x(0, 1)}", each(x), *RANKS, note=FROM_0) for x in LOWER],
    *[good(f"up to {top}", scaled(top), *RANKS, note=f"scale of {top}") for top in (5, 10, 100)],
    *[good(name, make, *RANKS) for name, make in UNDER.items()],
    good("nothing but scores under the numbers", lambda _: f"{UNDER_TEXTS}", *RANKS, note=ALONE),
    good("bare pairs", lambda kit: json.dumps(PAIRS), *RANKS),
    good("pairs in a fence", lambda kit: f"```json\n{PAIRS}\n```", *RANKS),
    good("cut off after an entry", lambda kit: kit.json()[:-2], note=CUT),
    good("cut off after a comma", lambda kit: kit.json()[:-2] + ", ", note=CUT),
    good("cut off in a new entry", lambda kit: kit.json()[:-2] + ', {"memory": 1, "sc', note=CUT),
    good("cut off in a fence", lambda kit: f"```json\n{kit.json()[:-2]}\n```", note=CUT),
    good("a bare list cut off", lambda kit: json.dumps(kit.entries())[:-1], note=CUT),
    good("pairs cut off", lambda kit: kit.json(PAIRS)[:-2] + ", [1, 0.", *RANKS, note=CUT),
    good("bare pairs cut off", lambda kit: json.dumps(PAIRS)[:-1], *RANKS, note=CUT),
    good(
        "all but one cut off",
        lambda kit: kit.json(kit.entries())[: kit.json(kit.entries()).index("},") + 1],
        *RANKS,
        order="abcd",
        note=CUT,
    ),
    good(
        "one pair of many",
        lambda kit: f'{{"{kit.key}": [[2, 0.9], [4',
        *RANKS,
        order="bacd",
        note=CUT,
    ),
    good("JSON lines", lambda kit: "\n".join(map(json.dumps, kit.entries())), note=ALONE),
    good("pairs, one a line", lambda kit: "\n".join(map(json.dumps, PAIRS)), *RANKS, note=ALONE),
    good(
        "JSON lines in prose",
        lambda kit: "\n".join(f"- {json.dumps(each)}" for each in kit.entries()),
        note=ALONE,
    ),
    good("Python", lambda kit: str(kit.payload()), note=PYTHON),
    good("Python in a fence", lambda kit: f"```python\n{kit.payload()}\n```", note=PYTHON),
    good("a bare list of Python", lambda kit: str(kit.entries()), note=PYTHON),
    good("Python cut off", lambda kit: str(kit.payload())[:-2], note=CUT),
    bad("the form copied", lambda kit: f'{{"{kit.key}": [[number, score], [number, score], ...]}}'),
    bad("the form in quotes", lambda kit: f'{{"{kit.key}": [["number", "score"], "..."]}}'),
    bad("an open list and nothing more", lambda kit: f'{{"{kit.key}": ['),
    bad(
        "an open entry and nothing more", lambda kit: f'{{"{kit.key}": [{{"memory": 1, "score": 0.'
    ),
    bad("brackets in brackets, open", lambda kit: f'{{"{kit.key}": ' + "[[" * 5_000),
    bad("quotes without end", lambda kit: "{'" * 5_000),
    bad("half quotes", lambda kit: "{'a\\" * 3_000),
]

THOUGHTS = {
    "[THINK]": ("[THINK]", "[/THINK]"),
    "<thought>": ("<thought>", "</thought>"),
    "<thoughts>": ("<thoughts>", "</thoughts>"),
    "<thinking>": ("<thinking>", "</thinking>"),
    "<reasoning>": ("<reasoning>", "</reasoning>"),
    "<scratchpad>": ("<scratchpad>", "</scratchpad>"),
    "Kimi's": ("◁think▷", "◁/think▷"),
    "<analysis>": ("<analysis>", "</analysis>"),
    "<reflection>": ("<reflection>", "</reflection>"),
    "ByteDance's": ("<seed:think>", "</seed:think>"),
    "Sky-T1's": ("<|begin_of_thought|>", "<|end_of_thought|>"),
    "Command R's": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "gpt-oss's": ("<|channel|>analysis<|message|>", "<|end|><|channel|>final<|message|>"),
}
THOUGHT = [
    *[
        good(
            f"after a thought in {name}",
            lambda kit, tags=tags: f"{tags[0]}So {kit.draft()}?{tags[1]}\n{kit.json()}",
        )
        for name, tags in THOUGHTS.items()
    ],
    *[
        good(
            f"after a thought in {name} that began in the prompt",
            lambda kit, tags=tags: f"So {kit.draft()}?{tags[1]}\n{kit.json()}",
        )
        for name, tags in THOUGHTS.items()
    ],
    *[
        bad(
            f"a thought in {name} that never ends",
            lambda kit, tags=tags: f"{tags[0]}So {kit.draft()}, or",
        )
        for name, tags in list(THOUGHTS.items())[:-1]
    ],
]

SEVERAL = "of several answers, the last one counts"
CORRECTED = {
    "a correction": "{} Wait, correction: {}",
    "Granite's thoughts": "Here is my thought process: {}\n\nHere is my response: {}",
    "a tag that nobody knows": "<musing>{}</musing><answer>{}</answer>",
    "two fences": "```json\n{}\n```\nOn second thought:\n```json\n{}\n```",
    "two lines": "{}\n{}",
    "two tool calls": '[{{"arguments": {}}}, {{"arguments": {}}}]',
    "there and back": "{1} No: {0} No: {1}",
    "two turns": "Assistant: {}\nUser: Are you sure?\nAssistant: {}",
}
WRONG = [[1, 1], [2, 0]]
DRAFTS = {
    "objects": (lambda kit: (kit.draft(), kit.json()),),
    "pairs": (lambda kit: (kit.json(WRONG), kit.json(PAIRS)), *RANKS),
    "objects, then pairs,": (lambda kit: (kit.draft(), kit.json(PAIRS)), *RANKS),
}
DRAFTED = [
    *[
        good(f"{what} in {name}", lambda kit, t=text, m=make: t.format(*m(kit)), *on, note=SEVERAL)
        for what, (make, *on) in DRAFTS.items()
        for name, text in CORRECTED.items()
    ],
    good("bare lists", lambda kit: f"{WRONG}, or: {kit.pairs()}", *RANKS, note=SEVERAL),
    good("calls as texts", lambda kit: f"{json.dumps([kit.draft(), kit.json()])}", note=SEVERAL),
    good("a draft before an open list", lambda kit: f"{kit.draft()} {kit.json()[:-2]}", note=CUT),
    good("a draft before an open object", lambda kit: f"{kit.draft()} {kit.json()[:-1]}", note=CUT),
    good("a draft that is cut off", lambda kit: f"{kit.draft()[:-3]}, no:\n{kit.json()}"),
    good(
        "pairs, one a line, and again",
        lambda kit: "\n".join(map(json.dumps, [*WRONG, *kit.pairs()])),
        *RANKS,
        note="of several scores, the last one counts",
    ),
]
TEXTS = [  # JSON inside a text, as models write the arguments of tools
    good("a list as text", lambda kit: kit.json(json.dumps(kit.entries()))),
    good("a list as indented text", lambda kit: kit.json(json.dumps(kit.entries(), indent=1))),
    good("entries as texts", lambda kit: kit.json([json.dumps(each) for each in kit.entries()])),
    good("the whole as text under its name", lambda kit: kit.json(kit.json())),
    good("the whole under its name", lambda kit: kit.json(kit.payload())),
    good("pairs as text", lambda kit: kit.json(json.dumps(PAIRS)), *RANKS),
    good("each pair as text", lambda kit: kit.json([str(pair) for pair in kit.pairs()]), *RANKS),
    good(
        "scores in an object as text", lambda kit: kit.json(json.dumps(dict(kit.pairs()))), *RANKS
    ),
    bad("Python as text", lambda kit: kit.json(str(kit.entries()))),
    bad("a list as text, cut off", lambda kit: kit.json(json.dumps(kit.entries())[:-9])),
    bad("a fence as text", lambda kit: kit.json(f"```json\n{json.dumps(kit.entries())}\n```")),
    bad("a table", lambda kit: f"| text | memories |\n|---|---|\n| {A} [1] | 1 |", *TOLD),
    bad("scores in letters", lambda kit: kit.json([[1, "low"], [2, "high"]])),
]

LINE, ORDER = "{n}: {s}", "2 > 4 > 1 > 3"
FORMS = """
    {n}: {s}; {n} = {s}; {n} - {s}; {n} -> {s}; {n} – {s}; {n}, {s}; {n}) {s}; {n}. {s}; {n} {s};
    [{n}] {s}; [{n}]: {s}; ({n}): {s}; #{n}: {s}; Memory {n}: {s}; - Memory {n}: {s};
    memory-{n}: {s}; **Memory {n}:** {s}; * {n}: {s}; | {n} | {s} |; Doc_{n}={s};
    | Memory {n} | {s} | It says so. |; Doc: {n}, Relevance: {s}; Memory {n} (score: {s});
    Memory {n} score: {s}; {n}: {s} (the dentist); {n}: {s} - it says so; {n}: {s}, as it says;
    Memory [{n}] → {s}; {n}: {s} out of 1
"""
APART = {"bars": " / ", "commas": ", ", "semicolons": "; "}
ORDERS = """
    2 > 4 > 1 > 3; [2] > [4] > [1] > [3]; 2>4>1>3; [2]>[4]>[1]>[3].; Ranking: 2 > 4 > 1 > 3;
    Memory 2 > Memory 4 > Memory 1 > Memory 3; **[2] > [4] > [1] > [3]**
"""


def in_lines(form: str, apart: str = "\n") -> Make:
    return lambda kit: apart.join(form.format(n=n, s=s) for n, s in kit.pairs())


LINES = "it is lines, and no JSON"
SHAPES = [
    *[good(x, in_lines(x), *RANKS, note=LINES) for x in map(str.strip, FORMS.split(";"))],
    *[good(f"lines with {x}", in_lines(LINE, y), *RANKS, note=LINES) for x, y in APART.items()],
    *[good(x, lambda _, x=x: x, *RANKS, note=LINES) for x in map(str.strip, ORDERS.split(";"))],
    good("an order in a fence", lambda kit: f"```\n{ORDER}\n```", *RANKS, note=LINES),
    good("an order, corrected", lambda kit: f"1 > 2 > 3 > 4\nNo:\n{ORDER}.", *RANKS, note=LINES),
    good("an order taken back", lambda _: "1 > 3\nNo:\n2 > 4", *RANKS, note=LEFT_OUT.format(2)),
    good("lines after words", lambda kit: f"So:\n{in_lines(LINE)(kit)}\nDone.", *RANKS, note=LINES),
    good("Python's numbers", lambda kit: str(dict(kit.pairs())), *RANKS, note=LINES),
    good("tuples", lambda kit: str([*map(tuple, kit.pairs())]), *RANKS),
    good("tuples, one a line", in_lines("({n}, {s})"), *RANKS, note=ALONE),
    good("one text with all", lambda kit: kit.json(in_lines(LINE, ", ")(kit)), *RANKS),
    good("an order as text", lambda kit: kit.json(ORDER), *RANKS),
    good("another name", lambda kit: json.dumps({"results": kit.entries()})),
    bad("two numbers that may be its own", each(lambda n, s: {"rank": 1, "x": n, "p": s}), *RANKS),
    bad("three numbers each", each(lambda n, s: [n, s, n]), *RANKS),
    bad("a list of memories", lambda kit: "1. Memory 3\n2. Memory 1\n3. Memory 2", *RANKS),
    bad("times of day", lambda kit: "10:30 the dentist\n11:15 tea", *RANKS),
    bad("scores alone in lines", lambda kit: "0.2\n0.9\n0.1\n0.4", *RANKS),
    bad("lines about memories that are not there", lambda kit: "7: 0.9\n8: 0.2", *RANKS),
    bad(
        "a reason for each", lambda kit: "Memory 2 is best.\nMemory 4 has 0 to do with it.", *RANKS
    ),
]

YES = ["yes", "Yes.", "YES", "**Yes**", "true", "Yes, it does.", '{"search": "yes"}', '"true"']
NO = [
    "no",
    "No.",
    "False",
    "No: small talk.",
    "```\nno\n```",
    '{"search": "no"}',
    "<think>yes?</think>no",
]
UNSURE = [
    "Perhaps.",
    "Yesterday.",
    "No memories",
    "yes or no",
    "true or false",
    '{"search": 1}',
    "1",
]
QUERIES = [
    "Bob's dentist",
    '"Bob\'s dentist"',
    "```\nBob's dentist\n```",
    "<think>tea</think>Bob's dentist",
]
NO_QUERIES = [
    "The dentist of whom?\nOf Bob.",
    "Sorry, no.",
    "[dentist]",
    "dentist " * 90,
    '{"q": "dentist"}',
]

LONG = "The dentist moved " * 3000
BEFORE = "sentence(s) left out that were there before"
PROSE = "it is prose with marks"
FORM = '{{"{}": [{{"text": sentence, "memories": [number, number]}}, ...]}}'
DOTS = '{{"{}": [{{"text": "...", "memories": [1]}}, {{"text": "...", "memories": [1, 3]}}]}}'
SAID = [
    good("marks in the text", lambda kit: kit.json([f"{A} [1]", f"{TEA[:-1]} [3]."]), *TOLD),
    good("half of a character", lambda kit: kit.json([f"\ud800{A} [1]"]), *TOLD),
    good("one text with marks", lambda kit: kit.json(f"{A} [1] {TEA} [3]"), *TOLD),
    good("one that cites nothing", lambda kit: kit.json([*kit.entries(), {"text": "Hi!"}]), *TOLD),
    good("a bare citation", lambda kit: kit.json([{"text": A, "memories": 1}]), *TOLD),
    good("citations in a text", lambda kit: kit.json([{"text": A, "memories": "1, 9"}]), *TOLD),
    good("prose", lambda kit: f"{A} [1]\n\n{TEA} [3]", *TOLD, note=PROSE),
    good("prose with marks before the stop", lambda kit: f"{A[:-1]} [1].", *TOLD, note=PROSE),
    good("prose in bullets", lambda kit: f"- {A} [1]\n- {TEA} [3]", *TOLD, note=PROSE),
    good("prose after a thought", lambda kit: f"<think>a</think>{A} [1]", *TOLD, note=PROSE),
    good("prose with OpenAI's marks", lambda kit: f"{A}【1†source】", *TOLD, note=PROSE),
    good("OpenAI's marks in JSON", lambda kit: kit.json([f"{A}【1†memory.txt】"]), *TOLD),
    bad("prose without marks", lambda kit: f"{A} {TEA}", *TOLD),
    bad("prose with false marks", lambda kit: f"{A} [8] {TEA} [9]", *TOLD),
    bad("the form of sentences copied", lambda kit: FORM.format(kit.key), *TOLD),
    bad("the form of sentences filled with dots", lambda kit: DOTS.format(kit.key), *TOLD),
    bad("no citations", lambda kit: kit.json([{"text": A}, {"text": TEA}]), *TOLD),
    good("the wrong citations, mended", lambda kit: kit.json(kit.entries([4, 3, 2, 1])), *TOLD),
    bad("a number nobody stored", lambda kit: kit.json(["The dentist moved 99 times [1]."]), *TOLD),
    bad("a refusal as a sentence", lambda kit: kit.json(["I cannot help with that. [1]"]), *TOLD),
    bad("empty sentences", lambda kit: kit.json([{"text": " ", "memories": [1]}]), *TOLD),
    bad("sentences of null", lambda kit: kit.json([{"text": None, "memories": [1]}]), *TOLD),
    good("a thousand sentences", lambda kit: kit.json(kit.entries() * 250), *TOLD, note=BEFORE),
    good("a loop", lambda kit: kit.json([f"{A} [1] {TEA} [3] " * 75]), *TOLD, note=BEFORE),
    good("a loop in prose", lambda kit: f"{A} [1]\n" * 75, *TOLD, note=f"74 {BEFORE}"),
    *[
        good(name, lambda kit, more=more: kit.json([*kit.entries(), *more]), *TOLD, note=note)
        for name, more, note in (
            ("thirty sentences", [f"{'dentist ' * n}[1]" for n in range(1, 27)], "10 sentence(s)"),
            ("a long sentence", [f"{LONG}[1]"], "1 sentence(s) left out of more than 500"),
            ("debris", ['[{"text": "So. The dentist moved", "memories": [1]'], "that are no prose"),
            (
                "a fact with all memories",
                [{"text": "Dentist moved.", "memories": [1, 2]}],
                "nothing",
            ),
        )
    ],
    bad("nothing but a long sentence", lambda kit: f"{LONG}[1]", *TOLD),
]

USELESS = [
    *[bad(name, lambda kit, said=said: said) for name, said in UNUSABLE.items()],
    *[bad(name, lambda kit, error=error: error) for name, error in ERRORS.items()],
    bad("None", lambda kit: None),
    bad("a null list", lambda kit: json.dumps({kit.key: None})),
    bad("an object for the list", lambda kit: json.dumps({kit.key: {"one": 2}})),
    bad("a number for the list", lambda kit: json.dumps({kit.key: 7})),
    bad("cut off", lambda kit: f'{{"{kit.key}": [{{"memory": 1, "te'),
    bad("only a thought", lambda kit: f"<think>Perhaps {kit.json()}, or"),
    bad("single quotes", lambda kit: f"{{'{kit.key}': 'x'}}"),
    bad("YAML", lambda kit: f"{kit.key}:\n  - memory: 1\n    score: 0.9"),
    bad("two megabytes of JSON", lambda kit: kit.json() + " " * 2_000_000, RANK),
    bad("a number of ten thousand digits", lambda kit: f'{{"{kit.key}": {"9" * 10_000}}}'),
]

REPLIES = [
    *[*WRAPPED, *NUMBERED, *SCORED, *FORMED, *THOUGHT, *DRAFTED, *TEXTS, *SHAPES, *SAID, *USELESS]
]
