"""What the checks are made of: items, and replies of models that a program can hardly read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, permutations

MARK = "mark"
"""The metadata by which a result is known again, also where its id was lost."""


@dataclass(frozen=True)
class Item:
    """One document or node, without a framework.

    Args:
        id: Its id.
        content: Its text.
        score: How relevant it is, higher is better; None = unknown.
        metadata: What else is known of it.
    """

    id: str
    content: str
    score: float | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)


def _item(name: str, content: str, score: float, recorded: str) -> Item:
    known = {MARK: name, "stars": 3, "created_at": recorded, "memory_type": "observation"}
    return Item(name, content, score, known)


ITEMS = (
    _item("a", "The dentist moved to Elm Street.", 0.9, "2024-02-01T09:00:00+00:00"),
    _item("b", "A filling by the dentist.", 0.6, "2024-03-05T10:00:00+00:00"),
    _item("c", "Green tea in the morning.", 0.5, "2023-11-20T18:30:00+00:00"),
    _item("d", "Carla plans a wedding.", 0.05, "2024-01-10T12:00:00+00:00"),
)

BARE = tuple(Item(each.id, each.content, None, {MARK: each.id}) for each in ITEMS)

# The same words in another order: for whoever counts words these are equal, and none is a copy.
TIED = tuple(
    _item(f"tied-{place}", " ".join(words), 0.5, "2024-03-05T10:00:00+00:00")
    for place, words in enumerate(islice(permutations(["tea", "milk", "honey", "lemon"]), 4))
)

# -- replies of models ----------------------------------------------------------------------------

_DEEP = 3_000  # three times what Python's own parser goes down

UNUSABLE: Mapping[str, str] = {
    "a refusal": "I cannot help with that.",
    "nothing": "",
    "spaces": " \n\t ",
    "the word None": "None",
    "null": "null",
    "a number": "42",
    "true": "true",
    "an empty object": "{}",
    "a refusal in Chinese": "抱歉，我无法回答这个问题。",
    "a refusal as JSON": '{"error": "I cannot help with that."}',
    "a question back": "Which memories do you mean?",
    "only a fence": "```json\n```",
    "XML": '<scores><score memory="1">0.9</score></scores>',
    "an error page": "<html><body>502 Bad Gateway</body></html>",
    "control characters": "\x00\x01\x02\x1b[31m",
    "right-to-left marks": "\u202e}]1 :yromem[{",
    "nested too deep": "[" * _DEEP + "]" * _DEEP,
    "objects nested too deep": '{"a":' * _DEEP + "1" + "}" * _DEEP,
    "a whole book": "x" * 210_000,
    "many braces": "{[" * _DEEP,
}
"""Replies in which nobody can find an answer, by name."""

ERRORS: Mapping[str, Exception] = {
    "a connection error": ConnectionError("the model is down"),
    "a timeout": TimeoutError("too slow"),
    "an error of the framework": ValueError("bad request: " + "x" * 5_000),
    "an error without words": RuntimeError(),
}
"""What calls of a model raise, by name."""

WRAPPINGS: Mapping[str, Callable[[str], str]] = {
    "fenced": lambda reply: f"```json\n{reply}\n```",
    "a fence that is never closed": lambda reply: f"```\n{reply}",
    "prose before": lambda reply: f"Sure, here you are: {reply}",
    "prose after": lambda reply: f"{reply}\nI hope that this helps!",
    "prose in another language": lambda reply: f"好的，结果如下：\n{reply}\n如上所述。",
    "after a thought": lambda reply: f"<think>Is it 3 or 7?</think>{reply}",
    "said twice": lambda reply: f"{reply}\n{reply}",
    "cut off": lambda reply: reply[: max(len(reply) // 2, 12)],  # a word is said whole
    "a byte order mark": lambda reply: "\ufeff" + reply,
}
"""What models put around a good reply, or take away from it, by name."""

NUMBERINGS: Mapping[str, Callable[[int], Sequence[int]]] = {
    "doubled": lambda count: [1] * count,
    "all twice": lambda count: [*range(1, count + 1)] * 2,
    "one unknown": lambda count: [*range(1, count + 1), count + 5],
    "all unknown": lambda count: [count + place for place in range(2, count + 2)],
    "a zero": lambda count: [0, *range(1, count + 1)],
    "a negative one": lambda count: [-1, *range(1, count + 1)],
    "a huge one": lambda count: [10**40, *range(1, count + 1)],
    "only one": lambda count: [count],
    "none": lambda _: [],
}
"""The numbers that a reply names, of so many items numbered from 1, by name."""


def next_reply(replies: Sequence[object], prompt: str, count: int) -> object:
    """The reply to one call of a model.

    Args:
        replies: What it says, call by call; the last one for ever. A function is given the prompt
            and returns what is said; an exception is raised.
        prompt: What the model is asked.
        count: The number of the call, from 1.

    Raises:
        Exception: The reply, where it is one.

    Examples:
        >>> [next_reply(["yes", "no"], "?", count) for count in (1, 2, 3)]
        ['yes', 'no', 'no']
        >>> next_reply([str.upper], "shout", 1)
        'SHOUT'
    """
    reply = replies[min(count, len(replies)) - 1]
    if isinstance(reply, Exception):
        raise reply
    return reply(prompt) if callable(reply) else reply
