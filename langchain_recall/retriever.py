"""RecallRetriever: ask a collection of memories in plain words, from LangChain."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Unpack

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
    adispatch_custom_event,
    dispatch_custom_event,
)
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.retrievers import BaseRetriever, LangSmithRetrieverParams
from langchain_core.runnables import RunnableConfig, ensure_config
from pydantic import BeforeValidator, ConfigDict, Field

from langchain_recall._convert import to_candidate, to_documents, to_pieces
from langchain_recall._world import LangChainWorld, StageInput
from langchain_recall.any_store import Searchable, as_store
from langchain_recall.vector_store import RecallVectorStore
from recall_retrievers.core.scope import WITH_SCOPE, Scope
from recall_retrievers.core.streamed import Show, astreamed, streamed
from recall_retrievers.core.world import World, completed, settled
from recall_retrievers.explain.explanation import Explanation, all_of
from recall_retrievers.explain.explanation import explain as explain_memories
from recall_retrievers.retriever.call_options import CallOptions, combine_options
from recall_retrievers.retriever.memory_retriever import MemoryRetriever, RetrieverOptions
from recall_retrievers.store.chroma.framework_objects import stored_memory
from recall_retrievers.store.memory_store import OpenStore

SKIPPED = "recall_skipped"
"""The custom event of a question without a search; its data is the reason."""

# The names that a chain's config may set. Not session_id: LangChain's message histories use that
# name for a conversation, and memories of other conversations would silently vanish.
_CONFIGURABLE = ("timestamp", "timezone", "k", "only_with_evidence")
_CONFIGURABLE_SCOPE = ("user_id", "agent_id", "workspace")
_RUNTIME = "__pregel_runtime"  # where a graph of LangGraph puts its run's context


class RetrieverSettings(RetrieverOptions, total=False):
    """The options, and the settings of LangChain: names of a run in its traces."""

    name: str | None
    tags: list[str] | None
    metadata: dict[str, Any] | None


# Where mypy reads a class several times, its plugin for pydantic leaves names behind that clash.
class RecallRetriever(MemoryRetriever, BaseRetriever):  # type: ignore[misc, unused-ignore]
    """Find the memories that answer a question in plain words, dated and explained."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    piece: ClassVar[type] = BaseDocumentCompressor
    world_type: ClassVar[type[World]] = LangChainWorld
    naming: ClassVar[str] = (
        f"{WITH_SCOPE}; to an agent of LangChain context={{'user_id': ...}}, or "
        "config={'configurable': {'user_id': ...}}"
    )

    store: Annotated[OpenStore, BeforeValidator(as_store)] = Field(repr=False, exclude=True)

    if TYPE_CHECKING:  # what may be handed in; checkers would take the types that are read back

        def __init__(
            self,
            *,
            store: Searchable,
            stages: Sequence[StageInput] = ...,
            **settings: Unpack[RetrieverSettings],
        ) -> None:
            """Find the memories that answer a question in plain words, dated and explained."""

    # LangChain's base takes any keyword; here editors know them, and type checkers find a typo.
    def invoke(  # type: ignore[override]
        self, input: object, config: RunnableConfig | None = None, **settings: Unpack[CallOptions]
    ) -> list[Document]:
        """The memories that answer a question, best first.

        The settings from ``k`` to ``deadline_s`` can be set for one call. Of these, timestamp,
        timezone, k, only_with_evidence and the fields user_id, agent_id and workspace of the scope
        can also come through ``config={"configurable": {...}}``, or in an agent through
        ``context={...}``.

        Callbacks and ``astream_events`` see each stage as a run of its own. Its model calls are
        inside, and its output has their cost under ``usage``. If the ``gate`` skips the search,
        or ``only_with_evidence`` holds the results back, callbacks get the custom event
        "recall_skipped".

        Examples:
            >>> from langchain_recall import RecallRetriever, RecallStore
            >>> store = RecallStore()
            >>> ids = store.add([
            ...     {"content": "The dentist filled a tooth.", "created_at": "2024-03-05T10:00Z"},
            ...     {"content": "The dentist moved to Elm St.", "created_at": "2024-02-01T10:00Z"},
            ... ])
            >>> retriever = RecallRetriever(store=store, timestamp="2024-03-08T12:00:00Z")
            >>> found = retriever.invoke("What about the dentist last Tuesday?", k=1)
            >>> found[0].page_content, found[0].metadata["recall_time_words"]
            ('The dentist filled a tooth.', 'last Tuesday')
            >>> store.close()
        """
        return super().invoke(input, config, **_call_settings(config, settings))  # type: ignore[arg-type]  # a chain may hand over a dict

    async def ainvoke(  # type: ignore[override]
        self, input: object, config: RunnableConfig | None = None, **settings: Unpack[CallOptions]
    ) -> list[Document]:
        """What `invoke` returns, without blocking the event loop."""
        return await super().ainvoke(input, config, **_call_settings(config, settings))  # type: ignore[arg-type]  # a chain may hand over a dict

    def stream(  # type: ignore[override]
        self, input: object, config: RunnableConfig | None = None, **settings: Unpack[CallOptions]
    ) -> Iterator[list[Document]]:
        """What `invoke` returns; a text of `RewriteMemory` comes sentence by sentence.

        Where `RewriteMemory` is the last stage, each sentence comes as a document as soon as it is
        complete and checked. The last document has the rest of the text, which may be empty, and
        the metadata of the whole. Otherwise all results come at once. With ``check`` or
        ``unverified="fall_back"``, the text comes at once too: its sentences stand last.
        """
        given: Any = _call_settings(config, settings)
        ask = partial(super().invoke, input, config, **given)  # type: ignore[arg-type]
        for part in streamed(lambda show: ask(show=show), shows=self.shows_sentences):
            yield to_pieces(part)

    async def astream(  # type: ignore[override]
        self, input: object, config: RunnableConfig | None = None, **settings: Unpack[CallOptions]
    ) -> AsyncIterator[list[Document]]:
        """What `stream` yields, without blocking the event loop."""
        given: Any = _call_settings(config, settings)
        ask = partial(super().ainvoke, input, config, **given)  # type: ignore[arg-type]
        async for part in astreamed(lambda show: ask(show=show)):
            yield to_pieces(part)

    def add_documents(self, documents: Sequence[Document]) -> list[str]:
        """Store documents as memories and return their ids; see `RecallStore.add`.

        The retriever's ``scope`` is filled in where a document names none of its own. Results may
        be stored again: their score and their trace (``recall_*``) are left out.

        Raises:
            ScopeError: When a document has another scope, or would replace one that has; then none
                is stored.
        """
        return self.scoped({}).add([stored_memory(document) for document in documents])

    def as_vector_store(self) -> RecallVectorStore:
        """The store as a vector store of LangChain, within the retriever's scope.

        Raises:
            TypeError: When the retriever's store is not a `RecallStore`.
        """
        store: Any = self.store  # it is checked there
        return RecallVectorStore(store, scope=self.scope)

    def _get_relevant_documents(
        self, query: object, *, run_manager: CallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        return completed(self._answered(query, run_manager, dispatch_custom_event, **options))

    async def _aget_relevant_documents(
        self, query: object, *, run_manager: AsyncCallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        return await self._answered(query, run_manager, adispatch_custom_event, **options)

    async def _answered(
        self,
        query: object,
        run: CallbackManagerForRetrieverRun | AsyncCallbackManagerForRetrieverRun,
        dispatch: Callable[..., object],
        *,
        show: Show | None = None,
        inside: bool | None = None,
        **options: Unpack[CallOptions],
    ) -> list[Document]:
        callbacks = run.get_child()
        world = partial(LangChainWorld, callbacks, show=show)
        inside = run.parent_run_id is not None if inside is None else inside
        recall = await self.recalled(query, options, world, inside=inside)
        if recall.skipped:
            await settled(dispatch(SKIPPED, recall.skipped, config={"callbacks": callbacks}))
        return to_documents(recall)

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        params = super()._get_ls_params(**kwargs)
        params["ls_vector_store_provider"] = type(self.store).__name__
        params["ls_embedding_model"] = getattr(self.store, "embedding_model", None)
        return params


def explain(documents: Sequence[Document]) -> Explanation:
    """Why each document came back: a table in a terminal or a notebook, and a picture.

    Args:
        documents: The results of a retriever or stage of this library, best first.

    Returns:
        A table when it is printed or stands last in a cell. ``to_svg()`` is the picture alone.
    """
    found = [to_candidate(document) for document in all_of(documents, Document)]
    return explain_memories(found, why=getattr(documents, "why", ""))


def _call_settings(config: RunnableConfig | None, options: CallOptions) -> CallOptions:
    """The settings of the call over those in the config of the chain, and in a graph's context."""
    configurable = ensure_config(config).get("configurable") or {}
    context = getattr(configurable.get(_RUNTIME), "context", None)
    if not isinstance(context, Mapping):  # an object with such attributes
        names = (*_CONFIGURABLE, *_CONFIGURABLE_SCOPE)
        context = {name: getattr(context, name) for name in names if hasattr(context, name)}
    around = combine_options(_named(context), _named(configurable))
    return combine_options(around, options)


def _named(given: Mapping[str, Any]) -> CallOptions:
    options: Any = {name: given[name] for name in _CONFIGURABLE if name in given}
    if scope := {name: given[name] for name in _CONFIGURABLE_SCOPE if name in given}:
        options["scope"] = Scope.model_validate(scope)
    return options  # type: ignore[no-any-return]  # the names are those of the settings
