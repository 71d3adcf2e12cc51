"""The thoughts of a model, and what it says after them."""

from __future__ import annotations

import re

from recall_stages.core.errors import ReplyError

_LONGEST = 200_000  # characters; no honest reply is longer
_NAMES = r"think(?:ing)?|thoughts?|reasoning|scratchpad"
# The square brackets are Mistral's, and the triangles are Kimi's.
_THOUGHT = re.compile(rf"<(?:{_NAMES})>|◁think▷|(?-i:\[THINK\])", re.IGNORECASE)
_END_OF_THOUGHT = re.compile(rf"</(?:{_NAMES})>|◁/think▷|(?-i:\[/THINK\])", re.IGNORECASE)
_FINAL = re.compile(r"<\|channel\|>\s*final[^<]*<\|message\|>")  # gpt-oss, after its analysis


def without_thoughts(reply: str) -> str:
    """A reply without thoughts, which may begin in the prompt or be cut off.

    Raises:
        ReplyError: When the reply is longer than any honest one.

    Examples:
        >>> without_thoughts("<think>Perhaps March?</think> None.")
        'None.'
        >>> without_thoughts("Perhaps March?[/THINK] None.")
        'None.'
    """
    if len(reply) > _LONGEST:
        raise ReplyError(f"expected a short JSON reply; got {len(reply)} characters")
    *_, reply = _FINAL.split(reply)
    ends = [match.end() for match in _END_OF_THOUGHT.finditer(reply)]
    begin = _THOUGHT.search(reply)
    before = reply[: begin.start()] if begin else "" if ends else reply
    return (before + (reply[ends[-1] :] if ends else "")).strip()
