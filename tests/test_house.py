"""The house keeps its shape: layers, names, extras and licences."""

import ast
import functools
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from mutants import mutants, stale
from tables import table

import langchain_recall
import llamaindex_recall
import recall_retrievers
from recall_retrievers.core import errors

ROOT = Path(__file__).parent.parent
OWN = {  # a framework's own words and places
    "RecallCompressor",
    "RecallMemoryBlock",
    "RecallGraphStore",
    "RecallMiddleware",
    "RecallPostprocessor",
    "RecallQueryBundle",
    "StageUsage",
}
STAGES = recall_retrievers.STAGES.split()


@functools.cache
def _ours() -> list[Path]:
    """The files of the project; what tools leave beside them begins with a dot or is compiled."""
    places = [each for each in ROOT.iterdir() if each.name[0] != "."]  # not all of .venv
    paths = [path for each in places for path in (each, *each.rglob("*")) if path.is_file()]
    parts = {path: path.relative_to(ROOT).parts for path in paths}
    built = {"__pycache__", "build", "dist"}
    return [
        path
        for path, names in parts.items()
        if not any(n[0] == "." or n in built or n.endswith((".recall", ".egg-info")) for n in names)
    ]


def test_every_mutant_can_still_be_made() -> None:
    assert {each["name"]: why for each in mutants() if (why := stale(each))} == {}


def test_both_faces_have_the_same_names() -> None:
    langchain, llamaindex = set(langchain_recall.__all__), set(llamaindex_recall.__all__)

    assert langchain - OWN == llamaindex - OWN


@table("name", STAGES)
def test_both_faces_have_the_same_settings_and_defaults(name: str) -> None:
    ours = [getattr(face, name)() for face in (langchain_recall, llamaindex_recall)]
    theirs = {"name", "callback_manager"}  # of RunnableSerializable, and of BaseNodePostprocessor

    fields = [
        {field: getattr(stage, field) for field in type(stage).model_fields if field not in theirs}
        for stage in ours
    ]
    assert fields[0] == fields[1]


@pytest.mark.parametrize("package", [recall_retrievers, langchain_recall, llamaindex_recall])
def test_type_checkers_see_the_names_that_are_exported(package: ModuleType) -> None:
    assert sorted(_seen_by_checkers(package)) == package.__all__


def _seen_by_checkers(package: ModuleType) -> Iterator[str]:
    tree = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    block = next(statement for statement in tree.body if isinstance(statement, ast.If))
    for statement in block.body:
        assert isinstance(statement, ast.ImportFrom)
        if statement.names[0].name != "*":
            yield from (alias.asname for alias in statement.names)
        elif statement.module == "recall_retrievers":
            yield from _seen_by_checkers(recall_retrievers)
        else:
            module = import_module(str(statement.module))
            own = {n for n, value in vars(module).items() if isinstance(value, type)}
            yield from (n for n in own if getattr(module, n).__module__ == statement.module)


@pytest.mark.parametrize("face", [langchain_recall, llamaindex_recall])
def test_every_exported_name_loads(face: object) -> None:
    assert all(getattr(face, name) is not None for name in face.__all__)
    with pytest.raises(AttributeError, match="'RecallRetreiver' here; did you mean 'RecallRetri"):
        face.RecallRetreiver  # noqa: B018 - the error is what is wanted
    assert not hasattr(face, "RecallRetreiver")


@pytest.mark.parametrize("face", ["langchain_recall", "llamaindex_recall"])
def test_a_misspelt_import_says_which_name_was_meant(face: str) -> None:
    with pytest.raises(ImportError, match="did you mean 'RecallRetriever'"):
        exec(f"from {face} import RecallRetreiver")
    exec(f"from {face} import flows")


@pytest.mark.parametrize("face", [langchain_recall, llamaindex_recall])
def test_a_face_exports_what_a_page_teaches_and_stays_small(face: ModuleType) -> None:
    docs = ROOT / "docs"
    pages = (each for each in docs.rglob("*.md") if docs / "reference" not in each.parents)
    taught = set(re.findall(r"\w+", "\n".join(each.read_text(encoding="utf-8") for each in pages)))

    assert len(face.__all__) <= 62
    assert set(face.__all__) <= taught
    known = {name for name in vars(errors) if name.endswith("Error")}
    inside = {"ModelError", "ReplyError"}  # for stages of one's own
    assert known & taught - inside <= set(face.__all__)


def test_all_is_all_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = dict(project["optional-dependencies"])
    reached, ahead = set(), {"all"}
    while ahead:
        extra = ahead.pop()
        reached.add(extra)
        ours = [line for line in extras[extra] if line.startswith("recall-retrievers[")]
        ahead |= {each for line in ours for each in re.split(r"[\[\],]", line)[1:-1]} - reached

    # Chroma and its client install the same package: nobody can have both. The multilingual model
    # has 91 MB, and needs Linux on x86.
    assert reached == set(extras) - {"client", "multilingual"}


def test_files_of_text_are_opened_with_their_encoding() -> None:
    """Without one, Windows takes the code page of the country."""
    assert [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in _ours()
        if path.suffix == ".py"
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and _has_no_encoding(call)
    ] == []


def _has_no_encoding(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", None) or getattr(call.func, "id", "")
    constants = {each.value for each in call.args if isinstance(each, ast.Constant)}
    if any(each.arg in {"encoding", None} for each in call.keywords) or "utf-8" in constants:
        return False
    if name == "open" and isinstance(call.func, ast.Attribute):
        modes = {each for each in constants if set(str(each)) <= set("rwaxb+")}
        return len(call.args) == len(modes) and not any("b" in str(each) for each in modes)
    if name == "open":
        return not any("b" in str(each) for each in constants)
    return name in {"read_text", "write_text"}


def test_the_owner_to_be_is_named_in_one_place() -> None:
    name = "OUR-" + "ORGANISATION"
    texts = {p for p in _ours() if p.suffix in {".py", ".md", ".toml", ".yml", ".ipynb"}}

    assert [p.name for p in texts if name in p.read_text(encoding="utf-8")] == ["pyproject.toml"]


def test_data_that_may_not_be_here_is_not() -> None:
    data = [path for path in _ours() if path.suffix in {".json", ".jsonl", ".csv"}]
    names = [str(path.relative_to(ROOT)).lower() for path in data]

    assert not [name for name in names if "locomo" in name or "beam" in name]


def test_what_is_pinned_is_what_is_required() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    required = [
        line for line in project["dependencies"] + extras if "recall-retrievers[" not in line
    ]
    assert not [line for line in required if "==" in line]
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert "://" not in pinned
    for line in required:
        name = re.split(r"[<>=\[]", line)[0].strip()
        assert f"\n{_same(name)}==" in _same(pinned), name


def _same(name: str) -> str:
    """Names on the package index are the same in either case, with - or _."""
    return name.lower().replace("_", "-")
