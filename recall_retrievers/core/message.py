"""Messages of a conversation, in the form of any framework or API."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from pydantic import ConfigDict, Field

from recall_retrievers.core.errors import SettingsError
from recall_retrievers.core.settings import Settings
from recall_retrievers.core.settings_messages import got

_NAMES = ("content", "role", "type", "name", "role_name", "id", "memorized")
_BESIDE = ("metadata", "additional_kwargs")  # further places of these fields
_TIMES = ("created_at", "timestamp", "time_created")  # names of the time of sending

LATEST = 3  # the number of last messages that stand for the present topic of a conversation
MOST_MESSAGES = 200  # the messages that a question may be asked with
BEFORE = 12  # messages before a question that an agent hands on, with those of its tools


class Message(Settings):
    """A message of a conversation.

    Args:
        role: The role of the author, as the API names it: user, assistant, ...; empty if unknown.
        content: The text. If the message has several parts, the texts among them.
        name: The name of the author.
        id: Its id, if it has one.
        sent_at: When it was sent: epoch seconds, ISO 8601 or datetime.
        memorized: Whether it is already stored as a memory.
    """

    model_config = ConfigDict(frozen=True)

    role: str
    content: str
    name: str = ""
    id: str = ""
    sent_at: float | str | datetime | None = None
    memorized: bool = Field(default=False, repr=False)


def read_messages(value: object) -> tuple[Message, ...]:
    """Read a list of messages; see `read_message`. Messages without text are left out."""
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise ValueError(  # noqa: TRY004 - pydantic gathers it among its errors
            f"messages must be a list of messages, each with a role and a content; got {got(value)}"
        )
    messages = (read_message(message) for message in value)
    return tuple(
        message if message.role else message.model_copy(update={"role": "user"})
        for message in messages
        if message.content
    )


def read_message(value: object) -> Message:
    """Read one message. Its fields are read by name, so neither framework is imported.

    It is a mapping with ``content`` and ``role`` (or ``type``), a (role, text) pair, a LangChain
    message or a LlamaIndex chat message. The time of sending is ``created_at``, ``timestamp`` or
    ``time_created``, also in ``additional_kwargs`` or ``metadata``.

    Examples:
        >>> read_message({"role": "user", "content": [{"text": "Hi"}], "name": "Ann"})
        Message(role='user', content='Hi', name='Ann', id='', sent_at=None)
    """
    if isinstance(value, Message):
        return value
    fields = _fields(value)
    role = fields.get("role") or fields.get("type")
    try:
        return Message(
            role=str(getattr(role, "value", role) or ""),
            content=_text(fields.get("content")).strip(),
            name=str(fields.get("name") or fields.get("role_name") or ""),
            id=str(fields.get("id") or ""),
            sent_at=next((fields[name] for name in _TIMES if fields.get(name) is not None), None),
            memorized=bool(fields.get("memorized")),
        )
    except SettingsError as error:
        raise ValueError(f"a message cannot be read: {error}") from error


def latest(messages: Sequence[Message], longest: int, most: int = LATEST) -> list[tuple[str, str]]:
    return [
        (message.role, message.content[:longest] + "..." * (len(message.content) > longest))
        for message in messages[-most:]
    ]


def _fields(value: object) -> Mapping[str, object]:
    if isinstance(value, tuple) and len(value) == 2:
        return {"role": value[0], "content": value[1]}
    if isinstance(value, Mapping) and "content" in value:
        own = value
    elif hasattr(value, "content"):
        named = ((name, getattr(value, name, None)) for name in (*_NAMES, *_BESIDE))
        own = {name: field for name, field in named if field is not None}
    else:
        names = f" with {', '.join(map(str, value))}" if isinstance(value, Mapping) else ""
        raise ValueError(f"a message has a role and a content; got {type(value).__name__}{names}")
    fields: dict[str, object] = {}
    for source in (*map(own.get, _BESIDE), own):  # the last one counts: the message itself
        fields.update(source if isinstance(source, Mapping) else {})
    return fields


def _text(content: object) -> str:
    """The text of a content. For a list of blocks, the texts among them."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return _text(content.get("text"))
    if isinstance(content, Iterable):
        return "\n".join(filter(None, map(_text, content)))
    return _text(content.text) if hasattr(content, "text") else ""
