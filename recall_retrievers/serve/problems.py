"""Errors as a client reads them: a status and a sentence, and nothing of the machine behind it."""

from __future__ import annotations

import logging

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from recall_retrievers.core import errors

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
_FAILED = "the server failed, and its log says why; the request may be sent again"
_AWAY = "the memories cannot be reached now, and the server's log says why; send it again later"


def failure_of(error: Exception) -> HTTPException:
    """What a client reads of an error: a sentence about the request, never about the server.

    Examples:
        >>> failure_of(errors.QueryError("query must say what to look for"))
        HTTPException(status_code=400, detail='query must say what to look for')
        >>> failure_of(ZeroDivisionError("in line 7")).detail
        'the server failed, and its log says why; the request may be sent again'
    """
    is_ours = isinstance(error, errors.RecallError)
    status = next((each for kind, each in _STATUS if is_ours and isinstance(error, kind)), 500)
    if status < 500:
        return HTTPException(status, str(error))
    errors.log_failure(_log, "a request failed", error)
    return HTTPException(503, _AWAY, _BUSY) if status == 503 else HTTPException(500, _FAILED)


def answer_to(failure: HTTPException) -> JSONResponse:
    """An error as the answer to a request: ``{"error": "..."}``."""
    return JSONResponse({"error": failure.detail}, failure.status_code, headers=failure.headers)
