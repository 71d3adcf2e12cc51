"""The check of citations: what of a sentence stands in the memories that it cites?

The check is cheap and knows no meaning. Numbers are compared by value, names and links exactly,
and a sentence that denies needs a memory that does. It does not find one wrong common word among
right ones, nor two names that changed their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recall_stages.core.candidate import Candidate
from recall_stages.core.citation import Citation, Claim
from recall_stages.llm.checking.clauses import adds_a_clause
from recall_stages.llm.checking.evidence import Evidence, contradicts
from recall_stages.llm.checking.languages import same_language
from recall_stages.llm.checking.live_text import live_parts
from recall_stages.llm.checking.numbers.said import is_number
from recall_stages.llm.checking.numbers.values import stated_numbers, unknown_numbers
from recall_stages.llm.checking.proper_names import unknown_names
from recall_stages.text.stems import words

CLEARLY = 0.25
"""How much more of a sentence's words another memory must share for a citation to be mended."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The outcome of a check.

    Attributes:
        citations: The sentences that passed, in order.
        removed: The number of sentences that failed.
        mended: The number of citations that were given to another memory.
        unchecked: The number of sentences in another language than their memories.
    """

    citations: tuple[Citation, ...]
    removed: int
    mended: int = 0
    unchecked: int = 0


@dataclass(frozen=True, slots=True)
class _Finding:
    """What the check found for a sentence: the memories that support it, none if none do."""

    numbers: tuple[int, ...] = ()
    checked: bool = True
    mended: bool = False


def verify(
    claims: Sequence[Claim], memories: Sequence[Candidate], min_support: float, first: int = 0
) -> Verified:
    """Remove the sentences that do not rest on the memories they cite.

    - A cited memory must exist, and share a word with the sentence. If another memory that was
      shown shares clearly more of the sentence's words, the citation is mended: it goes there.
    - At least the share ``min_support`` of the sentence's words (stemmed, without stop words) must
      stand in the cited memories. The author and the date of a memory count as its words.
    - A clause of it may not be wholly of words that no cited memory has.
    - All its numbers must stand there by value, and its names as they are. If it denies something,
      so must the memory, and the other way round.
    - Images, links, tags and addresses must stand in a cited memory exactly as in the sentence,
      whatever ``min_support`` is.
    - The words of a sentence in another language than its memories cannot be compared. It stays,
      if its figures, names in Latin letters and links are there, and counts as unchecked.

    Args:
        claims: The sentences of the model.
        memories: The memories of its prompt, numbered from 1.
        min_support: The share of a sentence's words, 0 to 1; with 0 a memory need only exist.
        first: The number of memories in the prompts before this one, which is added to the numbers.

    Examples:
        >>> memories = [Candidate(content="The dentist moved to Elm Street.", id="a")]
        >>> street = Claim("The dentist is on Elm Street.", (1, 7))
        >>> outcome = verify([street, Claim("Pay 100 dollars.", (1,))], memories, 0.4)
        >>> [(each.sentence, each.ids) for each in outcome.citations], outcome.removed
        ([('The dentist is on Elm Street.', ('a',))], 1)
    """
    evidence = [Evidence(memory) for memory in memories]
    citations: list[Citation] = []
    mended = 0
    for claim in claims:
        found = _found(claim, evidence, min_support)
        if found.numbers:
            mended += found.mended
            needed = _telling(claim.sentence)
            citations.append(
                Citation(
                    claim.sentence,
                    tuple(first + number for number in found.numbers),
                    tuple(memories[number - 1].id for number in found.numbers),
                    tuple(evidence[number - 1].quote(needed) for number in found.numbers),
                    found.checked,
                )
            )
    unchecked = sum(not each.checked for each in citations)
    return Verified(tuple(citations), len(claims) - len(citations), mended, unchecked)


def notes_on(outcomes: Sequence[Verified]) -> list[str]:
    """What a reader should know about checked sentences, for the trace.

    Examples:
        >>> notes_on([Verified((), 1), Verified((), 1, unchecked=1)])[0]
        '2 sentence(s) left out that do not rest on what they cite'
    """
    counts = {
        "sentence(s) left out that do not rest on what they cite": sum(e.removed for e in outcomes),
        "citation(s) mended: another memory shares clearly more words": sum(
            each.mended for each in outcomes
        ),
        "sentence(s) unchecked, as their memories are in another language": sum(
            each.unchecked for each in outcomes
        ),
    }
    return [f"{count} {what}" for what, count in counts.items() if count]


def _found(claim: Claim, evidence: Sequence[Evidence], min_support: float) -> _Finding:
    cited = [number for number in claim.numbers if 1 <= number <= len(evidence)]
    if not cited:
        return _Finding()
    if min_support == 0:
        exists = _has_live_parts(claim, _of(evidence, cited))
        return _Finding(tuple(cited)) if exists else _Finding()
    needed = _telling(claim.sentence)
    sharing = [number for number in cited if needed & evidence[number - 1].words]
    # What has a link may be an injected memory's: a model cites that one, or nobody sees the link.
    better = None if live_parts(claim.sentence) else _better(needed, sharing, evidence)
    if better is None:
        same = [n for n in cited if same_language(claim.sentence, evidence[n - 1].memory.content)]
        if not same:
            exact = _has_parts(claim, _of(evidence, cited))
            return _Finding(tuple(cited), checked=False) if exact else _Finding()
        sharing = [number for number in sharing if number in same]
    numbers = sharing if better is None else [better]
    sources = _of(evidence, numbers)
    enough = _share(needed, sources) >= min_support
    if not sources or not enough or not _is_exact(claim, sources, evidence):
        return _Finding()
    known = frozenset[str]().union(*(each.words for each in sources))
    if adds_a_clause(claim.sentence, known) or contradicts(claim.sentence, sources, needed):
        return _Finding()
    return _Finding(tuple(numbers), mended=better is not None)


def _telling(sentence: str) -> frozenset[str]:
    """The words of a sentence, without those of numbers: they are compared by value."""
    found = frozenset(words(sentence))
    return frozenset(word for word in found if not is_number(word)) or found


def _better(
    needed: frozenset[str], cited: Sequence[int], evidence: Sequence[Evidence]
) -> int | None:
    """The memory that shares clearly more words with a sentence than those it cites."""
    others = [number for number in range(1, len(evidence) + 1) if number not in cited]
    best = max(others, key=lambda number: evidence[number - 1].share(needed), default=None)
    if best is None:
        return None
    more = evidence[best - 1].share(needed) - _share(needed, _of(evidence, cited))
    return best if more >= CLEARLY else None


def _is_exact(claim: Claim, sources: Sequence[Evidence], shown: Sequence[Evidence]) -> bool:
    """Whether the numbers, the names and the links of a sentence are in its sources."""
    text = "\n".join(each.text for each in sources)
    others = "\n".join(each.text for each in shown)
    return _has_parts(claim, sources) and not unknown_names(claim.sentence, text, others)


def _has_parts(claim: Claim, sources: Sequence[Evidence]) -> bool:
    """Whether the numbers and the links of a sentence are in its sources."""
    known = frozenset[str]().union(*(each.numbers for each in sources))
    unknown = unknown_numbers(stated_numbers(claim.sentence), known)
    return not unknown and _has_live_parts(claim, sources)


def _has_live_parts(claim: Claim, sources: Sequence[Evidence]) -> bool:
    return live_parts(claim.sentence) <= frozenset[str]().union(*(e.live_parts for e in sources))


def _share(needed: frozenset[str], sources: Sequence[Evidence]) -> float:
    known = frozenset[str]().union(*(each.words for each in sources))
    return len(needed & known) / len(needed) if needed else 1.0


def _of(evidence: Sequence[Evidence], numbers: Sequence[int]) -> list[Evidence]:
    return [evidence[number - 1] for number in numbers]
