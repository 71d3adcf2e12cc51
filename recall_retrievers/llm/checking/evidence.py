"""Evidence: what a sentence may take from memories, and what it adds to them or denies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.llm.checking.negation import Polarity, may_deny, polarity
from recall_retrievers.llm.checking.numbers import known_numbers
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
