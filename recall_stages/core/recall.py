"""Recall: a question on its way to its memories; what goes into a stage, and what comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recall_stages.core.candidate import Candidate, Step, candidates
from recall_stages.core.citation import Citation
from recall_stages.core.draft import Draft
from recall_stages.core.errors import described
from recall_stages.core.memory import Query

JOINED = "source"
"""The note of a candidate that a stage added to the memories of the collection: from where."""

OUTCOME = "outcome"
"""The stage of the last step of each result, which is about the whole question."""

_LONGEST_REASON = 300  # characters of an error that a trace holds
_ONLY_CANDIDATES = frozenset({Candidate})


@dataclass(frozen=True, slots=True)
class Dropped:
    """Candidates that a stage left out.

    Attributes:
        stage: The stage.
        reason: Why, such as "below fuse_score_threshold".
        ids: Their ids; of one without, its text.
    """

    stage: str
    reason: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """A question on its way to its memories: what goes into a stage, and what comes out of it.

    Attributes:
        query: The question, and what has been understood of it so far.
        memories: The candidates, best first. A `Memory` among them becomes a `Candidate`.
        text: What the reader sees, once a stage has written it.
        fallbacks: The stages that could not do their work, and why; nothing is lost by them.
        draft: What a model wrote of the memories while it judged them; `RewriteMemory` tells it.
        citations: The sentences of the text and what each rests on, where a model wrote them.
        usage: What the models of each stage that asked one cost.
        skipped: Which stage found that no memories are needed, and why; empty where they are.
        dropped: The candidates that stages left out, and why.
    """

    query: Query
    memories: tuple[Candidate, ...] = ()
    text: str = ""
    fallbacks: tuple[str, ...] = ()
    draft: Draft | None = None
    citations: tuple[Citation, ...] = ()
    usage: tuple[str, ...] = ()
    skipped: str = ""
    dropped: tuple[Dropped, ...] = ()

    def __post_init__(self) -> None:
        if not _ONLY_CANDIDATES.issuperset(map(type, self.memories)):
            object.__setattr__(self, "memories", candidates(self.memories))

    def fell_back(self, stage: str, why: str | Exception) -> Recall:
        """A copy that names a stage which did not do its work, and why."""
        reason = described(why) if isinstance(why, Exception) else why
        if len(reason) > _LONGEST_REASON:  # a server may answer with a whole page
            reason = f"{reason[:_LONGEST_REASON]}…"
        return replace(self, fallbacks=(*self.fallbacks, f"{stage}: {reason}"))

    def keep(self, memories: Sequence[Candidate], stage: str, reason: str) -> Recall:
        """A copy with some of its memories; the others count as dropped.

        Args:
            memories: The memories that stay, best first.
            stage: The stage that keeps them.
            reason: Why the others go, such as "cut at top_n".
        """
        kept = {memory.id or memory.content for memory in memories}
        before = [memory.id or memory.content for memory in self.memories]
        gone = tuple([identity for identity in before if identity not in kept])
        dropped = (*self.dropped, Dropped(stage, reason, gone)) if gone else self.dropped
        return replace(self, memories=tuple(memories), dropped=dropped)

    def notes(self) -> dict[str, float | str]:
        """What the trace of every result says: which stages degraded, what the models cost."""
        notes = {"degraded": self.fallbacks, "usage": self.usage}
        return {name: "; ".join(lines) for name, lines in notes.items() if lines}

    def at_most(self, k: int | None) -> Recall:
        """A copy with no more than k memories; what joined them is not counted, and stays."""
        if k is None or len(self.memories) <= k:
            return self
        best = [memory for memory in self.memories if memory.noted(JOINED) is None][:k]
        joined = [memory for memory in self.memories if memory.noted(JOINED) is not None]
        return self.keep([*best, *joined], "", "cut at k")

    def finished(self, k: int | None = None) -> Recall:
        """A copy with no more than k memories, each with a step about the whole question."""
        recall = self.at_most(k)
        notes, left_out = recall.notes(), recall.left_out()
        if not notes and not left_out:
            return recall
        step = Step(OUTCOME, about=left_out, notes=notes)
        return replace(recall, memories=tuple([m.after(m.score, step) for m in recall.memories]))

    def left_out(self) -> str:
        """How many candidates were dropped and why, such as "3 duplicates, 29 cut at k"."""
        counts: dict[str, int] = {}
        for dropped in self.dropped:
            counts[dropped.reason] = counts.get(dropped.reason, 0) + len(dropped.ids)
        return ", ".join(f"{count} {reason}" for reason, count in counts.items())

    def skip(self, stage: str, why: str) -> Recall:
        """A copy without memories, that names the stage which found that none are needed, and why.

        No stage after it is run.
        """
        return replace(self, memories=(), skipped=f"{stage}: {why}")
