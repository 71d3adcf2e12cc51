"""ReadMessage: R -> R. Adds recent messages that are not stored as memories yet. No model."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import tzinfo
from functools import partial
from operator import itemgetter
from typing import Self

from pydantic import Field, model_validator

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.errors import QueryError
from recall_retrievers.core.message import Message, read_messages
from recall_retrievers.core.query import JOINED
from recall_retrievers.core.requests import Work
from recall_retrievers.core.settings import Count
from recall_retrievers.core.stage import Flow, Recall, Stage
from recall_retrievers.store.conversation import NO_TURNS, named, read_turn, without_courtesies
from recall_retrievers.text.questions import asks_about
from recall_retrievers.timeline import parse_time

logger = logging.getLogger(__name__)


class ReadMessage(Stage):
    """Add recent messages that are no memories yet.

    The messages come after the memories, oldest first. They are memories of the type "message" with
    ``recall_source`` "messages" and no score. They do not count in the retriever's k. A text that
    is already among the memories is left out. So are the question itself, instructions, and the
    calls and results of tools. In a retriever's ``stages``, put it after the stages that rank and
    before a stage that writes a text. If the messages cannot be read, only the memories are
    returned, and the trace says why.

    The retriever's scope does not choose among the messages. If one retriever serves several users,
    pass the messages with the call, as ``messages``.

    A message is memorized if it says so: ``memorized`` on it, or in its ``additional_kwargs`` or
    ``metadata``.

    Args:
        source: Where the messages are: a list of them, or of groups of them; a LangChain chat
            history; a LlamaIndex memory or chat store; or a function without arguments that
            returns them. It is read anew for each question, and never altered. None = the
            ``messages`` of the retriever, or of the call.
        key: Which conversation of a chat store.
        target_name: Only messages by this person, or that name them. Empty = all.
        contextual_msg_max_count: How many messages at most, at least 1; the newest stay.

    Raises:
        SettingsError: On construction, when the source is of an unknown kind, or when ``key`` is
            missing for a chat store.

    Examples:
        >>> messages = [
        ...     {"role": "user", "content": "Ann moved to Elm Street.", "timestamp": 1710256800},
        ...     {"role": "user", "content": "Ann likes tea.", "memorized": True},
        ...     {"role": "assistant", "content": "When did Ann move?", "timestamp": 1710256860},
        ... ]
        >>> [message.content for message in ReadMessage(target_name="Ann").read(messages)]
        ['Ann moved to Elm Street.', 'When did Ann move?']
    """

    source: object = Field(default=None, exclude=True, repr=False)
    key: str = ""
    target_name: str = ""
    contextual_msg_max_count: Count = 10

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        if self.source is not None:
            _reading(self.source, self.key)
        return self

    def read(self, source: object) -> list[Message]:
        """The messages that the stage would add, oldest first.

        Args:
            source: See the class.

        Raises:
            ValueError: When the source is of an unknown kind.
            QueryError: When a message, or the time of a message, cannot be read.
        """
        return self._chosen(_reading(source, self.key)(), None)

    def apply(self, recall: Recall) -> Recall | Flow:
        """Add the messages to the memories."""
        if self.source is None:
            return self._joined(recall, recall.query.messages)
        return self._from_source(recall)

    def _from_source(self, recall: Recall) -> Flow:
        try:
            [messages] = yield [Work(_reading(self.source, self.key))]
        except Exception as error:  # noqa: BLE001 - a user's source may raise anything
            logger.warning("%s: the source failed with %s", self.stage_name, type(error).__name__)
            return recall.fell_back(self.stage_name, error)
        try:
            return self._joined(recall, messages)
        except QueryError as error:
            return recall.fell_back(self.stage_name, error)

    def _joined(self, recall: Recall, messages: Sequence[object]) -> Recall:
        query = recall.query
        chosen = self._chosen(messages, query.reference_time.tzinfo)
        read = (read_turn(message, query.scope) for message in chosen)
        turns = [*without_courtesies(filter(None, read))]  # they are not stored either
        mark = Step(self.stage_name, notes={JOINED: "messages"})
        present = {query.text, *(memory.content for memory in recall.memories)}
        present.update(memory.id for memory in recall.memories)
        new = [
            replace(Candidate.of(turn), memory_type="message", steps=(mark,))
            for turn in named(turns, None)
            if turn.content not in present and turn.id not in present
        ]
        return replace(recall, memories=(*recall.memories, *new))

    def _chosen(self, messages: Sequence[object], timezone: tzinfo | None) -> list[Message]:
        try:
            groups = [each if isinstance(each, list) else [each] for each in messages]
            every = read_messages([one for group in groups for one in group])
            wanted = [each for each in every if self._wants(each)]
            return _oldest_first(wanted, timezone)[-self.contextual_msg_max_count :]
        except (TypeError, ValueError) as error:
            raise QueryError(f"the messages cannot be read: {error}") from error

    def _wants(self, message: Message) -> bool:
        if message.memorized or message.role.lower() in NO_TURNS:
            return False
        target = self.target_name
        is_theirs = not target or message.name.casefold() == target.casefold()
        return is_theirs or asks_about(message.content, target)


def _reading(source: object, key: str) -> Callable[[], Sequence[object]]:
    """What reads the messages of a source; every framework has its own name for them."""
    by_key: Callable[[str], Sequence[object]] | None = getattr(source, "get_messages", None)
    whole: Callable[[], Sequence[object]] | None = getattr(source, "get_all", None)
    # First of all: some histories of LangChain have a `get_messages` too, which takes no key.
    if hasattr(source, "add_messages"):
        return partial(getattr, source, "messages")
    if by_key is not None:  # a chat store of LlamaIndex
        if not key:
            raise ValueError("a chat store holds several conversations; say which one with key")
        return partial(by_key, key)
    if whole is not None:  # a memory of LlamaIndex
        return whole
    if callable(source):
        return source
    if isinstance(source, Sequence) and not isinstance(source, str):
        return partial(list, source)
    raise ValueError(
        "source must be a list of messages, a chat history, a chat store, a memory or a "
        f"function that returns messages; got {type(source).__name__}"
    )


def _oldest_first(messages: Sequence[Message], timezone: tzinfo | None) -> list[Message]:
    """The messages by time; one without a time stays after the one before it."""
    moment = float("-inf")
    dated: list[tuple[float, Message]] = []
    for message in messages:
        if message.sent_at is not None:
            moment = parse_time(message.sent_at, timezone).timestamp()
        dated.append((moment, message))
    return [message for _, message in sorted(dated, key=itemgetter(0))]
