"""What models say when they are asked for JSON: the good, the sloppy and the useless."""

import json
from collections.abc import Callable

from stages.reply_kit import CONTENTS, KITS, LEFT_OUT, RANK, RANKS, RERANK, SCORES, Make, bad, good

from benchmarks.conformance.material import ERRORS, UNUSABLE

PAIRS = KITS[0].pairs()
CUT, SEVERAL = "the list is cut off", "of several answers, the last one counts"


def of(entries: object) -> Make:
    return lambda kit: kit.json(entries)


def each(entry: Callable[[int, float], object]) -> Make:
    return of([entry(n, s) for n, s in PAIRS])


WRAPPED = [
    good("bare", lambda kit: kit.json()),
    good("fenced", lambda kit: f"```json\n{kit.json()}\n```"),
    good("fence that is never closed", lambda kit: f"```json\n{kit.json()}"),
    good("prose with brackets", lambda kit: f"I looked {{closely}} [twice]: {kit.json()} [end]"),
    good("other JSON before", lambda kit: f'{{"thoughts": ["so so"]}} {{}} {kit.json()}'),
    good("after a thought", lambda kit: f'<think>{{"{kit.key}": []}}?</think>{kit.json()}'),
    good(
        "after two thoughts",
        lambda kit: f"<think>{kit.draft()}?</think><think>No: {kit.draft()}</think>{kit.json()}",
    ),
    good("before a thought", lambda kit: f"{kit.json()}<think>Was that right? {kit.draft()}"),
    good("after a thought begun before", lambda kit: f"hm, so</think>\n{kit.json()}"),
    good("trailing commas", lambda kit: kit.json().replace("}]", "},]").replace("]}", "],}")),
    good("comments", lambda kit: f"{kit.json()[:-1]} // see above\n/* [] */ }} # so"),
    good("line breaks in a string", lambda kit: f'{{"why": "a\nb", {kit.json()[1:]}'),
    good(
        "more than was asked for", lambda kit: json.dumps({"why": ["x"], **kit.payload(), "n": 4})
    ),
    good("the list alone", lambda kit: json.dumps(kit.entries())),
    good("inside another object", lambda kit: json.dumps({"result": {"data": kit.payload()}})),
    good("under its name", lambda kit: kit.json(kit.payload())),
    good("said twice", lambda kit: f"{kit.json()}\n{kit.json()}"),
    good("a tool call", lambda kit: json.dumps({"name": "f", "arguments": kit.payload()})),
]

ENTRIES = [
    good("numbers in words", lambda kit: kit.json(kit.entries(["Memory 1", "[2]", "#3", 4.0]))),
    good("duplicates", lambda kit: kit.json(kit.entries() * 2)),
    good("one missing", lambda kit: kit.json(kit.entries()[:3]), order="bacd"),
    good("an empty list", lambda kit: kit.json([]), *RANKS, order="abcd"),
    good("one out of range", lambda kit: kit.json([*kit.entries(), kit.entry(1, 9)])),
    *[
        good(f"number {x}", lambda kit, x=x: kit.json([kit.entry(1, x), *kit.entries()]))
        for x in (0, -1, 10**40, None, [[1]], True, "1.5")
    ],
    good("junk among the entries", lambda kit: kit.json([None, 7.5, [], {}, *kit.entries()])),
    bad("all out of range", lambda kit: kit.json(kit.entries([5, 6, 7, 8]))),
    bad("all between two", lambda kit: kit.json(kit.entries([1.5, 2.5, 3.5, 0.5]))),
    bad("all in words", lambda kit: kit.json(kit.entries(["one", "two", "three", "four"]))),
]

LAST = "of several scores, the last one counts"
RATED: list[tuple[str, object, str, str]] = [
    ("pairs", PAIRS, "bdac", ""),
    ("a score as a text", [{"memory": 1, "score": "0.8"}], "abcd", ""),
    ("all the same", [{"memory": n, "score": 0.5} for n in (1, 2, 3, 4)], "abcd", ""),
    ("one of 0.05", [[4, 0.05]], "dabc", ""),
    ("scored twice, and the last counts", [[1, 1.0], *PAIRS], "bdac", LAST),
    ("one score of none", [{"memory": 3}, *PAIRS], "bdac", ""),
    ("one score below zero", [*PAIRS[:3], [4, -1]], "bdac", LEFT_OUT.format(1)),
]
ORDERED = [
    ([2, 4, 1, 3], "bdac", ""),
    ([2, 2, 2, 2], "bacd", LEFT_OUT.format(3)),
    ([2, "1", 9], "bacd", LEFT_OUT.format(2)),
]
NAMES: dict[str, Callable[[int, float], object]] = {
    "an id": lambda n, s: {"id": n, "score": s},
    "a rating": lambda n, s: {"rating": s, "Memory": n},
    "Cohere's names": lambda n, s: {"doc_id": n, "relevance_score": s},
    "a rank beside": lambda n, s: {"rank": 1, "memory": n, "score": s, "why": "so"},
}
SCORED = [
    *[good(name, of(x), *RANKS, order=order, note=note) for name, x, order, note in RATED],
    *[good(f"{x}", of(x), RERANK, order=order, note=note) for x, order, note in ORDERED],
    *[good(name, each(entry), *RANKS) for name, entry in NAMES.items()],
    *[
        good(
            f"up to {top}",
            each(lambda n, s, top=top: [n, s * top]),
            *RANKS,
            note=f"scale of {top}",
        )
        for top in (5, 10, 100)
    ],
    good("bare pairs in a fence", lambda kit: f"```json\n{PAIRS}\n```", *RANKS),
    bad("a list of scores", of(SCORES), *RANKS),
    bad("numbers and scores in one list", of([x for pair in PAIRS for x in pair]), *RANKS),
    bad("scores on two scales", of([[1, 0.9], [2, 0.7], [3, 8]]), *RANKS),
    bad("scores of thousands", of([[1, 9000], [2, 700]]), *RANKS),
    bad("three numbers each", each(lambda n, s: [n, s, n]), *RANKS),
    bad("two scores each", each(lambda n, s: {"memory": n, "score": s, "rating": 1}), *RANKS),
    bad("numbers from 0", of([[n - 1, s] for n, s in PAIRS]), *RANKS),
    bad("a ranking from 0", of([1, 3, 0, 2]), *RANKS),
    bad("scores in words", lambda kit: kit.json([kit.entry(1, 1, score="high")]), RANK),
    bad("scores of null", lambda kit: kit.json([kit.entry(1, 1, score=None)]), RANK),
    bad("NaN", lambda kit: '{"scores": [{"memory": 1, "score": NaN}]}', RANK),
    bad("integers in prose", lambda kit: "Of the 4 memories 2 is the best, then 1 and 3.", *RANKS),
]

BROKEN = [
    good("cut off after an entry", lambda kit: kit.json()[:-2], note=CUT),
    good("cut off in a new entry", lambda kit: kit.json()[:-2] + ', {"memory": 1, "sc', note=CUT),
    good("cut off in a fence", lambda kit: f"```json\n{kit.json()[:-2]}\n```", note=CUT),
    good("a bare list cut off", lambda kit: json.dumps(kit.entries())[:-1], note=CUT),
    good("pairs cut off", lambda kit: kit.json(PAIRS)[:-2] + ", [1, 0.", *RANKS, note=CUT),
    good(
        "one of many", lambda kit: f'{{"{kit.key}": [[2, 0.9], [4', *RANKS, order="bacd", note=CUT
    ),
    bad("the form copied", lambda kit: f'{{"{kit.key}": [[number, score], [number, score], ...]}}'),
    bad("the form in quotes", lambda kit: f'{{"{kit.key}": [["number", "score"], "..."]}}'),
    bad("an open list and nothing more", lambda kit: f'{{"{kit.key}": ['),
    bad(
        "an open entry and nothing more", lambda kit: f'{{"{kit.key}": [{{"memory": 1, "score": 0.'
    ),
    bad("brackets in brackets, open", lambda kit: f'{{"{kit.key}": ' + "[[" * 5_000),
]

THOUGHTS = {
    "[THINK]": ("[THINK]", "[/THINK]"),
    "<reasoning>": ("<reasoning>", "</reasoning>"),
    "Kimi's": ("◁think▷", "◁/think▷"),
    "ByteDance's": ("<seed:think>", "</seed:think>"),
    "Sky-T1's": ("<|begin_of_thought|>", "<|end_of_thought|>"),
    "Command R's": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "gpt-oss's": ("<|channel|>analysis<|message|>", "<|end|><|channel|>final<|message|>"),
}
THOUGHT = [
    *[
        good(f"thoughts in {name}", lambda kit, t=tags: f"{t[0]}{kit.draft()}{t[1]}{kit.json()}")
        for name, tags in THOUGHTS.items()
    ],
    bad("a thought that never ends", lambda kit: f"[THINK]So {kit.draft()}, or"),
]

CORRECTED = {
    "a correction": "{} Wait, correction: {}",
    "two fences": "```json\n{}\n```\nOn second thought:\n```json\n{}\n```",
    "two tool calls": '[{{"arguments": {}}}, {{"arguments": {}}}]',
    "there and back": "{1} No: {0} No: {1}",
}
WRONG = [[1, 1], [2, 0]]
DRAFTED = [
    *[
        good(name, lambda kit, text=text: text.format(kit.draft(), kit.json()), note=SEVERAL)
        for name, text in CORRECTED.items()
    ],
    good("bare lists", lambda kit: f"{WRONG}, or: {kit.pairs()}", *RANKS, note=SEVERAL),
    good("a draft before an open list", lambda kit: f"{kit.draft()} {kit.json()[:-2]}", note=CUT),
    good("a draft that is cut off", lambda kit: f"{kit.draft()[:-3]}, no:\n{kit.json()}"),
]

FORMS = [  # they may be understood by a reader, and are not by ours: the fallback is safe
    bad("lines", lambda kit: "\n".join(f"Memory {n}: {s}" for n, s in PAIRS), *RANKS),
    bad("an order", lambda _: "[2] > [4] > [1] > [3]", *RANKS),
    bad("Python", lambda kit: f"{kit.payload()}"),
    bad("a list as text", lambda kit: kit.json(json.dumps(kit.entries()))),
    bad("JSON lines", lambda kit: "\n".join(map(json.dumps, kit.entries()))),
    bad("scores under the numbers", of(dict(PAIRS)), *RANKS),
    bad("another name", lambda kit: json.dumps({"items": {"x": kit.entries()}})),
    bad("a table", lambda kit: "| text | memories |\n|---|---|\n| The dentist [1] | 1 |"),
    bad("YAML", lambda kit: f"{kit.key}:\n  - memory: 1\n    score: 0.9"),
]

TOLD = ("RewriteMemory", "Reflect")
A, TEA = CONTENTS["a"], CONTENTS["c"]
LONG = "The dentist moved " * 3000
LEFT = "sentence(s) left out that repeat one"
PROSE = "it is prose with marks"
DOTS = '{{"{}": [{{"text": "...", "memories": [1]}}, {{"text": "...", "memories": [1, 3]}}]}}'
SAID = [
    good("marks in the text", lambda kit: kit.json([f"{A} [1]", f"{TEA[:-1]} [3]."]), *TOLD),
    good("half of a character", lambda kit: kit.json([f"\ud800{A} [1]"]), *TOLD),
    good("one that cites nothing", lambda kit: kit.json([*kit.entries(), {"text": "Hi!"}]), *TOLD),
    good("citations in a text", lambda kit: kit.json([{"text": A, "memories": "1, 9"}]), *TOLD),
    good("prose", lambda kit: f"- {A} [1]\n- {TEA} [3]", *TOLD, note=PROSE),
    good("prose with one mark", lambda kit: f"<think>a</think>{A} [1]", *TOLD, note=PROSE),
    good("prose with OpenAI's marks", lambda kit: f"{A}【1†source】", *TOLD, note=PROSE),
    bad("prose without marks", lambda kit: f"{A} {TEA}", *TOLD),
    bad("the form of sentences filled with dots", lambda kit: DOTS.format(kit.key), *TOLD),
    bad("no citations", lambda kit: kit.json([{"text": A}, {"text": TEA}]), *TOLD),
    good("the wrong citations, mended", lambda kit: kit.json(kit.entries([4, 3, 2, 1])), *TOLD),
    bad("a number nobody stored", lambda kit: kit.json(["The dentist moved 99 times [1]."]), *TOLD),
    bad("a refusal as a sentence", lambda kit: kit.json(["I cannot help with that. [1]"]), *TOLD),
    bad("empty sentences", lambda kit: kit.json([{"text": " ", "memories": [1]}]), *TOLD),
    good("a loop", lambda kit: kit.json([f"{A} [1] {TEA} [3] " * 75]), *TOLD, note=LEFT),
    *[
        good(name, lambda kit, more=more: kit.json([*kit.entries(), *more]), *TOLD, note=LEFT)
        for name, more in (
            ("thirty sentences", [f"{'dentist ' * n}[1]" for n in range(1, 27)]),
            ("a long sentence", [f"{LONG}[1]"]),
            ("debris", ['[{"text": "So. The dentist moved", "memories": [1]']),
        )
    ],
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
    bad("two megabytes of JSON", lambda kit: kit.json() + " " * 2_000_000, RANK),
    bad("a number of ten thousand digits", lambda kit: f'{{"{kit.key}": {"9" * 10_000}}}'),
]

YES = ["yes", "**Yes**", "Yes, it does.", '{"search": "yes"}', '"true"']
NO = ["No: small talk.", "False", "```\nno\n```", '{"search": "no"}', "<think>yes?</think>no"]
UNSURE = ["Perhaps.", "Yesterday.", "yes or no", '{"search": 1}', "1"]

REPLIES = [*WRAPPED, *ENTRIES, *SCORED, *BROKEN, *THOUGHT, *DRAFTED, *FORMS, *SAID, *USELESS]
