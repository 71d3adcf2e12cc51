"""Errors as a client reads them: a status and a sentence, and nothing of the machine behind it."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from recall_stages.core import errors

_log = logging.getLogger(__name__)

_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (errors.ScopeError, 403),
    (errors.MissingMemoryError, 404),
    (errors.ForeignCollectionError, 409),
    (errors.MissingCollectionError, 404),
    (errors.StoreUnavailableError, 503),
    (errors.StoreClosedError, 503),
    (errors.StoreLockedError, 503),
    (errors.StoreError, 500),
    (ValueError, 400),  # ours about questions, filters, memories and settings are all of this kind
    (errors.RecallError, 500),
)
_UNKNOWN = "the server failed, and its log says why; the request may be sent again"


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as a client reads it.

    Attributes:
        status: The status of HTTP.
        sentence: What was wrong, what was expected, what to do.
    """

    status: int
    sentence: str


def failure_of(error: Exception) -> Failure:
    """What a client reads of an error; the log has all of those that are not ours.

    Examples:
        >>> failure_of(errors.QueryError("query must say what to look for"))
        Failure(status=400, sentence='query must say what to look for')
        >>> failure_of(ZeroDivisionError("in line 7")).sentence
        'the server failed, and its log says why; the request may be sent again'
    """
    if isinstance(error, errors.RecallError):
        status = next(status for kind, status in _STATUS if isinstance(error, kind))
        if status >= 500:
            _log.error("%s", errors.described(error))
        return Failure(status, str(error))
    _log.error("a request failed", exc_info=error)
    return Failure(500, _UNKNOWN)
