"""The check of citations: what of a sentence stands in the memories that it cites?

The check is cheap and knows no meaning. Numbers are compared by value, names and links exactly,
and a sentence that denies needs a memory that does. It does not find one wrong common word among
right ones, nor two names that changed their places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.citation import Citation, Claim
from recall_retrievers.llm.checking.evidence import Evidence, adds_a_clause, contradicts, live_parts
from recall_retrievers.llm.checking.negation import same_language
from recall_retrievers.llm.checking.number_words import is_number
from recall_retrievers.llm.checking.numbers import stated_numbers, unknown_numbers
from recall_retrievers.llm.checking.proper_names import unknown_names
from recall_retrievers.text.words import words

CLEARLY = 0.25
"""How much more of a sentence's words another memory must share for a citation to be mended."""

Shown = Callable[..., Evidence]
"""What memories say, by their numbers in the prompt."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The sentences that passed, and how many failed; citations that were mended or left out."""

    citations: tuple[Citation, ...]
    removed: int
    mended: int = 0
    spare: int = 0


def verify(
    claims: Sequence[Claim], memories: Sequence[Candidate], min_support: float, first: int = 0
) -> Verified:
    """Remove the sentences that do not rest on the memories they cite.

    - A cited memory must exist, and share a word with the sentence. If another memory that was
      shown shares clearly more of the sentence's words, the citation is mended: it goes there.
    - A cited memory must add a word or a number to the others, or say as much as all of them.
    - At least the share ``min_support`` of the sentence's words (stemmed, without stop words) must
      stand in the cited memories. The author and the date of a memory count as its words.
    - A clause of it may not be wholly of words that no cited memory has.
    - All its numbers must stand there by value, and its names as they are. If it denies something,
      so must the memory, and the other way round.
    - Images, links, tags and addresses must stand in a cited memory exactly as in the sentence,
      whatever ``min_support`` is.
    - The words of a sentence in another language than its memories cannot be compared. It stays,
      if its figures, names in Latin letters and links are there, and counts as unchecked.

    Examples:
        >>> memories = [Candidate(content="The dentist moved to Elm Street.", id="a")]
        >>> street = Claim("The dentist is on Elm Street.", (1, 7))
        >>> outcome = verify([street, Claim("Pay 100 dollars.", (1,))], memories, 0.4)
        >>> [(each.sentence, each.ids) for each in outcome.citations], outcome.removed
        ([('The dentist is on Elm Street.', ('a',))], 1)
    """

    @cache
    def shown(*numbers: int) -> Evidence:
        return Evidence(tuple(memories[number - 1] for number in numbers))

    citations: list[Citation] = []
    mended = spare = 0
    for claim in claims:
        numbers, checked = _rests_on(claim, memories, shown, min_support)
        if numbers:
            mended += not set(numbers) <= set(claim.numbers)
            needed = _telling(claim.sentence)
            if checked and min_support:
                before, numbers = numbers, _that_add(numbers, claim.sentence, shown)
                spare += len(before) - len(numbers)
            citations.append(
                Citation(
                    claim.sentence,
                    tuple(first + number for number in numbers),
                    tuple(memories[number - 1].id for number in numbers),
                    tuple(shown(number).quote(needed) for number in numbers),
                    checked,
                )
            )
    return Verified(tuple(citations), len(claims) - len(citations), mended, spare)


def notes_on(outcomes: Sequence[Verified]) -> list[str]:
    """What a reader should know about checked sentences, for the trace."""
    counts = {
        "sentence(s) left out that do not rest on what they cite": sum(e.removed for e in outcomes),
        "citation(s) mended: another memory shares clearly more words": sum(
            each.mended for each in outcomes
        ),
        "citation(s) left out that add nothing": sum(each.spare for each in outcomes),
        "sentence(s) unchecked, as their memories are in another language": sum(
            not citation.checked for each in outcomes for citation in each.citations
        ),
    }
    return [f"{count} {what}" for what, count in counts.items() if count]


def _rests_on(
    claim: Claim, memories: Sequence[Candidate], shown: Shown, min_support: float
) -> tuple[Sequence[int], bool]:
    """The memories that a sentence rests on, none if it fails; and whether words were compared."""
    sentence, everything = claim.sentence, range(1, len(memories) + 1)
    cited = [number for number in claim.numbers if number in everything]
    live = live_parts(sentence)
    if not cited or min_support == 0:
        return (cited if live <= shown(*cited).live_parts else ()), True
    needed = _telling(sentence)
    numbers = [number for number in cited if needed & shown(number).words]
    share = shown(*numbers).share(needed)
    others = [number for number in everything if number not in numbers]
    best = max(others, key=lambda number: shown(number).share(needed), default=None)
    # What has a link may be an injected memory's: a model cites that one, or nobody sees the link.
    if best is not None and not live and shown(best).share(needed) - share >= CLEARLY:
        numbers = [best]
    else:
        same = [n for n in cited if same_language(sentence, memories[n - 1].content)]
        if not same:
            return (cited if _has_parts(sentence, shown(*cited)) else ()), False
        numbers = [number for number in numbers if number in same]
    sources = shown(*numbers)
    rests = (
        sources.share(needed) >= min_support
        and _has_parts(sentence, sources)
        and not unknown_names(sentence, sources.text, shown(*everything).text)
        and not adds_a_clause(sentence, sources.words)
        and not contradicts(sentence, sources, needed)
    )
    return (numbers if rests else ()), True


def _that_add(numbers: Sequence[int], sentence: str, shown: Shown) -> Sequence[int]:
    """The memories that add to a sentence, or say as much of it as all the others."""
    said = {number: _telling(sentence) & shown(number).words for number in numbers}
    for number in sorted(said, key=lambda number: len(said[number])):
        rest = [each for each in numbers if each != number]
        by_others = frozenset[str]().union(*map(said.__getitem__, rest))
        if said[number] < by_others and _has_parts(sentence, shown(*rest)):
            numbers = rest
    return numbers


def _telling(sentence: str) -> frozenset[str]:
    """The words of a sentence, without those of numbers: they are compared by value."""
    found = frozenset(words(sentence))
    return frozenset(word for word in found if not is_number(word)) or found


def _has_parts(sentence: str, sources: Evidence) -> bool:
    """Whether the numbers and the links of a sentence are in its sources."""
    stated, live = stated_numbers(sentence), live_parts(sentence)
    if stated and unknown_numbers(stated, sources.numbers):
        return False
    return not live or live <= sources.live_parts
