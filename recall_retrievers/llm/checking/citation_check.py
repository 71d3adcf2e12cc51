"""The check of citations: what of a sentence stands in the memories that it cites?

The check is cheap and knows no meaning. Numbers are compared by value, names and links exactly, and
a sentence that denies needs a memory that does. It does not find one wrong common word among right
ones, a short addition, nor two names that changed their places.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.query import Citation, Claim
from recall_retrievers.llm.checking.negation import Polarity, may_deny, polarity, same_language
from recall_retrievers.llm.checking.numbers import is_number, known_numbers, stated_numbers
from recall_retrievers.llm.checking.proper_names import unknown_names
from recall_retrievers.llm.fencing import body, harmless, visible
from recall_retrievers.text.words import words
from recall_retrievers.timeline.recurrence import month_name, weekday_name

# Memories have any length. So every repetition is bounded, or cannot start again within itself.
_MARKUP = re.compile(
    r"""
      !?\[[^\]]{0,500}\][ ]?\([^\s)]*  # [text](address and ![text](address
    | \[(?!\d{1,3}\])[^\]]{0,500}\]\[[^\]]{0,500}   # [text][name
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
_NEAR = 3  # sentences in a row
_CLEARLY = 0.25
"""How much more of a sentence's words another memory must share to be its source."""
_MISSING = 2
"""So many words of a sentence may be missing beyond the share that ``min_support`` allows."""


@dataclass(frozen=True)
class Sources:
    """What a sentence may use of some memories. What is costly is made when it is needed."""

    memories: tuple[Candidate, ...]

    @cached_property
    def text(self) -> str:
        """What the memories say, each after its author."""
        return "\n".join(f"{each.author}\n{body(each)}" for each in self.memories)

    @cached_property
    def words(self) -> frozenset[str]:
        """Their words. The author and the recorded day count as words of a memory."""
        return self.days.union(*(found for _, found in self.sentences))

    @cached_property
    def days(self) -> frozenset[str]:
        """The words of their authors and recorded days."""
        return frozenset[str]().union(*map(words, map(_author_and_day, self.memories)))

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
    def sentences(self) -> list[tuple[str, frozenset[str]]]:
        """Their sentences with the words of each; an empty one stands at the end of a line."""
        parts = (part.strip() for each in self.memories for part in _STOP.split(body(each)))
        return [(part, frozenset(words(part))) for part in parts]

    @cached_property
    def polarities(self) -> tuple[Polarity, ...]:
        """What each of their sentences affirms and denies."""
        return tuple(polarity(sentence) for sentence, _ in self.sentences)

    def near(self, needed: frozenset[str]) -> frozenset[str]:
        """The words of those three sentences in a row that share most words, and of the day."""
        found = [each for _, each in self.sentences]
        runs = (self.days.union(*found[at : at + _NEAR]) for at in range(len(found)))
        return max(runs, key=lambda run: len(run & needed), default=self.days)

    def nearest(self, needed: frozenset[str]) -> list[str]:
        """Their sentences that share most words with a sentence; several where they tie."""
        most = max((len(needed & found) for _, found in self.sentences), default=0)
        return [each for each, found in self.sentences if 0 < most == len(needed & found)]


def contradicts(sentence: str, sources: Sources, needed: frozenset[str]) -> bool:
    """Whether a sentence denies what its memories affirm, or affirms what they deny."""
    ours = polarity(sentence)
    best = [polarity(each) for each in sources.nearest(needed)]
    if best and all(ours.affirms_denied(theirs) for theirs in best):
        return True
    doubted = frozenset[str]().union(*(each.denied | each.doubted for each in sources.polarities))
    if not ours.denies or ours.denied & doubted:
        return False
    affirmed = frozenset[str]().union(*(each.affirmed for each in sources.polarities))
    return bool(ours.denied & affirmed) or not any(map(may_deny, map(body, sources.memories)))


def _author_and_day(memory: Candidate) -> str:
    day = memory.created_at
    recorded = f"{day:%Y-%m-%d %Y %d} {weekday_name(day)} {month_name(day)}" if day else ""
    return f"{memory.author} {recorded}"


Shown = Callable[..., Sources]


def shown_of(memories: Sequence[Candidate]) -> Shown:
    """What memories say, by their numbers in the prompt: one, or several of them together."""
    return cache(lambda *numbers: Sources(tuple(memories[number - 1] for number in numbers)))


@dataclass(frozen=True, slots=True)
class Judgement:
    """The memories of a sentence, the rules that it breaks, and whether words were compared.

    A second opinion may overrule the rule of "words": the same may be said in other words.
    """

    numbers: Sequence[int]
    broken: frozenset[str]
    checked: bool = True


@dataclass(frozen=True, slots=True)
class Verified:
    """The sentences that passed, the ``doubtful`` among them, and how many failed.

    Some citations are mended, or left out as ``spare``.
    """

    citations: tuple[Citation, ...]
    removed: int
    mended: int = 0
    spare: int = 0
    doubtful: frozenset[Citation] = frozenset()


def verify(
    claims: Sequence[Claim],
    memories: Sequence[Candidate],
    min_support: float,
    *,
    appeal: bool = False,
) -> Verified:
    """Remove the sentences that do not rest on the memories they cite.

    - A cited memory must exist, share a word with the sentence, and add one to the others or say as
      much as all of them. If another memory that was shown shares clearly more of its words, the
      citation is mended: it goes there.
    - Its numbers must stand there by value, its names as they are, its images, links, tags and
      addresses exactly, these whatever ``min_support`` is. If it denies something, so must the
      memory, and the other way round.
    - At least the share ``min_support`` of its words (stemmed, without stop words), but for two,
      must stand there near each other, and one at least. The author and the date count as words.
    - The words of a sentence in another language than its memories cannot be compared. It stays,
      if its figures and links are there, and counts as unchecked.

    With ``appeal``, a sentence that only its words speak against stays, as doubtful.
    """
    shown = shown_of(memories)
    citations: list[Citation] = []
    doubtful = set[Citation]()
    mended = spare = 0
    for claim in claims:
        judged = judge(claim, shown, len(memories), min_support)
        if judged.broken - {"words"} or (judged.broken and not appeal):
            continue
        mended += not set(judged.numbers) <= set(claim.numbers)
        needed, numbers = _telling(claim.sentence), judged.numbers
        if judged.checked and min_support:
            numbers = _that_add(numbers, claim.sentence, shown)
            spare += len(judged.numbers) - len(numbers)
        citation = Citation(
            claim.sentence,
            tuple(numbers),
            tuple(memories[number - 1].id for number in numbers),
            tuple("".join(shown(n).nearest(needed)[:1])[:_LONGEST_QUOTE] for n in numbers),
            judged.checked,
        )
        citations.append(citation)
        if judged.broken:
            doubtful.add(citation)
    removed = len(claims) - len(citations)
    return Verified(tuple(citations), removed, mended, spare, frozenset(doubtful))


def notes_on(outcome: Verified) -> list[str]:
    """What a reader should know about checked sentences, for the trace."""
    unchecked = sum(not citation.checked for citation in outcome.citations)
    counts = {
        "sentence(s) left out that do not rest on what they cite": outcome.removed,
        "citation(s) mended: another memory shares clearly more words": outcome.mended,
        "citation(s) left out that add nothing": outcome.spare,
        "sentence(s) unchecked, as their memories are in another language": unchecked,
    }
    return [f"{count} {what}" for what, count in counts.items() if count]


def judge(claim: Claim, shown: Shown, count: int, min_support: float) -> Judgement:
    """What speaks against a sentence, by the names of the rules; see `verify`."""
    sentence, everything = claim.sentence, range(1, count + 1)
    cited = [number for number in claim.numbers if number in everything]
    live, needed = live_parts(sentence), _telling(sentence)
    if not cited or not needed:
        return Judgement((), frozenset({"citation"}))
    if min_support == 0:
        return Judgement(cited, frozenset(["links"] if live - shown(*cited).live_parts else []))
    sharing = [number for number in cited if needed & shown(number).words]
    share = _share(needed, shown(*sharing).words)
    others = [number for number in everything if number not in sharing]
    best = max(others, key=lambda number: _share(needed, shown(number).words), default=None)
    # What has a link may be an injected memory's: a model cites that one, or nobody sees the link.
    if best and not live and _share(needed, shown(best).words) - share >= _CLEARLY:
        numbers = [best]
    else:
        same = [n for n in cited if same_language(sentence, shown(n).text)]
        if not same:
            return Judgement(cited, frozenset(_missing(sentence, shown(*cited))), checked=False)
        numbers = [number for number in sharing if number in same] or same
    sources = shown(*numbers)
    known = len(needed & frozenset[str]().union(*(shown(n).near(needed) for n in numbers)))
    broken = {
        "names": bool(unknown_names(sentence, sources.text)),
        "negation": contradicts(sentence, sources, needed),
        "words": not known or known + _MISSING < min_support * len(needed),
    }
    rules = (rule for rule, fails in broken.items() if fails)
    return Judgement(numbers, frozenset([*_missing(sentence, sources), *rules]))


def _that_add(numbers: Sequence[int], sentence: str, shown: Shown) -> Sequence[int]:
    """The memories that add to a sentence, or say as much of it as all the others."""
    said = {number: _telling(sentence) & shown(number).words for number in numbers}
    for number in sorted(said, key=lambda number: len(said[number])):
        rest = [each for each in numbers if each != number]
        by_others = frozenset[str]().union(*map(said.__getitem__, rest))
        if said[number] < by_others and not [*_missing(sentence, shown(*rest))]:
            numbers = rest
    return numbers


def _telling(sentence: str) -> frozenset[str]:
    """The words of a sentence, without those of numbers: they are compared by value."""
    found = frozenset(words(sentence))
    return frozenset(word for word in found if not is_number(word)) or found


def _share(needed: frozenset[str], known: frozenset[str]) -> float:
    return len(needed & known) / len(needed)


def _missing(sentence: str, sources: Sources) -> Iterator[str]:
    """Whether the numbers and the links of a sentence are missing in its sources."""
    if not stated_numbers(sentence) <= sources.numbers:
        yield "numbers"
    live = live_parts(sentence)
    if live and not live <= sources.live_parts:
        yield "links"
