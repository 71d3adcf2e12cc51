"""The answer in a model's reply: JSON, fenced or bare, after thoughts or prose, whole or broken.

Every reply is read here. What its values are worth is for each stage to check. A reply may be cut
off, written in Python, or one entry a line. Only whole entries are taken. What the prompt contains
is a quotation, and no answer.

The package json-repair 0.64 was tried in place of the standard library (2026-11). Of two objects
with the same names it returns the last one alone, so a quotation after the model's own answer would
replace that answer. 10,000 characters of ``{"`` keep it busy for 4 seconds; here for a millisecond.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from recall_retrievers.core.errors import ReplyError

_MOST_TRIES = 500  # brackets that open nothing; each costs a scan of what follows
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder(strict=False)  # a model breaks lines inside its strings
_NUMBER = re.compile(r"(?:[^\w-]*|[^\w-]*[^\W\d]+[\W_]{0,2})(\d{1,6})[\s\].):>*]*")
_TRAILING_COMMA = re.compile(r",(\s*[\]}])")
_COMMENT = re.compile(r"""("(?:[^"\\]|\\.)*"?)|(?://|#)[^\n]*|/\*[^*]{0,500}\*/""")
_TUPLE = re.compile(r"\((\s*\d{1,6}\s*,[\s\d.]{1,20})\)")
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
    """The number of a memory, from 2, 2.0, "2.", [2] or "memory-2"; None for anything else."""
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
    """Every JSON object and list in a text, `unfolded`, in order; none lies within another.

    Where there is none, those that have comments count.
    """
    found = [*_values(text)]
    bare = text if found else _COMMENT.sub(r"\1", text)
    yield from found if bare == text else _values(bare)


def _values(text: str) -> Iterator[Json]:
    text = _TRAILING_COMMA.sub(r"\1", _TUPLE.sub(r"[\1]", text))
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
    if isinstance(value, dict) and name in value:
        yield value
    elif deep and isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from holders(part, name, deep - 1)


T_co = TypeVar("T_co", covariant=True)

_PYTHON = re.compile(r"[\[{]\s*(?:[\[{]\s*)?'")
_JSON = re.compile(r'[\[{]\s*"')
_TOKEN = re.compile(
    r"""'(?:[^'\\\n]|\\.){0,5000}'|"(?:[^"\\\n]|\\.){0,5000}"|\b(?:True|False|None)\b"""
)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_LIST = re.compile(r"\[(?=\s{0,20}[\[{])")
_LONGEST_PYTHON = 20_000  # characters
_MOST = 1_000  # entries; no prompt shows as many memories
_SEVERAL = "of several answers, the last one counts"


@dataclass(frozen=True, slots=True)
class Answer(Generic[T_co]):
    """What a model answers; the notes say what was odd about a reply that had to be saved."""

    value: T_co
    notes: tuple[str, ...] = ()


def read_answer(reply: str, name: str, prompt: str = "") -> Answer[object]:
    r"""The value under a name in the JSON of a reply, however it is wrapped.

    The object may be inside another object, in a tool call, or in a text that is JSON itself. A
    list without a name counts, too, and of a broken reply the entries that are whole.

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
    python = _PYTHON.search(text)
    if python and not _JSON.search(text, 0, python.start()):
        as_json = _TOKEN.sub(_in_json, text[python.start() :][:_LONGEST_PYTHON])
        answer = _read(as_json, name, prompt)
        return Answer(answer.value, answer.notes or ("it is Python, and no JSON",))
    return _read(text, name, prompt)


def _read(text: str, name: str, prompt: str) -> Answer[object]:
    """The last whole value under the name, or the whole entries of a list that is cut off later.

    Without the name, the last list with entries counts, or the entries that stand alone.
    """
    shown = [*json_values(prompt)]
    quoted = [*_under(name, shown), *_parts(shown)]
    found = [*json_values(text)]
    named, values = _under(name, found), [*filter(None, map(_only_list, found))]
    lists = [each for each in values if isinstance(each, list) and not _is_pair(each)]
    own = [each for each in named if each not in quoted]
    bare = [each for each in lists if each not in quoted]
    with_entries = [each for each in bare if any(isinstance(e, dict | list) for e in each)]
    cut = [each for each in _cut_off(text, name, named) if each not in quoted]
    if cut:
        return Answer(cut, ("the list is cut off", *((_SEVERAL,) if own else ())))
    if last := own or with_entries:
        several = any(each != last[-1] for each in last)
        return Answer(last[-1], (_SEVERAL,) if several else ())
    alone = [each for each in values if isinstance(each, dict) or _is_pair(each)]
    if entries := [each for each in alone[:_MOST] if each not in quoted]:
        return Answer(entries, ("the entries stand alone",))
    if bare and all(each == bare[0] for each in bare):
        return Answer(bare[0])
    expected = "one answer" if bare else "an answer of its own" if named or lists else "JSON"
    raise ReplyError(f"expected {expected} with {name!r}; the model said {text[:80]!r}")


def _under(name: str, values: Iterable[object]) -> list[object]:
    """The values under a name in others; of such a value within such a value, the inner one."""
    found = []
    for holder in (each for value in values for each in holders(value, name)):
        value = holder[name]
        while isinstance(value, dict) and name in value:
            value = value[name]
        if value is not None:
            found.append(value)
    return found


def _cut_off(text: str, name: str, named: list[object]) -> list[object]:
    """The whole entries of the last list under the name, or bare list, that is no whole value."""
    under_name = [*re.finditer(rf'"{re.escape(name)}"\s*:\s*\[', text)]
    openings = under_name or [*_LIST.finditer(text)]
    entries, ends = whole_entries(text, openings[-1].end(), _MOST) if openings else ([], True)
    if ends and (entries in named or not under_name):
        return []
    # A number may have lost its last figures.
    return [each for each in entries if isinstance(each, dict | list | str)]


def _in_json(token: re.Match[str]) -> str:
    text = token[0]
    if text[0] != "'":
        return _WORDS.get(text, text)
    return '"{}"'.format(text[1:-1].replace("\\'", "'").replace('"', '\\"'))


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and [type(x) in (int, float) for x in value] == [True, True]


def _only_list(value: object) -> object:
    """The list in an object that has nothing else under its name; any other value is itself."""
    [*parts] = value.values() if isinstance(value, dict) else [value]
    return parts[0] if len(parts) == 1 and isinstance(parts[0], list) else value


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
