"""Messages of any framework read as turns: who said what, and when.

LangChain's messages and LlamaIndex's are known by their attributes, so neither framework is
imported here.
"""

from __future__ import annotations

from collections.abc import Mapping

from recall_stages.errors import MemoryFormatError
from recall_stages.memory import Memory, Scope
from recall_stages.timeline import parse_time

_SAID_BY = {"human": "user", "ai": "assistant", "chatbot": "assistant", "model": "assistant"}
_NO_TURNS = frozenset({"system", "developer", "tool", "function", "remove"})
_TIMES = ("created_at", "timestamp")  # where a message may say when it was sent


def read_message(message: object, scope: Scope) -> Memory | None:
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
        >>> read_message({"role": "user", "content": "I moved to Elm Street."}, Scope()).author
        'user'
    """
    if isinstance(message, Memory):
        return message.model_copy(update={"scope": scope.narrow(message.scope)})
    fields = _fields(message)
    role = str(getattr(fields.get("role"), "value", fields.get("role")) or "").lower()
    content = _text(fields.get("content"))
    if role in _NO_TURNS or not content.strip():
        return None
    author = str(fields.get("name") or _SAID_BY.get(role, role))
    when = next((fields[name] for name in _TIMES if fields.get(name) is not None), None)
    try:
        return Memory(
            content=content,
            id=str(fields.get("id") or ""),
            memory_type="conversation",
            created_at=None if when is None else parse_time(when, name="created_at"),  # type: ignore[arg-type]  # it says what it cannot read
            author=author,
            scope=scope,
        )
    except (TypeError, ValueError) as error:
        raise MemoryFormatError(f"not a message that can be stored: {error}") from error


def _fields(message: object) -> Mapping[str, object]:
    """What a message says about itself, by the names that a mapping uses."""
    if isinstance(message, Mapping) and "content" in message:
        if message.get("role") or message.get("name"):
            return message
    elif hasattr(message, "content"):
        names = ("content", "role", "type", "name", "id")
        said = {name: value for name in names if (value := getattr(message, name, None))}
        more = getattr(message, "additional_kwargs", None)
        if "role" in said or "type" in said:
            kind = {"role": said.get("role") or said["type"]}
            return {**(more if isinstance(more, Mapping) else {}), **said, **kind}
    raise MemoryFormatError(
        "expected a LangChain message, a LlamaIndex ChatMessage, a Memory, or a mapping with a "
        f"role (or name) and a content; got {type(message).__name__}"
        + (f" with {', '.join(map(str, message))}" if isinstance(message, Mapping) else "")
    )


def _text(content: object) -> str:
    """The text of a message, of several parts the texts among them."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))
