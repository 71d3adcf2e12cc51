"""The answer in a model's reply: the value under a name, and what can be saved of a broken one.

A reply may be cut off, written in Python, one entry a line, or an object with numbers for names.
Only whole entries are taken. What the prompt contains is a quotation, and no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from recall_retrievers.core.errors import ReplyError
from recall_retrievers.llm.replies import (
    decimal_number,
    holders,
    json_values,
    whole_entries,
    whole_number,
    without_thoughts,
)

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
    reply that is a list counts as the value, without its name. Of a broken reply the entries count
    that are whole.

    A value that the ``prompt`` contains is a quotation and no answer: the model has repeated what
    it read, or obeyed it. Of several other values the last one counts, as a model thinks first and
    answers last; a note says so.

    Examples:
        >>> read_answer('{"name": "rank", "arguments": "{\\"scores\\": [1]}"}', "scores").value
        [1]
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
    shown = [*json_values(prompt)]
    quotations, parts = [*_under(name, shown), *shown], [*_inner(shown)]
    values = [*json_values(text)]
    named = _under(name, values)
    lists = [each for each in values if isinstance(each, list) and not _is_pair(each)]
    own = [each for each in named if each not in quotations]
    bare = [each for each in lists if each not in quotations]
    if entries := [e for e in _cut_off(text, name, named, lists) if e not in parts]:
        return Answer(entries, ("the list is cut off", *((_SEVERAL,) if own else ())))
    if own:
        return _last(own)
    with_entries = [each for each in bare if any(isinstance(e, dict | list) for e in each)]
    if with_entries or (bare and all(each == bare[0] for each in bare)):
        return _last(with_entries or bare)
    alone = [v for v in values if _is_pair(v) or _has_number(v)]
    if own := [each for each in alone[:_MOST] if each not in parts]:
        return Answer(own, ("the entries stand alone",))
    if own := [each for each in values if _is_numbered(each) and each not in parts]:
        return _last(own, "an object with numbers for names")
    expected = "one answer" if bare else "an answer of its own" if named or lists else "JSON"
    raise ReplyError(f"expected {expected} with {name!r}; the model said {text[:80]!r}")


def _last(values: Sequence[object], *notes: str) -> Answer[object]:
    several = any(each != values[-1] for each in values)
    return Answer(values[-1], (*notes, _SEVERAL) if several else notes)


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


def _cut_off(text: str, name: str, named: list[object], lists: list[list[object]]) -> list[object]:
    """The whole entries of the last list under the name, or bare list, that is no whole value."""
    under_name = [*re.finditer(rf'"{re.escape(name)}"\s*:\s*\[', text)]
    openings = under_name or [*_LIST.finditer(text)]
    if not openings:
        return []
    entries, ends = whole_entries(text, openings[-1].end(), _MOST)
    whole = [each for each in (named if under_name else lists) if isinstance(each, list)]
    if any(each[: len(entries)] == entries for each in whole) or (ends and not under_name):
        return []
    # A number may have lost its last figures.
    return [each for each in entries if isinstance(each, dict | list | str)]


def _in_json(token: re.Match[str]) -> str:
    text = token[0]
    if text[0] != "'":
        return _WORDS.get(text, text)
    inside = text[1:-1].replace("\\'", "'").replace('"', '\\"')
    return f'"{inside}"'


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and [type(x) in (int, float) for x in value] == [True, True]


def _has_number(value: object) -> bool:
    return isinstance(value, dict) and any(name in value for name in ("memory", "memories", "id"))


def _is_numbered(value: object) -> bool:
    numbers = value if isinstance(value, dict) else {}
    pairs = [(whole_number(key), decimal_number(score)) for key, score in numbers.items()]
    return bool(pairs) and all(None not in pair for pair in pairs)


def _inner(value: object) -> Iterator[object]:
    """A value, and all that stands in it."""
    pending = [value]
    while pending:
        part = pending.pop()
        yield part
        if isinstance(part, dict):
            pending += part.values()
        elif isinstance(part, list):
            pending += part
