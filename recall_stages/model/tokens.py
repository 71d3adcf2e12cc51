"""How many tokens a text is, without ever going to the network for it.

A counter of the user's wins. Else tiktoken counts, where the file of an encoding is already on the
machine; asking tiktoken for one that is not would download it, so its cache is looked into first,
and a damaged file, which it would fetch anew, is passed over. Else the tokens are estimated.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

Counter = Callable[[str], int]
"""A text's number of tokens."""

CUT_MARK = " […]"
"""What stands where the rest of a text was cut off."""

# Of tiktoken's own encodings the newest first: the name of the file in its cache, and its SHA-256.
_ENCODINGS = {
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}
# A word after blanks, which are passed over at once: a model gone astray may say megabytes of them.
_WORD = re.compile(
    r"[^\S\n]*+(?:([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_]+|\d{1,3}|[^\w\s]|_|\n+)|\Z)"
)
_MARGIN = 1.15  # an estimate shall rather be too high: too many tokens are refused, too few are not
_PER_TOKEN = 16  # characters of a text that a token may stand for, in prose of any language


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is for a language model of today; rather too many than too few.

    A word counts 1 and a sixth for each letter beyond the seventh, a Chinese, Japanese or Korean
    character 0.75, a sign or up to three digits 1; then 15 % are added. Against tiktoken's o200k
    the mean error before that was 11 % on English chat, 7 % on Chinese and 30 % on Python code;
    with it, fewer than 1 % of the texts were estimated too low.

    Examples:
        >>> estimate_tokens("The dentist moved to Elm Street.")
        9
        >>> estimate_tokens("")
        0
    """
    total = 0.0
    for word in filter(None, _WORD.findall(text)):
        if word[0].isalpha() and word[0] >= "\u3040":
            total += 0.75 * len(word)
        else:
            total += 1 + max(len(word) - 7, 0) / 6 if word[0].isalpha() else 1
    return math.ceil(total * _MARGIN)


@cache
def token_counter() -> Counter:
    """The counter that is used where the user gives none: tiktoken's if it can be, else estimated.

    Examples:
        >>> token_counter()("The dentist moved.") in range(3, 7)
        True
    """
    for name, (file, digest) in _ENCODINGS.items():
        cached = _tiktoken_cache() / file
        if cached.is_file() and hashlib.sha256(cached.read_bytes()).hexdigest() == digest:
            import tiktoken  # noqa: PLC0415 - only where it can be used

            encoding = tiktoken.get_encoding(name)
            return lambda text: len(encoding.encode(text, disallowed_special=()))
    return estimate_tokens


def cut(text: str, budget: int, count: Counter) -> str:
    """A text within a budget of tokens: itself, or its beginning and a mark that more was there.

    Examples:
        >>> cut("The dentist moved to Elm Street in March.", 8, estimate_tokens)
        'The dentist […]'
        >>> cut("The dentist moved.", 8, estimate_tokens)
        'The dentist moved.'
    """
    if len(text) <= budget * _PER_TOKEN and count(text) <= budget:
        return text
    low, high = 0, min(len(text), budget * _PER_TOKEN)
    while low < high:  # the longest beginning that fits, with its mark
        middle = (low + high + 1) // 2
        if count(text[:middle] + CUT_MARK) <= budget:
            low = middle
        else:
            high = middle - 1
    begun = text[:low].rstrip()
    whole = begun.rsplit(maxsplit=1)[0] if " " in begun and text[low : low + 1].isalnum() else begun
    return whole + CUT_MARK


def _tiktoken_cache() -> Path:
    """Where tiktoken keeps its files, by its own rule; an empty name switches its cache off."""
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if name in os.environ:
            return Path(os.environ[name] or os.devnull)
    return Path(tempfile.gettempdir()) / "data-gym-cache"
