"""A server of HTTP in this process: where it listens, and how it stops."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Annotated

import uvicorn
from pydantic import Field
from starlette.types import ASGIApp

from recall_stages.core.errors import SettingsError
from recall_stages.core.scope import Scope
from recall_stages.core.settings import Settings
from recall_stages.serve.door import Door, is_loopback
from recall_stages.serve.limits import RateLimit
from recall_stages.serve.tokens import Tokens

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
_STOPPING_S = 10  # seconds that requests have to be finished when the server stops


class ServerSettings(Settings):
    """Where a server listens, and what it lets in.

    Args:
        host: The address. Only programs on this machine reach 127.0.0.1.
        port: The port; 0 = any that is free.
        rate: The requests a second of one client; None = no limit.
        most_bytes: The bytes of the body of a request.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8002
    rate: Annotated[float, Field(gt=0)] | None = 100.0
    most_bytes: Annotated[int, Field(ge=1)] = 4_000_000


def check_reach(settings: ServerSettings, tokens: Tokens | None) -> None:
    """Refuse to be reached by other machines without a token.

    Raises:
        SettingsError: When others than this machine could reach the server.
    """
    if tokens is None and not is_loopback(settings.host):
        why = (
            f"on {settings.host} other machines reach this server, and there is no token: "
            "everybody could read and delete the memories. Name a file with --tokens, or "
            "listen on 127.0.0.1"
        )
        raise SettingsError("the server", (why,))


def guarded(
    app: ASGIApp, settings: ServerSettings, *, tokens: Tokens | None, scope: Scope
) -> ASGIApp:
    """An application behind its door.

    Raises:
        SettingsError: When others than this machine could reach it, and there are no tokens.
    """
    check_reach(settings, tokens)
    return Door(
        app,
        tokens=tokens,
        scope=scope,
        rate=RateLimit(settings.rate),
        most_bytes=settings.most_bytes,
        hosts=_LOOPBACK_NAMES if is_loopback(settings.host) else None,
    )


async def serve(app: ASGIApp, settings: ServerSettings, listening: Callable[[str], None]) -> None:
    """Serve until the process is to end; requests that have begun are finished.

    A task that is cancelled finishes them, too.

    Args:
        app: The application.
        settings: Where to listen.
        listening: Called with the address once requests are answered.

    Raises:
        OSError: When the port is taken.
    """
    with _bound(settings) as bound:
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_STOPPING_S,
        )
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        address = f"http://{host}:{bound.getsockname()[1]}"
        server = _Server(config, lambda: listening(address))
        serving = asyncio.ensure_future(server.serve(sockets=[bound]))
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            server.should_exit = True
            await serving
            raise


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """End on a signal as soon as what has begun is finished.

        Uvicorn's own way raises the signal again at the end, before the collection is closed.
        """
        is_main = threading.current_thread() is threading.main_thread()
        if sys.platform == "win32" or not is_main:
            with super().capture_signals():
                yield
            return
        loop, signals = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
        for each in signals:
            loop.add_signal_handler(each, self.handle_exit, each, None)
        try:
            yield
        finally:
            for each in signals:
                loop.remove_signal_handler(each)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so."""
        await super().startup(sockets)
        self._listening()


def _bound(settings: ServerSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((settings.host, settings.port))
    except OSError as error:
        bound.close()
        raise OSError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}. Name "
            "another one with --port, or 0 for any"
        ) from error
    return bound
