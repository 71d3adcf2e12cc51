"""What `recall mcp` and `recall serve` have in common: the collection, its scope, the server."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from recall_stages.cli.collection import add_scope, scope_of
from recall_stages.cli.existing import CLOUD, open_store, source_of
from recall_stages.cli.output import report
from recall_stages.core.errors import RecallError
from recall_stages.core.scope import Scope
from recall_stages.timeline.parse_time import resolve_timezone

if TYPE_CHECKING:
    from recall_stages.serve.operation import Service

_SETTINGS = ("host", "port", "rate", "most_bytes")  # of `ServerSettings`


def add_served(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is served."""
    parser.add_argument(
        "store",
        metavar="FOLDER|URL",
        help="a folder, which is made if it is not there; a server of Chroma, such as "
        "http://localhost:8000; or cloud",
    )
    parser.add_argument("--collection", default="memories", help="its name (memories)")
    add_scope(parser)
    for name in Scope.model_fields:
        parser.set_defaults(**{name: os.environ.get(f"RECALL_{name.upper()}")})
    parser.add_argument("--timezone", help="of questions that name none (the machine's)")


def add_server(parser: argparse.ArgumentParser, port: int | None, about: str) -> None:
    """Add the options of a server of HTTP.

    Args:
        parser: Where to add them.
        port: The port where none is named.
        about: What a port does.
    """
    parser.add_argument("--port", type=int, default=port, help=about)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
    parser.add_argument(
        "--tokens",
        metavar="FILE",
        type=Path,
        help="one token a line, with the scope it is bound to: TOKEN user_id=ann; or TOKEN *",
    )
    parser.add_argument(
        "--rate",
        type=_rate,
        default=argparse.SUPPRESS,
        help="requests a second of one client, or none (100)",
    )
    parser.add_argument(
        "--most-bytes", type=int, default=argparse.SUPPRESS, help="bytes of one request (4000000)"
    )


def _rate(text: str) -> float | None:
    return None if text == "none" else float(text)


def check_installed(command: str) -> None:
    """Refuse to begin without the packages of a server.

    Raises:
        RecallError: When one is missing; the message says how to install it.
    """
    try:
        import mcp  # noqa: F401, PLC0415 - half a second, so only for these commands
        import starlette  # noqa: F401, PLC0415
        import uvicorn  # noqa: F401, PLC0415
    except ModuleNotFoundError as error:
        raise RecallError(
            f"recall {command} needs {error.name}: pip install 'recall-retrievers[serve]'"
        ) from error


async def serve_http(
    options: argparse.Namespace, *, only_mcp: bool = False, read_only: bool = False
) -> None:
    """Serve over HTTP until the process is to end."""
    from recall_stages.serve.app import memory_app  # noqa: PLC0415 - as above
    from recall_stages.serve.running import (  # noqa: PLC0415
        ServerSettings,
        address_of,
        listening,
        serve,
    )
    from recall_stages.serve.tokens import Tokens  # noqa: PLC0415

    named = {name: each for name, each in vars(options).items() if name in _SETTINGS}
    settings = ServerSettings(
        **named, scope=scope_of(options), tokens=Tokens.configured(options.tokens)
    )
    async with AsyncExitStack() as opened:
        service = await service_of(options, opened)
        app = memory_app(service, settings, only_mcp=only_mcp, read_only=read_only)
        with listening(settings) as bound:
            address = address_of(bound)
            where = f"{address}{'/mcp' if only_mcp else ''}"
            text = f"serving {options.store} on {where}; Ctrl-C stops it"
            report(options, {"address": address}, text)
            sys.stdout.flush()
            await serve(app, bound)


async def service_of(options: argparse.Namespace, opened: AsyncExitStack) -> Service:
    """What does the operations of the server, until what was opened for it is closed."""
    from recall_stages.serve.operation import ScopedService  # noqa: PLC0415 - as above
    from recall_stages.serve.shared_folder import SharedFolder  # noqa: PLC0415 - as above

    resolve_timezone(options.timezone)
    if options.store == CLOUD or "://" in options.store:
        store = open_store(source_of(options.store), options.collection, create=True)
        await opened.enter_async_context(store)
        return ScopedService.of(store, timezone=options.timezone)
    folder = Path(options.store)
    shared = SharedFolder(
        folder,
        options.collection,
        lambda name: open_store(folder, name, create=True),
        options.timezone,
    )
    opened.push_async_callback(shared.close)
    await shared.start()
    return shared


def run_server(serving: Coroutine[object, object, None]) -> int:
    """Run a server to its end: Ctrl-C or SIGTERM cancels it."""
    gc.enable()  # the other commands are too short for it

    async def run() -> None:
        task = asyncio.ensure_future(serving)
        with suppress(NotImplementedError):  # on Windows a process is ended without a signal
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(run())
    return 0


def stop_on_signals(close: Callable[[], Awaitable[None]]) -> None:
    """Let SIGTERM and Ctrl-C end a process that reads standard input.

    The thread that reads cannot be interrupted. So what has begun is finished, and then the process
    ends without waiting for that thread.
    """
    stopping: list[asyncio.Task[None]] = []

    async def stop() -> None:
        await close()
        os._exit(0)

    def begin() -> None:
        if not stopping:
            stopping.append(asyncio.ensure_future(stop()))

    with suppress(NotImplementedError):  # on Windows a process is ended without a signal
        for each in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(each, begin)
