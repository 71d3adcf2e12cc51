"""What the traces of a framework show of a stage at work: small, flat, and no text of memories."""

from __future__ import annotations

from recall_stages.core.recall import Recall
from recall_stages.core.stage import StageRun

_MOST_IDS = 10


def stage_input(stage_run: StageRun) -> dict[str, object]:
    """What a stage was given: the question, as it is searched for, and how many candidates.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_stages.core.memory import Memory, Query
        >>> from recall_stages.core.stage import Stage, pipeline
        >>> asked = Query(text="tea?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> flow = pipeline([Stage()], Recall(asked, (Memory(content="Tea.", id="a"),)))
        >>> [stage_run] = next(flow)
        >>> stage_input(stage_run)
        {'query': 'tea?', 'candidates': 1}
        >>> stage_output(stage_run, stage_run.recall)
        {'query': 'tea?', 'candidates': 1, 'best': ['a']}
    """
    return _seen(stage_run.recall)


def stage_output(stage_run: StageRun, outcome: Recall) -> dict[str, object]:
    """What came out of it: the same, and the best candidates by id.

    Where there are any: the ``time`` that the stage understood, how many ``characters`` the text
    has that it wrote, where it fell back and why (``degraded``), why no memories are needed
    (``skipped``), and what its models cost (``usage``).
    """
    shown = _seen(outcome) | {"best": [memory.id for memory in outcome.memories[:_MOST_IDS]]}
    if outcome.query.time_ranges != stage_run.recall.query.time_ranges:
        shown["time"] = [each.describe() for each in outcome.query.time_ranges]
    if outcome.text:
        shown["characters"] = len(outcome.text)
    if fallbacks := outcome.fallbacks[len(stage_run.recall.fallbacks) :]:
        shown["degraded"] = "; ".join(fallbacks)
    if outcome.skipped:
        shown["skipped"] = outcome.skipped
    if stage_run.meter.calls:
        shown["usage"] = stage_run.meter.figures()
    return shown


def _seen(recall: Recall) -> dict[str, object]:
    query = recall.query.search_text or recall.query.text
    return {"query": query, "candidates": len(recall.memories)}
