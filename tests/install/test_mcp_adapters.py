"""LangChain's clients of MCP against our server: they need mcp 1, so they come from elsewhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT

PACKAGES = ["langchain-mcp-adapters>=0.3.2", "mcp<2", "httpx-sse", "pydantic-settings"]


@pytest.mark.skipif(
    "RECALL_TEST_INSTALL" not in os.environ, reason="fetches packages: make test-install runs it"
)
def test_agents_of_langchain_use_our_server(tmp_path: Path) -> None:
    fetch = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", tmp_path, *PACKAGES]
    subprocess.run([sys.executable, *fetch], check=True)

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n0", "-k", "langchain", "tests/serve/test_mcp.py"],
        env={**os.environ, "RECALL_MCP_ADAPTERS": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
