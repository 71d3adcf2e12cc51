"""Messages of a conversation, in whatever form a framework or an API has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pydantic import ConfigDict

from recall_stages.settings import Settings

LATEST = 3
"""How many of the last messages say what a conversation is about now, as the seed has it."""


class Message(Settings):
    """What somebody said in a conversation.

    Args:
        role: Who: user, assistant, ... as the API has it.
        content: The text.
    """

    model_config = ConfigDict(frozen=True)

    role: str
    content: str


def read_messages(given: object) -> tuple[Message, ...]:
    """Read a conversation; messages that hold no text are left out.

    Args:
        given: A list of mappings with ``role`` (or ``type``) and ``content``, of (role, text)
            pairs, of LangChain messages or of LlamaIndex chat messages.

    Raises:
        ValueError: When it is no list of messages.

    Examples:
        >>> read_messages([{"role": "user", "content": "Where were we?"}, ("ai", "")])
        (Message(role='user', content='Where were we?'),)
    """
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        raise ValueError(  # noqa: TRY004 - pydantic gathers it among its errors
            f"messages must be a list of messages, each with a role and a content; got {given!r}"
        )
    messages = map(_message, given)
    return tuple(message for message in messages if message.content)


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


def _message(given: object) -> Message:
    if isinstance(given, Message):
        return given
    if isinstance(given, Mapping):
        role, content = given.get("role", given.get("type")), given.get("content")
    elif isinstance(given, tuple) and len(given) == 2:
        role, content = given
    elif hasattr(given, "content"):
        role, content = getattr(given, "role", getattr(given, "type", None)), given.content
    else:
        raise ValueError(f"a message has a role and a content; got {given!r}")
    return Message(role=str(getattr(role, "value", role) or "user"), content=_text(content).strip())


def _text(content: object) -> str:
    """The text of a content; of a list of blocks, that of its texts."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return _text(content.get("text"))
    if isinstance(content, Iterable):
        return "\n".join(filter(None, map(_text, content)))
    return _text(content.text) if hasattr(content, "text") else ""
