"""ExtractTime: Q -> Q with time ranges. What names no time passes as it is.

The grammar reads first. A model is asked, once, only where words of time are left that it could
not read; on failure the question has no time, and the trace says so.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import ClassVar, Literal

from recall_stages.core.errors import ModelError, ReplyError
from recall_stages.core.stage import Flow, Recall
from recall_stages.core.time_trace import stamped
from recall_stages.llm.model_stage import ModelStage
from recall_stages.llm.time_question import read_time, time_prompt
from recall_stages.timeline import TimeRange, extract_time
from recall_stages.timeline.unread_words import find_time_words

_BEFORE_A_STOP = re.compile(r"\s+([,.;:?!，。？！])")


class ExtractTime(ModelStage):
    """Understand the time that a question names, so that search and ranking can prefer it.

    Works on the question before the search. Used after a search (in
    a stock compressor or postprocessor list, where only text is passed on), it leaves what it
    understood on every candidate, where `FuseRerank` finds it.

    Args:
        llm: The framework's model, asked about what the grammar cannot read, such as "during the
            lockdown". None = such a question has no time.
        timeout_s: Seconds to wait for the reply. None = the model's own limit.
        attempts: How often a prompt is sent at most, if the model rejects it or the connection
            drops. None = three times, or once if the model itself tries again.
        structured: Whether to pass the form of the reply as a schema. None = if the model says that
            it takes one; if that fails, plain JSON is asked for.
        language: "en", "zh", or "auto", which looks at the letters.
        week_start: The day on which "last week" begins.
        day_first: Whether 5/7/2023 is the 5th of July; None = as the language has it.
        hemisphere: Where summer is: "north" or "south".
        strip: Search with the words of time left out, so that "last Tuesday" does not pull
            memories that merely mention a Tuesday.

    Examples:
        >>> from datetime import datetime, UTC
        >>> from recall_stages.core.memory import Query
        >>> now = datetime(2024, 3, 6, tzinfo=UTC)
        >>> asked = Query(text="What did I eat yesterday?", reference_time=now)
        >>> understood = ExtractTime().apply(Recall(asked)).query
        >>> understood.search_text, understood.time_ranges[0].describe()
        ('What did I eat?', '2024-03-05 (Tuesday)')
    """

    before_search: ClassVar[bool] = True

    language: Literal["auto", "en", "zh"] = "auto"
    week_start: Literal["monday", "sunday"] = "monday"
    day_first: bool | None = None
    hemisphere: Literal["north", "south"] = "north"
    strip: bool = True

    def apply(self, recall: Recall) -> Recall | Flow:
        """Read the question's words of time against its reference time."""
        query = recall.query
        if ranges := self.read(query.text, query.reference_time):
            return self._understood(recall, ranges)
        recall = replace(recall, memories=stamped(recall.memories, []))
        if self.llm is None or find_time_words(query.text) is None:
            return recall
        return self._asked(recall)

    def read(self, text: str, reference_time: datetime) -> list[TimeRange]:
        """What the grammar alone makes of a text, with the settings of this stage."""
        return extract_time(
            text,
            reference_time,
            language=self.language,
            week_start=self.week_start,
            day_first=self.day_first,
            hemisphere=self.hemisphere,
        )

    def _asked(self, recall: Recall) -> Flow:
        try:
            [reply] = yield [self.to_model(time_prompt(recall.query))]
            found = read_time(reply, recall.query)
        except (ModelError, ReplyError) as error:
            return recall.fell_back(self.stage_name, error)
        return recall if found is None else self._understood(recall, [found])

    def _understood(self, recall: Recall, ranges: list[TimeRange]) -> Recall:
        understood: dict[str, object] = {"time_ranges": tuple(ranges)}
        if self.strip:
            understood["search_text"] = without_time_words(recall.query.text, ranges)
        return replace(
            recall,
            query=recall.query.model_copy(update=understood),
            memories=stamped(recall.memories, ranges),
        )


def without_time_words(text: str, ranges: list[TimeRange]) -> str:
    """The question with its words of time left out; whole, where nothing else would be left."""
    kept = text
    for start, end in sorted((each.span for each in ranges if each.span), reverse=True):
        kept = f"{kept[:start].rstrip()} {kept[end:].lstrip()}"
    kept = _BEFORE_A_STOP.sub(r"\1", kept).strip(" ,;:-，：")
    return kept if any(letter.isalnum() for letter in kept) else text
