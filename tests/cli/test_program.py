"""The program around its commands: help, version, logs, locales, and what is not understood."""

import json
import logging
import os
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest
from cli.kit import Run
from tables import table

from recall_retrievers.cli.program import _COMMANDS


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


@table("face", ["langchain_recall", "llamaindex_recall"])
def test_a_face_that_another_project_installs_too_is_an_error(
    face: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / f"{face}-0.1.0.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text(f"{face}-0.1.0.dist-info/RECORD,,\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, face, raising=False)
    import_module(face)  # that project has a package of another name

    record.write_text(f"{face}/__init__.py,sha256=x,9\n", encoding="utf-8")
    monkeypatch.delitem(sys.modules, face)
    with pytest.raises(ImportError, match=f"two projects install {face}") as raised:
        import_module(face)

    # Where the other one has replaced that file, the command still tells.
    assert run("gate", "Thanks!")[2] == f"recall: {raised.value}\n"
    record.unlink()
    assert run("gate", "Thanks!")[2] == ""


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


TEXT = "我看了牙医 — the dentist in İstanbul, café at ıı"
# As people read it, and as JSON: one process for both, for its start is most of the work.
PROGRAM = """
import locale, sys
locale.setlocale(locale.LC_ALL, "")  # as a program with a window does
from recall_retrievers.cli import recall
if code := recall():
    sys.exit(code)
print("-- as JSON", flush=True)
sys.argv.append("--json")
sys.exit(recall())
"""


def _environment(name: str, folder: Path) -> dict[str, str]:
    """A process's variables in a locale, which is compiled where the machine has its source."""
    language, _, charset = name.partition(".")
    if charset:
        if not shutil.which("localedef"):
            pytest.skip("no localedef here")
        command = ["localedef", "-i", language, "-f", charset, str(folder / name)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip(f"the source of {name} is not here")
    left = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHONIO"))}
    plain = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    return {**left, **plain, "LC_ALL": name, "LOCPATH": str(folder)}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="names and compiles locales as Linux does")
@pytest.mark.parametrize(
    ("locale", "place"),
    [
        ("C", "my notes"),
        ("de_DE.ISO-8859-1", "my notes"),
        ("tr_TR.UTF-8", "anılar ß İ 记忆"),
    ],
)
def test_the_same_answer_in_every_locale(locale: str, place: str, tmp_path: Path) -> None:
    environment = _environment(locale, tmp_path)
    folder = tmp_path / place
    folder.mkdir()
    row = {"content": TEXT, "created_at": "2024-03-05T10:00:00Z"}
    written = json.dumps(row, ensure_ascii=False)
    (folder / "notes.jsonl").write_text(written, encoding="utf-8")

    command = ["ask", "--memories", "notes.jsonl", "--timestamp", "2024-03-08", "the dentist"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command, "--timezone", "UTC"],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

    encoding = "utf-8" if locale.endswith("UTF-8") else "latin-1"
    shown, as_json = done.stdout.decode(encoding).split("-- as JSON")
    assert "2024-03-05 Tuesday" in shown
    assert json.dumps(json.loads(as_json)).count(json.dumps(TEXT)) == 1
