"""Each face works without the other framework, with what its extra names and no more.

The environments are real: a fresh venv with the wheel, and exactly the distributions that
``recall-retrievers[langchain]``, or another extra, or none requires, linked from this one.
The sources of this project are not in it.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from benchmarks.footprint import required

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent.parent

# Programs that run in one process, one after the other: a start is most of the work.
PROGRAMS = {
    "installed": """
from importlib.util import find_spec
import recall_retrievers
print(*(package for package in ("langchain_core", "llama_index") if find_spec(package)))
print(recall_retrievers.__file__)
""",
    "faces": """
from contextlib import suppress
for face, ask in (("langchain", "invoke"), ("llamaindex", "retrieve")):
    try:
        exec(f"from {face}_recall import RecallRetriever, RecallStore, explain")
        with suppress(ValueError):  # it needs a store
            RecallRetriever(store=None)
        store = RecallStore()
        told = {"content": "The dentist filled a tooth.", "created_at": "2024-03-05T10:00:00Z"}
        store.add([told])
        asked = getattr(RecallRetriever(store=store), ask)
        [found] = asked("the dentist last Tuesday", timestamp="2024-03-08")
        text = getattr(found, "page_content", None) or found.text
        print(face, text, found.metadata["recall_time_words"])
    except ImportError as error:
        print(face, error)
""",
    "chroma": """
from recall_retrievers.store import RecallStore
try:
    RecallStore().close()
except Exception as error:
    print(error)
""",
    "extras": """
import langchain_recall
assert hasattr(langchain_recall, "RecallMiddleware")
for use in (
    "langchain_recall.RecallMiddleware(None)",
    "type('Mine', (langchain_recall.RecallMiddleware,), {})",
    "langchain_recall.explore(None)",
):
    try:
        eval(use)
    except ImportError as error:
        print(error)
""",
    "names": """
import inspect
from importlib import import_module
from importlib.metadata import version
for name in ("langchain_recall", "llamaindex_recall"):
    face = import_module(name)
    names = {}
    exec(f"from {name} import *", names)
    assert set(face.__all__) <= names.keys()
    assert inspect.getmembers(face) and hasattr(face, "RecallRetriever")
    assert issubclass(names["StoreLockedError"], names["StoreError"])
    assert face.__version__ == version("recall-retrievers")
""",
}
_NEXT = "-- the next one --"
# `python -m` of one face after the other, in one process.
BOTH = """
import runpy
for face in ("langchain_recall", "llamaindex_recall"):
    try:
        runpy.run_module(face, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        assert not ended.code
"""


@pytest.fixture(scope="module", params=["langchain", "llamaindex", "chroma,embedding", ""])
def environment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, wheel: Path
) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp(f"with-{request.param or 'none'}")
    venv.create(folder, symlinks=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    for installed in required(request.param):
        for path in {file.parts[0] for file in installed.files or [] if ".." not in file.parts}:
            target = packages / path
            if path != "__pycache__" and not target.exists():
                target.symlink_to(Path(str(installed.locate_file(path))))
    python = folder / "bin" / "python"
    install = ["--quiet", "--offline", "--no-deps", "--python", python, wheel]
    subprocess.run([sys.executable, "-m", "uv", "pip", "install", *install], check=True)
    return request.param, python


def _run(program: Path, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return subprocess.run(
        [program, *words],
        cwd=cwd or program.parent,  # where the sources of this project are not
        capture_output=True,
        text=True,
        timeout=120,
        env=clean,
        check=False,
    )


@pytest.fixture(scope="module")
def shown(environment: tuple[str, Path]) -> dict[str, str]:
    """What each of the programs prints."""
    done = _run(environment[1], "-c", f"\nprint('{_NEXT}')\n".join(PROGRAMS.values()))
    assert done.returncode == 0, done.stderr
    return dict(zip(PROGRAMS, done.stdout.split(f"{_NEXT}\n"), strict=True))


def test_the_other_framework_is_not_there_and_what_runs_is_the_wheel(
    environment: tuple[str, Path], shown: dict[str, str]
) -> None:
    extra, python = environment
    owns = {"langchain": "langchain_core", "llamaindex": "llama_index"}

    frameworks, runs = shown["installed"].splitlines()

    assert frameworks == owns.get(extra, "")
    assert runs.startswith(str(python.parent.parent))


def test_a_face_works_or_says_what_is_missing(
    environment: tuple[str, Path], shown: dict[str, str]
) -> None:
    for face, said in zip(("langchain", "llamaindex"), shown["faces"].splitlines(), strict=True):
        if face == environment[0]:
            assert said == f"{face} The dentist filled a tooth. last Tuesday"
        else:
            assert f"pip install 'recall-retrievers[{face}]'" in said


def test_without_chroma_it_says_what_to_install(
    environment: tuple[str, Path], shown: dict[str, str]
) -> None:
    said = shown["chroma"]
    if environment[0]:
        assert said == ""
    else:
        assert "Chroma is not installed" in said
        assert "pip install 'recall-retrievers[chroma,embedding]'" in said
        assert "'recall-retrievers[client]'" in said


def test_what_needs_another_extra_says_which(shown: dict[str, str]) -> None:
    needs = "RecallMiddleware needs langchain: pip install 'recall-retrievers[agents]'"
    widget = "explore needs anywidget: pip install 'recall-retrievers[look]'"
    assert shown["extras"].splitlines() == [needs, needs, widget]


@pytest.mark.parametrize("environment", [""], indirect=True)
def test_the_command_is_installed(environment: tuple[str, Path]) -> None:
    _, python = environment
    done = _run(python.with_name("recall"), "gate", "What is 2 + 2?")

    assert done.stdout.startswith("no search: "), done.stderr
    assert done.returncode == 1, done.stderr


@pytest.mark.parametrize("environment", ["chroma,embedding"], indirect=True)
def test_the_command_line_needs_no_framework(environment: tuple[str, Path], tmp_path: Path) -> None:
    _, python = environment
    memories = tmp_path / "memories.jsonl"
    memories.write_text('{"content": "The dentist filled a tooth."}\n', encoding="utf-8")

    done = _run(python, "-c", BOTH, "ask", "--memories", str(memories), "the dentist")

    assert done.stdout.count("The dentist filled a tooth.") == 2, done.stderr


FRAMEWORKS = {"langchain_core", "llama_index"}


@pytest.mark.parametrize(
    ("package", "framework"),
    [("langchain_recall", "langchain_core"), ("llamaindex_recall", "llama_index")],
)
def test_importing_loads_nothing_that_is_not_used(package: str, framework: str) -> None:
    steps = (package, "recall_retrievers.retriever.memory_retriever", f"{package}.retriever")
    loaded = "print(*{name.split('.')[0] for name in sys.modules})"
    code = "; ".join(["import sys", *(f"import {each}; {loaded}" for each in steps)])

    done = _run(Path(sys.executable), "-c", code, cwd=ROOT)

    assert done.returncode == 0, done.stderr
    *before, after = (set(line.split()) for line in done.stdout.splitlines())
    assert not any((FRAMEWORKS | {"chromadb", "anywidget"}) & each for each in before)
    assert not (FRAMEWORKS - {framework} | {"chromadb"}) & after
