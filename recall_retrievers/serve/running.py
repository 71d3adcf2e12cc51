"""A server of HTTP in this process: its settings, where it listens, and how it stops."""

import asyncio
import ipaddress
import re
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Self, cast

import uvicorn
from pydantic import AfterValidator, Field, model_validator
from starlette.types import ASGIApp

from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings import Seconds, Settings
from recall_retrievers.serve.tokens import Tokens

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol

_STOPPING_S = 10  # seconds that requests have to be finished when the server stops


def _host_name(name: str) -> str:
    if not re.fullmatch(r"[\w.-]+", name):
        raise ValueError(f"expected a name alone, such as memories.example.com; got {name!r}")
    return name.lower()


class ServerSettings(Settings):
    """Where a server listens, what it serves, and what it lets in."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8002  # 0 = any that is free
    allowed_hosts: tuple[Annotated[str, AfterValidator(_host_name)], ...] = ()
    rate: Annotated[float, Field(gt=0, le=1_000_000)] | None = 100.0  # requests a second of one
    most_bytes: Annotated[int, Field(ge=1, le=1_000_000_000)] = 4_000_000
    # Above it, those are closed that have sent no whole request for the longest time.
    most_connections: Annotated[int, Field(ge=1, le=100_000)] = 500
    request_timeout_s: Seconds = 20.0  # for the head of a request, and then for its body
    scope: Scope = Scope()
    tokens: Tokens | None = None
    only_mcp: bool = False
    read_only: bool = False

    @model_validator(mode="after")
    def _only_with_tokens(self) -> Self:
        if self.tokens is None and (self.allowed_hosts or not is_loopback(self.host)):
            name = next(iter(self.allowed_hosts), self.host)
            raise ValueError(
                f"on {name} other machines reach this server, and there is no token: "
                "everybody could read and delete the memories. Name a file with --tokens, or "
                "listen on 127.0.0.1 without --allowed-host"
            )
        return self


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


def listening(settings: ServerSettings) -> socket.socket:
    """A socket that clients can connect to from now on."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        bound = socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        why = str(error.strerror or error).partition(" (while")[0]  # which names the address again
        raise OSError(
            f"cannot listen on {settings.host}:{settings.port}: {why}. Name another one with "
            "--port, or 0 for any"
        ) from error
    # Its connections inherit this. asyncio knows no socket of ours for TCP: an answer, which is
    # sent in two parts, would wait 40 ms for the client's word about the first.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bound


def address_of(bound: socket.socket) -> str:
    """The URL of a server on this socket."""
    host, port, *_ = bound.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(app: ASGIApp, bound: socket.socket, settings: ServerSettings) -> None:
    """Serve until the task is cancelled; whole requests are answered before it ends."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        limit_concurrency=2 * settings.most_connections,  # beyond what `on_tick` closes
        timeout_graceful_shutdown=_STOPPING_S,
    )
    server = _Server(config, settings)
    serving = asyncio.ensure_future(server.serve(sockets=[bound]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True
        await serving
        raise


class _Server(uvicorn.Server):
    """A server that waits for nobody without an end: uvicorn has no time for half requests."""

    def __init__(self, config: uvicorn.Config, settings: ServerSettings) -> None:
        super().__init__(config)
        self._settings = settings
        # Connections of httptools have the same attributes.
        self._connections = cast("set[H11Protocol]", self.server_state.connections)
        # Those without a whole request at work: the request, and since when they wait.
        self._waiting: dict[H11Protocol, tuple[object, float]] = {}

    async def on_tick(self, counter: int) -> bool:
        """Close what waits too long, ten times a second, and what is too much."""
        now, before, self._waiting = time.monotonic(), self._waiting, {}
        for each in self._connections:
            if each.cycle is None or each.cycle.response_complete or each.cycle.more_body:
                cycle, since = before.get(each, (each.cycle, now))
                self._waiting[each] = (each.cycle, since if cycle is each.cycle else now)
        spare = len(self._connections) - self._settings.most_connections
        longest_first = sorted(self._waiting.items(), key=lambda waits: waits[1][1])
        for number, (each, (_, since)) in enumerate(longest_first):
            # The door refuses a body that is late; one that nobody reads yet has as long again.
            periods = 2 if each.cycle is not None and each.cycle.more_body else 1
            if number < spare or now - since > periods * self._settings.request_timeout_s:
                each.transport.close()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish the requests that are whole; clients of the others may be slow without an end."""
        for each in self._connections:
            if each.cycle is not None and each.cycle.more_body:
                each.transport.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to the program: uvicorn ends it before the collection is closed."""
        yield
