"""JSON out of a model's reply: fenced or bare, after thoughts or prose, with limits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from recall_stages.errors import ReplyError

_LONGEST = 200_000  # characters; a reply that long is a model gone astray
_MOST_TRIES = 200  # braces that open nothing; each costs a scan of what follows
_THOUGHT = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_END_OF_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_FENCED = re.compile(r"```(?:\w+)?\s*(.*?)```", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[\]}])")

Json = dict[str, object] | list[object]


def read_json(reply: str) -> Json:
    r"""The first JSON object or list in a reply.

    Raises:
        ReplyError: When there is none, or the reply is longer than any honest one.

    Examples:
        >>> read_json('Sure!\n```json\n{"scores": [1, 2,]}\n```')
        {'scores': [1, 2]}
    """
    for part in spoken_parts(reply):
        for value in json_values(part):
            return value
    raise ReplyError(f"expected JSON; the model said {spoken(reply)[:80]!r}")


def spoken(reply: str) -> str:
    """A reply without thoughts; these may have begun in the prompt, or have been cut off.

    Raises:
        ReplyError: When the reply is longer than any honest one.

    Examples:
        >>> spoken("<think>Perhaps March?</think> None.")
        'None.'
        >>> spoken("Perhaps March?</think> None.")
        'None.'
    """
    if len(reply) > _LONGEST:
        raise ReplyError(f"expected a short JSON reply; got {len(reply)} characters")
    ends = [each.end() for each in _END_OF_THOUGHT.finditer(reply)]
    begin = _THOUGHT.search(reply)
    before = reply[: begin.start()] if begin else "" if ends else reply
    return (before + (reply[ends[-1] :] if ends else "")).strip()


def spoken_parts(reply: str) -> Iterator[str]:
    """The fenced parts of a reply, then the whole of it: where an answer is looked for."""
    said = spoken(reply)
    yield from _FENCED.findall(said)
    yield said


def json_values(text: str) -> Iterator[Json]:
    """Every JSON object and list in a text, in order; none lies within another."""
    text = _TRAILING_COMMA.sub(r"\1", text)
    decoder = json.JSONDecoder()
    end = tries = 0
    for opening in re.finditer(r"[{\[]", text):
        if opening.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):  # no JSON, or a number of thousands of digits
            tries += 1
            if tries == _MOST_TRIES:
                return
            continue
        yield value
