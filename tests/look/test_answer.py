"""The data of one answer: what `explain` prints, what was left out and why, what was in effect."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conftest import WordsEmbedding

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import IdLookupError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.query import Query
from recall_retrievers.core.world import World, completed
from recall_retrievers.explain.explanation import explain
from recall_retrievers.look.answer import Explained, Sliders, explained, to_look_at
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.retriever.stage_list import StageList
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.stages.fuse_rerank import FuseRerank
from recall_retrievers.stages.model_rankers import RerankMemory
from recall_retrievers.stages.rankers import RelevanceRank
from recall_retrievers.stages.reflect import Reflect
from recall_retrievers.stages.search_gate import SearchGate
from recall_retrievers.store import RecallStore

QUESTION = "What about the dentist last Tuesday?"
MEMORIES: list[dict[str, Any]] = [
    {"id": "tooth", "content": "The dentist filled a tooth.", "created_at": "2024-03-05T10:00Z"},
    {
        "id": "moved",
        "content": "The dentist moved to Elm St.",
        "created_at": "2024-02-01T10:00Z",
        "memory_type": "fact",
    },
    {"id": "again", "content": "The dentist filled a tooth.", "created_at": "2024-03-04T10:00Z"},
    {
        "id": "plan",
        "content": "On 2024-03-20 the dentist is away.",
        "created_at": "2024-03-01T10:00Z",
    },
    {
        "id": "bob",
        "content": "Bob's dentist is dear.",
        "scope": {"user_id": "bob"},
        "created_at": "2024-03-02T10:00Z",
    },
]


@pytest.fixture
def store(embeds_once: None) -> Iterator[RecallStore]:
    with RecallStore() as opened:
        opened.add([{"scope": {"user_id": "ann"}, **each} for each in MEMORIES])
        yield opened


def look(retriever: MemoryRetriever, question: str = QUESTION, **moved: Any) -> Explained:
    return completed(explained(retriever, question, {}, Sliders(**moved), World))


def retriever_of(store: Any, **settings: Any) -> MemoryRetriever:
    now = {"timestamp": "2024-03-08T12:00Z", "timezone": "UTC"}
    return MemoryRetriever(store=store, scope={"user_id": "ann"}, **now, **settings)


def test_the_steps_are_those_that_explain_prints(store: RecallStore) -> None:
    retriever = retriever_of(store)
    answer = look(retriever)
    recall = retriever.recall_without_model(QUESTION)

    printed = str(explain(recall.memories))
    assert [each.id for each in answer.memories] == [each.id for each in recall.memories]
    for memory in answer.memories:
        assert memory.steps[-1].after == memory.score
        for step in memory.steps:
            assert step.label in printed
    assert any(step.colour_name == "time" for step in answer.memories[0].steps)
    assert answer.left_out_counts in printed
    assert Explained.model_validate_json(answer.model_dump_json()) == answer


def test_the_time_is_told_with_its_other_reading_and_of_which_days_memories_tell(
    store: RecallStore,
) -> None:
    answer = look(retriever_of(store, k=4))

    [time] = answer.times
    assert (time.words, time.means) == ("last Tuesday", "2024-03-05 (Tuesday)")
    assert [each.means for each in time.other] == ["2024-02-27 (Tuesday)"]
    assert answer.searched == "What about the dentist?"  # without the words of time
    [plan] = [each for each in answer.memories if each.id == "plan"]
    assert [each.means for each in plan.events] == ["2024-03-20 (Wednesday)"]


def test_what_was_left_out_has_its_text_score_and_reason_and_nobody_elses_is_there(
    store: RecallStore,
) -> None:
    answer = look(retriever_of(store, k=1))

    reasons = [(each.id, each.reason) for each in answer.left_out]
    cut = [("moved", "cut at k"), ("plan", "cut at k")]
    assert reasons == [*cut, ("again", "duplicate of tooth")]  # what was nearest comes first
    assert answer.memories[0].remarks == ["1 duplicate(s) left out"]
    texts = {each["id"]: each["content"] for each in MEMORIES}
    assert all(each.content == texts[each.id] for each in answer.left_out)
    returned = {each.id: each.score for each in look(retriever_of(store, k=3)).memories}
    assert returned.items() >= {each.id: each.score for each in answer.left_out[:2]}.items()

    weights = FuseRerank(fuse_score_threshold=0.99, fuse_ratio_dict={"fact": 0.3})
    strict = look(retriever_of(store, replace=[weights]))
    low = [each.score for each in strict.left_out if "below" in each.reason]
    assert len(low) > 1
    assert low == sorted(low, reverse=True)


def test_of_two_reasons_the_later_one_is_told(store: RecallStore) -> None:
    """A stage of one's own may bring back what an earlier one left out, and the last cut counts."""
    kept: list[Candidate] = []

    def first(memories: list[Candidate], query: Query) -> list[Candidate]:
        kept.extend(memories)
        return memories[:1]

    def back(memories: list[Candidate], query: Query) -> list[Candidate]:
        return kept

    answer = look(retriever_of(store, stages=[first, back], k=1))

    assert [each.reason for each in answer.left_out][:1] == ["cut at k"]


def test_of_many_that_were_left_out_fifty_are_listed_and_all_are_counted(
    words: WordsEmbedding,
) -> None:
    with RecallStore(embedding=words) as many:
        many.add([{"content": f"Tea number {n}."} for n in range(70)])

        answer = look(MemoryRetriever(store=many, k=1, duplicate_threshold=None, fetch_k=70), "tea")

    assert len(answer.left_out) == 50
    assert answer.left_out_counts == "69 cut at k"


def test_a_store_that_finds_nothing_by_id_still_says_what_was_left_out(store: RecallStore) -> None:
    class Finder:
        """A store of another kind."""

        find, afind, add = store.find, store.afind, store.add

        def get(self, ids: object) -> list[Memory]:
            raise IdLookupError("it finds by questions")

    answer = look(retriever_of(Finder(), k=1))

    assert [each.id for each in answer.left_out][:1] == ["moved"]
    assert answer.left_out[0].content == ""


def test_an_answer_that_is_held_back_says_why(store: RecallStore) -> None:
    answer = look(retriever_of(store, only_with_evidence=True), "What is the capital of Mongolia?")

    assert (answer.memories, answer.evidence) == ([], "none")
    assert "the nearest was" in answer.evidence_about


def test_sliders_move_one_answer_and_leave_the_retriever(store: RecallStore) -> None:
    retriever = retriever_of(store, threshold_score=None)

    moved = look(retriever, semantic_weight=1.0, token_weight=0.0, time_ratio=1.0)
    words = look(retriever, method="keyword")
    usual = look(retriever)

    assert moved.settings.items() >= {"semantic_weight": 1, "token_weight": 0}.items()
    assert (moved.settings["time_ratio"], usual.settings["time_ratio"]) == (1.0, 2.0)
    assert not any(x.label.startswith("x 2") for each in moved.memories for x in each.steps)
    assert words.settings["method"] == "keyword"
    assert usual.settings.items() >= {"k": 5, "method": "hybrid"}.items()
    assert 0 < usual.settings["semantic_weight"] < 1  # it depends on the embedding


def test_without_models_the_stages_that_need_none_are_left(store: RecallStore) -> None:
    def same(memories: list[Candidate], query: Query) -> list[Candidate]:
        return memories

    asks: Callable[..., None] = pytest.fail
    several = StageList(stages=[RerankMemory(llm=asks), RelevanceRank()])
    stages = [ExtractTime(llm=asks), several, FuseRerank(), same, Reflect(llm=asks)]
    retriever = retriever_of(store, stages=stages, gate=SearchGate(llm=asks))

    bare = to_look_at(retriever)

    named = ["ExtractTime", "StageList", "FuseRerank", "same"]
    assert [each.stage_name for each in bare.stages] == named
    assert [each.stage_name for each in bare.stages[1].stages] == ["RelevanceRank"]
    assert retriever.stages[0].llm is retriever.gate.llm is asks
    with_models = to_look_at(retriever, models=True)
    assert [each.stage_name for each in with_models.stages] == named  # no text is written
    assert with_models.stages[0].llm is with_models.gate.llm is asks
    assert look(bare, "What did I tell you about the dentist before the flood?").memories
