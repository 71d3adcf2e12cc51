"""JSON out of a model's reply: fenced or bare, after thoughts or prose, with limits.

Every reply is read here. What its values are worth is for each stage to check.

The standard library finds the JSON. The package json-repair 0.64 was tried in its place (2026-11).
Of two objects with the same names it returns the last one alone, so a quotation after the model's
own answer would replace that answer. Prose in brackets becomes part of the answer. 10,000
characters of ``{"`` keep it busy for 4 seconds; here they take one millisecond.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from recall_retrievers.core.errors import ReplyError

_MOST_TRIES = 500  # brackets that open nothing; each costs a scan of what follows
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder(strict=False)  # a model breaks lines inside its strings
_NUMBER = re.compile(r"\s*(?:memory|no\.?|#)?\s*\[?\s*(\d{1,6})\s*\]?\s*", re.IGNORECASE)
_TRAILING_COMMA = re.compile(r",(\s*[\]}])")
_LONGEST = 200_000  # characters; no honest reply is longer
_NAMES = r"(?:think(?:ing)?|thoughts?|reasoning|scratchpad|analysis|reflection)"
# The square brackets are Mistral's, the triangles are Kimi's, and the lines are Command R's.
_THOUGHT = re.compile(rf"(?i)<(?:seed:|\|begin_of_|\|start_)?{_NAMES}\|?>|◁think▷|(?-i:\[THINK\])")
_END_OF_THOUGHT = re.compile(
    rf"(?i)<(?:/(?:seed:)?|\|end_(?:of_)?){_NAMES}\|?>|◁/think▷|\[/THINK\]"
)
_FINAL = re.compile(r"<\|channel\|>\s*final[^<]*<\|message\|>")  # gpt-oss, after its analysis

Object = dict[str, object]
Json = Object | list[object]


def objects_with(reply: str, name: str) -> list[Object]:
    """Every object of a reply that has a name, even for null; a repeated object counts once."""
    objects: list[Object] = []
    for value in json_values(without_thoughts(reply)):
        objects += [found for found in holders(value, name) if found not in objects]
    return objects


def without_thoughts(reply: str) -> str:
    """A reply without thoughts, which may begin in the prompt or be cut off."""
    if len(reply) > _LONGEST:
        raise ReplyError(f"expected a short JSON reply; got {len(reply)} characters")
    *_, reply = _FINAL.split(reply)
    ends = [match.end() for match in _END_OF_THOUGHT.finditer(reply)]
    begin = _THOUGHT.search(reply)
    before = reply[: begin.start()] if begin else "" if ends else reply
    return (before + (reply[ends[-1] :] if ends else "")).strip()


def whole_number(value: object) -> int | None:
    """The number of a memory, from 2, 2.0, "2", [2] or "Memory 2"; None for anything else."""
    if isinstance(value, list) and len(value) == 1:
        [value] = value
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        return int(match[1]) if match else None
    number = decimal_number(value)
    return int(number) if number is not None and number.is_integer() else None


def decimal_number(value: object) -> float | None:
    """A finite number, or a text that is one, as a float; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def json_values(text: str) -> Iterator[Json]:
    """Every JSON object and list in a text, `unfolded`, in order; none lies within another."""
    text = _TRAILING_COMMA.sub(r"\1", text)
    end = tries = 0
    for opening in re.finditer(r"[{\[]", text):
        if opening.start() < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):  # no JSON, or a number of thousands of digits
            tries += 1
            if tries == _MOST_TRIES:
                return
            continue
        yield unfolded(value)


def unfolded(value: Any, deep: int = 8) -> Any:
    """A value of JSON in which no text is JSON itself: models write an argument of a tool so."""
    if isinstance(value, str) and deep and value.lstrip().startswith(("[", "{")):
        try:
            return unfolded(_DECODER.decode(value), deep - 1)
        except (ValueError, RecursionError):
            return value
    if isinstance(value, dict) and deep:
        return {name: unfolded(part, deep - 1) for name, part in value.items()}
    return [unfolded(x, deep - 1) for x in value] if isinstance(value, list) and deep else value


def whole_entries(text: str, at: int, most: int) -> tuple[list[object], bool]:
    """The whole entries of a JSON list, from behind its bracket, and whether the list ends."""
    entries: list[object] = []
    while len(entries) < most:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # it may match nothing
        if text.startswith("]", at):
            return entries, True
        try:
            entry, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        entries.append(unfolded(entry))
    return entries, False


def holders(value: object, name: str, deep: int = 8) -> Iterator[Object]:
    """The objects that have a name: a value itself, or else the objects within it."""
    if deep == 0:
        return
    if isinstance(value, str):
        inner: Iterable[object] = json_values(value) if name in value else ()
    elif isinstance(value, dict):
        if name in value:
            yield value
            return
        inner = value.values()
    else:
        inner = value if isinstance(value, list) else ()
    for part in inner:
        yield from holders(part, name, deep - 1)
