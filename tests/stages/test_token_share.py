"""The share of single words in the share of meaning: what they count, and for which candidates."""

import pytest
from stages.test_fusion import fuse_arms

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.store import RecallStore


def near(memory: Candidate, similarity: float, of_words: float | None) -> Hit:
    known = {} if of_words is None else {"token_similarity": of_words}
    return Hit(memory, similarity, {"similarity": similarity, **known})


def test_they_take_their_share_from_the_similarity_and_none_from_the_words() -> None:
    tea, cup = Candidate(content="Tea.", id="tea"), Candidate(content="A cup.", id="cup")
    semantic = [near(tea, 0.8, 0.3), near(cup, 0.4, 0.6)]
    keyword = [Hit(tea, 2.0, {"keyword": 2.0}), Hit(cup, 1.0, {"keyword": 1.0})]

    fused = fuse_arms([semantic], [keyword], limit=2, weight=0.6, token_weight=0.4)

    shares = {
        each.id: [each.trace[f"by_{x}"] for x in ("meaning", "tokens", "words")] for each in fused
    }
    assert shares["tea"] == pytest.approx([0.36, 0.12, 0.4])
    assert shares["cup"] == pytest.approx([0.18, 0.24, 0.2])
    assert [each.score for each in fused] == pytest.approx([0.88, 0.62])


@pytest.mark.parametrize(("known", "counts"), [(10, True), (9, True), (8, False)])
def test_they_count_where_nine_of_ten_candidates_have_them(known: int, counts: bool) -> None:
    pool = [Candidate(content=str(n), id=str(n)) for n in range(10)]
    hits = [near(each, 0.5, 0.5 if n < known else None) for n, each in enumerate(pool)]

    [first, *_] = fuse_arms([hits], [], limit=10, token_weight=0.4)

    assert ("by_tokens" in first.trace) is counts
    assert first.trace["by_meaning"] == pytest.approx(0.6 if counts else 1.0)


def test_a_turn_has_a_fifth_of_what_its_reply_has_by_either_measure() -> None:
    asked = Candidate(content="Any pets?", id="asked")
    reply = Candidate(content="Three cats.", id="reply", turn_before="asked")
    hits = [near(reply, 0.8, 0.6), near(asked, 0.4, 0.3)]

    fused = {each.id: each for each in fuse_arms([hits], [], limit=2, token_weight=0.5)}

    assert fused["asked"].trace["by_meaning"] == pytest.approx(0.5 * 0.5 + 0.2 * 0.5)
    assert fused["asked"].trace["by_tokens"] == pytest.approx(0.5 * 0.5 + 0.2 * 0.5)


@pytest.mark.parametrize(("words", "share"), [(1, 0.5), (8, 0.5), (16, 0.25), (32, 0.125)])
def test_in_a_long_question_all_words_together_count_less(words: int, share: float) -> None:
    with RecallStore() as store:
        store.add(["Tea at four.", "A walk by the river."])
        question = " ".join(["tea", *(f"cup{n}" for n in range(words - 1))])
        retriever = MemoryRetriever(store=store, stages=[])
        found = retriever.recall_without_model(question).memories

    assert max(each.trace["by_tokens"] for each in found) == pytest.approx(0.65 * share)
