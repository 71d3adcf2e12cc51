"""Every row of the specification: in both faces, with the default that it says, shown by a test.

``python -m pytest tests/test_spec.py -s`` prints the table.
"""

import ast
import functools
import importlib
import inspect
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

TESTS = Path(__file__).parent
ROWS: list[dict[str, Any]] = tomllib.loads((TESTS / "spec.toml").read_text("utf-8"))["row"]
FACES = {"langchain": "langchain_recall", "llamaindex": "llamaindex_recall"}

# The operations of the seeds, and what else the specification has rows for.
OPERATIONS = {
    "SetQueryOp", "ExtractTimeOp", "RetrieveMemoryOp", "SemanticRankOp", "FuseRerankOp",
    "PrintMemoryOp", "ReadMessageOp", "BuildQueryOp", "RerankMemoryOp", "RewriteMemoryOp",
    "MergeMemoryOp", "flow", "Memory", "storage", "retrieval", "filters", "rankers", "Reflect",
    "recall", "should_search_memory", "search_memory_with_context", "places",
}  # fmt: skip


def _each(cell: str | dict[str, str]) -> dict[str, str]:
    """What a cell says of either face."""
    return cell if isinstance(cell, dict) else dict.fromkeys(FACES, cell)


def _object(face: str, ours: str) -> Any:
    return getattr(importlib.import_module(FACES[face]), ours.split(".", maxsplit=1)[0])


def _default(face: str, ours: str) -> Any:
    """The default of a field or an argument, in the words of the table."""
    found = _object(face, ours)
    *path, last = ours.split(".")[1:]
    for name in path:
        found = getattr(found, name)
    if isinstance(found, type) and issubclass(found, BaseModel):
        field = found.model_fields[last]
        value = field.get_default(call_default_factory=True) if not field.is_required() else ...
    else:
        value = inspect.signature(found).parameters[last].default
    return _plain("required" if value in (..., inspect.Parameter.empty) else value)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_none=True) if not hasattr(value, "apply") else _name(value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return "None" if value is None else value


def _name(value: object) -> str:
    return type(value).__name__


@functools.cache
def _tests(path: str) -> dict[str, set[str]]:
    """The tests of a file, with the names of their arguments."""
    tree = ast.parse((TESTS / path).read_text("utf-8"))
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return {f.name: {arg.arg for arg in f.args.args} for f in functions}


def _line(row: dict[str, Any]) -> str:
    default = str(row["default"]) + (f" (seed: {row['spec']})" if "spec" in row else "")
    ours, test = _each(row["ours"]), _each(row["test"])
    tests = " / ".join(dict.fromkeys(test.values()))
    cells = [row["operation"], row["parameter"], default]
    cells += [f"{FACES[face]}.{ours[face]}" for face in FACES]
    return " | ".join([*cells, tests])


def test_the_table() -> None:
    print("\noperation | parameter | default | LangChain | LlamaIndex | test")  # noqa: T201
    for row in ROWS:
        print(_line(row))  # noqa: T201 - it is asked for

    assert {row["operation"] for row in ROWS} == OPERATIONS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['operation']}-{row['parameter']}")
def test_a_row(row: dict[str, Any]) -> None:
    missing = {"operation", "parameter", "default", "ours", "test"} - set(row)
    assert not missing, f"the cells {missing} of {row} are missing"
    assert ("spec" in row) == ("why" in row), "another default than the seed's needs its reason"

    ours, tests = _each(row["ours"]), _each(row["test"])
    assert set(ours) == set(tests) == set(FACES)
    if row["default"] != "-":
        assert {face: _default(face, ours[face]) for face in FACES} == dict.fromkeys(
            FACES, row["default"]
        )
    objects = [_object(face, ours[face]) for face in FACES]
    for test in tests.values():
        path, name = test.split("::")
        assert name in _tests(path), f"there is no test {test}"
        in_both = isinstance(row["test"], dict) or "face" in _tests(path)[name]
        assert in_both or objects[0] is objects[1], f"{test} shows it in one face alone"
