"""What a page or a chat window makes more of than text: images, links, tags and addresses.

A model that obeys a memory may write them. Whoever shows its words as Markdown or HTML would load
what they name.
"""

from __future__ import annotations

import re

# Every repetition is bounded, or cannot begin anew within itself: memories are of any length.
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
_BEHIND = ".,;:!?…。，；：！？)]}>\"'»”’*_"  # what may stand behind an address and is no part of it


def live_parts(text: str) -> frozenset[str]:
    """The images, links, tags and addresses in a text, each as it stands there.

    Examples:
        >>> sorted(live_parts("See [a map](b.html), or www.elm.example."))
        ['[a map](b.html', 'www.elm.example']
        >>> live_parts("At 10:30 I said: 2 < 3, and [1] and/or (2).")
        frozenset()
    """
    found = (*_MARKUP.findall(text), *_ADDRESS.findall(text))
    return frozenset(part.rstrip(_BEHIND) for part in found)
