"""Live parts of a text: the images, links, tags and addresses that a page or a chat may load.

A model that obeys a memory may write them. A page that shows its text as Markdown or HTML would
then load the address.
"""

from __future__ import annotations

import re

# Memories have any length. So every repetition is bounded, or cannot start again within itself.
_MARKUP = re.compile(
    r"""
      !?\[[^\]]{0,500}\][ ]?\([^\s)]*  # [text](address and ![text](address
    | \[[^\]]{0,500}\]\[[^\]]{0,500}   # [text][name
    | \[[^\]]{0,500}\]:\s?\S*          # [name]: address
    | <[a-z/!?][^<>]*>?                # <tag>, <!-- comment -->, <https://address>
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"""
      [a-z]{0,16}://\S*                # https://address
    | (?<![\w:/])//\w\S*               # //address
    | (?<![a-z0-9])www\.\S+
    | (?<![a-z0-9])(?:blob|data|file|javascript|mailto|sms|tel|vbscript):\S+
    | [\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEHIND = ".,;:!?…。，；：！？)]}>\"'»”’*_"  # characters after an address that are no part of it


def live_parts(text: str) -> frozenset[str]:
    """The images, links, tags and addresses in a text, exactly as in the text.

    Examples:
        >>> sorted(live_parts("See [a map](b.html), or www.elm.example."))
        ['[a map](b.html', 'www.elm.example']
        >>> live_parts("At 10:30 I said: 2 < 3, and [1] and/or (2).")
        frozenset()
    """
    parts = (*_MARKUP.findall(text), *_ADDRESS.findall(text))
    return frozenset(part.rstrip(_BEHIND) for part in parts)
