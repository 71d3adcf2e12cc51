"""The arms of a search made one pool: what the meaning found, and what the words found.

Similarities and BM25 scores have different scales, so each is normalised over the pool before the
two are weighed; fusing by rank alone would forget how much better the first is than the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from recall_stages.memory import Memory


def fuse_arms(
    semantic: Sequence[Sequence[Memory]],
    keyword: Sequence[Sequence[Memory]],
    *,
    limit: int,
    weight: float = 0.5,
) -> list[Memory]:
    """One list of candidates out of the arms of a search, scored from 0 to 1.

    A score is ``weight`` x the similarity, where the last of the pool is 0 and the best is 1, plus
    the rest x the BM25 score, where the best is 1. An arm that came back shorter than its limit
    has shown all there is: then nothing lies below the pool, and similarities are only divided by
    the best. Where one kind of arm found nothing, the other counts alone.

    Args:
        semantic: Memories found by meaning, each with ``similarity`` in its trace.
        keyword: Memories found by words, each with ``keyword`` in its trace.
        limit: How many each arm was asked for.
        weight: The share of meaning, 0 to 1.

    Examples:
        >>> tea = Memory(content="Tea at four.", id="1").scored(0.8, similarity=0.8)
        >>> cup = Memory(content="A cup of tea.", id="2").scored(3.0, keyword=3.0)
        >>> [(each.content, each.score) for each in fuse_arms([[tea]], [[cup]], limit=10)]
        [('Tea at four.', 0.5), ('A cup of tea.', 0.5)]
    """
    pool: dict[str, Memory] = {}
    for memory in (each for arm in (*semantic, *keyword) for each in arm):
        seen = pool.get(memory.id)
        pool[memory.id] = memory if seen is None else memory.scored(0.0, **seen.trace)
    similar = _scores(pool.values(), "similarity")
    worded = _scores(pool.values(), "keyword")
    everything = all(len(arm) < limit for arm in semantic)
    meaning = _normalised(similar, 0.0 if everything else min(similar.values(), default=0.0))
    wording = _normalised(worded, 0.0)
    share = weight if similar and worded else float(bool(similar))
    fused = [
        memory.scored(share * meaning.get(row_id, 0.0) + (1 - share) * wording.get(row_id, 0.0))
        for row_id, memory in pool.items()
    ]
    return sorted(fused, key=lambda memory: (-(memory.score or 0.0), memory.id))


def _scores(memories: Iterable[Memory], name: str) -> dict[str, float]:
    return {each.id: float(each.trace[name]) for each in memories if name in each.trace}


def _normalised(scores: Mapping[str, float], floor: float) -> dict[str, float]:
    span = max(scores.values(), default=0.0) - floor
    return {key: (score - floor) / span if span > 0 else 0.0 for key, score in scores.items()}
