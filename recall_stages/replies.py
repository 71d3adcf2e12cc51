"""JSON out of a model's reply: fenced or bare, after thoughts or prose, with limits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from recall_stages.errors import ReplyError

_LONGEST = 200_000  # characters; a reply that long is a model gone astray
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```(?:\w+)?\s*(.*?)```", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[\]}])")


def read_json(reply: str) -> dict[str, object] | list[object]:
    r"""The first JSON object or list in a reply.

    Raises:
        ReplyError: When there is none, or the reply is longer than any honest one.

    Examples:
        >>> read_json('Sure!\n```json\n{"scores": [1, 2,]}\n```')
        {'scores': [1, 2]}
    """
    if len(reply) > _LONGEST:
        raise ReplyError(f"expected a short JSON reply; got {len(reply)} characters")
    spoken = _THOUGHTS.sub("", reply)
    for text in (*_FENCED.findall(spoken), spoken):
        for value in _values(_TRAILING_COMMA.sub(r"\1", text)):
            return value
    raise ReplyError(f"expected JSON; the model said {spoken.strip()[:80]!r}")


def _values(text: str) -> Iterator[dict[str, object] | list[object]]:
    decoder = json.JSONDecoder()
    for opening in re.finditer(r"[{\[]", text):
        try:
            value, _ = decoder.raw_decode(text, opening.start())
        except (json.JSONDecodeError, RecursionError):
            continue
        yield value
