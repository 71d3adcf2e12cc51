"""Time expressions in six languages become time ranges, without a model.

Imports nothing else of this project, so that it can be lifted out as a library of its own.
Reads no clock: the reference time is always an argument.
"""

from recall_retrievers.timeline.extract_time import extract_time
from recall_retrievers.timeline.parse_time import parse_time
from recall_retrievers.timeline.recurrence import Recurrence
from recall_retrievers.timeline.time_range import TimeRange, half_life_weight

__all__ = ["Recurrence", "TimeRange", "extract_time", "half_life_weight", "parse_time"]
