"""A conversation in any form, as turns: the side that speaks, and its text.

It may be a text, a transcript with "User:" and "Assistant:" before the turns, or a list of
messages: texts, (role, text) pairs, mappings, LangChain messages or LlamaIndex chat messages.
Neither framework is imported: the text of a message is read by the names of its attributes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

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


Conversation = str | Mapping[str, object] | Iterable[object] | None
"""The forms that `should_search_memory` reads; see the top of this file."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The text of one side, up to the other side's."""

    role: str
    text: str


def read_turns(conversation: Conversation) -> list[Turn]:
    """The turns of a conversation, in order. Turns without a text are left out."""
    turns: Iterable[Turn]
    # A message of a framework can be iterated, too: over its fields.
    is_message = isinstance(conversation, Mapping) or hasattr(conversation, "content")
    if isinstance(conversation, str):
        turns = _labelled(conversation)
    elif isinstance(conversation, Iterable) and not is_message:
        turns = map(_turn, conversation)
    else:
        turns = [_turn(conversation)]
    return [turn for turn in turns if turn.text.strip()]


def last_message(turns: Iterable[Turn]) -> tuple[str, str]:
    """The last message of the user, and those before it that say what it leaves open.

    Examples:
        >>> last_message([Turn(USER, "Who is Ann?"), Turn(USER, "When is her birthday?")])
        ('When is her birthday?', 'Who is Ann?')
    """
    *before, last = [turn.text for turn in turns if turn.role == USER] or [""]
    whole = search_texts(last, [(USER, text) for text in before])[0]
    return last, whole[len(last) + 1 :]


def _labelled(text: str) -> Iterator[Turn]:
    """A transcript by its labels; a text without labels is one turn of the user."""
    before, *labelled = _LABEL.split(text)
    yield Turn(USER, before)
    for label, content in zip(labelled[::2], labelled[1::2], strict=True):
        yield Turn(_side(label), content.strip())


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
