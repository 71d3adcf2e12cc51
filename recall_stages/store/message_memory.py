"""Messages of a conversation as the memories that are stored of them: who said what, and when."""

from __future__ import annotations

from recall_stages.core.errors import MemoryFormatError
from recall_stages.core.memory import Memory, Scope
from recall_stages.core.message import read_message
from recall_stages.timeline import parse_time

_SAID_BY = {"human": "user", "ai": "assistant", "chatbot": "assistant", "model": "assistant"}
NO_TURNS = frozenset({"system", "developer", "tool", "function", "remove"})
"""The roles of what is no turn of a conversation: instructions, calls and results of tools."""


def read_turn(message: object, scope: Scope) -> Memory | None:
    """A message as a memory of the type "conversation", without what only its place can tell.

    Args:
        message: A LangChain message, a LlamaIndex ``ChatMessage``, a mapping with ``role`` (or
            ``name``) and ``content``, or a `Memory`.
        scope: Whose conversation it is; a `Memory` keeps its own scope besides.

    Returns:
        The memory; None for what is no turn: instructions of the system, calls and results of
        tools, and messages without text. Without a time of its own, its ``created_at`` is None.

    Raises:
        MemoryFormatError: When it is none of these.

    Examples:
        >>> read_turn({"role": "user", "content": "I moved to Elm Street."}, Scope()).author
        'user'
    """
    if isinstance(message, Memory):
        return message.model_copy(update={"scope": scope.narrow(message.scope)})
    try:
        said = read_message(message)
        role = said.role.lower()
        if role in NO_TURNS or not said.content:
            return None
        return Memory(
            content=said.content,
            id=said.id,
            memory_type="conversation",
            created_at=None
            if said.sent_at is None
            else parse_time(said.sent_at, name="created_at"),
            author=said.name or _speaker(role),
            scope=scope,
        )
    except (TypeError, ValueError) as error:
        raise MemoryFormatError(f"not a message that can be stored: {error}") from error


def _speaker(role: str) -> str:
    if not role:
        raise ValueError("it must say who spoke, by role or by name")
    return _SAID_BY.get(role, role)
