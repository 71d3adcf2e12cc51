"""The input and output of a stage for a framework's traces: small, flat, no text of memories."""

from __future__ import annotations

from recall_stages.core.recall import Recall
from recall_stages.core.stage import StageRun

_MOST_IDS = 10


def stage_input(stage_run: StageRun) -> dict[str, object]:
    """The text that is searched for, and the number of candidates.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_stages.core.memory import Memory
        >>> from recall_stages.core.query import Query
        >>> from recall_stages.core.stage import Stage, pipeline
        >>> query = Query(text="tea?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> flow = pipeline([Stage()], Recall(query, (Memory(content="Tea.", id="a"),)))
        >>> [stage_run] = next(flow)
        >>> stage_input(stage_run)
        {'query': 'tea?', 'candidates': 1}
        >>> stage_output(stage_run, stage_run.recall)
        {'query': 'tea?', 'candidates': 1, 'best': ['a']}
    """
    return _seen(stage_run.recall)


def stage_output(stage_run: StageRun, outcome: Recall) -> dict[str, object]:
    """The same for the outcome, with the ids of the best candidates.

    Where they exist, these follow: the ``time`` that the stage understood, the number of
    ``characters`` in its text, the reason of its fallback (``degraded``), the reason why no
    memories are needed (``skipped``), and the cost of its models (``usage``).
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
