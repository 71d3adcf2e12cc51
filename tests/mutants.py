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
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parent.parent
WORKERS = 2
LIMIT_S = 150  # of one run of tests; the slowest takes a fifth of it
NOT_NOTICED, NOTICED, HANGS = 0, 1, 124  # the exit statuses of pytest, and of `timeout`
VERDICTS = {NOT_NOTICED: "SURVIVES", NOTICED: "killed", HANGS: "killed, by hanging"}
_seconds = count(
    1
)  # each mutated file has a time of its own, or Python takes what it compiled before


def mutants() -> list[dict[str, str]]:
    """The table: what each promises, the file, the text and what stands in its place, the tests."""
    return tomllib.loads((ROOT / "tests" / "mutants.toml").read_text(encoding="utf-8"))["mutant"]


def stale(mutant: dict[str, str]) -> str:
    """Why a mutant says nothing any more; empty = its text and its tests are there."""
    found = (ROOT / mutant["file"]).read_text(encoding="utf-8").count(mutant["old"])
    file, *names = mutant["tests"].split("::")
    tests = (ROOT / file).read_text(encoding="utf-8")
    lost = [name for name in names if not re.search(rf"(?:def|class) {name}\b", tests)]
    if found != 1:
        return f"its text stands {found} times in {mutant['file']}, not once"
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
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(WORKERS) as threads:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(WORKERS):
            copies.put(_copied(Path(folder, str(number))))
        runs = [threads.submit(_verdicts, copies, *each) for each in by_tests.items()]
        for run in runs:
            for name, verdict in run.result():
                print(f"{verdict}: {name}", flush=True)
                alive += not verdict.startswith("killed")
    print(f"{alive} of {len(chosen)} survive")
    return min(alive, 1)


def _copied(folder: Path) -> Path:
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    return folder


def _verdicts(
    copies: SimpleQueue[Path], tests: str, planted: Sequence[dict[str, str]]
) -> list[tuple[str, str]]:
    copy = copies.get()
    try:
        if status := _status(copy, tests):
            return [(each["name"], f"{tests} FAILS BEFORE ({status})") for each in planted]
        return list(_one_by_one(copy, tests, planted))
    finally:
        copies.put(copy)


def _one_by_one(
    copy: Path, tests: str, planted: Sequence[dict[str, str]]
) -> Iterator[tuple[str, str]]:
    for mutant in planted:
        file, second = copy / mutant["file"], next(_seconds)
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(mutant["old"], mutant["new"]), encoding="utf-8")
        os.utime(file, (second, second))
        status = _status(copy, tests)
        shutil.copy2(ROOT / mutant["file"], file)
        yield mutant["name"], VERDICTS.get(status, f"NO RUN ({status})")


def _status(copy: Path, tests: str) -> int:
    """The exit status of tests in a copy."""
    command = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", "-p", "no:xdist"]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    run = subprocess.Popen(
        [*command, tests],
        cwd=copy,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return run.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        return HANGS
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)  # with the servers that it has started
            run.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
