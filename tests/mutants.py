"""Whether the tests notice that a promise is broken: each change of `mutants.toml`, one at a time.

    python tests/mutants.py [WORD ...]

Each mutant is put into a copy of the checkout, where the tests that must notice it run. These have
to pass before. With words, only the mutants run whose name has one of them. A mutant that no test
notices survives; the exit status is then 1.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORKERS = 2
LIMIT_S = 150  # of one run of tests; the slowest takes a fifth of it
PASSED, FAILED, HANGS = 0, 1, 124  # the exit statuses of pytest, and of `timeout`
VERDICTS = {PASSED: "SURVIVES", FAILED: "killed", HANGS: "killed, by hanging"}

_worker = threading.local()  # its ``copy`` of the checkout
_seconds = count(1)  # when a mutant was written: a time of its own, or Python takes old bytecode


def mutants() -> list[dict[str, str]]:
    """The table: a promise, a file, a text in it and what breaks the promise there, the tests."""
    return tomllib.loads((ROOT / "tests" / "mutants.toml").read_text(encoding="utf-8"))["mutant"]


def stale(mutant: dict[str, str]) -> str:
    """Why a mutant says nothing any more; empty = its text and its tests are there."""
    found = (ROOT / mutant["file"]).read_text(encoding="utf-8").count(mutant["old"])
    if found != 1:
        return f"its text stands {found} times in {mutant['file']}, not once"
    file, *names = mutant["tests"].split("::")
    tests = (ROOT / file).read_text(encoding="utf-8")
    lost = [name for name in names if not re.search(rf"(?:def|class) {name}\b", tests)]
    return f"{file} has no {lost[0]}" if lost else ""


def main(words: Sequence[str]) -> int:
    """Run the mutants, print what became of each, and return the exit status."""
    chosen = [each for each in mutants() if not words or any(x in each["name"] for x in words)]
    if old := [f"STALE: {each['name']}: {why}" for each in chosen if (why := stale(each))]:
        print(*old, sep="\n")
        return 1
    by_tests: dict[str, list[dict[str, str]]] = {}
    for mutant in chosen:
        by_tests.setdefault(mutant["tests"], []).append(mutant)
    alive = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(WORKERS, initializer=_copy, initargs=(folder,)) as threads,
    ):
        for verdicts in threads.map(_verdicts, by_tests, by_tests.values()):
            for name, verdict in verdicts:
                print(f"{verdict}: {name}", flush=True)
                alive += not verdict.startswith("killed")
    print(f"{alive} of {len(chosen)} survive")
    return min(alive, 1)


def _copy(folder: str) -> None:
    _worker.copy = Path(tempfile.mkdtemp(dir=folder))
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    for name in listed.split("\0"):
        if (ROOT / name).is_file():
            (_worker.copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, _worker.copy / name)


def _verdicts(tests: str, planted: Sequence[dict[str, str]]) -> list[tuple[str, str]]:
    if status := _status(tests):
        return [(each["name"], f"{tests} FAILS BEFORE ({status})") for each in planted]
    verdicts = []
    for mutant in planted:
        file, second = _worker.copy / mutant["file"], next(_seconds)
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(mutant["old"], mutant["new"]), encoding="utf-8")
        os.utime(file, (second, second))
        status = _status(tests)
        shutil.copy2(ROOT / mutant["file"], file)
        verdicts.append((mutant["name"], VERDICTS.get(status, f"NO RUN ({status})")))
    return verdicts


def _status(tests: str) -> int:
    """The exit status of tests in the copy; `HANGS` where they do not end."""
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", "-p", "no:xdist", tests],
        cwd=_worker.copy,
        env={**os.environ, "PYTHONPATH": str(_worker.copy)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return run.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)  # with the servers that it has started
        run.wait()
        return HANGS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
