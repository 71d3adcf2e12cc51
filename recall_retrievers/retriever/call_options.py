"""The settings of a single call, and how they join those of the retriever."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import replace
from datetime import datetime
from typing import Annotated, ClassVar, Literal, TypedDict

from pydantic import BeforeValidator, field_validator, model_validator

from recall_retrievers.core.errors import QueryError
from recall_retrievers.core.message import MOST_MESSAGES, Message, read_messages
from recall_retrievers.core.query import Filter
from recall_retrievers.core.scope import Scope, ScopeInput
from recall_retrievers.core.settings import Count, Seconds, Timed, TimeInput, Timestamp
from recall_retrievers.core.settings_messages import got
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.stages.retrieve import Method, SearchMethod
from recall_retrievers.store.chroma.where import filter_where, joined
from recall_retrievers.timeline import TimeRange, parse_time

RangeInput = TimeRange | tuple[TimeInput | None, TimeInput | None] | str
TimeMode = Literal["prefer", "require", "ignore"]


OTHER_NAMES = {
    "search_kwargs": "k, filter and threshold_score are arguments of their own here",
    "search_type": "here it is method='hybrid', 'semantic' or 'keyword'; for 'mmr' set mmr_lambda",
    "similarity_cutoff": "here it is threshold_score",
    **dict.fromkeys(("similarity_top_k", "top_k"), "here it is k"),
    **dict.fromkeys(("filters", "where"), "here it is filter"),
    **{name: f"here it is scope={{{name!r}: ...}}" for name in Scope.model_fields},
}
"""Names of other libraries, and what to write here."""


def _messages(value: object) -> tuple[Message, ...]:
    if isinstance(value, Sized) and len(value) > MOST_MESSAGES:
        raise ValueError(
            f"messages may be {MOST_MESSAGES} at most; got {len(value):,}. Pass the last ones, as "
            f"in messages[-{MOST_MESSAGES}:]"
        )
    return read_messages(value)


class CallOptions(TypedDict, total=False):
    """The settings of a single call; see `MemoryRetriever`."""

    k: int
    method: Method
    threshold_score: float | None
    only_with_evidence: bool
    timestamp: TimeInput | None
    timezone: str | None
    scope: ScopeInput
    everyone: bool
    filter: Filter | None
    time_range: RangeInput | None
    time_mode: TimeMode
    messages: Sequence[object]
    deadline_s: float | None
    as_of: TimeInput | None
    include_superseded: bool


def combine_options(around: CallOptions, call: CallOptions) -> CallOptions:
    """The settings of a call over the settings around it; of two scopes both hold."""
    both: CallOptions = {**around, **call}
    if "scope" in around and "scope" in call:
        wide, narrow = (Scope.model_validate(options["scope"]) for options in (around, call))
        both["scope"] = wide.narrow(narrow)
    return both


class RecallOptions(Timed, SearchMethod):
    """The settings of a retriever that a call may change; see `MemoryRetriever`."""

    public_name: ClassVar[str] = "a call"
    elsewhere: ClassVar[Mapping[str, str]] = OTHER_NAMES

    k: Count = 5
    scope: Scope = Scope()
    everyone: bool = False
    filter: Filter | None = None
    time_range: RangeInput | None = None
    time_mode: TimeMode = "prefer"
    messages: Annotated[tuple[Message, ...], BeforeValidator(_messages)] = ()
    deadline_s: Seconds | None = None
    as_of: Timestamp = None
    include_superseded: bool = False

    @model_validator(mode="before")
    @classmethod
    def _as_langchain_says(cls, given: object) -> object:
        if isinstance(given, Mapping) and "threshold_score" not in given:
            names = {"score_threshold": "threshold_score"}  # LangChain hands its own name on
            return {names.get(name, name): value for name, value in given.items()}
        return given

    @field_validator("filter")
    @classmethod
    def _can_be_matched(cls, filter: Filter | None) -> Filter | None:
        filter_where(filter)  # raises what would otherwise be raised by every question
        return filter

    def for_call(self, options: CallOptions) -> RecallOptions:
        """These settings, with those of one call over them; scope and filter only narrow."""
        if all(value is None and name in ("scope", "filter") for name, value in options.items()):
            return self
        call = RecallOptions.model_validate(options)
        chosen = {
            name: getattr(call if name in call.model_fields_set else self, name)
            for name in RecallOptions.model_fields
        }
        chosen["scope"] = self.scope.narrow(call.scope)
        chosen["filter"] = joined(self.filter, call.filter)
        return RecallOptions.model_construct(**chosen)  # both parts have been checked

    def bounds(
        self, moment: datetime, calendar: Callable[[], ExtractTime]
    ) -> tuple[TimeRange, ...]:
        """The time range of the call, if it has one; words are read with the stage's settings."""
        if self.time_range is None or isinstance(self.time_range, TimeRange):
            return (self.time_range,) if self.time_range else ()
        if isinstance(self.time_range, str):
            if ranges := calendar().read(self.time_range, moment):
                return tuple(replace(each, span=None) for each in ranges)  # not in the question
            raise QueryError(
                f"no time is named by {got(self.time_range)}; say it as in "
                '"last Tuesday", "in March"'
            )
        start, end = (
            None if bound is None else parse_time(bound, moment.tzinfo) for bound in self.time_range
        )
        try:
            return (TimeRange(start, end, "day"),)
        except ValueError as error:
            raise QueryError(f"time_range: {error}") from None
