"""The house keeps its shape: layers, names, licences, and nothing of anybody's machine."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import langchain_recall
import llamaindex_recall
from recall_stages.stage import Stage

ROOT = Path(__file__).parent.parent
OWN = {  # a framework's own words and places
    "MemoryCompressor",
    "MemoryPostprocessor",
    "RecallCompressor",
    "RecallMemoryBlock",
    "RecallMiddleware",
    "RecallPostprocessor",
    "RecallQueryBundle",
    "SearchSkipped",
    "StageUsage",
}
STAGES = sorted(
    {
        name
        for name in langchain_recall.__all__
        if isinstance(getattr(langchain_recall, name), type)
        and issubclass(getattr(langchain_recall, name), Stage)
    }
    - OWN
)


def _ours() -> list[Path]:
    """The files of the project; what tools leave beside them begins with a dot or is compiled."""
    parts = {path: path.relative_to(ROOT).parts for path in ROOT.rglob("*") if path.is_file()}
    built = {"__pycache__", "build", "dist"}
    return [
        path
        for path, names in parts.items()
        if not any(n[0] == "." or n in built or n.endswith((".recall", ".egg-info")) for n in names)
    ]


def test_layers() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_both_faces_have_the_same_names() -> None:
    langchain, llamaindex = set(langchain_recall.__all__), set(llamaindex_recall.__all__)

    assert langchain - OWN == llamaindex - OWN


@pytest.mark.parametrize("name", STAGES)
def test_both_faces_have_the_same_settings_and_defaults(name: str) -> None:
    ours = [getattr(face, name)() for face in (langchain_recall, llamaindex_recall)]
    theirs = {"name", "callback_manager"}  # of RunnableSerializable, and of BaseNodePostprocessor

    fields = [
        {field: getattr(stage, field) for field in type(stage).model_fields if field not in theirs}
        for stage in ours
    ]
    assert fields[0] == fields[1]


@pytest.mark.parametrize("face", [langchain_recall, llamaindex_recall])
def test_every_exported_name_loads(face: object) -> None:
    for name in face.__all__:
        assert getattr(face, name) is not None
    with pytest.raises(AttributeError, match="there is no 'RecallRetreiver' here"):
        face.RecallRetreiver  # noqa: B018 - the error is what is wanted


def test_no_machine_path_and_no_registry_host() -> None:
    # Written apart, so that this file does not find itself.
    bad = re.compile("|".join(["/wo" + "rk/", "/ro" + "ot/", "py" + "pi.org", "pythonhos" + "ted"]))
    for path in _ours():
        if path.suffix in {".py", ".md", ".toml", ".txt", ".ipynb", ".jsonl", ""}:
            assert not bad.search(path.read_text(encoding="utf-8")), path


def test_data_that_may_not_be_here_is_not() -> None:
    data = [path for path in _ours() if path.suffix in {".json", ".jsonl", ".csv"}]

    assert not [
        path
        for path in data
        if re.search("locomo|beam", str(path.relative_to(ROOT)), re.IGNORECASE)
    ]


def test_what_is_pinned_is_what_is_required() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert not [line for line in project["dependencies"] if "==" in line]
    pinned = (ROOT / "constraints.txt").read_text()
    assert "://" not in pinned
    for line in project["dependencies"]:
        name = re.split(r"[<>=\[]", line)[0].strip()
        assert f"\n{_same(name)}==" in _same(pinned), name


def _same(name: str) -> str:
    """Names on the package index are the same in either case, with - or _."""
    return name.lower().replace("_", "-")
