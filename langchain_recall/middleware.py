"""RecallMiddleware: an agent that remembers without a tool call.

Needs LangChain's agents: ``pip install "recall-retrievers[agents]"``.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime

from langchain_recall._convert import to_candidate
from langchain_recall.retriever import RecallRetriever
from recall_retrievers.agents.recall_tool import recalled_text
from recall_retrievers.core.message import BEFORE
from recall_retrievers.core.query import LONGEST_QUESTION
from recall_retrievers.retriever.call_options import CallOptions
from recall_retrievers.stages.search_gate import SearchGate

_GATE = SearchGate()


class RecallState(AgentState[Any]):
    """The state of an agent, with the memories of this turn."""

    recalled: NotRequired[str]


class RecallMiddleware(AgentMiddleware[RecallState, Any, Any]):
    """Before an agent answers, put memories that fit the question into its system message.

    Once a turn, the retriever searches for the last message of the user. If that leaves something
    open ("and how much was that?"), it searches for the messages before it, too. Every model call
    of the turn sees the memories as quoted material. They are not written into the history: the
    next turn has its own. In the agent's state they are plain text, so any checkpointer can store
    them.

    The scope is the retriever's ``scope``, narrowed by ``user_id``, ``agent_id`` and ``workspace``
    of the run's ``context`` and ``config["configurable"]``.

    Args:
        retriever: The retriever that searches.
        gate: Decides from the conversation whether memories are needed, so greetings, thanks and
            questions about the world bring none. A retriever with a gate of its own goes by that
            one. None = every turn searches.
        only_with_evidence: Whether nothing is put into the prompt if no memory is about the message
            (``recall_evidence`` is "none"). False = the retriever's own setting decides.

    Examples:
        >>> from langchain.agents import create_agent
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from langchain_recall import RecallMiddleware, RecallRetriever, RecallStore
        >>> store = RecallStore()
        >>> ids = store.add(["Anna likes green tea."])
        >>> recall = RecallMiddleware(RecallRetriever(store=store))
        >>> agent = create_agent(FakeListChatModel(responses=["Green tea."]), middleware=[recall])
        >>> done = agent.invoke({"messages": [("user", "What does Anna drink?")]})
        >>> [message.content for message in done["messages"]]
        ['What does Anna drink?', 'Green tea.']
        >>> "Anna likes green tea." in done["recalled"]
        True
        >>> store.close()
    """

    state_schema = RecallState

    def __init__(
        self,
        retriever: RecallRetriever,
        *,
        gate: SearchGate | None = _GATE,
        only_with_evidence: bool = False,
    ) -> None:
        super().__init__()
        self._options: CallOptions = {"only_with_evidence": True} if only_with_evidence else {}
        self._retriever = retriever
        if gate is not None and retriever.gate is None:
            self._retriever = retriever.model_copy(update={"gate": gate})

    # LangGraph hands the runtime over by that name.
    def before_agent(self, state: RecallState, runtime: Runtime[Any]) -> dict[str, str]:  # noqa: ARG002
        question, options = self._question(state["messages"])
        return _recalled(self._retriever.invoke(question, **options) if question else [])

    async def abefore_agent(self, state: RecallState, runtime: Runtime[Any]) -> dict[str, str]:  # noqa: ARG002
        question, options = self._question(state["messages"])
        return _recalled(await self._retriever.ainvoke(question, **options) if question else [])

    def _question(self, messages: Sequence[BaseMessage]) -> tuple[str, CallOptions]:
        """The last message of the user, empty if it is no text, and the settings of its search."""
        users = [place for place, x in enumerate(messages) if isinstance(x, HumanMessage)]
        if not users:
            return "", {}
        question = str(messages[users[-1]].text).strip()[:LONGEST_QUESTION]
        return question, {**self._options, "messages": messages[: users[-1]][-BEFORE:]}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(_with_memories(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        return await handler(_with_memories(request))


def _recalled(documents: Sequence[Document]) -> dict[str, str]:
    return {"recalled": recalled_text([to_candidate(document) for document in documents])}


def _with_memories(request: ModelRequest[Any]) -> ModelRequest[Any]:
    recalled = request.state.get("recalled")
    if not recalled:
        return request
    own = request.system_message
    blocks: list[str | dict[Any, Any]] = list(own.content_blocks) if own is not None else []  # type: ignore[arg-type]  # blocks are dicts
    blocks.append({"type": "text", "text": f"\n\n{recalled}" if blocks else recalled})
    return request.override(system_message=SystemMessage(content=blocks))
