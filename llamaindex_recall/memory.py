"""RecallMemoryBlock: the part of an agent's memory that outlives its messages.

LlamaIndex's own vector block keeps the first session's filter for all that follow and hands one
user's memories to the next; this one asks a retriever, whose scope no call can widen.
"""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock, Memory
from pydantic import ConfigDict, Field, PrivateAttr

from llamaindex_recall._convert import to_candidate
from llamaindex_recall.retriever import RecallRetriever
from recall_retrievers.agents.recall_tool import recalled_text
from recall_retrievers.agents.turn_writer import ScopeOf, TurnWriter, session_scope
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import log_failure
from recall_retrievers.core.message import BEFORE
from recall_retrievers.core.query import LONGEST_QUESTION
from recall_retrievers.core.settings import Settings
from recall_retrievers.retriever.call_options import CallOptions, combine_options
from recall_retrievers.stages.search_gate import SearchGate
from recall_retrievers.text.tokens import token_counter

_log = logging.getLogger(__name__)

_LAST_FENCE = "\n<memory "
_ANSWERS = 100  # for agents that read their memory again


class RecallMemoryBlock(Settings, BaseMemoryBlock[str]):
    """A block of LlamaIndex's `Memory` that recalls and keeps memories in a collection.

    It recalls: the retriever searches for the last message of the user, once for each message, and
    for that message with the exchange before it. The memories come back as quoted material. It
    stores: messages that no longer fit into the memory, as turns of a conversation (see
    `RecallStore.add_conversation`). ``await block.aflush(memory)`` at the end of a session stores
    the rest. An error here never ends an agent's run. It is logged, and messages that could not be
    stored are tried again with the next ones.

    The scope is the retriever's ``scope``. One block can serve several users if ``scope_of`` says
    whose a session is. Otherwise each user needs a retriever and a block. The time of a message is
    its ``additional_kwargs["timestamp"]``, or the clock if it has none.

    Args:
        retriever: The retriever that searches and stores.
        scope_of: Whose a session is, by its id: ``lambda session: {"user_id": users[session]}``.
            It narrows the retriever's scope. If it raises, or names nobody (None, ``{}``, an empty
            id), nothing is recalled or stored, and that is logged. None = the retriever's scope
            holds for every session.
        gate: Decides from the conversation whether memories are needed, so greetings, thanks and
            questions about the world bring none. A retriever with a gate of its own goes by that
            one. None = every message searches.
        only_with_evidence: Recall nothing if no memory is about the message (``recall_evidence`` is
            "none"). False = the retriever's own setting decides.
        by_session: Recall only memories of the same session. Without a session id nothing is
            recalled.
        expires_in: How long a message is recalled, from its time on, such as
            ``timedelta(days=30)``; `RecallStore.purge` deletes it afterwards. None = for good.
        priority: What happens when the memory is over its limit. 0 = never cut, else the lowest
            ranked memories are left out first.

    Examples:
        >>> import asyncio
        >>> from llama_index.core.memory import Memory
        >>> from llamaindex_recall import RecallMemoryBlock, RecallRetriever, RecallStore
        >>> store = RecallStore()
        >>> ids = store.add(["Anna likes green tea."])
        >>> block = RecallMemoryBlock(retriever=RecallRetriever(store=store))
        >>> memory = Memory.from_defaults(session_id="monday", memory_blocks=[block])
        >>> seen = asyncio.run(memory.aget(input="What does Anna drink?"))
        >>> "Anna likes green tea." in str(seen[0].content)
        True
        >>> store.close()
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    name: str = "recall"
    description: str | None = "Memories of earlier conversations."
    priority: int = Field(default=1, ge=0, le=1_000)
    retriever: RecallRetriever = Field(repr=False)
    scope_of: ScopeOf | None = None
    gate: SearchGate | None = Field(default_factory=SearchGate)
    only_with_evidence: bool = False
    by_session: bool = False
    expires_in: timedelta | None = Field(default=None, gt=timedelta(0), le=timedelta(days=36_500))
    _answers: dict[tuple[str, str, str], list[Candidate]] = PrivateAttr(default_factory=dict)
    _writer: TurnWriter = PrivateAttr()
    _gated: RecallRetriever = PrivateAttr()

    def model_post_init(self, context: object) -> None:
        super().model_post_init(context)
        self._writer = TurnWriter(self.expires_in)
        self._gated = self.retriever
        if self.gate is not None and self.retriever.gate is None:
            self._gated = self.retriever.model_copy(update={"gate": self.gate})

    async def _aget(
        self,
        messages: list[ChatMessage] | None = None,
        session_id: str | None = None,
        **options: Any,
    ) -> str:
        said = [*(messages or [])]
        while said and said[-1].role != MessageRole.USER:
            said.pop()
        question = (said.pop().content or "").strip()[:LONGEST_QUESTION] if said else ""
        if not question:
            return ""
        try:
            before = [message for message in said if (message.content or "").strip() != question]
            call = self._call(session_id or "", {"messages": before[-BEFORE:], **options})
            # An agent reads its memory after every round of tools; the question is still the same.
            # Within an hour, that is: tomorrow "yesterday" is another day.
            now = datetime.now(UTC)
            key = (f"{now:%Y-%m-%d %H}", repr(call), question)
            if key not in self._answers or any(x.expired(now) for x in self._answers[key]):
                found = await self._gated.aretrieve(question, **call)
                if len(self._answers) >= _ANSWERS:
                    del self._answers[next(iter(self._answers))]
                self._answers[key] = [to_candidate(node) for node in found]
            return recalled_text(self._answers[key])
        except Exception as error:  # noqa: BLE001 - an error here would end the agent's run
            what = "the memories could not be searched; the agent goes on without"
            log_failure(_log, what, error)
            return ""

    def _call(self, session: str, options: dict[str, Any]) -> CallOptions:
        names = CallOptions.__annotations__
        call: CallOptions = {k: v for k, v in options.items() if k in names}  # type: ignore[assignment]  # the keys were looked up
        if self.only_with_evidence:
            call = {"only_with_evidence": True, **call}
        call = combine_options({"scope": session_scope(session, self.scope_of)}, call)
        return (
            combine_options(call, {"scope": {"session_id": session}}) if self.by_session else call
        )

    async def _aput(self, messages: list[ChatMessage]) -> None:
        by_session: dict[str, list[ChatMessage]] = defaultdict(list)
        for message in messages:
            by_session[str(message.additional_kwargs.get("session_id") or "")].append(message)
        await self._store(by_session)

    async def aflush(self, memory: Memory) -> None:
        """Store what the memory still holds, at the end of a session. Twice does no harm."""
        try:
            await self._store({memory.session_id: await memory.aget_all()})
        except Exception as error:  # noqa: BLE001 - as above
            what = "the messages of the session could not be read; they are not stored"
            log_failure(_log, what, error)

    async def _store(self, sessions: Mapping[str, Sequence[ChatMessage]]) -> None:
        await self._writer.store(sessions, self.retriever, self.scope_of)
        self._answers.clear()  # what was stored may answer better

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave out the lowest ranked memories until it is short enough; None if none is left."""
        count = token_counter()
        allowed = count(content) - tokens_to_truncate
        while count(content) > allowed:
            content, fence, _ = content.rpartition(_LAST_FENCE)
            if not fence or _LAST_FENCE not in content:
                return None
        return content
