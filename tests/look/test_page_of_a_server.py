"""The page of a server, without a browser: what is sent to whom, and how `recall look` opens it."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from cli.kit import LINES, written
from serve.kit import ROOT, TOKENS, bearer, filled_store, running

QUESTION = {"query": "What did the dentist do last Tuesday?", "timestamp": "2024-03-08T12:00:00Z"}


def test_the_page_is_for_everybody_and_what_it_shows_is_not() -> None:
    with filled_store() as store, running(store, tokens=TOKENS) as server:
        for path in ("/", "/look/look.js", "/look/look.css"):
            answer = server.get(path)
            policy = answer.headers["content-security-policy"]

            assert answer.status_code == 200
            assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
            assert "unsafe" not in policy
            assert "set-cookie" not in answer.headers
        assert not re.search(r"<script>|<style|style=|\son\w+=", server.get("/").text)
        assert server.post("/explain", json=QUESTION).status_code == 401


def test_a_question_has_the_settings_of_the_page() -> None:
    moved = {"k": 2, "method": "keyword", "time_ratio": 3}
    asked = {**QUESTION, **moved, "since": "2024-02-01", "until": "2024-02-02"}

    with filled_store() as store, running(store) as server:
        for time_mode, count in (
            ({}, 1),
            ({"time_mode": "require"}, 1),
            ({"time_mode": "prefer"}, 2),
        ):
            answer = server.post("/explain", json={**asked, **time_mode}).json()
            assert len(answer["memories"]) == count
            assert answer["settings"].items() >= moved.items()
        wrong = server.post("/explain", json={**asked, "semantic_weight": 2})
    assert (wrong.status_code, "semantic_weight" in wrong.json()["error"]) == (400, True)


@pytest.mark.skipif(os.name != "posix", reason="the browser of this test is a shell script")
def test_recall_look_opens_a_file_with_a_token_that_no_command_line_shows(tmp_path: Path) -> None:
    notes, opened = written(tmp_path / "notes.jsonl", LINES), tmp_path / "opened"
    browser = tmp_path / "browser"
    script = '#!/bin/sh\n(echo "$@"; cat "${1#file://}") > OPENED.part\nmv OPENED.part OPENED\n'
    browser.write_text(script.replace("OPENED", str(opened)), "utf-8")
    browser.chmod(0o700)
    words = [sys.executable, "-m", "langchain_recall", "look", notes, "--timezone", "UTC", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "BROWSER": f"{browser} %s"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(3)]
            address, token = json.loads("".join(lines))["address"].split("/#")
            with httpx.Client(base_url=address, timeout=30) as client:
                assert client.get("/count").status_code == 401
                assert client.get("/count", headers=bearer(token)).json() == {"count": len(LINES)}
            for _ in range(600):
                if not opened.exists():
                    time.sleep(0.05)
            shown, page = opened.read_text("utf-8").split("\n", 1)
            assert token not in shown
            assert f"{address}/#{token}" in page
        finally:
            process.terminate()
    assert (tmp_path / "notes.jsonl.recall").is_dir()
