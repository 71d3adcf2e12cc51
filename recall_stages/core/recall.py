"""Recall: a question on its way to its memories; what goes into a stage, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from recall_stages.core.citation import Citation
from recall_stages.core.draft import Draft
from recall_stages.core.errors import described
from recall_stages.core.memory import Memory, Query

JOINED = "source"
"""The name in the trace under which what joined the memories of the collection says what it is."""

_LONGEST_REASON = 300  # characters of an error that a trace holds


@dataclass(frozen=True, slots=True)
class Recall:
    """A question on its way to its memories: what goes into a stage, and what comes out of it.

    Attributes:
        query: The question, and what has been understood of it so far.
        memories: The candidates, best first.
        text: What the reader sees, once a stage has written it.
        fallbacks: The steps that could not do their work, and why; nothing is lost by them.
        draft: What a model wrote of the memories while it judged them; `RewriteMemory` tells it.
        citations: The sentences of the text and what each rests on, where a model wrote them.
        usage: What the models of each stage that asked one cost.
        skipped: Which step found that no memories are needed, and why; empty where they are.
    """

    query: Query
    memories: tuple[Memory, ...] = ()
    text: str = ""
    fallbacks: tuple[str, ...] = ()
    draft: Draft | None = None
    citations: tuple[Citation, ...] = ()
    usage: tuple[str, ...] = ()
    skipped: str = ""

    def fell_back(self, step: str, why: str | Exception) -> Recall:
        """A copy that names a step which did not do its work, and why."""
        told = described(why) if isinstance(why, Exception) else why
        if len(told) > _LONGEST_REASON:  # a server may answer with a whole page
            told = f"{told[:_LONGEST_REASON]}…"
        return replace(self, fallbacks=(*self.fallbacks, f"{step}: {told}"))

    def told(self) -> dict[str, float | str]:
        """What the trace of everything that comes out says: which steps degraded, what it cost."""
        notes = {"degraded": self.fallbacks, "usage": self.usage}
        return {name: "; ".join(lines) for name, lines in notes.items() if lines}

    def at_most(self, k: int | None) -> Recall:
        """A copy with no more than k memories; what joined them is not counted, and stays."""
        best = [memory for memory in self.memories if JOINED not in memory.trace][:k]
        joined = [memory for memory in self.memories if JOINED in memory.trace]
        return replace(self, memories=(*best, *joined))

    def skip(self, step: str, why: str) -> Recall:
        """A copy without memories, that names the step which found that none are needed, and why.

        No stage after it is run.
        """
        return replace(self, memories=(), skipped=f"{step}: {why}")
