"""Which errors of a call pass, and when the server wants to be asked again."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http import HTTPStatus
from types import SimpleNamespace

import pytest
from stages.client_errors import error, status, wrapped
from tables import table

from recall_retrievers.core.transient_errors import is_transient, retry_after

PASSING = {
    "OpenAI, Anthropic: too many requests": status(429),
    "unavailable": status(503),
    "Anthropic: overloaded": status(529),
    "httpx: a status of its response alone": error(
        "HTTPStatusError", response=SimpleNamespace(status_code=429)
    ),
    "Google: a code": error("ResourceExhausted", code=HTTPStatus.TOO_MANY_REQUESTS),
    "AWS: a response that is a dict": error(
        "ClientError", response={"ResponseMetadata": {"HTTPStatusCode": 429}}
    ),
    "AWS: a name": error("ThrottlingException"),
    "a name, of a subclass": error("MyError", type("RateLimitError", (Exception,), {})),
    "OpenAI: connection": error("APIConnectionError"),
    "httpx: read": error("ReadError", type("NetworkError", (Exception,), {})),
    "httpx: protocol": error("RemoteProtocolError"),
    "aiohttp: disconnected": error(
        "ServerDisconnectedError", type("ClientConnectionError", (Exception,), {})
    ),
    "requests: connection": error("ConnectionError", OSError),
    "Python: reset": ConnectionResetError("by peer"),
    "wrapped by a framework": wrapped(status(429)),
}
LASTING = {
    "bad request": status(400),
    "unauthorized": status(401),
    "server error": status(500),
    "no money": error("RateLimitError", status_code=429, code="insufficient_quota"),
    "OpenAI: timeout": error("APITimeoutError", type("APIConnectionError", (Exception,), {})),
    "Python: timeout": TimeoutError("too slow"),
    "httpx: connect timeout": error("ConnectTimeout", type("NetworkError", (Exception,), {})),
    "a value": ValueError("no such model"),
    "a bad request, though a connection was lost before": None,
}
_late = status(400)
_late.__cause__ = ConnectionResetError()
LASTING["a bad request, though a connection was lost before"] = _late


@table("raised", PASSING.values(), ids=PASSING)
def test_what_passes(raised: Exception) -> None:
    assert is_transient(raised)


@table("raised", LASTING.values(), ids=LASTING)
def test_what_does_not(raised: Exception) -> None:
    assert not is_transient(raised)


def test_when_the_server_wants_to_be_asked_again() -> None:
    in_ten = format_datetime(datetime.now(UTC) + timedelta(seconds=10), usegmt=True)

    assert retry_after(status(429, **{"Retry-After": "7"})) == 7
    assert retry_after(wrapped(status(429, **{"retry-after": "0.5"}))) == 0.5
    assert retry_after(status(429, **{"retry-after": in_ten})) == pytest.approx(10, abs=2)
    assert retry_after(status(429, **{"retry-after": "-3"})) == 0
    zoneless = status(429, **{"retry-after": in_ten.replace("GMT", "-0000")})
    assert retry_after(zoneless) == pytest.approx(10, abs=2)
    unreadable = [status(429, **{"retry-after": said}) for said in ("soon", "nan", "")]
    for unknown in (status(429), *unreadable, ValueError()):
        assert retry_after(unknown) is None
