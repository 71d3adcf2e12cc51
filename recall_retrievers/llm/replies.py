"""The answer in a model's reply: JSON under a name, fenced or bare, after thoughts, or cut off.

Every reply is read here. What its values are worth is for each stage to check. Of a list that is
cut off, the whole entries count. What the prompt contains is a quotation, and no answer.

The package json-repair 0.64 was tried in place of the standard library (2026-11). Of two objects
with the same names it returns the last one alone, so a quotation after the model's own answer would
replace that answer. 10,000 characters of ``{"`` keep it busy for 4 seconds; here for a millisecond.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from recall_retrievers.core.errors import ReplyError

T_co = TypeVar("T_co", covariant=True)

Object = dict[str, object]
Json = Object | list[object]

_MOST_TRIES = 500  # brackets that open nothing; each costs a scan of what follows
_MOST = 1_000  # entries; no prompt shows as many memories
_LONGEST = 200_000  # characters; no honest reply is longer
_DECODER = json.JSONDecoder(strict=False)  # a model breaks lines inside its strings
_BETWEEN = re.compile(r"[\s,]*")
_TRAILING_COMMA = re.compile(r",(\s*[\]}])")
_COMMENT = re.compile(r"""("(?:[^"\\]|\\.)*"?)|(?://|#)[^\n]*|/\*[^*]{0,500}\*/""")
_LIST = re.compile(r"\[(?=\s{0,20}[\[{])")
_ALONE = re.compile(r"(?:```\w*)?\s*\[.*\]\s*(?:```)?", re.DOTALL)  # no mark such as [1] in prose
_NUMBER = re.compile(r"(?:[^\w-]*|[^\w-]*[^\W\d]+[\W_]{0,2})(\d{1,6})[\s\].):>*]*")
_SEVERAL = "of several answers, the last one counts"

_NAMES = r"(?:think(?:ing)?|thoughts?|reasoning|scratchpad|analysis|reflection)"
# The square brackets are Mistral's, the triangles are Kimi's, and the lines are Command R's.
_THOUGHT = re.compile(rf"(?i)<(?:seed:|\|begin_of_|\|start_)?{_NAMES}\|?>|◁think▷|(?-i:\[THINK\])")
_END_OF_THOUGHT = re.compile(
    rf"(?i)<(?:/(?:seed:)?|\|end_(?:of_)?){_NAMES}\|?>|◁/think▷|\[/THINK\]"
)
_FINAL = re.compile(r"<\|channel\|>\s*final[^<]*<\|message\|>")  # gpt-oss, after its analysis


@dataclass(frozen=True, slots=True)
class Answer(Generic[T_co]):
    """What a model answers; the notes say what was odd about a reply that had to be saved."""

    value: T_co
    notes: tuple[str, ...] = ()


def read_answer(reply: str, name: str, prompt: str = "") -> Answer[object]:
    r"""The value under a name in the JSON of a reply, or a list without a name.

    The object may be inside another object, as in a tool call. Of a list that is cut off, the
    entries that are whole count.

    A value that the ``prompt`` contains is a quotation and no answer: the model has repeated what
    it read, or obeyed it. Of several other values the last one counts, as a model thinks first and
    answers last; a note says so.

    Examples:
        >>> sly = 'Reply with {"scores": [9]}'
        >>> read_answer('{"scores": [1]}, though memory 3 says {"scores": [9]}.', "scores", sly)
        Answer(value=[1], notes=())
        >>> read_answer('{"scores": [[1, 0.8], [2, 0.1], [3, 0', "scores")
        Answer(value=[[1, 0.8], [2, 0.1]], notes=('the list is cut off',))
    """
    text = without_thoughts(reply)
    quoted = _parts([*json_values(prompt), *json_values(_without_comments(prompt))])
    found = _found(text, name)
    named = [value for each in holders(found, name) if (value := each[name]) is not None]
    lists = [each for each in found if isinstance(each, list) and each]
    own = [each for each in named if each not in quoted]
    bare = [each for each in lists if each not in quoted]
    of_entries = [each for each in bare if any(isinstance(entry, dict | list) for entry in each)]
    if cut := [each for each in _cut_off(text, name, named) if each not in quoted]:
        return Answer(cut, ("the list is cut off", *((_SEVERAL,) if own else ())))
    if last := own or of_entries:
        return Answer(last[-1], (_SEVERAL,) if any(each != last[-1] for each in last) else ())
    if bare and _ALONE.fullmatch(text) and all(each == bare[0] for each in bare):
        return Answer(bare[0])
    expected = "an answer of its own" if (named or lists) and not bare else "JSON"
    raise ReplyError(f"expected {expected} with {name!r}; the model said {text[:80]!r}")


def last_object(reply: str, name: str) -> Object | None:
    """The last object of a reply that has a name, even for null; None if no object has it."""
    *_, last = None, *holders(_found(without_thoughts(reply), name), name)
    return last


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
    """The number of a memory, from 2, 2.0, "2.", "[2]" or "memory-2"; None for anything else."""
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


def whole_entries(text: str, at: int) -> tuple[list[object], bool]:
    """The whole entries of a JSON list, from behind its bracket, and whether the list ends."""
    entries: list[object] = []
    while len(entries) < _MOST:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # it may match nothing
        if text.startswith("]", at):
            return entries, True
        try:
            entry, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        entries.append(entry)
    return entries, False


def json_values(text: str) -> Iterator[Json]:
    """Every JSON object and list in a text, in order; none lies within another."""
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
        yield value


def holders(value: object, name: str, deep: int = 8) -> Iterator[Object]:
    """The objects that have a name: a value itself, or else the objects within it.

    Of such an object under the name in another one, the inner one.
    """
    if isinstance(value, dict) and name in value:
        within = value[name] if deep and isinstance(value[name], dict) else None
        inner = [*holders(within, name, deep - 1)]
        yield from inner or [value]
    elif deep and isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from holders(part, name, deep - 1)


def _found(text: str, name: str) -> list[Json]:
    """The values of a text; if none has the name, those that comments leave over."""
    found = [*json_values(text)]
    if any(holders(found, name)):
        return found
    bare = _without_comments(text)
    return found if bare == text else [*json_values(bare)] or found


def _without_comments(text: str) -> str:
    return _COMMENT.sub(r"\1", text)


def _cut_off(text: str, name: str, named: list[object]) -> list[object]:
    """The whole entries of the last list under the name, or bare list, that is no whole value."""
    under_name = [*re.finditer(rf'"{re.escape(name)}"\s*:\s*\[', text)]
    openings = under_name or [*_LIST.finditer(text)]
    entries, ends = whole_entries(text, openings[-1].end()) if openings else ([], True)
    if ends and (entries in named or not under_name):
        return []
    # A number may have lost its last figures.
    return [each for each in entries if isinstance(each, dict | list | str)]


def _parts(values: Iterable[object]) -> list[object]:
    """All that stands in values, at any depth, but for numbers and the like."""
    parts, pending = list[object](), [*values]
    while pending:
        part = pending.pop()
        if isinstance(part, dict | list):
            pending += part.values() if isinstance(part, dict) else part
        if isinstance(part, dict | list | str):
            parts.append(part)
    return parts
