"""A proxy on loopback that counts the bytes of a connection, both ways."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

_PART = 1 << 16


class CountingProxy:
    """Passes every connection on to a port of this machine.

    Args:
        port: The port.

    Attributes:
        port: The port to connect to instead.
        up: Bytes that went to it since `reset`.
        down: Bytes that came from it.
    """

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._lock = threading.Lock()
        self.up = self.down = 0

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listening.close()

    def reset(self) -> None:
        """Count from nothing again."""
        with self._lock:
            self.up = self.down = 0

    def _accept(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                near, _ = self._listening.accept()
                far = socket.create_connection(self._target)
                for each in (near, far):
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for one, other, is_up in ((near, far, True), (far, near, False)):
                    threading.Thread(
                        target=self._pass_on, args=(one, other, is_up), daemon=True
                    ).start()

    def _pass_on(self, one: socket.socket, other: socket.socket, is_up: bool) -> None:
        with suppress(OSError):  # one of them hung up
            while data := one.recv(_PART):
                with self._lock:
                    if is_up:
                        self.up += len(data)
                    else:
                        self.down += len(data)
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
