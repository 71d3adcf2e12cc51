"""How processes on one machine hand operations to the one that holds their folder.

A message is a line: a signature, and JSON. Whoever can read the folder has the key, and nobody else
can sign. The key itself is never sent, so a stranger that takes over the port learns nothing, and
cannot answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

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
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
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

    Raises:
        ConnectionError: When the holder is not there, ends meanwhile, or is somebody else.
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
