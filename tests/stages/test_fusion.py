"""Fusion: what holds for any arms of a search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_stages.memory import Memory
from recall_stages.ranking.fusion import fuse_arms

scores = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.001, 50), max_size=8)
fusions = st.sampled_from(["scores", "ranks"])


def arm(found: dict[str, float], name: str) -> list[Memory]:
    memories = [Memory(content=i, id=i).scored(s, **{name: s}) for i, s in found.items()]
    return sorted(memories, key=lambda memory: -(memory.score or 0))


@given(scores, scores, fusions, st.floats(0, 1), st.integers(1, 10))
def test_every_memory_is_there_once_scored_from_0_to_1_best_first(
    similar, worded, by, weight, limit
) -> None:
    arms = arm(similar, "similarity"), arm(worded, "keyword")
    fused = fuse_arms([arms[0]], [arms[1]], limit=limit, weight=weight, by=by)
    found = [memory.score for memory in fused]

    assert sorted(memory.id for memory in fused) == sorted(similar.keys() | worded.keys())
    assert all(0 <= score <= 1 + 1e-9 for score in found)
    assert found == sorted(found, reverse=True)


@given(scores.filter(len), fusions)
def test_one_kind_of_arm_alone_keeps_its_order(similar, by) -> None:
    found = arm(similar, "similarity")
    fused = fuse_arms([found], [], limit=3, by=by)

    order = sorted(found, key=lambda memory: (-(memory.score or 0), memory.id))
    assert [memory.id for memory in fused] == [memory.id for memory in order]
    assert fused[0].score == pytest.approx(1)


@given(scores, scores)
def test_the_unit_of_the_scores_does_not_matter(similar, worded) -> None:
    def fused(unit):
        halves = {key: score * unit for key, score in worded.items()}
        many = fuse_arms([arm(similar, "similarity")], [arm(halves, "keyword")], limit=3)
        return {memory.id: memory.score for memory in many}

    assert fused(1.0) == pytest.approx(fused(0.5))
