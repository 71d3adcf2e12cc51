"""RecallRetriever: ask a collection of memories in plain words, from LlamaIndex."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Unpack, cast

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks import CallbackManager
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, QueryType
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent
from pydantic import BeforeValidator, Field, PrivateAttr

from llamaindex_recall._convert import ByItsName, to_candidate, to_nodes, to_pieces
from llamaindex_recall._world import LlamaIndexWorld, StageInput, asked_inside, without_span
from llamaindex_recall.any_store import Searchable, as_store
from llamaindex_recall.vector_store import RecallVectorStore
from recall_retrievers.core.scope import WITH_SCOPE
from recall_retrievers.core.streamed import Show, astreamed, streamed
from recall_retrievers.core.world import World, completed
from recall_retrievers.explain.explanation import Explanation, all_of
from recall_retrievers.explain.explanation import explain as explain_memories
from recall_retrievers.retriever.call_options import CallOptions, combine_options
from recall_retrievers.retriever.memory_retriever import MemoryRetriever, RetrieverOptions
from recall_retrievers.store.chroma.framework_objects import stored_memory
from recall_retrievers.store.memory_store import OpenStore

dispatcher = get_dispatcher(__name__)


@dataclass
class RecallQueryBundle(QueryBundle):
    """A question with settings of its own, for places that pass a bundle on, such as engines.

    Examples:
        >>> RecallQueryBundle("What about the dentist?", options={"k": 3}).options
        {'k': 3}
    """

    options: CallOptions = field(default_factory=CallOptions)


@dataclass
class _Asked(RecallQueryBundle):
    """A question on its way: whether a run asks it, and who is shown its text by sentences."""

    inside: bool = True
    show: Show | None = None


class SearchSkipped(ByItsName, BaseEvent):
    """The instrumentation event of a question without a search.

    Args:
        query: The question.
        why: The step that found that no memories are needed, and its reason.
    """

    query: str
    why: str


class RetrieverSettings(RetrieverOptions, total=False):
    """The options, and the settings of LlamaIndex."""

    callback_manager: CallbackManager
    object_map: dict[str, Any]


class RecallRetriever(MemoryRetriever, BaseRetriever):
    """Find the memories that answer a question in plain words, dated and explained."""

    piece: ClassVar[type] = BaseNodePostprocessor
    world_type: ClassVar[type[World]] = LlamaIndexWorld
    naming: ClassVar[str] = (
        f"{WITH_SCOPE}; to an engine of LlamaIndex RecallQueryBundle(question, options={{'scope': "
        "{'user_id': ...}}); in an agent await ctx.store.set('recall_options', {'scope': "
        "{'user_id': ...}}), and to a memory block scope_of"
    )

    store: Annotated[OpenStore, BeforeValidator(as_store)] = Field(repr=False, exclude=True)
    # What LlamaIndex's base, which is no pydantic model, sets on its instances.
    callback_manager: CallbackManager = Field(
        default_factory=CallbackManager, exclude=True, repr=False
    )
    object_map: dict[str, Any] = Field(default_factory=dict, exclude=True, repr=False)
    _verbose: bool = PrivateAttr(default=False)

    if TYPE_CHECKING:  # what may be handed in; checkers would take the types that are read back

        def __init__(
            self,
            *,
            store: Searchable,
            stages: Sequence[StageInput] = ...,
            **settings: Unpack[RetrieverSettings],
        ) -> None:
            """Find the memories that answer a question in plain words, dated and explained."""

    @without_span
    def retrieve(
        self, str_or_query_bundle: QueryType, **options: Unpack[CallOptions]
    ) -> list[NodeWithScore]:
        """The memories that answer a question, best first.

        The settings from ``k`` to ``deadline_s`` can be set for one call: here, or with a
        `RecallQueryBundle`.

        Each stage is a span of its own, with the spans of its model calls inside. Their cost is the
        event `StageUsage`. If the ``gate`` skips the search, or ``only_with_evidence`` holds the
        results back, there is an event `SearchSkipped`.

        Examples:
            >>> from llamaindex_recall import RecallRetriever, RecallStore
            >>> store = RecallStore()
            >>> ids = store.add([
            ...     {"content": "The dentist filled a tooth.", "created_at": "2024-03-05T10:00Z"},
            ...     {"content": "The dentist moved to Elm St.", "created_at": "2024-02-01T10:00Z"},
            ... ])
            >>> retriever = RecallRetriever(store=store, timestamp="2024-03-08T12:00:00Z")
            >>> found = retriever.retrieve("What about the dentist last Tuesday?", k=1)
            >>> found[0].text, found[0].metadata["recall_time_words"]
            ('The dentist filled a tooth.', 'last Tuesday')
            >>> store.close()
        """
        return super().retrieve(_bundle(str_or_query_bundle, options))

    @without_span
    async def aretrieve(
        self, str_or_query_bundle: QueryType, **options: Unpack[CallOptions]
    ) -> list[NodeWithScore]:
        """What `retrieve` returns, without blocking the event loop."""
        return await super().aretrieve(_bundle(str_or_query_bundle, options))

    def stream(
        self, str_or_query_bundle: QueryType, **options: Unpack[CallOptions]
    ) -> Iterator[list[NodeWithScore]]:
        """What `retrieve` returns; a text of `RewriteMemory` comes sentence by sentence.

        Where `RewriteMemory` is the last stage, each sentence comes as a node as soon as it is
        complete and checked. The last node has the rest of the text, which may be empty, and the
        metadata of the whole. Otherwise all results come at once. With ``check`` or
        ``unverified="fall_back"``, the text comes at once too: its sentences stand last.
        """
        ask, bundle = super().retrieve, _bundle(str_or_query_bundle, options)
        for part in streamed(
            lambda show: ask(replace(bundle, show=show)), shows=self.shows_sentences
        ):
            yield to_pieces(part)

    async def astream(
        self, str_or_query_bundle: QueryType, **options: Unpack[CallOptions]
    ) -> AsyncIterator[list[NodeWithScore]]:
        """What `stream` yields, without blocking the event loop."""
        ask, bundle = super().aretrieve, _bundle(str_or_query_bundle, options)
        async for part in astreamed(lambda show: ask(replace(bundle, show=show))):
            yield to_pieces(part)

    def add_nodes(self, nodes: Sequence[BaseNode]) -> list[str]:
        """Store nodes as memories and return their ids; see `RecallStore.add`.

        The retriever's ``scope`` is filled in where a node names none of its own. Results may be
        stored again: their score and their trace (``recall_*``) are left out.

        Raises:
            ScopeError: When a node has another scope, or would replace one that has; then none is
                stored.
        """
        return self.scoped({}).add([stored_memory(node) for node in nodes])

    def as_vector_store(self) -> RecallVectorStore:
        """The store as a vector store of LlamaIndex, within the retriever's scope.

        Raises:
            TypeError: When the retriever's store is not a `RecallStore`.
        """
        store: Any = self.store  # it is checked there
        return RecallVectorStore(store, scope=self.scope)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return completed(self._answered(query_bundle, asynchronous=False))

    def _handle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        # An empty list says why it is empty, and LlamaIndex would make another one.
        return super()._handle_recursive_retrieval(query_bundle, nodes) if nodes else nodes

    async def _ahandle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        asked = super()._ahandle_recursive_retrieval
        return await asked(query_bundle, nodes) if nodes else nodes

    @dispatcher.span  # LlamaIndex decorates only the sync method by itself
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await self._answered(query_bundle, asynchronous=True)

    async def _answered(self, bundle: QueryBundle, *, asynchronous: bool) -> list[NodeWithScore]:
        asked = bundle if isinstance(bundle, _Asked) else _Asked(bundle.query_str)
        world = partial(LlamaIndexWorld, asynchronous=asynchronous, show=asked.show)
        options = options_of(bundle)
        recall = await self.recalled(asked.query_str, options, world, inside=asked.inside)
        if recall.skipped:
            dispatcher.event(SearchSkipped(query=recall.query.text, why=recall.skipped))
        return to_nodes(recall)


def explain(nodes: Sequence[NodeWithScore] | RESPONSE_TYPE) -> Explanation:
    """Why each node came back: a table in a terminal or a notebook, and a picture.

    Args:
        nodes: The results of a retriever or stage of this library, best first, or the response of a
            query engine.

    Returns:
        A table when it is printed or stands last in a cell. ``to_svg()`` is the picture alone.
    """
    found = cast("Sequence[NodeWithScore]", getattr(nodes, "source_nodes", nodes))
    memories = [to_candidate(node) for node in all_of(found, NodeWithScore)]
    return explain_memories(memories, why=getattr(found, "why", ""))


def options_of(question: QueryType | None) -> CallOptions:
    """The settings that a question brings; none if it is no `RecallQueryBundle`."""
    return question.options if isinstance(question, RecallQueryBundle) else {}


def _bundle(question: QueryType, options: CallOptions) -> _Asked:
    if isinstance(question, QueryBundle):
        options = combine_options(options_of(question), options)
        question = question.query_str
    return _Asked(question, options=options, inside=asked_inside())
