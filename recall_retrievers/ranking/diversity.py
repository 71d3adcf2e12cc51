"""Maximal marginal relevance: candidates that are relevant and differ from one another."""

from collections import Counter
from collections.abc import Sequence
from math import sqrt

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.errors import QueryError
from recall_retrievers.core.settings import check_count
from recall_retrievers.core.settings_messages import got
from recall_retrievers.text.words import split_words


def diversified(memories: Sequence[Candidate], mmr_lambda: float) -> list[Candidate]:
    """Score candidates by relevance. A candidate that repeats a better one scores lower.

    This is maximal marginal relevance (Carbonell and Goldstein 1998). It chooses the candidates one
    by one. The next one has the highest ``mmr_lambda`` x relevance + (1 - ``mmr_lambda``) x (1 -
    the likeness to the most similar candidate chosen before). That value is its score, and ``mmr``
    in the trace. The likeness is the cosine between counts of words, 0 to 1.
    """
    memories = [*memories]
    counts = [Counter(split_words(memory.content.lower())) for memory in memories]
    nearest = [0.0] * len(memories)
    left = list(range(len(memories)))
    chosen: list[Candidate] = []

    def value(place: int) -> float:
        relevance = memories[place].score or 0.0
        return mmr_lambda * relevance + (1 - mmr_lambda) * (1 - nearest[place])

    while left:
        best = max(left, key=lambda place: (value(place), -place))
        left.remove(best)
        score, relevant = value(best), mmr_lambda * (memories[best].score or 0.0)
        new, notes = score - relevant, {"mmr": score}
        steps = (
            Step("Retrieve", "times", mmr_lambda, relevant, about="as the share of relevance"),
            Step("Retrieve", "add", new, score, about="for what is new", notes=notes),
        )
        chosen.append(memories[best].after(score, *steps))
        for place in left:
            nearest[place] = max(nearest[place], _cosine(counts[place], counts[best]))
    return chosen


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    fewer, more = (one, other) if len(one) <= len(other) else (other, one)
    shared = sum(count * more[word] for word, count in fewer.items() if word in more)
    norms = sum(n * n for n in one.values()) * sum(n * n for n in other.values())
    return shared / sqrt(norms) if norms else 0.0


def compared(k: int, fetch_k: int, lambda_mult: float) -> int:
    """How many memories are compared so that k differ; wrong arguments are an error."""
    check_count("k", k)
    check_count("fetch_k", fetch_k)
    if not isinstance(lambda_mult, int | float) or not 0 <= lambda_mult <= 1:
        raise QueryError(f"lambda_mult must be a number from 0 to 1; got {got(lambda_mult)}")
    return max(k, fetch_k)
