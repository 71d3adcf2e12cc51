"""Messages of a conversation, in whatever form a framework or an API has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from pydantic import ConfigDict, Field

from recall_stages.core.errors import SettingsError
from recall_stages.core.settings import Settings

_NAMES = ("content", "role", "type", "name", "role_name", "id", "memorized")
_BESIDE = ("metadata", "additional_kwargs")  # where it may say more
_TIMES = ("created_at", "timestamp", "time_created")  # where a message may say when it was sent

LATEST = 3
"""How many of the last messages say what a conversation is about now."""


class Message(Settings):
    """A message of a conversation.

    Args:
        role: Who: user, assistant, ... as the API has it; empty where it does not say.
        content: The text; of several parts the texts among them.
        name: Who, by name.
        id: Its id, where it has one.
        sent_at: When it was sent: epoch seconds, ISO 8601 or datetime.
        memorized: Whether it is stored as a memory already.
    """

    model_config = ConfigDict(frozen=True)

    role: str
    content: str
    name: str = ""
    id: str = ""
    sent_at: float | str | datetime | None = None
    memorized: bool = Field(default=False, repr=False)


def read_messages(value: object) -> tuple[Message, ...]:
    """Read a conversation; messages that hold no text are left out.

    Args:
        value: A list of mappings with ``role`` (or ``type``) and ``content``, of (role, text)
            pairs, of LangChain messages or of LlamaIndex chat messages.

    Raises:
        ValueError: When it is no list of messages.

    Examples:
        >>> read_messages([{"role": "user", "content": "Where were we?"}, ("ai", "")])
        (Message(role='user', content='Where were we?', name='', id='', sent_at=None),)
    """
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise ValueError(  # noqa: TRY004 - pydantic gathers it among its errors
            f"messages must be a list of messages, each with a role and a content; got {value!r}"
        )
    messages = (read_message(each) for each in value)
    return tuple(
        message if message.role else message.model_copy(update={"role": "user"})
        for message in messages
        if message.content
    )


def read_message(value: object) -> Message:
    """Read one message; neither framework is imported, what it says is asked of it by name.

    Args:
        value: A mapping with ``content`` and ``role`` (or ``type``), a (role, text) pair, a
            LangChain message or a LlamaIndex chat message. When it was sent is looked for under
            ``created_at``, ``timestamp`` and ``time_created``, in its ``additional_kwargs`` and
            ``metadata`` too.

    Raises:
        ValueError: When it is none of these.

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


def latest(messages: Sequence[Message], longest: int) -> list[tuple[str, str]]:
    """The last messages, as (role, text), each cut at so many characters.

    Examples:
        >>> latest([Message(role="user", content="The tooth again.")], longest=9)
        [('user', 'The tooth...')]
    """
    return [
        (role, text if len(text) <= longest else f"{text[:longest]}...")
        for role, text in ((each.role, each.content) for each in messages[-LATEST:])
    ]


def _fields(value: object) -> Mapping[str, object]:
    """What a message says about itself, by the names that a mapping uses."""
    if isinstance(value, tuple) and len(value) == 2:
        return {"role": value[0], "content": value[1]}
    if isinstance(value, Mapping) and "content" in value:
        own = value
    elif hasattr(value, "content"):
        found = ((name, getattr(value, name, None)) for name in (*_NAMES, *_BESIDE))
        own = {name: value for name, value in found if value is not None}
    else:
        names = f" with {', '.join(map(str, value))}" if isinstance(value, Mapping) else ""
        raise ValueError(f"a message has a role and a content; got {type(value).__name__}{names}")
    fields: dict[str, object] = {}
    for noted in (*map(own.get, _BESIDE), own):  # what it says itself counts
        fields.update(noted if isinstance(noted, Mapping) else {})
    return fields


def _text(content: object) -> str:
    """The text of a content; of a list of blocks, that of its texts."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return _text(content.get("text"))
    if isinstance(content, Iterable):
        return "\n".join(filter(None, map(_text, content)))
    return _text(content.text) if hasattr(content, "text") else ""
