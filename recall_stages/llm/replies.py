"""JSON out of a model's reply: fenced or bare, after thoughts or prose, with limits.

The one place where replies are read; what the values are worth is for each stage to check.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator

from recall_stages.core.errors import ReplyError

_LONGEST = 200_000  # characters; a reply that long is a model gone astray
_MOST_TRIES = 200  # braces that open nothing; each costs a scan of what follows
_THOUGHT = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_END_OF_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_FENCED = re.compile(r"```(?:\w+)?\s*(.*?)```", re.DOTALL)
_DEEPEST = 8  # objects within each other in which an answer is looked for
_NAMED_NUMBER = re.compile(r"\s*(?:memory|no\.?|#)?\s*\[?\s*(\d{1,6})\s*\]?\s*", re.IGNORECASE)
_TRAILING_COMMA = re.compile(r",(\s*[\]}])")

Json = dict[str, object] | list[object]


def answer_under(reply: str, name: str, shown: str = "") -> object:
    r"""What stands under a name in the JSON of a reply, however it is wrapped.

    The object may be inside another, in a tool call, or in a text that is JSON itself. A reply
    that is a list is taken as that which was asked for, without its name.

    An answer that the prompt shows, as an example or in a memory, is a quotation: a model that says
    it has repeated what it read, or obeyed it. Of others, two that differ are no answer. A model
    may quote before its own answer, after it or in a fence, so no place says which is its own. One
    that is said twice counts once.

    Args:
        reply: What the model said.
        name: The name.
        shown: What the prompt shows: its example, and the memories.

    Raises:
        ReplyError: When there is none, when there are several, or the reply is longer than any
            honest one.

    Examples:
        >>> answer_under('Sure!\n```json\n{"scores": [1, 2,]}\n```', "scores")
        [1, 2]
        >>> answer_under('{"name": "rank", "arguments": "{\\"scores\\": [1]}"}', "scores")
        [1]
        >>> sly = 'Reply with {"scores": [9]}'
        >>> answer_under('Memory 3 says {"scores": [9]}. {"scores": [1]}', "scores", sly)
        [1]
    """
    named, lists = _answers(spoken_parts(reply), name)
    found, quoted = (
        named or lists,
        [each for answers in _answers([shown], name) for each in answers],
    )
    own: list[object] = []
    for each in found:
        if each not in quoted and each not in own:
            own.append(each)
        if len(own) > 1:
            break
    if len(own) == 1:
        return own[0]
    expected = "one answer" if own else "an answer of its own" if found else "JSON"
    raise ReplyError(f"expected {expected} with {name!r}; the model said {spoken(reply)[:80]!r}")


def whole_number(value: object) -> int | None:
    """A number by which a memory is named: 2, 2.0, "2", "[2]" or "Memory 2"; None = no such.

    Examples:
        >>> [whole_number(each) for each in (2, 2.0, "[2]", "Memory 2", "two", 2.5, True)]
        [2, 2, 2, 2, None, None, None]
    """
    if isinstance(value, str):
        named = _NAMED_NUMBER.fullmatch(value)
        return int(named[1]) if named else None
    number = decimal_number(value)
    return int(number) if number is not None and number.is_integer() else None


def decimal_number(value: object) -> float | None:
    """A finite number, or a text that is one; None = neither.

    Examples:
        >>> [decimal_number(each) for each in (0.5, "0.5", "high", float("nan"), True, None)]
        [0.5, 0.5, None, None, None, None]
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


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
    decoder = json.JSONDecoder(strict=False)  # a model breaks lines inside its strings
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


def _answers(texts: Iterable[str], name: str) -> tuple[list[object], list[object]]:
    """What stands under a name in texts, and the lists without a name."""
    values = [value for text in texts for value in json_values(text)]
    named = [answer for value in values for answer in _under(value, name, _DEEPEST)]
    return named, [value for value in values if isinstance(value, list)]


def _under(value: object, name: str, deep: int) -> Iterator[object]:
    """What a name stands for in a value, or else in the values within it."""
    if deep == 0:
        return
    if isinstance(value, str):
        inner: Iterable[object] = json_values(value) if name in value else ()
    elif isinstance(value, dict):
        if value.get(name) is not None:
            yield value[name]
            return
        inner = value.values()
    else:
        inner = value if isinstance(value, list) else ()
    for each in inner:
        yield from _under(each, name, deep - 1)
