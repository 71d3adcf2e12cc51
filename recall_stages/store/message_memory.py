"""A message of a conversation as a memory: its author, its text and its time."""

from __future__ import annotations

from recall_stages.core.errors import MemoryFormatError
from recall_stages.core.memory import Memory
from recall_stages.core.message import read_message
from recall_stages.core.scope import Scope
from recall_stages.timeline import parse_time

_AUTHORS = {"human": "user", "ai": "assistant", "chatbot": "assistant", "model": "assistant"}
NO_TURNS = frozenset({"system", "developer", "tool", "function", "remove"})
"""Roles whose messages are no turns: instructions, calls and results of tools."""


def read_turn(message: object, scope: Scope) -> Memory | None:
    """A message as a memory of the type "conversation"; it is not linked to the turn before it.

    Args:
        message: A LangChain message, a LlamaIndex ``ChatMessage``, a mapping with ``role`` (or
            ``name``) and ``content``, or a `Memory`.
        scope: The owner of the conversation; a `Memory` keeps its own scope, too.

    Returns:
        The memory; None for a message that is no turn: instructions of the system, calls and
        results of tools, and messages without text. Its ``created_at`` may be None.

    Raises:
        MemoryFormatError: When it is none of these.

    Examples:
        >>> read_turn({"role": "user", "content": "I moved to Elm Street."}, Scope()).author
        'user'
    """
    if isinstance(message, Memory):
        return message.model_copy(update={"scope": scope.narrow(message.scope)})
    try:
        turn = read_message(message)
        role = turn.role.lower()
        if role in NO_TURNS or not turn.content:
            return None
        return Memory(
            content=turn.content,
            id=turn.id,
            memory_type="conversation",
            created_at=None
            if turn.sent_at is None
            else parse_time(turn.sent_at, name="created_at"),
            author=turn.name or _speaker(role),
            scope=scope,
        )
    except (TypeError, ValueError) as error:
        raise MemoryFormatError(f"not a message that can be stored: {error}") from error


def _speaker(role: str) -> str:
    if not role:
        raise ValueError("it has neither a role nor a name")
    return _AUTHORS.get(role, role)
