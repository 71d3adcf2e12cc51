"""The servers of `recall mcp`, `recall serve` and `recall look`, from the options to their end."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import secrets
import signal
import sys
import webbrowser
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from recall_retrievers.cli.collection import open_beside
from recall_retrievers.cli.existing import open_store, source_of
from recall_retrievers.cli.options import scope_of
from recall_retrievers.cli.output import report
from recall_retrievers.core.scope import required_names
from recall_retrievers.core.system import on_signals
from recall_retrievers.serve.app import memory_app
from recall_retrievers.serve.greeting import Greeting
from recall_retrievers.serve.mcp_server import McpTools
from recall_retrievers.serve.operation import ScopedService, Service
from recall_retrievers.serve.running import ServerSettings, address_of, is_loopback, listening
from recall_retrievers.serve.running import serve as serve_app
from recall_retrievers.serve.shared_folder import SharedFolder
from recall_retrievers.serve.tokens import Tokens
from recall_retrievers.timeline.parse_time import resolve_timezone

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

_log = logging.getLogger(__name__)
_Message = TypeVar("_Message")


async def serve(options: argparse.Namespace, greeting: Greeting) -> None:
    """Serve until the client ends, or until Ctrl-C or SIGTERM."""
    serving = asyncio.ensure_future(
        _on_stdio(options, greeting) if options.port is None else _on_http(options)
    )
    on_signals(serving.cancel, signal.SIGTERM)
    with suppress(asyncio.CancelledError):
        await serving


async def _on_http(options: argparse.Namespace) -> None:
    token = secrets.token_urlsafe() if options.command == "look" else ""
    tokens = Tokens(f"{token} *") if token else Tokens.configured(options.tokens)
    own = {"scope": scope_of(options), "tokens": tokens}
    given = {
        name: each for name, each in vars(options).items() if name in ServerSettings.model_fields
    }
    settings = ServerSettings.model_validate({**given, **own})
    async with AsyncExitStack() as opened:
        app = memory_app(await _service_of(options, opened), settings)
        bound = opened.enter_context(listening(settings))
        address = address_of(bound)
        address += f"/#{token}" if token else ""
        where = f"{address}{'/mcp' if options.only_mcp else ''}"
        text = f"serving {options.store} on {where}; Ctrl-C stops it"
        report(options, {"address": address}, text)
        sys.stdout.flush()
        if token and options.browser:
            opened.enter_context(_in_browser(address))
        if not is_loopback(settings.host):
            _log.warning(
                "no TLS: tokens and memories can be read on the way; put a proxy before it"
            )
        await serve_app(app, bound, settings)


@contextmanager
def _in_browser(address: str) -> Iterator[None]:
    """Open a page by way of a file: others on this machine can read the words of a command."""
    with TemporaryDirectory(prefix="recall-") as folder:
        file = Path(folder, "look.html")
        file.write_text(f'<meta http-equiv="refresh" content="0; url={address}">', "utf-8")
        # A browser of the terminal would hold the server up.
        Thread(target=webbrowser.open, args=[file.as_uri()], daemon=True).start()
        yield


async def _on_stdio(options: argparse.Namespace, greeting: Greeting) -> None:
    async with AsyncExitStack() as opened:
        service = await _service_of(options, opened)
        _stop_on_signals(opened.aclose)
        server = McpTools(service, scope_of(options), read_only=options.read_only).server()
        await asyncio.to_thread(greeting.join)
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:
            handed, messages = anyio.create_memory_object_stream[SessionMessage | Exception](1)
            answers, answered = anyio.create_memory_object_stream[SessionMessage]()
            if greeting.line:
                await handed.send(_message(greeting.line))
            tasks.start_soon(_pass_on, incoming, handed)
            tasks.start_soon(_pass_on, answered, outgoing, greeting.is_sent)
            await server.run(messages, answers, server.create_initialization_options())


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _pass_on(
    source: ReadStream[_Message], target: WriteStream[_Message], skips_first: bool = False
) -> None:
    """Hand the messages of one stream to another, all but the first one if the client has it."""
    async with source, target:
        async for each in source:
            if not skips_first:
                await target.send(each)
            skips_first = False


async def _service_of(options: argparse.Namespace, opened: AsyncExitStack) -> Service:
    """What does the operations of the server, until what was opened for it is closed."""
    resolve_timezone(options.timezone)
    required = required_names(options.require_scope)
    place, looks = options.store, options.command == "look"
    if looks and Path(place).is_file():
        beside = open_beside(Path(place), options.timezone)
        beside.store.close()
        place = str(Path(place).with_name(beside.name))
    source = source_of(place, new=not looks)
    if not isinstance(source, str):
        store = open_store(source, options.collection, create=True, require_scope=required)
        await opened.enter_async_context(store)
        return ScopedService.of(store, timezone=options.timezone)
    shared = SharedFolder(
        Path(source),
        options.collection,
        lambda name, required: open_store(source, name, create=True, require_scope=required),
        options.timezone,
        required,
    )
    opened.push_async_callback(shared.close)
    await shared.start()
    return shared


def _stop_on_signals(close: Callable[[], Awaitable[None]]) -> None:
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

    on_signals(begin, signal.SIGTERM, signal.SIGINT)
