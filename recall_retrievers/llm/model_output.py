"""What a model gives, as a framework hands it over: a filled form, citations, counts of tokens."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape

from pydantic import BaseModel

_MEMORY = re.compile(r'<memory number="(\d+)"[^>]*>\n(.*?)\n</memory>', re.DOTALL)
_NAMES = (  # of the tokens in and out, by whoever serves the model
    ("input_tokens", "output_tokens"),
    ("prompt_tokens", "completion_tokens"),
    ("prompt_token_count", "candidates_token_count"),
    ("prompt_eval_count", "eval_count"),
)
_HOLDERS = ("usage", "usage_metadata", "token_usage")
_ENDS = re.compile("refusal|incomplete_details|(finish|stop|done|block)_?reason", re.IGNORECASE)
_AS_USUAL = re.compile(
    r"(?i)\w*stop\w*|fin\w*|completed?|end\w*|eos\w*|tool\w*|function\w*|null|\d+|\w*unspecified"
)


def as_reply(given: object) -> str:
    """What a model gives, as the reply that it would have written: of an object, its JSON."""
    if given is None:
        return ""
    return given if isinstance(given, str) else json.dumps(given, default=_plain)


def _plain(part: object) -> object:
    return dict(part) if isinstance(part, BaseModel | Mapping) else str(part)


def with_marks(parts: Sequence[tuple[str, Sequence[str]]], prompt: str) -> str:
    """The text of a reply with a mark such as [1] behind each part that quotes a memory.

    Some APIs give citations apart from the text. JSON stays as it is: its sentences name their
    memories themselves.
    """
    text = "".join(part for part, _ in parts)
    if "{" in text or not any(passages for _, passages in parts):
        return text
    memories = [(number, _flat(body)) for number, body in _MEMORY.findall(prompt)]
    return "".join(_marked(part, passages, memories) for part, passages in parts)


def _marked(part: str, passages: Sequence[str], memories: Sequence[tuple[str, str]]) -> str:
    quoted = [flat for passage in passages if (flat := _flat(passage))]
    numbers = [number for number, body in memories if any(flat in body for flat in quoted)]
    text = part.rstrip()
    return f"{text} [{', '.join(numbers)}]{part[len(text) :]}" if numbers and text else part


def _flat(text: str) -> str:
    return " ".join(unescape(text).split())


@dataclass(slots=True)
class Spent:
    """What one attempt cost, and why the reply ended."""

    tokens: tuple[int, int] | None = None  # in and out; None = the model has not said
    ended: str = ""  # unless as usual, such as "finish_reason: length"

    def add(self, source: object) -> None:
        """Add what an object of a framework or of a client says, if it says anything."""
        self.ended = self.ended or next(_endings(source), "")
        found = _counts(source)
        if found is not None:
            before = self.tokens or (0, 0)
            self.tokens = (before[0] + found[0], before[1] + found[1])


def _counts(source: object) -> tuple[int, int] | None:
    for part in (source, *(_value(source, name) for name in _HOLDERS)):
        for names in _NAMES:
            sent, received = (_value(part, name) for name in names)
            if isinstance(sent, int) and isinstance(received, int) and sent + received > 0:
                return sent, received
    return None


def _endings(source: object, deep: int = 8) -> Iterator[str]:
    """Why a reply ended, wherever an object of a client says that."""
    fields = vars(source) if isinstance(source, BaseModel) else source
    if isinstance(fields, Mapping):
        for name, value in fields.items():
            why = str(_value(value, "reason") or getattr(value, "name", value) or "null")
            if _ENDS.fullmatch(str(name)) and not _AS_USUAL.fullmatch(why):
                yield f"{name}: {why[:80]}"
        fields = [*fields.values()]
    for part in fields if deep and isinstance(fields, list) else ():
        yield from _endings(part, deep - 1)


def _value(source: object, name: str) -> object:
    return source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)
