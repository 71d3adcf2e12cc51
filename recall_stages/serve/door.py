"""The door of a server: which requests come in, and whose they are. It is ASGI middleware."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recall_stages.core.errors import ScopeError
from recall_stages.core.scope import Scope as MemoryScope
from recall_stages.serve.limits import RateLimit
from recall_stages.serve.tokens import Client, Tokens

CLIENT = "recall_client"
"""Where the state of a request has its `Client`."""

OPEN_PATHS = frozenset({"/health", "/openapi.json"})
"""What is answered without a token: nothing in it is anybody's."""

_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


class Door:
    """Refuses what may not come in, and says whose the rest is.

    Args:
        app: What answers the requests that come in.
        tokens: The tokens. None = no token is needed.
        scope: Whose memories are served at all.
        rate: How many requests a client may send.
        most_bytes: How large the body of a request may be.
        hosts: The names by which the server may be called. None = any.
    """

    def __init__(  # noqa: PLR0913 - what a door decides by, each by name
        self,
        app: ASGIApp,
        *,
        tokens: Tokens | None,
        scope: MemoryScope,
        rate: RateLimit,
        most_bytes: int,
        hosts: Sequence[str] | None,
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._scope = scope
        self._rate = rate
        self._most_bytes = most_bytes
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal_of_place(headers)
        client = self._client(headers)
        if refusal is None:
            refusal = self._refusal_of_rate(client, scope)
        if refusal is None and client is None and scope["path"] not in OPEN_PATHS:
            refusal = _refused(
                401,
                'this server needs a token: send the header "Authorization: Bearer TOKEN"',
                {"WWW-Authenticate": "Bearer"},
            )
        if refusal is None and scope["method"] in _WITH_BODY:
            refusal = self._refusal_of_form(headers)
        if refusal is None and scope["method"] in _WITH_BODY:
            body = await _body(receive, self._most_bytes)
            if body is None:
                refusal = self._too_large()
            else:
                receive = _replayed(body, receive)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        state = {**scope.get("state", {}), CLIENT: client}
        await self._app({**scope, "state": state}, receive, send)

    def _client(self, headers: Headers) -> Client | None:
        if self._tokens is None:
            return Client("anybody", self._scope)
        kind, _, token = headers.get("authorization", "").partition(" ")
        found = self._tokens.client(token.strip()) if kind.lower() == "bearer" else None
        if found is None:
            return None
        try:
            return Client(found.name, self._scope.narrow(found.scope))
        except ScopeError:  # a token for somebody who is not served here
            return None

    def _refusal_of_place(self, headers: Headers) -> JSONResponse | None:
        """A page of another site, in a browser on this machine, must not reach the server."""
        if self._hosts is None:
            return None
        if _name_in(f"//{headers.get('host', '')}") not in self._hosts:
            return _refused(421, f"this server is called {' or '.join(self._hosts)}, and no other")
        origin = headers.get("origin")
        if origin is not None and _name_in(origin) not in self._hosts:
            return _refused(403, "pages of other sites may not use this server")
        return None

    def _refusal_of_rate(self, client: Client | None, scope: Scope) -> JSONResponse | None:
        address = (scope.get("client") or ("somebody",))[0]
        wait_s = self._rate.wait_s(
            address if client is None or self._tokens is None else client.name
        )
        if not wait_s:
            return None
        seconds = math.ceil(wait_s)
        return _refused(
            429,
            f"too many requests; send the next one in {seconds} s",
            {"Retry-After": str(seconds)},
        )

    def _refusal_of_form(self, headers: Headers) -> JSONResponse | None:
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._most_bytes:
            return self._too_large()
        # Browsers send other types across sites without asking first.
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return _refused(415, 'send JSON, with the header "Content-Type: application/json"')
        return None

    def _too_large(self) -> JSONResponse:
        return _refused(413, f"the body may have {self._most_bytes:,} bytes at most; send less")


async def _body(receive: Receive, most_bytes: int) -> bytes | None:
    """The whole body of a request; None if it is too large, or the client went away."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > most_bytes:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """What an application reads: the body at once, then whatever comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine reach an address.

    Examples:
        >>> [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "")]
        [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _name_in(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _refused(status: int, why: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": why}, status, headers=headers)
