"""Query: a question, with the reference time of its time expressions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic import ConfigDict

from recall_retrievers.core.errors import QueryError
from recall_retrievers.core.message import Message
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings import Count, Settings
from recall_retrievers.core.settings_messages import got
from recall_retrievers.timeline import TimeRange

Filter = Mapping[str, object]

LONGEST_QUESTION = 50_000
"""The characters of a question; of a memory as many are searched."""


class Query(Settings):
    """A question, with the reference time of its time expressions.

    Args:
        text: The words of the user; empty if the framework passes none.
        reference_time: The moment of the question, with its time zone.
        scope: The owner of the memories that may answer.
        filter: Conditions on metadata, as Chroma writes them.
        time_ranges: The times that the question names, best first; set by `ExtractTime`.
        search_text: The text to search for. Empty = ``text``.
        k: How many memories the caller wants; None outside a retriever.
        messages: The conversation around the question, oldest first, if it is known.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    reference_time: datetime
    scope: Scope = Scope()
    filter: Filter | None = None
    time_ranges: tuple[TimeRange, ...] = ()
    search_text: str = ""
    k: Count | None = None
    messages: tuple[Message, ...] = ()


def check_length(text: str) -> None:
    """Refuse a question that is too long."""
    if len(text) > LONGEST_QUESTION:
        raise QueryError(
            f"query may have {LONGEST_QUESTION:,} characters at most; got {len(text):,}. Ask with "
            "the part that says what to look for"
        )


def query_text(text: object) -> str:
    """The words of a question, stripped.

    Raises:
        QueryError: When the question is empty, too long or not a text.

    Examples:
        >>> query_text("  Where is the dentist? ")
        'Where is the dentist?'
    """
    if not isinstance(text, str):
        raise QueryError(f"query must be a string; got {type(text).__name__}")
    if not text.strip():
        raise QueryError(
            f"query must say what to look for; got {got(text)}. To list memories, the newest "
            "first, pass a time_range or a filter"
        )
    check_length(text)
    return text.strip()
