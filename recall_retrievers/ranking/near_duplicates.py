"""Texts that repeat one another in nearly the same words, without a comparison of every pair.

Two texts that differ in a few words share one of their rarest words (prefix filtering: Chaudhuri et
al. 2006). So a text is compared only with texts that share a rare word with it. No repetition is
missed, and the work grows with the number of texts, not with its square. The package rapidfuzz
finds the same ones, and takes 0.7 to 1.9 times as long.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain
from math import sqrt

import numpy as np

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.errors import QueryError
from recall_retrievers.core.pool import Facts
from recall_retrievers.core.settings import check_count
from recall_retrievers.core.settings_messages import got
from recall_retrievers.text.words import ENDS, MOST_IN_PROFILE, PROFILE, Wording, ends, split_words

_ROUNDING = 1e-9  # a tenth of twenty words is two, and not a little less
_COMPARED = 4  # texts for each rare word, at most: so the work stays linear in a pool of copies
_NUMBER = re.compile(r"\d+")
# One such word reverses the meaning of a sentence.
_NEGATION = re.compile(
    "(?:no|not|never|none|cannot|nor|without|.*n['\u2019]t|不|没|無|无|未|别|非)"
)


def near_duplicates(wordings: Sequence[Wording], threshold: float) -> list[int]:
    """For every text, the position of the first text that it nearly repeats, else its own.

    Two texts repeat each other if they share at least ``threshold`` of their words, in order, and
    have the same numbers, names (words in capitals) and negations: "It takes 250 ms now" does
    not repeat "It takes 800 ms now". Case, punctuation and white space do not count.
    """
    words = [wording.words for wording in wordings]
    firsts = list(range(len(words)))
    first_of: dict[str, int] = {}  # the position for every text so far
    originals: dict[str, list[int]] = defaultdict(list)  # by rare word: texts that repeat no other
    for place, rare in _rarest(wordings, threshold):
        text = wordings[place].text
        bare = text.strip()
        if bare in first_of:
            firsts[place] = first_of[bare]
            continue
        for other in sorted(set[int]().union(*map(originals.__getitem__, rare))):
            another = wordings[other].text
            if (
                _alike(words[other], words[place], threshold)
                and _NUMBER.findall(another) == _NUMBER.findall(text)
                and _of_similar_length(another, text, threshold)
                and _same_names_and_negations(another, text)
            ):
                firsts[place] = other
                break
        first_of[bare] = firsts[place]
        if firsts[place] == place:
            for word in rare:
                if len(originals[word]) < _COMPARED:
                    originals[word].append(place)
    return firsts


def _of_similar_length(one: str, other: str, threshold: float) -> bool:
    longer, shorter = max(len(one), len(other)), min(len(one), len(other))
    return longer <= 2 * ENDS or shorter >= threshold * longer


def _same_names_and_negations(one: str, other: str) -> bool:
    words, other_words = split_words(ends(one)), split_words(ends(other))
    decisive = _names_and_negations(words) | _names_and_negations(other_words)
    return _only(words, decisive) == _only(other_words, decisive)


def _names_and_negations(words: Sequence[str]) -> set[str]:
    """Negations, and words in capitals except the first word; in lower case."""
    return {
        word.lower()
        for place, word in enumerate(words)
        if (place and word[0].isupper() and word != "I") or _NEGATION.fullmatch(word.lower())
    }


def _only(words: Sequence[str], allowed: set[str]) -> list[str]:
    return [word.lower() for word in words if word.lower() in allowed]


def _rarest(wordings: Sequence[Wording], threshold: float) -> Iterator[tuple[int, Sequence[str]]]:
    """The rarest words of each text: one more than may differ from a text that it repeats."""
    # A repetition of n words has at least n x threshold / (2 - threshold) of them in common.
    differing = (2 - 2 * threshold) / (2 - threshold)
    vocabularies = [set(wording.words) for wording in wordings]
    counts = Counter(chain.from_iterable(vocabularies))
    for place, vocabulary in enumerate(vocabularies):
        rarest = sorted(sorted(vocabulary), key=counts.__getitem__)
        most = int(differing * len(wordings[place].words) + _ROUNDING)  # words that may differ
        yield place, rarest[: most + 1]


def _alike(one: Sequence[str], other: Sequence[str], threshold: float) -> bool:
    if one == other:
        return True
    differing = (1 - threshold) * (len(one) + len(other)) + _ROUNDING
    # A cheap bound first: a word that only one text has differs, whatever the order.
    if abs(len(one) - len(other)) > differing or len(set(one) ^ set(other)) > differing:
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= threshold


_MOST_PAIRED = 1_000  # memories: every pair of more takes longer than their rarest words


def copies(facts: Facts, threshold: float) -> list[list[int]]:
    """The places of memories that say nearly the same, in groups, in the order of the input.

    The words of two people are never copies: "I eat no meat" by Ann and by Bob are two facts.
    """
    firsts = [*range(len(facts))]
    alike = _may_be_copies(facts, threshold)
    known = zip(alike, facts.candidates(alike), strict=True)
    memories = {place: memory for place, memory in known if memory is not None}
    compared = [*memories]
    near = near_duplicates([memory.wording for memory in memories.values()], threshold)
    for place, first in zip(compared, near, strict=True):
        firsts[place] = compared[first]
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, first in enumerate(firsts):
        key = facts.authors[place], facts.owners[place][0], first
        groups.setdefault(key, []).append(place)
    return [*groups.values()]


def _may_be_copies(facts: Facts, threshold: float) -> Sequence[int]:
    """The memories whose words are nearly as many on each number of their profile."""
    if len(facts) > _MOST_PAIRED:
        return range(len(facts))
    numbers = facts.profiles
    if numbers is None:
        found = facts.candidates(range(len(facts)))
        read = [memory.wording.profile if memory else (0,) * PROFILE for memory in found]
        numbers = np.array(read, dtype=np.uint8).reshape(-1, PROFILE)
    profiles = numbers.astype(np.int16)
    lengths = profiles.sum(axis=1)
    most = (1 - threshold) * np.add.outer(lengths, lengths) + 1e-3  # words that may differ
    ones, others = np.nonzero(np.triu(np.abs(np.subtract.outer(lengths, lengths)) <= most, 1))
    differing = np.abs(profiles[ones] - profiles[others]).sum(axis=1)
    pairs = differing <= most[ones, others]
    full = np.flatnonzero((numbers == MOST_IN_PROFILE).any(axis=1))
    alike: list[int] = np.unique(np.concatenate([ones[pairs], others[pairs], full])).tolist()
    return alike


def distinct(memories: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The memories in order, without repeated texts; the first one of a text stays."""
    firsts: dict[str, Candidate] = {}
    for memory in memories:
        firsts.setdefault(memory.content.strip(), memory)
    return tuple(firsts.values())


def for_all(
    scores: Sequence[float | None], score: float | None, others: Sequence[str], stage: str
) -> Step:
    """The step of the candidate that stays of a group of copies: the best score, and the others."""
    best = max([known for known in scores if known is not None], default=None)
    notes = {"duplicates": ", ".join(others)}
    if best is None or best == score:
        return Step(stage, after=score, notes=notes)
    return Step(stage, "set", best, best, about="as its best duplicate", notes=notes)


# -- maximal marginal relevance --------------------------------------------------------------------


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
