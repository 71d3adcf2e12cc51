"""RerankMemory's filter and ranking, MergeMemory's text and budget, TokenBudget."""

from dataclasses import replace
from datetime import UTC, datetime

from stages.worlds import Scripted

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.query import Query
from recall_retrievers.core.stage import Recall
from recall_retrievers.core.world import run
from recall_retrievers.stages.filters import TokenBudget
from recall_retrievers.stages.model_rankers import RerankMemory
from recall_retrievers.stages.plain_texts import MergeMemory

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)
GOOD = Candidate(content="Retry with a delay.", when_to_use="On timeouts", id="good", quality=0.9)
POOR = Candidate(content="Give up.", id="poor", quality=0.2, score=0.99)
UNKNOWN = Candidate(content="Ask\nsomebody.", id="unknown", score=0.0)
ALL = (POOR, GOOD, UNKNOWN)


def asked(k: int | None = None) -> Recall:
    return Recall(Query(text="It times out", reference_time=NOW, k=k), ALL)


def kept(recall: Recall) -> list[str]:
    return [memory.id for memory in recall.memories]


def test_the_filter_is_on_stored_quality_and_what_has_none_stays() -> None:
    assert kept(run(RerankMemory().apply(asked()))) == ["poor", "good", "unknown"]
    strict = RerankMemory(enable_score_filter=True)
    assert kept(run(strict.apply(asked()))) == ["good", "unknown"]
    stricter = RerankMemory(enable_score_filter=True, min_score_threshold=0.95)
    assert kept(run(stricter.apply(asked()))) == ["unknown"]


def test_the_model_is_not_shown_what_is_filtered_out() -> None:
    [prompt] = next(RerankMemory(llm=object(), enable_score_filter=True).apply(asked()))

    assert "Give up." not in prompt.user


def test_switched_off_no_model_is_asked() -> None:
    stage = RerankMemory(llm=object(), enable_llm_rerank=False)
    assert kept(run(stage.apply(asked()))) == ["poor", "good", "unknown"]


def test_a_ranking_gives_scores_and_is_cut_to_top_n() -> None:
    stage = RerankMemory(llm=object(), top_n=2, semantic_share=1)

    ranked = run(stage.apply(asked()), Scripted(lambda prompts: ['{"ranking": [3, 2, 1]}']))

    assert [(each.id, each.score) for each in ranked.memories] == [
        ("unknown", 1.0),
        ("good", 1 - 1 / 3),
    ]


def test_merging_tells_each_text_once_and_asks_to_use_what_helps() -> None:
    copy = replace(GOOD, id="copy")

    merged = MergeMemory().apply(Recall(asked().query, (*ALL, copy)))

    assert merged.text == (
        "Previous memories:\n"
        "- Give up.\n"
        "- On timeouts: Retry with a delay.\n"
        "- Ask\n  somebody.\n\n"
        "Consider the helpful parts of these memories when you answer the question."
    )
    assert kept(merged) == ["poor", "good", "unknown"]


def test_merging_keeps_to_a_budget_and_names_the_rest() -> None:
    merged = MergeMemory(token_budget=22, token_counter=len).apply(asked())

    assert "Give up." in merged.text
    assert "somebody" in merged.text
    assert "Retry" not in merged.text
    assert merged.memories[0].trace["left_out"] == "good"


def test_what_was_cut_for_the_text_stays_whole_beside_it() -> None:
    merged = MergeMemory(token_budget=7, token_counter=len).apply(asked())

    assert "Giv […]" in merged.text
    assert merged.memories[0].content == "Give up."


def test_merging_nothing_and_more_than_asked_for() -> None:
    assert MergeMemory().apply(Recall(asked().query)).text == ""
    assert kept(MergeMemory().apply(asked(k=1))) == ["poor"]


def test_a_budget_keeps_the_best_that_fit() -> None:
    stage = TokenBudget(token_budget=22, token_counter=len)

    recall = stage.apply(asked())

    assert kept(recall) == ["poor", "unknown"]
    assert recall.memories[0].trace["left_out"] == "good"
    assert kept(TokenBudget().apply(asked())) == ["poor", "good", "unknown"]
