"""Which errors of a model call pass by themselves: too many requests, a dropped connection.

No client is imported. An error is known by its HTTP status, as OpenAI, Anthropic, httpx, requests,
Google and AWS have it, else by the names of its classes. LangChain's ``with_retry`` tries every
error again and reads no Retry-After, and LlamaIndex has no retries outside its clients.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isnan

_STATUSES = frozenset({429, 503, 529})  # too many requests, unavailable, overloaded (Anthropic's)
# Of calls that are turned away; of connections that drop in aiohttp, requests, Python and httpx.
_NAMES = """
    RateLimitError ResourceExhausted OverloadedError ServiceUnavailable ServiceUnavailableError
    ThrottlingException TooManyRequests TooManyRequestsError
    APIConnectionError ClientConnectionError ConnectionError NetworkError RemoteProtocolError
"""
_SPENT = "insufficient_quota"  # what OpenAI says, with a 429, where the money is spent
_DEEPEST = 5  # errors that an error was raised from


def is_transient(error: BaseException) -> bool:
    """Whether the same call may succeed a little later. A timeout is not tried again."""
    verdicts = map(_is_transient, _chain(error))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def is_away(error: BaseException) -> bool:
    """Whether an error says that a server does not answer, or has too much to do."""
    # Chroma raises a bare Exception where a proxy answered, while it handles httpx's.
    chain = [link for link in (error, error.__context__) if link is not None]
    return any(is_transient(link) or "Timeout" in type(link).__name__ for link in chain)


def http_status(error: BaseException) -> int | None:
    return next(filter(None, map(_status, _chain(error))), None)


def retry_after(error: BaseException) -> float | None:
    for cause in _chain(error):
        headers = getattr(getattr(cause, "response", None), "headers", None)
        if isinstance(headers, Mapping):
            value = next((v for k, v in headers.items() if str(k).lower() == "retry-after"), None)
            if value is not None:
                return _seconds(str(value))
    return None


def _is_transient(error: BaseException) -> bool | None:
    """Whether one error alone is; None = it does not show."""
    if getattr(error, "code", None) == _SPENT:
        return False
    status = _status(error)
    if status is not None:
        return status in _STATUSES
    names = [kind.__name__ for kind in type(error).__mro__]
    if any("Timeout" in name for name in names):
        return False
    return True if not set(names).isdisjoint(_NAMES.split()) else None


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):  # botocore
        metadata = response.get("ResponseMetadata")
        found = [metadata.get("HTTPStatusCode")] if isinstance(metadata, Mapping) else []
    else:
        holders = (error, response)
        found = [getattr(x, name, None) for x in holders for name in ("status_code", "code")]
    return next((int(x) for x in found if isinstance(x, int) and x >= 100), None)


def _seconds(header: str) -> float | None:
    """Both forms of the header: a number of seconds, or a date; None if it is neither."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        moment = moment.replace(tzinfo=moment.tzinfo or UTC)
        seconds = (moment - datetime.now(UTC)).total_seconds()
    return None if isnan(seconds) else max(seconds, 0.0)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and its causes: frameworks wrap the errors of their clients."""
    cause: BaseException | None = error
    for _ in range(_DEEPEST):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__
