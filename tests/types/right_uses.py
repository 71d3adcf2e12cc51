"""What the documentation says may be handed in: type checkers accept it, and so does the library.

What is read back has the type that it really has. Each block names all settings of its class, so
that none is left out of what the checkers see.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import assert_type

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.store.base import SearchItem
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.callbacks import CallbackManager
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.schema import NodeWithScore
from llama_index.core.vector_stores import SimpleVectorStore
from pydantic import BaseModel

import langchain_recall as lc
import llamaindex_recall as li
from langchain_recall import Memory, RecallConfig, RecallStore, Scope
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.evaluation.questions import Question
from recall_retrievers.timeline import TimeRange

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)


def all_of(made: BaseModel) -> None:
    """Fail where a setting is not named in this file, since nothing would check its type."""
    assert made.model_fields_set == set(type(made).model_fields), type(made)


def reversed_order(memories: list[Candidate], query: object) -> Sequence[Candidate]:
    return memories[::-1]


# -- memories -------------------------------------------------------------------------------------

memory = Memory(
    content="Ann likes tea.",
    id="m1",
    memory_type="observation",
    created_at="2024-03-05T10:00:00Z",
    events=[TimeRange(NOW, NOW + timedelta(hours=1), "hour")],
    when_to_use="",
    author="Ann",
    said_before="",
    turn_before="",
    scope={"user_id": "ann"},
    metadata={"topic": "tea", "tags": ["green", "hot"]},
    quality=0.5,
    expires_at=NOW,
    superseded_by="m2",
    superseded_at=NOW,
)
all_of(memory)
assert_type(memory.created_at, datetime | None)
assert_type(memory.scope, Scope)
assert_type(memory.scope.user_id, str | None)
for moment in (1709640000, 1709640000.5, "2024-03-05", NOW, None):
    Memory(content="Tea.", created_at=moment, scope=Scope(user_id="ann"))

store = RecallStore(fields={"created_at": "created_at"}, require_scope=["user_id"])
store.add([memory, {"content": "Bob likes chess.", "user_id": "bob", "created_at": NOW}])
store.add_conversation([{"role": "user", "content": "Tea?"}], scope={"user_id": "ann"})

# -- retrievers -----------------------------------------------------------------------------------

retriever = lc.RecallRetriever(
    store=store,
    k=3,
    method="hybrid",
    threshold_score=None,
    only_with_evidence=False,
    timestamp="2024-03-08T12:00:00Z",
    timezone="UTC",
    scope={"user_id": "ann"},
    everyone=False,
    require_scope=("user_id",),
    filter={"topic": {"$in": ["tea"]}},
    time_range=(None, NOW),
    time_mode="prefer",
    as_of="2024-03-07",
    include_superseded=False,
    messages=[{"role": "user", "content": "Tea?"}, ("ai", "Yes.")],
    deadline_s=5,
    fetch_k=50,
    fusion="scores",
    semantic_weight=0.6,
    token_weight=0.4,
    similarity_floor=0.0,
    duplicate_threshold=0.95,
    mmr_lambda=1.0,
    gate=lc.SearchGate(),
    recall_key="query",
    stages=[lc.ExtractTime(), reversed_order, lambda memories, query: memories],
    replace=[lc.ExtractTime(language="en")],
    name="memories",
    tags=["recall"],
    metadata={"app": "mine"},
)
all_of(retriever)
assert_type(retriever.scope, Scope)
assert_type(retriever.scope.user_id, str | None)
found = retriever.invoke("Who likes tea?", k=1, scope={"session_id": "monday"}, timestamp=NOW)
assert_type(found, list[Document])
lc.explain(found)

nodes_from = li.RecallRetriever(
    store=store,
    k=3,
    method="semantic",
    threshold_score=0.1,
    only_with_evidence=True,
    timestamp=1709899200,
    timezone=None,
    scope=Scope(user_id="ann"),
    everyone=True,
    require_scope=["user_id"],
    filter=None,
    time_range="last week",
    time_mode="require",
    as_of=None,
    include_superseded=True,
    messages=[],
    deadline_s=None,
    fetch_k=50,
    fusion="ranks",
    semantic_weight=0.6,
    token_weight=0.4,
    similarity_floor=0.0,
    duplicate_threshold=None,
    mmr_lambda=1,
    gate=None,
    recall_key="query",
    stages=[li.ExtractTime(), reversed_order, SimilarityPostprocessor(similarity_cutoff=0.1)],
    replace=(li.ExtractTime(language="en"),),
    callback_manager=CallbackManager(),
    object_map={},
)
all_of(nodes_from)
nodes = nodes_from.retrieve("Who likes tea?", k=1, timestamp="2024-03-08")
assert_type(nodes, list[NodeWithScore])
assert_type(nodes_from.scope.user_id, str | None)
li.explain(nodes)

lc.personal_memory_retriever(store, k=1, scope={"user_id": "ann"}, tags=["personal"])
lc.personal_memory_retriever(store, replace=[lc.FuseRerank(fuse_time_ratio=3)])
lc.simple_task_memory_retriever(store, timezone="UTC")
li.task_memory_retriever(store, scope={"user_id": "ann"})

# -- other stores ---------------------------------------------------------------------------------

documents = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
other = lc.AnyStore(
    source=documents,
    fields={"user_id": "by"},
    similarity=lambda distance: 1 - distance,
    push_down=lambda search: {"filter": search.scope.user_id},
    keyword=documents.as_retriever(),
    fetch_limit=100,
)
all_of(other)
assert_type(other.fields.user_id, str)
for searched in (other, documents, documents.as_retriever()):
    lc.RecallRetriever(store=searched).invoke("Who likes tea?")

index = VectorStoreIndex([], embed_model=MockEmbedding(embed_dim=8))
li.RecallRetriever(store=li.AnyStore(source=index, fields={"user_id": "by"}))
li.RecallRetriever(store=index)
li.RecallRetriever(store=index.as_retriever())
in_memory: type = SimpleVectorStore  # keeps no texts, and is refused when it is handed over

# -- where the frameworks want a store of their own ------------------------------------------------

items = lc.RecallGraphStore(
    store,
    fields=["content"],
    namespace=("memories", "{user_id}"),
    ttl={"default_ttl": 60, "refresh_on_read": True},
    timezone="UTC",
    time_mode="require",
)
items.put(("memories", "ann"), "tea", {"content": "Ann likes tea."}, index=["content"], ttl=5)
assert_type(items.search(("memories", "ann"), query="Who likes tea?"), list[SearchItem])
create_agent(FakeListChatModel(responses=["Yes."]), store=items)

vectors = lc.RecallVectorStore(store, scope={"user_id": "ann"})
assert_type(vectors.similarity_search("tea", k=1, filter={"stars": {"$gte": 3}}), list[Document])
assert_type(retriever.as_vector_store(), lc.RecallVectorStore)
node_vectors = li.RecallVectorStore(store.for_scope(user_id="ann"))
VectorStoreIndex.from_vector_store(node_vectors, node_vectors.embed_model)
assert_type(nodes_from.as_vector_store(), li.RecallVectorStore)

# -- stages on their own, one call, questions -----------------------------------------------------

all_of(
    lc.RecallCompressor(
        stages=[lc.FuseRerank(top_n=1), reversed_order],
        deadline_s=5,
        timestamp=NOW,
        timezone="UTC",
        fields={"created_at": "date"},
        name="refine",
    )
)
all_of(
    li.RecallPostprocessor(
        stages=(li.FuseRerank(top_n=1), reversed_order),
        deadline_s=None,
        timestamp="2024-03-08",
        timezone=None,
        fields={},
        callback_manager=CallbackManager(),
    )
)

config = RecallConfig(
    source=store,
    retrieval_method="hybrid",
    max_candidates=20,
    filters=[lc.TimeDecay(), reversed_order],
    ranker=reversed_order,
    max_results=1,
    generate_reflection=True,
    reflector=lc.Reflect(),
    store_reflections=False,
)
all_of(config)
recalled = lc.recall("Who likes tea?", config, scope={"user_id": "ann"}, timestamp=NOW)
assert_type(recalled["memories"], list[Document])

question = Question(
    question="Who likes tea?",
    relevant=["m1"],
    timestamp=NOW,
    timezone="UTC",
    scope={"user_id": "ann"},
    category="drinks",
)
all_of(question)
assert_type(question.relevant, frozenset[str])
for ids in (("m1",), {"m1"}, frozenset(["m1"])):
    Question(question="Who likes tea?", relevant=ids)
lc.evaluate(lc.RecallRetriever(store=store), [question])


async def managed() -> None:
    """The methods for `await` take what the others take."""
    assert_type(await store.acount(scope={"user_id": "ann"}, memory_type="insight"), int)
    assert_type(await store.adelete(["tea"], time_range=("2024-03-01", None)), int)
    assert_type(await store.aget(["tea"]), list[lc.Memory])
    async for each in store.amemories(order="oldest", limit=1):
        assert_type(each, lc.Memory)


store.close()
RecallStore(Path("memories")).close()
