"""What a model gives, as a framework hands it over: a filled form, counts of tokens, its end."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import BaseModel

_NAMES = (  # of the tokens in and out, by whoever serves the model
    ("input_tokens", "output_tokens"),
    ("inputTokens", "outputTokens"),
    ("prompt_tokens", "completion_tokens"),
    ("prompt_token_count", "candidates_token_count"),
    ("promptTokenCount", "candidatesTokenCount"),
    ("prompt_eval_count", "eval_count"),
)
_CACHED = (  # tokens in that Anthropic and Bedrock count apart
    *("cache_read_input_tokens", "cache_creation_input_tokens"),
    *("cacheReadInputTokens", "cacheWriteInputTokens"),
)
_HOLDERS = ("usage", "usage_metadata", "usageMetadata", "token_usage", "meta", "tokens")
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


def _counts(source: object, deep: int = 2) -> tuple[int, int] | None:
    for names in _NAMES:
        sent, received, *cached = (_number(source, name) for name in (*names, *_CACHED))
        if sent is not None and received is not None and sent + received > 0:
            return sent + sum(each or 0 for each in cached), received
    parts = [_value(source, name) for name in _HOLDERS] if deep else []
    found = (_counts(part, deep - 1) for part in parts if part is not None)
    return next((each for each in found if each is not None), None)


def _number(source: object, name: str) -> int | None:
    value = _value(source, name)  # Cohere's have a decimal point
    return int(value) if isinstance(value, int | float) else None


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
