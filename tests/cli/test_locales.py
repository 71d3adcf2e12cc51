"""The command line in another locale, another encoding, and a folder with spaces and letters."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

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
