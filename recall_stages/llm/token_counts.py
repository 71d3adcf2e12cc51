"""The tokens of one attempt, as the model counted them itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_NAMES = (  # of the tokens in and out, by whoever serves the model
    ("input_tokens", "output_tokens"),
    ("prompt_tokens", "completion_tokens"),
    ("prompt_token_count", "candidates_token_count"),
    ("prompt_eval_count", "eval_count"),
)
_HOLDERS = ("usage", "usage_metadata", "token_usage")


@dataclass(slots=True)
class Spent:
    """The tokens of one attempt; a face writes down what the model counted.

    Attributes:
        tokens: The tokens in and out; None = the model has not said.
    """

    tokens: tuple[int, int] | None = None

    def add(self, source: object) -> None:
        """Add the counts in an object of a framework or of a client, if it has any.

        Examples:
            >>> spent = Spent()
            >>> spent.add({"usage": {"prompt_tokens": 90, "completion_tokens": 7}})
            >>> spent.add("no counts")
            >>> spent.tokens
            (90, 7)
        """
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


def _value(source: object, name: str) -> object:
    return source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)
