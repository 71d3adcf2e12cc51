"""What can be saved of a reply that is no clean JSON.

A reply may be cut off, written in Python, one entry a line, or an object with numbers for names.
Only whole entries are taken. An entry that the prompt contains is a quotation, and is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from recall_stages.core.errors import ReplyError
from recall_stages.llm.replies import (
    answer_under,
    decimal_number,
    json_values,
    objects_with,
    whole_number,
    without_thoughts,
)

_PYTHON = re.compile(r"[\[{]\s*(?:[\[{]\s*)?'")
_JSON = re.compile(r'[\[{]\s*"')
_TOKEN = re.compile(
    r"""'(?:[^'\\\n]|\\.){0,5000}'|"(?:[^"\\\n]|\\.){0,5000}"|\b(?:True|False|None)\b"""
)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_LIST = re.compile(r"\[(?=\s{0,20}[\[{])")
_CUT = "the list is cut off"
_BETWEEN = re.compile(r"[\s,]*")
_LONGEST_PYTHON = 20_000  # characters
_MOST = 1_000  # entries; no prompt shows as many memories


@dataclass(frozen=True, slots=True)
class Answer:
    """The value under a name in a reply.

    Attributes:
        value: The value.
        note: What was wrong with the reply, if the value had to be saved; else empty.
    """

    value: object
    note: str = ""


def read_answer(reply: str, name: str, prompt: str = "") -> Answer:
    """The value under a name, as `answer_under` reads it; else the entries that can be saved.

    Args:
        reply: The model's reply.
        name: The name.
        prompt: The text that the model has read. What stands in it is a quotation.

    Raises:
        ReplyError: When there is no answer, or several.

    Examples:
        >>> read_answer('{"scores": [[1, 0.8], [2, 0.1], [3, 0', "scores")
        Answer(value=[[1, 0.8], [2, 0.1]], note='the list is cut off')
        >>> read_answer("{'scores': [[1, 0.8]]}", "scores").value
        [[1, 0.8]]
    """
    text = without_thoughts(reply)
    python = _PYTHON.search(text)
    if python and not _JSON.search(text, 0, python.start()):
        as_json = _TOKEN.sub(_in_json, text[python.start() :][:_LONGEST_PYTHON])
        answer = _read(as_json, name, prompt)
        return Answer(answer.value, answer.note or "it is Python, and no JSON")
    return _read(text, name, prompt)


def _read(text: str, name: str, prompt: str) -> Answer:
    try:
        value = answer_under(text, name, prompt)
    except ReplyError as error:
        saved = _saved(text, name, prompt)
        if saved is None:
            raise error from None
        return saved
    if any(each[name] == value for each in objects_with(text, name)):
        return Answer(value)
    # A bare list. It may be a part of what is cut off: another list, or one entry of this one.
    if _is_pair(value):
        return _saved(text, name, prompt) or Answer([value])
    return (_saved(text, name, prompt) if f'"{name}"' in text else None) or Answer(value)


def _saved(text: str, name: str, prompt: str) -> Answer | None:
    quotations = [part for value in json_values(prompt) for part in _parts(value)]
    for entries, note in ((_list_in(text, name), _CUT), (_lines(text), "the entries stand alone")):
        own = [entry for entry in entries if entry not in quotations]
        if own:
            return Answer(own, note)
    numbered = [each for each in json_values(text) if _is_numbered(each)]
    own = [each for each in numbered if each not in quotations]
    return Answer(own[0], "an object with numbers for names") if len(own) == 1 else None


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
    decoder, place = json.JSONDecoder(strict=False), opening.end()
    entries: list[object] = []
    while len(entries) < _MOST:
        between = _BETWEEN.match(text, place)
        place = between.end() if between else place
        if text[place : place + 1] == "]":
            return entries if named else []
        try:
            entry, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        if isinstance(entry, dict | list | str):  # a number may have lost its last figures
            entries.append(entry)
    return entries


def _lines(text: str) -> list[object]:
    """Entries without a list around them."""
    entries: list[object] = [
        each for each in json_values(text) if _is_pair(each) or _has_number(each)
    ]
    return entries[:_MOST]


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


def _parts(value: object) -> Iterator[object]:
    """A value, and all that stands in it."""
    pending = [value]
    while pending:
        part = pending.pop()
        yield part
        if isinstance(part, dict):
            pending += part.values()
        elif isinstance(part, list):
            pending += part
