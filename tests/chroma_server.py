"""A real Chroma server on this machine, for tests."""

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import chromadb


class ChromaServer:
    """`chroma run` on a path; it can be stopped and is then as dead as if it was killed."""

    def __init__(self, path: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        chroma = shutil.which("chroma", path=str(Path(sys.executable).parent)) or "chroma"
        self._process = subprocess.Popen(
            [chroma, "run", "--path", str(path), "--host", "127.0.0.1", "--port", str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def client(self) -> chromadb.ClientAPI:
        """A client of it, once it answers."""
        for _ in range(300):
            assert self._process.poll() is None, "chroma run ended before it answered"
            try:
                return chromadb.HttpClient(host="127.0.0.1", port=self.port)
            except Exception:  # noqa: BLE001 - whatever it is, it is not up yet
                time.sleep(0.1)
        raise AssertionError("chroma run did not answer within 30 seconds")

    def stop(self) -> None:
        self._process.kill()
        self._process.wait(timeout=10)
