"""A conversation in any form, as turns: the side that speaks, and its text.

It may be a text, a transcript with "User:" and "Assistant:" before the turns, or a list of
messages: texts, (role, text) pairs, mappings, LangChain messages or LlamaIndex chat messages.
Neither framework is imported: the text of a message is read by the names of its attributes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol, runtime_checkable

from recall_retrievers.core.message import read_message
from recall_retrievers.text.follow_ups import search_texts

USER, OTHER = "user", "other"

_USERS = {"user", "human", "用户", "benutzer", "nutzer", "usuario", "utilisateur"}
_OTHERS = {
    "assistant", "ai", "bot", "agent", "chatbot", "system", "developer", "tool", "function",
    "model",
    "助手", "助理", "系统", "assistent", "asistente", "sistema", "système",
}  # fmt: skip
_LABEL = re.compile(
    rf"^\s*({'|'.join(sorted(_USERS | _OTHERS))})\s*[:：]", re.IGNORECASE | re.MULTILINE
)


@runtime_checkable
class HasContent(Protocol):
    """A message of a framework: its text is under ``content``, its speaker under another name."""

    @property
    def content(self) -> object:
        """A text, a list of blocks, or None."""


Conversation = str | Mapping[str, object] | HasContent | Iterable[object] | None
"""The forms that `should_search_memory` reads; see the top of this file."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The text of one side, up to the other side's."""

    role: str
    text: str


def read_turns(conversation: Conversation) -> list[Turn]:
    """The turns of a conversation, in order. Turns without a text are left out."""
    if conversation is None:
        return []
    if isinstance(conversation, str):
        turns: Iterable[Turn] = _labelled(conversation)
    elif isinstance(conversation, Mapping | HasContent) or not isinstance(conversation, Iterable):
        turns = [_turn(conversation)]  # a pydantic model can be iterated too: over its fields
    else:
        turns = map(_turn, conversation)
    return [turn for turn in turns if turn.text.strip()]


def last_message(turns: Iterable[Turn]) -> tuple[str, str]:
    """The last message of the user, and those before it that say what it leaves open.

    Examples:
        >>> last_message([Turn(USER, "Who is Ann?"), Turn(USER, "When is her birthday?")])
        ('When is her birthday?', 'Who is Ann?')
        >>> last_message([Turn(USER, "Who is Ann?"), Turn(USER, "Where are my keys?")])
        ('Where are my keys?', '')
    """
    said = [turn.text for turn in turns if turn.role == USER]
    if not said:
        return "", ""
    whole = search_texts(said[-1], [(USER, text) for text in said[:-1]])[0]
    return said[-1], whole[len(said[-1]) + 1 :]


def _labelled(text: str) -> Iterator[Turn]:
    """A transcript by its labels; a text without labels is one turn of the user."""
    labels = list(_LABEL.finditer(text))
    if not labels:
        yield Turn(USER, text)
        return
    yield Turn(USER, text[: labels[0].start()])
    for label, following in zip_longest(labels, labels[1:]):
        content = text[label.end() : following.start() if following else None]
        yield Turn(_side(label[1]), content.strip())


def _turn(message: object) -> Turn:
    if message is None or isinstance(message, str):
        return Turn(USER, message or "")
    try:
        read = read_message(message)
    except ValueError as error:
        raise TypeError(f"a conversation is a text or a list of messages; {error}") from error
    return Turn(_side(read.role), read.content)


def _side(role: str) -> str:
    """The user's, unless the role says otherwise."""
    return OTHER if role.lower() in _OTHERS else USER
