"""ExtractTime: Q -> Q with time ranges. A question that names no time stays as it is.

The grammar reads first. A model is asked once, and only if a time expression is left that the
grammar cannot read. If the model fails, the question has no time, and the trace says so.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import ClassVar, Literal

from recall_retrievers.core.errors import ModelError, ReplyError, StoreError
from recall_retrievers.core.query import Query
from recall_retrievers.core.requests import Sessions, Spans
from recall_retrievers.core.settings_messages import got
from recall_retrievers.core.stage import Flow, Recall, stamped
from recall_retrievers.llm.model_stage import ModelStage
from recall_retrievers.llm.time_question import read_time, time_prompt
from recall_retrievers.ranking.ratios import PAUSE
from recall_retrievers.text.sessions import NamedSession, named_sessions
from recall_retrievers.timeline import TimeRange, extract_time
from recall_retrievers.timeline.extract_time import Language, unread_time, without_time_words


class ExtractTime(ModelStage):
    """Understand the time that a question names, so that search and ranking can prefer it.

    It works on the question before the search. After a search, in a framework's own list of
    compressors or postprocessors, it notes the time on every candidate, where `FuseRerank` finds
    it.

    "Our 4th session" and "last time" name the time of a session, which the store knows. Without a
    store of ours they name no time, and the trace says so.

    Args:
        llm: The framework's model, for words that the grammar cannot read, such as "during the
            lockdown". None = such a question has no time.
        language: "en", "zh", "de", "es", "fr", "ja", or "auto", which looks at the letters and the
            small words.
        week_start: The day on which "last week" begins.
        day_first: Whether 5/7/2023 is the 5th of July; None = as the language has it.
        hemisphere: Where summer is: "north" or "south".
        strip: Search without the time expression, so that "last Tuesday" does not find memories
            that only mention a Tuesday.

    Examples:
        >>> from datetime import datetime, UTC
        >>> from recall_retrievers.core.query import Query
        >>> now = datetime(2024, 3, 6, tzinfo=UTC)
        >>> query = Query(text="What did I eat yesterday?", reference_time=now)
        >>> understood = ExtractTime().apply(Recall(query)).query
        >>> understood.search_text, understood.time_ranges[0].describe()
        ('What did I eat?', '2024-03-05 (Tuesday)')
    """

    before_search: ClassVar[bool] = True

    language: Language = "auto"
    week_start: Literal["monday", "sunday"] = "monday"
    day_first: bool | None = None
    hemisphere: Literal["north", "south"] = "north"
    strip: bool = True

    def apply(self, recall: Recall) -> Recall | Flow:
        """Read the time expressions of the question against its reference time."""
        query = recall.query
        ranges = self.read(query.text, query.reference_time)
        if query.time_ranges:  # the caller's: what the question names besides is not searched for
            return self._understood(recall, ranges)
        spans = [each.span for each in ranges if each.span]
        if sessions := named_sessions(query.text, spans):
            return self._with_sessions(recall, ranges, sessions)
        if ranges:
            return self._understood(recall, ranges)
        if recall.memories:
            recall = replace(recall, memories=stamped(recall.memories, []))
        if self.llm is None or unread_time(query.text) is None:
            return recall
        return self._by_model(recall)

    def read(self, text: str, reference_time: datetime) -> list[TimeRange]:
        """The time ranges that the grammar alone reads in a text."""
        return extract_time(
            text,
            reference_time,
            language=self.language,
            week_start=self.week_start,
            day_first=self.day_first,
            hemisphere=self.hemisphere,
        )

    def _with_sessions(
        self, recall: Recall, ranges: list[TimeRange], sessions: Sequence[NamedSession]
    ) -> Flow:
        """Ask the store when the sessions took place; one that does not exist names no time."""
        query = recall.query
        try:
            [known] = yield [Sessions(query.reference_time, query.scope)]
        except StoreError as error:
            recall, known, sessions = recall.fell_back(self.stage_name, error), (), ()
        for each in sessions:
            if (session := _time_of(each, known, query)) is not None:
                ranges = [*ranges, session]
            else:
                words = got(query.text[slice(*each.span)].strip())
                there = f"{words} names no time, as there are {len(known)} sessions"
                recall = recall.fell_back(self.stage_name, there)
        return self._understood(recall, ranges)

    def _by_model(self, recall: Recall) -> Flow:
        try:
            [reply] = yield [self.to_model(time_prompt(recall.query))]
            time_range = read_time(reply, recall.query)
        except (ModelError, ReplyError) as error:
            return recall.fell_back(self.stage_name, error)
        return recall if time_range is None else self._understood(recall, [time_range])

    def _understood(self, recall: Recall, ranges: list[TimeRange]) -> Recall:
        counting = recall.query.time_ranges or tuple(ranges)
        understood: dict[str, object] = {"time_ranges": counting}
        if self.strip:
            understood["search_text"] = without_time_words(recall.query.text, ranges)
        return replace(
            recall,
            query=recall.query.model_copy(update=understood),
            memories=stamped(recall.memories, counting),
        )


def _time_of(named: NamedSession, known: Spans, query: Query) -> TimeRange | None:
    """The time of a session; None if it is not among the known ones."""
    at = partial(datetime.fromtimestamp, tz=query.reference_time.tzinfo)
    # A session goes on until a pause after it: then the one before it is the last.
    goes_on = bool(known) and query.reference_time - at(known[-1][1] / 1000) < PAUSE
    before = len(known) - goes_on
    place = named.number + before if named.number < 0 else named.number - 1
    if not 0 <= place < len(known):
        return None
    start, end = at(known[place][0] / 1000), at((known[place][1] + 1) / 1000)
    return TimeRange(start, end, "session", query.text[slice(*named.span)], named.span)
