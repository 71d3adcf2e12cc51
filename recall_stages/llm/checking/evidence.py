"""Evidence: what a sentence may take from a memory, and how the two are compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from recall_stages.core.candidate import Candidate
from recall_stages.llm.checking.live_text import live_parts
from recall_stages.llm.checking.negation import Polarity, may_deny, polarity
from recall_stages.llm.checking.numbers.values import known_numbers
from recall_stages.llm.fencing import body, harmless, visible
from recall_stages.text.stems import words
from recall_stages.timeline.calendar_names import month_name, weekday_name

_STOP = re.compile(r"(?<=[.!?…])(?=\s)|(?<=[。！？])|\n+")
_LONGEST_QUOTE = 300  # characters


@dataclass(frozen=True)
class Evidence:
    """The parts of a memory that a sentence may use. What is costly is made when it is needed."""

    memory: Candidate

    @cached_property
    def text(self) -> str:
        """What the memory says, after its author."""
        return f"{self.memory.author}\n{body(self.memory)}"

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words. The author and the recorded day count as its words."""
        moment = self.memory.created_at
        recorded = (
            f"{moment:%Y-%m-%d %Y %d} {weekday_name(moment)} {month_name(moment)}" if moment else ""
        )
        return frozenset(words(f"{body(self.memory)} {self.memory.author} {recorded}"))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers by value, and those of its day."""
        return known_numbers(visible(body(self.memory)), self.memory.created_at)

    @cached_property
    def live_parts(self) -> frozenset[str]:
        """Its links and the like. In the prompt, an address has "&amp;" for "&"."""
        return live_parts(body(self.memory)) | live_parts(harmless(body(self.memory)))

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Its sentences, exactly as they are stored."""
        return tuple(part.strip() for part in _STOP.split(body(self.memory)) if part.strip())

    @cached_property
    def sentence_words(self) -> tuple[frozenset[str], ...]:
        """The words of each sentence."""
        return tuple(frozenset(words(each)) for each in self.sentences)

    @cached_property
    def polarities(self) -> tuple[Polarity, ...]:
        """What each sentence affirms and denies."""
        return tuple(polarity(each) for each in self.sentences)

    @cached_property
    def denies(self) -> bool:
        """Whether it denies anything, in whatever words."""
        return may_deny(body(self.memory))

    def share(self, needed: frozenset[str]) -> float:
        """The share of words that stand in it."""
        return len(needed & self.words) / len(needed) if needed else 0.0

    def quote(self, needed: frozenset[str]) -> str:
        """Its sentence that shares most words; empty if none shares any."""
        best = nearest([self], needed)
        return best[0][:_LONGEST_QUOTE] if best else ""


def nearest(evidence: Sequence[Evidence], needed: frozenset[str]) -> list[str]:
    """The sentences of memories that share most words with a sentence; several where they tie."""
    shared = [
        (len(needed & found), sentence)
        for each in evidence
        for sentence, found in zip(each.sentences, each.sentence_words, strict=True)
    ]
    most = max((count for count, _ in shared), default=0)
    return [sentence for count, sentence in shared if count == most] if most else []


def contradicts(sentence: str, evidence: Sequence[Evidence], needed: frozenset[str]) -> bool:
    """Whether a sentence denies what its memories affirm, or affirms what they deny."""
    ours = polarity(sentence)
    best = [polarity(each) for each in nearest(evidence, needed)]
    if best and all(ours.affirms_denied(theirs) for theirs in best):
        return True
    if not ours.denies:
        return False
    all_of_them = [theirs for each in evidence for theirs in each.polarities]
    doubted = frozenset[str]().union(*(each.denied | each.doubted for each in all_of_them))
    affirmed = frozenset[str]().union(*(each.affirmed for each in all_of_them))
    if ours.denied & (doubted | affirmed):
        return not ours.denied & doubted
    return not any(each.denies for each in evidence)
