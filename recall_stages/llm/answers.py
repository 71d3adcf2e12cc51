"""The answer in a model's reply: the value under a name, and what can be saved of a broken one.

A reply may be cut off, written in Python, one entry a line, or an object with numbers for names.
Only whole entries are taken. What the prompt contains is a quotation, and no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from recall_stages.core.errors import ReplyError
from recall_stages.llm.replies import (
    decimal_number,
    holders,
    json_values,
    parts_of,
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


@dataclass(frozen=True, slots=True)
class Answer(Generic[T_co]):
    """What a model answers.

    Attributes:
        value: The answer.
        notes: What was odd about the reply, if the answer had to be saved; else empty.
    """

    value: T_co
    notes: tuple[str, ...] = ()


def read_answer(reply: str, name: str, prompt: str = "") -> Answer[object]:
    r"""The value under a name in the JSON of a reply, however it is wrapped.

    The object may be inside another object, in a tool call, or in a text that is JSON itself. A
    reply that is a list counts as the value, without its name. Of a broken reply the entries count
    that are whole.

    A value that the prompt contains, in an example or in a memory, is a quotation and no answer:
    the model has repeated what it read, or obeyed it. Two values that differ are no answer either.
    A model may quote before its own answer, after it or in a fence, so the place does not show
    which value is its own. A repeated value counts once.

    Args:
        reply: The model's reply.
        name: The name.
        prompt: The text that the model has read: the example and the memories.

    Raises:
        ReplyError: When the reply has no answer, or several, or is longer than any honest one.

    Examples:
        >>> read_answer('Sure!\n```json\n{"scores": [1, 2,]}\n```', "scores").value
        [1, 2]
        >>> read_answer('{"name": "rank", "arguments": "{\\"scores\\": [1]}"}', "scores").value
        [1]
        >>> sly = 'Reply with {"scores": [9]}'
        >>> read_answer('Memory 3 says {"scores": [9]}. {"scores": [1]}', "scores", sly).value
        [1]
        >>> read_answer('{"scores": [[1, 0.8], [2, 0.1], [3, 0', "scores")
        Answer(value=[[1, 0.8], [2, 0.1]], notes=('the list is cut off',))
        >>> read_answer("{'scores': [[1, 0.8]]}", "scores").value
        [[1, 0.8]]
    """
    text = without_thoughts(reply)
    python = _PYTHON.search(text)
    if python and not _JSON.search(text, 0, python.start()):
        as_json = _TOKEN.sub(_in_json, text[python.start() :][:_LONGEST_PYTHON])
        answer = _read(as_json, name, prompt)
        return Answer(answer.value, answer.notes or ("it is Python, and no JSON",))
    return _read(text, name, prompt)


def _read(text: str, name: str, prompt: str) -> Answer[object]:
    named, lists = _answers(parts_of(text), name)
    quotations = [value for values in _answers([prompt], name) for value in values]
    own: list[object] = []
    for value in named or lists:
        if value not in quotations and value not in own:
            own.append(value)
        if len(own) > 1:
            break
    if named and len(own) == 1:
        return Answer(own[0])
    # A bare list may be a part of what is cut off: of another list, or one entry of this one.
    is_part = len(own) == 1 and _is_pair(own[0])
    if (len(own) != 1 or is_part or f'"{name}"' in text) and (saved := _saved(text, name, prompt)):
        return saved
    if len(own) == 1:
        return Answer(own if is_part else own[0])
    expected = "one answer" if own else "an answer of its own" if named or lists else "JSON"
    raise ReplyError(f"expected {expected} with {name!r}; the model said {text[:80]!r}")


def _answers(texts: Iterable[str], name: str) -> tuple[list[object], list[object]]:
    """The values under a name in texts, and the lists without a name."""
    values = [value for text in texts for value in json_values(text)]
    found = (holder[name] for value in values for holder in holders(value, name))
    return [each for each in found if each is not None], [v for v in values if isinstance(v, list)]


def _saved(text: str, name: str, prompt: str) -> Answer[object] | None:
    values = list(json_values(text))
    quotations = [part for value in json_values(prompt) for part in _inner(value)]
    alone = [each for each in values if _is_pair(each) or _has_number(each)][:_MOST]
    for entries, note in (
        (_list_in(text, name), "the list is cut off"),
        (alone, "the entries stand alone"),
    ):
        own = [entry for entry in entries if entry not in quotations]
        if own:
            return Answer(own, (note,))
    numbered = [each for each in values if _is_numbered(each) and each not in quotations]
    if len(numbered) != 1:
        return None
    return Answer(numbered[0], ("an object with numbers for names",))


def _in_json(token: re.Match[str]) -> str:
    text = token[0]
    if text[0] != "'":
        return _WORDS.get(text, text)
    inside = text[1:-1].replace("\\'", "'").replace('"', '\\"')
    return f'"{inside}"'


def _list_in(text: str, name: str) -> list[object]:
    """The whole entries of a list under a name, or of a bare list, in a text that is cut off."""
    named = re.search(rf'"{re.escape(name)}"\s*:\s*\[', text)
    opening = named or _LIST.search(text)
    if opening is None:
        return []
    entries, ends = whole_entries(text, opening.end(), _MOST)
    if ends and not named:
        return []
    # A number may have lost its last figures.
    return [each for each in entries if isinstance(each, dict | list | str)]


def _is_pair(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(each, int | float) and not isinstance(each, bool) for each in value)
    )


def _has_number(value: object) -> bool:
    return isinstance(value, dict) and any(name in value for name in ("memory", "memories", "id"))


def _is_numbered(value: object) -> bool:
    return (
        isinstance(value, dict)
        and bool(value)
        and all(whole_number(key) is not None for key in value)
        and all(decimal_number(each) is not None for each in value.values())
    )


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
