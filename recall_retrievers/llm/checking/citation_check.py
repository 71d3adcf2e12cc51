"""The check of citations: what of a sentence stands in the memories that it cites?

The check is cheap and knows no meaning. Numbers are compared by value, names and links exactly,
and a sentence that denies needs a memory that does. It does not find one wrong common word among
right ones, nor two names that changed their places.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.citation import Citation, Claim
from recall_retrievers.llm.checking.negation import Polarity, may_deny, polarity, same_language
from recall_retrievers.llm.checking.number_words import is_number
from recall_retrievers.llm.checking.numbers import known_numbers, stated_numbers, unknown_numbers
from recall_retrievers.llm.checking.proper_names import unknown_names
from recall_retrievers.llm.fencing import body, harmless, visible
from recall_retrievers.text.words import CJK, words
from recall_retrievers.timeline.calendar_names import month_name, weekday_name

# Memories have any length. So every repetition is bounded, or cannot start again within itself.
_MARKUP = re.compile(
    r"""
      !?\[[^\]]{0,500}\][ ]?\([^\s)]*  # [text](address and ![text](address
    | \[[^\]]{0,500}\]\[[^\]]{0,500}   # [text][name
    | \[[^\]]{0,500}\]:\s?\S*          # [name]: address
    | <[a-z/!?][^<>]*>?                # <tag>, <!-- comment -->, <https://address>
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"""
      [a-z]{0,16}://\S*                # https://address
    | (?<![\w:/])//\w\S*               # //address
    | (?<![a-z0-9])www\.\S+
    | (?<![a-z0-9])(?:blob|data|file|javascript|mailto|sms|tel|vbscript):\S+
    | [\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEHIND = ".,;:!?…。，；：！？)]}>\"'»”’*_"  # characters after an address that are no part of it


def live_parts(text: str) -> frozenset[str]:
    """The images, links, tags and addresses in a text, exactly as in the text.

    Examples:
        >>> sorted(live_parts("See [a map](b.html), or www.elm.example."))
        ['[a map](b.html', 'www.elm.example']
        >>> live_parts("At 10:30 I said: 2 < 3, and [1] and/or (2).")
        frozenset()
    """
    parts = (*_MARKUP.findall(text), *_ADDRESS.findall(text))
    return frozenset(part.rstrip(_BEHIND) for part in parts)


_STOP = re.compile(r"(?<=[.!?…])(?=\s)|(?<=[。！？])|\n+")
_LONGEST_QUOTE = 300  # characters

_HAN = re.compile(f"[{CJK}]")
_BETWEEN = re.compile(
    r"[,;，；]|\b(?:and|but|because|since|where|which|who|while|until|so that|after|before|when)\b"
    r"|因为|所以|但是|然后",
    re.IGNORECASE,
)
_WORDS, _HAN_WORDS = 2, 4
"""From so many words on (in Chinese, characters), a part between conjunctions is a clause."""
_KNOWN_HAN = 0.2
"""Single characters recur by chance: so large a share of a clause may stand in the memories."""
_STRETCH, _HAN_STRETCH = 3, 6
"""So many unknown words in a row (in Chinese, characters) are a clause of their own."""


@dataclass(frozen=True)
class Evidence:
    """What a sentence may use of some memories. What is costly is made when it is needed."""

    memories: tuple[Candidate, ...]

    @cached_property
    def text(self) -> str:
        """What the memories say, each after its author."""
        return "\n".join(f"{each.author}\n{body(each)}" for each in self.memories)

    @cached_property
    def words(self) -> frozenset[str]:
        """Their words. The author and the recorded day count as words of a memory."""
        return frozenset[str]().union(*(words(_with_author_and_day(m)) for m in self.memories))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Their numbers by value, and those of their days."""
        known = (known_numbers(visible(body(each)), each.created_at) for each in self.memories)
        return frozenset[str]().union(*known)

    @cached_property
    def live_parts(self) -> frozenset[str]:
        """Their links and the like. In the prompt, an address has "&amp;" for "&"."""
        shown = (text for m in self.memories for text in (body(m), harmless(body(m))))
        return frozenset[str]().union(*map(live_parts, shown))

    @cached_property
    def sentences(self) -> dict[str, frozenset[str]]:
        """Their sentences, exactly as they are stored, with the words of each."""
        parts = (part.strip() for each in self.memories for part in _STOP.split(body(each)))
        return {part: frozenset(words(part)) for part in parts if part}

    @cached_property
    def polarities(self) -> tuple[Polarity, ...]:
        """What each of their sentences affirms and denies."""
        return tuple(map(polarity, self.sentences))

    def share(self, needed: frozenset[str]) -> float:
        """The share of words that stand in them."""
        return len(needed & self.words) / len(needed) if needed else 1.0

    def quote(self, needed: frozenset[str]) -> str:
        """Their sentence that shares most words; empty if none shares any."""
        return next(iter(self.nearest(needed)), "")[:_LONGEST_QUOTE]

    def nearest(self, needed: frozenset[str]) -> list[str]:
        """Their sentences that share most words with a sentence; several where they tie."""
        shared = {part: len(needed & found) for part, found in self.sentences.items()}
        most = max(shared.values(), default=0)
        return [part for part, count in shared.items() if count == most] if most else []


def contradicts(sentence: str, sources: Evidence, needed: frozenset[str]) -> bool:
    """Whether a sentence denies what its memories affirm, or affirms what they deny."""
    ours = polarity(sentence)
    best = [polarity(each) for each in sources.nearest(needed)]
    if best and all(ours.affirms_denied(theirs) for theirs in best):
        return True
    if not ours.denies:
        return False
    doubted = frozenset[str]().union(*(each.denied | each.doubted for each in sources.polarities))
    affirmed = frozenset[str]().union(*(each.affirmed for each in sources.polarities))
    if ours.denied & (doubted | affirmed):
        return not ours.denied & doubted
    return not any(may_deny(body(each)) for each in sources.memories)


def adds_a_clause(sentence: str, known: frozenset[str]) -> bool:
    """Whether a clause of a sentence has no word of its sources.

    A clause is a part between commas and conjunctions, or a stretch of unknown words. The limits
    were chosen with ``benchmarks.citations``: they refuse most invented clauses and keep 96 % of
    the light paraphrases.
    """
    characters, others = _by_script(sentence)
    if _longest(others, known) >= _STRETCH or _longest(characters, known) >= _HAN_STRETCH:
        return True
    return any(_is_unknown(clause, known) for clause in _BETWEEN.split(sentence))


def _is_unknown(clause: str, known: frozenset[str]) -> bool:
    characters, others = _by_script(clause)
    if len(others) >= _WORDS and known.isdisjoint(others):
        return True
    found = sum(character in known for character in characters)
    return len(characters) >= _HAN_WORDS and found <= _KNOWN_HAN * len(characters)


def _by_script(text: str) -> tuple[list[str], list[str]]:
    """The Chinese characters and the other words; pairs of characters say nothing new."""
    found = words(text)
    characters = [word for word in found if _HAN.match(word) and len(word) == 1]
    return characters, [word for word in found if not _HAN.match(word)]


def _longest(found: Iterable[str], known: frozenset[str]) -> int:
    """The length of the longest run of unknown words."""
    runs = groupby(found, key=known.__contains__)
    return max((len([*run]) for is_known, run in runs if not is_known), default=0)


def _with_author_and_day(memory: Candidate) -> str:
    day = memory.created_at
    recorded = f"{day:%Y-%m-%d %Y %d} {weekday_name(day)} {month_name(day)}" if day else ""
    return f"{body(memory)} {memory.author} {recorded}"


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
