"""A server of HTTP in this process: its settings, where it listens, and how it stops."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Self

import uvicorn
from pydantic import Field, model_validator
from starlette.types import ASGIApp

from recall_stages.core.scope import Scope
from recall_stages.core.settings import Settings
from recall_stages.serve.tokens import Tokens

_STOPPING_S = 10  # seconds that requests have to be finished when the server stops


class ServerSettings(Settings):
    """Where a server listens, what it serves, and what it lets in.

    Args:
        host: The address. Only programs on this machine reach 127.0.0.1.
        port: The port; 0 = any that is free.
        rate: The requests a second of one client; None = no limit.
        most_bytes: The bytes of the body of a request.
        scope: Whose memories are served at all.
        tokens: The tokens of the clients. None = no token is needed.
        only_mcp: Whether there is no API beside MCP.
        read_only: Whether the tools of MCP change nothing.

    Raises:
        SettingsError: When others than this machine could reach it, and there are no tokens.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8002
    rate: Annotated[float, Field(gt=0)] | None = 100.0
    most_bytes: Annotated[int, Field(ge=1)] = 4_000_000
    scope: Scope = Scope()
    tokens: Tokens | None = None
    only_mcp: bool = False
    read_only: bool = False

    @model_validator(mode="after")
    def _only_with_tokens(self) -> Self:
        if self.tokens is None and not is_loopback(self.host):
            raise ValueError(
                f"on {self.host} other machines reach this server, and there is no token: "
                "everybody could read and delete the memories. Name a file with --tokens, or "
                "listen on 127.0.0.1"
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
    """A socket that clients can connect to from now on.

    Raises:
        OSError: When the port is taken.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        why = str(error.strerror or error).partition(" (while")[0]  # which names the address again
        raise OSError(
            f"cannot listen on {settings.host}:{settings.port}: {why}. Name another one with "
            "--port, or 0 for any"
        ) from error


def address_of(bound: socket.socket) -> str:
    """The URL of a server on this socket."""
    host, port, *_ = bound.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(app: ASGIApp, bound: socket.socket) -> None:
    """Serve until the task is cancelled; requests that have begun are finished."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_STOPPING_S,
    )
    server = _Server(config)
    serving = asyncio.ensure_future(server.serve(sockets=[bound]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True
        await serving
        raise


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to the program: uvicorn ends it before the collection is closed."""
        yield
