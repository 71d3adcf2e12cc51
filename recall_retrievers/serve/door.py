"""The door of a server: which requests come in, and whose they are. It is ASGI middleware."""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recall_retrievers.core.errors import ScopeError
from recall_retrievers.serve.operation import answer_to
from recall_retrievers.serve.page import PATHS
from recall_retrievers.serve.running import ServerSettings, is_loopback
from recall_retrievers.serve.tokens import Client

_CLIENT = "recall_client"  # where the state of a request has its `Client`
_OPEN_PATHS = PATHS | {"/health", "/openapi.json"}  # nothing in their answers is anybody's
_MOST_CLIENTS = 10_000  # whose requests are counted; the one that was quiet the longest is let go
_WITH_BODY = frozenset({"POST", "PATCH"})  # no route takes another one
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
_SMALL = 65_536  # bytes of a body that needs no place among the large ones
_LARGE_AT_ONCE = 16  # bodies in memory, from their first byte to the answer; the others wait


def client_of(request: Request) -> Client:
    """Whose request it is; the `Door` has found that out."""
    client: Client = getattr(request.state, _CLIENT)
    return client


class Door:
    """Refuses requests that the settings do not allow, and says who sent the others."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings
        self._rate = RateLimit(settings.rate)
        has_names = is_loopback(settings.host) or bool(settings.allowed_hosts)
        self._names = (*_LOOPBACK_NAMES, *settings.allowed_hosts) if has_names else ()
        self._large = asyncio.Semaphore(_LARGE_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer why not."""
        async with AsyncExitStack() as place:
            if scope["type"] == "http":
                try:
                    client = self._client(scope)
                    if scope["method"] in _WITH_BODY:
                        receive = _replayed(await self._body(scope, receive, place), receive)
                except ClientDisconnect:
                    return
                except HTTPException as refused:
                    await answer_to(refused)(scope, receive, send)
                    return
                scope = {**scope, "state": {**scope.get("state", {}), _CLIENT: client}}
            await self._app(scope, receive, send)

    def _client(self, scope: Scope) -> Client | None:
        """Who sent a request; None where nobody need be named."""
        headers = Headers(scope=scope)
        if self._names:
            _check_place(headers, self._names)
        address, *_ = scope.get("client") or ("somebody",)
        client, path = self._named(headers, address), scope["path"]
        is_open = path in _OPEN_PATHS
        # Many clients have the address of one proxy: who has no token must not use up theirs.
        counted = client.name if client else address if is_open else f"refused {address}"
        is_health = path == "/health" and scope["method"] not in _WITH_BODY
        if not is_health and (wait_s := self._rate.wait_s(counted)):
            after = {"Retry-After": str(math.ceil(wait_s))}
            why = f"too many requests; send the next one in {math.ceil(wait_s)} s"
            raise HTTPException(429, why, after)
        if not (client or is_open):
            why = 'this server needs a token: send the header "Authorization: Bearer TOKEN"'
            raise HTTPException(401, why, {"WWW-Authenticate": "Bearer"})
        return client

    def _named(self, headers: Headers, address: str) -> Client | None:
        if self._settings.tokens is None:
            return Client(address, self._settings.scope)
        kind, _, token = headers.get("authorization", "").partition(" ")
        found = self._settings.tokens.client(token.strip()) if kind.lower() == "bearer" else None
        try:
            return found and Client(found.name, self._settings.scope.narrow(found.scope))
        except ScopeError:  # a token for somebody who is not served here
            return None

    async def _body(self, scope: Scope, receive: Receive, place: AsyncExitStack) -> bytes:
        """The whole body of a request; a large one has a place until it is answered."""
        headers, most = Headers(scope=scope), self._settings.most_bytes
        too_large = HTTPException(413, f"the body may have {most:,} bytes at most; send less")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > most:
            raise too_large
        is_there = int(length) > 0 or "transfer-encoding" in headers
        # Browsers send other types across sites without asking first.
        if (
            is_there
            and headers.get("content-type", "").partition(";")[0].strip().lower()
            != "application/json"
        ):
            raise HTTPException(415, 'send JSON, with the header "Content-Type: application/json"')
        if int(length) > _SMALL or "transfer-encoding" in headers:
            await place.enter_async_context(self._large)
        body, is_whole, seconds = bytearray(), False, self._settings.request_timeout_s
        try:
            async with asyncio.timeout(seconds):
                while not is_whole:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientDisconnect
                    body += message.get("body", b"")
                    is_whole = not message.get("more_body", False)
                    if len(body) > most:
                        raise too_large
        except TimeoutError:
            why = f"the body did not arrive within {seconds:g} s; send the request again"
            raise HTTPException(408, why, {"Connection": "close"}) from None
        return bytes(body)


def _check_place(headers: Headers, names: Sequence[str]) -> None:
    """Refuse a page of another site, in a browser on this machine."""
    if _name_in(f"//{headers.get('host', '')}") not in names:
        why = f"this server is called {' or '.join(names)}, and no other"
        raise HTTPException(421, why)
    origin = headers.get("origin")
    if origin is not None and _name_in(origin) not in names:
        raise HTTPException(403, "pages of other sites may not use this server")


def _name_in(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _replayed(body: bytes, receive: Receive) -> Receive:
    """What an application reads: the body at once, then whatever comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


class RateLimit:
    """A number of requests a second for each client, with some in reserve (a token bucket)."""

    def __init__(
        self, per_second: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = per_second
        self._burst = float(max(1, math.ceil(2 * (per_second or 0))))  # may come at once
        self._clock = clock
        self._reserves: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, client: str) -> float:
        """Count a request: 0 if it may be done, else the seconds to wait before another one."""
        if self._rate is None:
            return 0.0
        now = self._clock()
        left, since = self._reserves.get(client, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        allowed = left >= 1
        self._reserves[client] = (left - 1 if allowed else left, now)
        self._reserves.move_to_end(client)
        if len(self._reserves) > _MOST_CLIENTS:
            self._reserves.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._rate
