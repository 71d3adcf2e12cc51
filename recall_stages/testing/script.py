"""What a scripted model says next; the faces make a model of their framework of it."""

from __future__ import annotations

from collections.abc import Sequence


def next_reply(replies: Sequence[object], prompt: str, count: int) -> object:
    """The reply to one call of a model.

    Args:
        replies: What it says, call by call; the last one for ever. A function is given the prompt
            and returns what is said; an exception is raised.
        prompt: What the model is asked.
        count: The number of the call, from 1.

    Raises:
        Exception: The reply, where it is one.

    Examples:
        >>> [next_reply(["yes", "no"], "?", count) for count in (1, 2, 3)]
        ['yes', 'no', 'no']
        >>> next_reply([str.upper], "shout", 1)
        'SHOUT'
    """
    reply = replies[min(count, len(replies)) - 1]
    if isinstance(reply, Exception):
        raise reply
    return reply(prompt) if callable(reply) else reply
