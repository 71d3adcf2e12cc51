"""What a user's editor shows of our names: a language server is asked as an editor asks it."""

import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from pages import ROOT

import langchain_recall
import llamaindex_recall

SERVER = Path(sys.executable).with_name("basedpyright-langserver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SERVER.exists(), reason="needs basedpyright: make install"),
]
SHOWN = {
    langchain_recall: (
        "RecallRetriever FuseRerank ExtractTime RecallCompressor RecallMiddleware AnyStore MiniLM "
        "RecallStore create_recall_tool"
    ),
    llamaindex_recall: "RecallRetriever FuseRerank RecallMemoryBlock RecallPostprocessor AnyStore",
}
CALLED = ("RecallRetriever", "RecallStore", "RecallMiddleware", "AnyStore")
"""Of the others an editor shows at a call what their settings are."""


class Editor:
    """A client of a language server, as far as a hover needs it."""

    def __init__(self, folder: Path, server: subprocess.Popen[bytes]) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        self._wire: tuple[IO[bytes], IO[bytes]] = server.stdin, server.stdout
        self._file = folder / "program.py"
        place = {"uri": folder.as_uri(), "name": "a project"}
        self.call("initialize", {"workspaceFolders": [place], "capabilities": {}})
        self._send({"method": "initialized", "params": {}})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._wire[0].write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._wire[0].flush()

    def call(self, method: str, params: dict[str, Any]) -> Any:
        self._send({"id": 1, "method": method, "params": params})
        while True:
            length = 0
            while header := self._wire[1].readline().strip():
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            message = json.loads(self._wire[1].read(length))
            if "method" not in message:
                return message["result"]
            if "id" in message:  # it asks for settings of the editor
                asked = message["params"].get("items", [])
                self._send({"id": message["id"], "result": [{} for _ in asked]})

    def hover(self, program: str, line: int, word: str) -> str:
        """What is shown at the last place of a word in a line of a program."""
        document = {"uri": self._file.as_uri(), "languageId": "python", "version": 1}
        opened = {"textDocument": {**document, "text": program}}
        self._send({"method": "textDocument/didOpen", "params": opened})
        at = {"line": line, "character": program.splitlines()[line].rindex(word) + 1}
        asked = {"textDocument": document, "position": at}
        shown = self.call("textDocument/hover", asked)
        self._send({"method": "textDocument/didClose", "params": {"textDocument": document}})
        return " ".join(shown["contents"]["value"].replace("\\", "").split())


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    folder = tmp_path_factory.mktemp("editor")
    settings = {"extraPaths": [str(ROOT)], "pythonVersion": "3.11"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    with subprocess.Popen(
        [SERVER, "--stdio"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        try:
            yield Editor(folder, server)
        finally:
            server.kill()


def test_hover_says_what_a_name_is_for(editor: Editor) -> None:
    for face, names in SHOWN.items():
        for name in names.split():
            first = " ".join((inspect.getdoc(getattr(face, name)) or "").split("\n\n")[0].split())
            imported = f"from {face.__name__} import {name}\n{name}(1)\n"

            assert first.replace("`", "") in editor.hover(imported, 0, name).replace("`", ""), name
            called = editor.hover(imported, 1, name)
            assert "Create a new model" not in called, name
            assert name not in CALLED or first.replace("`", "") in called.replace("`", ""), name


@pytest.mark.parametrize("face", list(SHOWN))
def test_a_class_of_a_face_begins_as_the_class_that_it_is_made_of(face: Any) -> None:
    """Its docstring is written out for editors; at run time it is the whole one of the stage."""
    for name in face.__all__:
        value = getattr(face, name)
        if inspect.isclass(value) and value.__module__.startswith(face.__name__):
            assert "\n" in (value.__doc__ or ""), name


@pytest.mark.parametrize("face", list(SHOWN))
def test_a_notebook_completes_the_public_names(face: Any) -> None:
    program = f"import {face.__name__} as face; print(dir(face) == sorted(face.__all__))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert done.stdout.strip() == b"True"
    assert "MiniLM" in face.__all__
