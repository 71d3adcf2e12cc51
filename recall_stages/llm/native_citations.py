"""Citations that a model's API gives apart from the text, as marks in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

_MEMORY = re.compile(r'<memory number="(\d+)"[^>]*>\n(.*?)\n</memory>', re.DOTALL)


def with_marks(parts: Sequence[tuple[str, Sequence[str]]], prompt: str) -> str:
    r"""The text of a reply with a mark such as [1] behind each part that quotes a memory.

    JSON stays as it is: its sentences name their memories themselves.

    Args:
        parts: The parts of the text, each with the passages that it cites.
        prompt: The prompt, with the memories in their fences.

    Examples:
        >>> prompt = '<memory number="1">\nWe drink tea at four.\n</memory>'
        >>> with_marks([("Tea is at four.", ["tea at four"]), (" Hi!", [])], prompt)
        'Tea is at four. [1] Hi!'
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
