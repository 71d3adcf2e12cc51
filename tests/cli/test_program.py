"""The program around its commands: help, version, logs, and what is not understood."""

import logging
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint, version

import pytest
from cli.kit import Run
from conftest import ROOT
from tables import table

from recall_retrievers.cli import recall
from recall_retrievers.cli.program import _COMMANDS


def test_the_command_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    script = EntryPoint("recall", project["scripts"]["recall"], "console_scripts")

    assert script.load() is recall


def test_help_names_every_command_with_an_example(run: Run) -> None:
    code, shown, _ = run("--help")

    assert code == 0
    assert "exit codes: 0 done; 1 the answer is no" in shown
    for command, about in _COMMANDS.items():
        assert f"\n    {command} " in shown
        of_it = run(command, "--help")[1]
        assert about.about in " ".join(of_it.split())
        assert f"example:\n  recall {command} " in of_it
        assert "--json" in of_it
        assert "--verbose" in of_it


def test_help_says_how_it_was_called() -> None:
    command = [sys.executable, "-m", "llamaindex_recall", "ask", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert "python -m llamaindex_recall ask --memories notes.jsonl" in " ".join(done.stdout.split())


@pytest.mark.parametrize("width", [60, 80, 140])
def test_help_keeps_to_the_width_of_the_terminal(
    width: int, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for command in ("load", "eval", "ask"):
        shown = run(command, "--help")[1].partition("\nexample:\n")[0]
        # What can be copied stays in one line.
        prose = [line for line in shown.splitlines() if '{"' not in line]
        assert min(width, 100) - 25 < max(map(len, prose)) <= width


@table(
    ("words", "said"),
    [
        (["remember"], "recall: there is no command 'remember'; there are ask, explain, "),
        (["aks", "x"], "recall: there is no command 'aks'; did you mean 'ask'?"),
        (["ask"], "recall ask: the following arguments are required: question"),
        (["ask", "x"], "recall ask: one of the arguments --memories --chroma is required"),
        (["ask", "x", "--chroma", ".", "--filter", "y"], "recall ask: argument --filter: expected"),
    ],
)
def test_what_is_not_understood_is_said_first(words: list[str], said: str, run: Run) -> None:
    code, _, err = run(*words)

    assert code == 2
    assert err.startswith(said)
    assert err.endswith(" --help shows how to call it\n")


@table(
    ("words", "needed"),
    [(["--help"], ""), (["time", "last Tuesday"], ""), (["mcp", "--help"], "pydantic")],
)
def test_a_command_loads_what_it_needs(words: list[str], needed: str) -> None:
    heavy = [
        "chromadb",
        "numpy",
        "pydantic",
        "mcp",
        "mcp_types",
        "langchain_core",
        "llama_index.core",
    ]
    program = f"""
import sys
from recall_retrievers.cli import main
try:
    main("recall", {words})
except SystemExit:
    pass
print(*[name for name in {heavy} if name in sys.modules], file=sys.stderr)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stderr.strip() == needed


def test_without_a_command_it_says_which_there_are(run: Run) -> None:
    code, out, err = run()

    assert (code, out, "begin with:\n  recall ask --memories" in err) == (2, "", True)


def test_the_version(run: Run) -> None:
    assert run("--version")[:2] == (0, f"recall {version('recall-retrievers')}\n")


def test_verbose_logs_our_own_doings_only(run: Run) -> None:
    run("gate", "-v", "Book it again.")
    assert logging.getLogger("recall_retrievers").level == logging.DEBUG
    assert logging.getLogger("chromadb").getEffectiveLevel() >= logging.WARNING

    run("gate", "Book it again.")
    assert logging.getLogger("recall_retrievers").level == logging.WARNING
