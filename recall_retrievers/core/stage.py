"""A stage, and the pipeline: stages in order.

A stage never waits for anything. One that needs a model or the collection is a generator: it
yields requests, several of one kind at once, and the world sends the answers back (`core.world`).
Of several prompts some may fail: each has its error in the place of its reply. If all fail, the
first error arrives at the ``yield``.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.pool import Pool
from recall_retrievers.core.query import Query, Recall
from recall_retrievers.core.requests import (
    Answers,
    Fetch,
    Prompt,
    Refine,
    Request,
    Requests,
    Search,
    Work,
    Write,
)
from recall_retrievers.core.settings import Count, Settings
from recall_retrievers.core.usage import Deadline, Meter
from recall_retrievers.timeline import TimeRange
from recall_retrievers.timeline.time_range import format_interval

# With the requests: whoever writes a stage needs both.
__all__ = ["Fetch", "Prompt", "Recall", "Refine", "Search", "Stage", "Work", "Write"]

_MOST_IDS = 10  # that a framework's traces show

TopN = Count | None  # how many memories a stage keeps; None = as many as the retriever's k, else 5
Flow = Generator[Requests, Answers, Recall]  # the work of a stage that asks for something


class Stage(Settings):
    """One step between a question and its memories; it never alters its input."""

    before_search: ClassVar[bool] = False
    """Whether the stage works on the question, before there are memories."""

    reads_pool: ClassVar[bool] = False
    """Whether the stage can work on a `Pool`, whose candidates are not made yet."""

    writes_text: ClassVar[bool] = False
    """Whether the outcome of the stage is one text; the memories are then its sources."""

    @property
    def stage_name(self) -> str:
        """The name of the stage in traces."""
        return type(self).__name__

    def apply(self, recall: Recall) -> Recall | Flow:
        """Do the work: a new `Recall`, or a generator of requests that returns one."""
        raise NotImplementedError

    def flow(self, recall: Recall) -> Flow:
        return pipeline([self], recall)


class RankStage(Stage):
    """A stage that puts the candidates in order and keeps the best of them.

    Args:
        top_n: How many to keep. None = as many as the retriever's k, else 5.
    """

    top_n: TopN = None

    def cut(self, recall: Recall, ranked: Sequence[Candidate]) -> Recall:
        """A copy with the best of the ranked candidates; the others count as dropped."""
        best = ranked[: limit(self.top_n, recall.query)]
        recall = replace(recall, memories=tuple(ranked))
        return recall.keep(best, self.stage_name, self.cut_reason(recall.query))

    def cut_reason(self, query: Query) -> str:
        return "cut at k" if self.top_n is None and query.k is not None else "cut at top_n"


def limit(top_n: int | None, query: Query) -> int:
    return top_n or query.k or 5


@dataclass(frozen=True, slots=True)
class StageRun(Request):
    """A stage about to work. A pipeline asks for its work, so that a face can trace each stage."""

    stage: Stage
    recall: Recall
    meter: Meter

    @property
    def name(self) -> str:
        return self.stage.stage_name

    @property
    def shown_input(self) -> dict[str, object]:
        """What went in, for a framework's traces: the question, and the number of candidates."""
        return _shown(self.recall)

    def shown_outcome(self, outcome: Recall) -> dict[str, object]:
        """What came out, for a framework's traces: small, flat, no text of memories."""
        times = outcome.query.time_ranges
        further = {
            "time": [named.describe() for named in times if times != self.recall.query.time_ranges],
            "characters": len(outcome.text),
            "degraded": "; ".join(outcome.fallbacks[len(self.recall.fallbacks) :]),
            "skipped": outcome.skipped,
            "usage": self.meter.figures() if self.meter.calls else {},
        }
        found = outcome.memories
        best = found.facts.ids if isinstance(found, Pool) else [memory.id for memory in found]
        return {
            **_shown(outcome),
            "best": [*best[:_MOST_IDS]],
            **{k: v for k, v in further.items() if v},
        }

    def within(self, deadline: Deadline) -> StageRun:
        """It with no more time than a deadline leaves, as for a stage inside another."""
        return replace(self, meter=replace(self.meter, deadline=min(self.meter.deadline, deadline)))

    def flow(self) -> Flow:
        """The work of the stage, with what its models cost in the outcome."""
        work = partial(self.stage.apply, self.recall)
        # A stage that gets a pool may read some of its memories from the store.
        [outcome] = (yield [Work(work)]) if isinstance(self.recall.memories, Pool) else [work()]
        if isinstance(outcome, Generator):
            outcome = yield from outcome
        outcome = outcome.fell_back(self.meter.stage, *self.meter.notes)
        if self.meter.calls:
            outcome = replace(outcome, usage=(*outcome.usage, str(self.meter)))
        return outcome


def _shown(recall: Recall) -> dict[str, object]:
    query = recall.query  # of every stage: a call only where there is a conversation
    text = query.searched[0] if query.messages else query.search_text or query.text
    return {"query": text, "candidates": len(recall.memories)}


def pipeline(
    stages: Sequence[Stage], recall: Recall, deadline_s: float | None = None, k: int | None = None
) -> Flow:
    """Run stages one after the other, each on the outcome of the one before it.

    The trace of every memory in the outcome names the stages that fell back (``degraded``) and what
    the models cost (``usage``). If a stage finds that no memories are needed, the rest is skipped.
    After ``deadline_s`` no model is asked or waited for.
    """
    deadline = Deadline() if deadline_s is None else Deadline.after(deadline_s)
    for stage in stages:
        before = recall = recall if stage.reads_pool else (yield from _made(recall))
        [recall] = yield [StageRun(stage, before, Meter(stage.stage_name, deadline))]
        if recall.skipped:
            return recall
        fewer = len(recall.memories) < len(before.memories)
        if fewer and recall.dropped == before.dropped:  # it does not say itself what it left out
            kept = before.keep(recall.memories, stage.stage_name, f"left out by {stage.stage_name}")
            recall = replace(recall, dropped=kept.dropped)
    return (yield from _made(recall)).finished(k)


def _made(recall: Recall) -> Flow:
    if isinstance(recall.memories, Pool):  # its candidates are read from the store
        [memories] = yield [Work(recall.memories.made)]
        recall = replace(recall, memories=memories)
    return recall


_BETWEEN = " | "  # several ranges


def time_stamp(ranges: Sequence[TimeRange]) -> dict[str, float | str]:
    """The ranges, their time expressions, and the alternative readings, as flat text."""
    stamp: dict[str, float | str] = {
        "time_range": _BETWEEN.join(map(_written, ranges)),
        "time_words": _BETWEEN.join(named.text.replace(_BETWEEN, " ") for named in ranges),
    }
    others = [", ".join(map(_written, named.alternatives)) for named in ranges]
    if any(others):
        stamp["time_alternatives"] = _BETWEEN.join(others)
    return stamp


def stamped(memories: Sequence[Candidate], ranges: Sequence[TimeRange]) -> tuple[Candidate, ...]:
    """The candidates with the stamp of these ranges, and without that of an earlier question."""
    stamp = [Step("ExtractTime", notes=time_stamp(ranges), ranges=tuple(ranges))] if ranges else []
    fresh = []
    for memory in memories:
        steps = [step for step in memory.steps if not step.ranges]
        bare = memory if len(steps) == len(memory.steps) else replace(memory, steps=tuple(steps))
        fresh.append(bare.after(bare.score, *stamp) if stamp else bare)
    return tuple(fresh)


def stamped_ranges(memories: Iterable[Candidate]) -> tuple[TimeRange, ...]:
    """The ranges that an earlier stage left on the first candidate that has any."""
    steps = (step for memory in memories for step in memory.steps)
    return next((step.ranges for step in steps if step.ranges), ())


def _written(time_range: TimeRange) -> str:
    recurrence = time_range.recurrence
    recurring = "" if recurrence is None else f" {recurrence.describe()}"
    return "~" * time_range.soft + format_interval(time_range) + recurring  # "~" for vague words
