"""The calendar room: time in words to time ranges, and what a range can do.

Nothing here reads a clock: the reference time is always passed in.
"""

from recall_stages.timeline.decay import half_life_weight
from recall_stages.timeline.extract_time import extract_time
from recall_stages.timeline.parse_time import parse_time
from recall_stages.timeline.recurrence import Recurrence
from recall_stages.timeline.time_range import TimeRange

__all__ = ["Recurrence", "TimeRange", "extract_time", "half_life_weight", "parse_time"]
