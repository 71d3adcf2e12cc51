"""A folder that several server processes use at once.

Two processes may not open one Chroma folder. So the first one holds it, and does the operations of
the others. When it ends, the next one that has something to do takes its place. No client notices.

A message between them is a line: a signature, and JSON. Whoever can read the folder has the key,
and nobody else can sign. The key itself is never sent, so a stranger that takes over the port
learns nothing, and cannot answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self, cast

from pydantic import BaseModel

from recall_retrievers.core import errors
from recall_retrievers.core.errors import (
    RecallError,
    StoreClosedError,
    StoreError,
    StoreUnavailableError,
)
from recall_retrievers.core.scope import Scope, ScopeName, required_names
from recall_retrievers.core.system import LOCKED, file_lock, make_private, new_private
from recall_retrievers.serve.operation import Operation, ScopedService, TimedOperation, failure_of
from recall_retrievers.serve.routes import ROUTES
from recall_retrievers.store import RecallStore

_log = logging.getLogger(__name__)

Place = tuple[str, tuple[ScopeName, ...]]
"""A collection, and the fields that a process requires: they may have been started differently."""

LOCK = ".recall.serve.lock"

_WAIT_S = 60.0  # for another process to take the place of one that ended
_PAUSE_S = 0.05
_OPERATIONS = {each.operation.__name__: each.operation for each in ROUTES}


class SharedFolder:
    """Does operations on a folder: here if this process holds it, else where it is held.

    An operation that names no ``timezone`` has that of the process that asks, and it must name the
    fields that this process requires (``require_scope``).
    """

    def __init__(
        self,
        folder: Path,
        collection: str,
        open_store: Callable[[str, tuple[ScopeName, ...]], RecallStore],
        timezone: str | None = None,
        require_scope: tuple[ScopeName, ...] = (),
    ) -> None:
        self._folder = folder
        self._place: Place = (collection, require_scope)
        self._open_store = open_store
        self._timezone = timezone
        self._lock = file_lock(folder / LOCK)
        self._listener = Listener(self._answer)
        self._opened = AsyncExitStack()
        self._services: dict[Place, ScopedService] = {}
        self._taking = asyncio.Lock()
        self._opening = asyncio.Lock()
        self._is_holder = False
        self._closed = False
        self._begun = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def start(self) -> None:
        """Hold the folder, unless somebody else does; `close` lets it go, also after an error."""
        make_private(self._folder)
        if await self._holds():
            await self._service(self._place)

    async def do(self, operation: Operation, scope: Scope) -> BaseModel:
        """Do an operation for a client that is bound to a scope.

        Where the process that holds the folder ends meanwhile, the operation is done again: adding
        with the same ids, and deleting, change nothing more the second time.
        """
        if isinstance(operation, TimedOperation) and operation.timezone is None:
            operation = operation.model_copy(update={"timezone": self._timezone})
        loop = asyncio.get_running_loop()
        end = loop.time() + _WAIT_S
        while loop.time() < end:
            if await self._holds():
                return await self._done_here(self._place, operation, scope)
            address = Address.read(self._folder)
            if address is not None:
                try:
                    return await self._done_there(address, operation, scope)
                except OSError as error:  # it has ended, or is about to
                    _log.debug("the process that holds %s is gone: %s", self._folder, error)
            await asyncio.sleep(_PAUSE_S)
        raise StoreUnavailableError(
            f"another process has held {self._folder} for {_WAIT_S:g} s and does not answer; end "
            "it, or try again"
        )

    async def close(self) -> None:
        """Finish what other processes have asked for, and let the folder go."""
        async with self._taking:
            self._closed = True
            if self._is_holder:
                (self._folder / ADDRESS).unlink(missing_ok=True)
                await self._listener.close()
                await self._idle.wait()
                await self._opened.aclose()
                self._services.clear()
                self._is_holder = False
                self._lock.release()

    # -- where it is held -------------------------------------------------------------------------

    async def _done_there(self, address: Address, operation: Operation, scope: Scope) -> BaseModel:
        answer = await ask(
            address,
            {
                "place": self._place,
                "operation": type(operation).__name__,
                "arguments": operation.model_dump(mode="json", exclude_unset=True),
                "scope": scope.fields(),
            },
        )
        if "error" in answer:
            raise _as_raised(str(answer["kind"]), str(answer["error"]))
        return operation.result.model_validate(answer["result"])

    # -- here -------------------------------------------------------------------------------------

    async def _holds(self) -> bool:
        """Whether this process holds the folder, which it takes if nobody else does."""
        async with self._taking:
            if self._closed:
                raise StoreClosedError(f"this server of {self._folder} is about to end")
            if not self._is_holder:
                try:
                    self._lock.acquire()
                except LOCKED:
                    return False
                (await self._listener.start()).write(self._folder)
                self._is_holder = True
        return True

    async def _done_here(self, place: Place, operation: Operation, scope: Scope) -> BaseModel:
        self._begun += 1
        self._idle.clear()
        service = None
        try:
            service = await self._service(place)
            return await service.do(operation, scope)
        except StoreError as error:
            if service is None:  # the next request tries to open it again
                raise StoreUnavailableError(str(error)) from error.__cause__
            if service.store.broken:
                await self._give_up(place, service)
            raise
        finally:
            self._begun -= 1
            if not self._begun:
                self._idle.set()

    async def _service(self, place: Place) -> ScopedService:
        async with self._opening:
            if place not in self._services:
                store = await asyncio.to_thread(self._open_store, *place)
                await self._opened.enter_async_context(store)
                self._services[place] = ScopedService.of(store)
        return self._services[place]

    async def _give_up(self, place: Place, service: ScopedService) -> None:
        """Close all stores, as Chroma has failed in one of them: the next request opens it anew."""
        async with self._opening:
            if self._services.get(place) is service:  # nobody else has done it
                self._services.clear()
                await self._opened.aclose()

    async def _answer(self, message: Message) -> Message:
        """Do the operation of another process."""
        try:
            operation = _OPERATIONS[str(message["operation"])].model_validate(message["arguments"])
            scope = Scope.model_validate(message["scope"])
            collection, required = cast("tuple[str, list[str]]", message["place"])
            place = (collection, required_names(required))
            result = await self._done_here(place, operation, scope)
        except Exception as error:  # noqa: BLE001 - it is raised where it was asked for
            return {"kind": type(error).__name__, "error": failure_of(error).detail}
        return {"result": result.model_dump(mode="json")}


def _as_raised(kind: str, sentence: str) -> Exception:
    """The error of another process, of the same class where that takes a sentence."""
    known = getattr(errors, kind, None)
    if not (isinstance(known, type) and issubclass(known, RecallError)):
        return RecallError(sentence)
    if issubclass(known, errors.SettingsError):
        return known("", (sentence,))
    return RecallError(sentence) if issubclass(known, errors.ModelError) else known(sentence)


# -- messages between processes ---------------------------------------------------------------


ADDRESS = ".recall.serve.json"
"""The file in the folder that says where its holder listens, and with which key."""

_MOST_BYTES = 64_000_000  # of a message

Message = Mapping[str, object]
Answering = Callable[[Message], Awaitable[Message]]


@dataclass(frozen=True, slots=True)
class Address:
    """Where the holder of a folder listens on this machine, and what both sides sign with."""

    port: int
    key: str

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """The address in a folder; None if there is none."""
        try:
            return cls(**json.loads((folder / ADDRESS).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):  # of another version, or about to be written
            return None

    def write(self, folder: Path) -> None:
        """Put the address into a folder, for nobody but its owner to read."""
        new = folder / f"{ADDRESS}.{os.getpid()}"
        with new_private(new) as file:
            json.dump(asdict(self), file)
        new.replace(folder / ADDRESS)


class Listener:
    """Answers the messages of other processes on this machine."""

    def __init__(self, answer: Answering) -> None:
        self._answer = answer
        self._key = secrets.token_hex(32)
        self._server: asyncio.Server | None = None
        self._busy: set[asyncio.Task[None]] = set()

    async def start(self) -> Address:
        """Begin to listen."""
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", 0, limit=_MOST_BYTES
        )
        return Address(self._server.sockets[0].getsockname()[1], self._key)

    async def close(self) -> None:
        """Answer what has been sent, and listen no more."""
        if self._server is not None:
            self._server.close()
            await asyncio.gather(*self._busy, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._busy.add(task)
            task.add_done_callback(self._busy.discard)
        try:
            message = _opened(await reader.readline(), self._key, b"question")
            if message is not None:
                body = {"nonce": message.get("nonce"), **await self._answer(message)}
                writer.write(_signed(body, self._key, b"answer"))
                await writer.drain()
        except (OSError, ValueError):  # it went away, or sent a line without an end
            pass
        finally:
            writer.close()


async def ask(address: Address, message: Message) -> Message:
    """Send a message to the holder of a folder, and wait for the answer.

    It is a `ConnectionError` if the holder is not there, ends meanwhile, or is somebody else.
    """
    nonce = secrets.token_hex(16)
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port, limit=_MOST_BYTES)
    try:
        writer.write(_signed({"nonce": nonce, **message}, address.key, b"question"))
        await writer.drain()
        answer = _opened(await reader.readline(), address.key, b"answer")
    finally:
        writer.close()
    if answer is None or answer.get("nonce") != nonce:
        raise ConnectionResetError("the process that holds the folder gave no answer")
    return answer


def _signed(message: Message, key: str, kind: bytes) -> bytes:
    body = json.dumps(message).encode()
    return _signature(body, key, kind) + b" " + body + b"\n"


def _opened(line: bytes, key: str, kind: bytes) -> Message | None:
    """The message of a line; None if the line is not whole, or was signed by somebody else."""
    signature, _, body = line.removesuffix(b"\n").partition(b" ")
    if not hmac.compare_digest(signature, _signature(body, key, kind)):
        return None
    message: Message = json.loads(body)
    return message


def _signature(body: bytes, key: str, kind: bytes) -> bytes:
    return hmac.new(key.encode(), kind + body, hashlib.sha256).hexdigest().encode()
