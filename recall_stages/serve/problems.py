"""Errors as a client reads them: a status and a sentence, and nothing of the machine behind it."""

from __future__ import annotations

import logging

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from recall_stages.core import errors

_log = logging.getLogger(__name__)

_BUSY = {"Retry-After": "5"}  # when to try again what is not available now
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


def failure_of(error: Exception) -> HTTPException:
    """What a client reads of an error; the log has all of those that are not ours.

    Examples:
        >>> failure_of(errors.QueryError("query must say what to look for"))
        HTTPException(status_code=400, detail='query must say what to look for')
        >>> failure_of(ZeroDivisionError("in line 7")).detail
        'the server failed, and its log says why; the request may be sent again'
    """
    if not isinstance(error, errors.RecallError):
        _log.error("a request failed", exc_info=error)
        return HTTPException(500, _UNKNOWN)
    status = next(status for kind, status in _STATUS if isinstance(error, kind))
    if status >= 500:
        _log.error("%s", errors.described(error))
    return HTTPException(status, str(error), _BUSY if status == 503 else None)


def answer_to(failure: HTTPException) -> JSONResponse:
    """An error as the answer to a request: ``{"error": "..."}``."""
    return JSONResponse({"error": failure.detail}, failure.status_code, headers=failure.headers)
