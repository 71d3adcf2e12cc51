"""Accidents of a reply in a schema, through the real clients of OpenAI and Anthropic.

A server on this machine stands for theirs. The first reply is the accident; all others are fine.
"""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from faces.adapters import Face, Found, langchain
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from tables import table

SCORES = {"scores": [[1, 0.1], [2, 0.9]]}
GIVEN = [Found(name, f"Memory {name}.", 0.5, {}) for name in "ab"]


def chat(content: str | None = None, finish: str = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def responses(*content: dict[str, Any], incomplete: str = "") -> dict[str, Any]:
    said = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    return {
        **dict.fromkeys(("id", "model", "tool_choice"), "auto"),
        "object": "response",
        "created_at": 1,
        "tools": [],
        "parallel_tool_calls": True,
        "status": "incomplete" if incomplete else "completed",
        "incomplete_details": {"reason": incomplete} if incomplete else None,
        "output": [{**said, "content": [*content]}] if content else [],
    }


def written(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


def messages(*content: dict[str, Any], stop: str = "end_turn") -> dict[str, Any]:
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [*content],
        "stop_reason": stop,
        "usage": {"input_tokens": 5, "output_tokens": 2},
    }


def tool(**given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t", "name": "Scores", "input": given}


def error(status: int, message: str) -> tuple[int, Any]:
    details = {"type": "invalid_request_error", "message": message}
    return status, {"type": "error", "error": details}


class Api:
    """One API: what it says where all is well, and whether each request had a schema."""

    def __init__(self, url: str) -> None:
        keys: dict[str, Any] = {"api_key": "k", "max_retries": 0}
        openai: dict[str, Any] = {"model": "gpt-4o", "base_url": f"{url}/v1", **keys}
        self.models = {
            "chat": lambda: ChatOpenAI(**openai),
            "responses": lambda: ChatOpenAI(use_responses_api=True, **openai),
            "messages": lambda: ChatAnthropic(model="claude-sonnet-4-5", base_url=url, **keys),
        }

    def start(self, name: str, accident: Any) -> Any:
        self.accident: Any = accident
        self.schemas: list[bool] = []
        return self.models[name]()

    def answer(self, asked: dict[str, Any], path: str) -> tuple[int, Any]:
        formats = (asked.get("response_format"), (asked.get("text") or {}).get("format"))
        self.schemas.append(bool(asked.get("tools") or any(formats)))
        said, self.accident = self.accident, None
        if said is None:
            fine = json.dumps(SCORES)
            text = {"type": "text", "text": fine}
            said = {
                "/v1/chat/completions": chat(fine),
                "/v1/responses": responses(written(fine)),
                "/v1/messages": messages(tool(**SCORES) if self.schemas[-1] else text),
            }[path]
        return said if isinstance(said, tuple) else (200, said)


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, said = made.answer(asked, self.path)
            body = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made = Api(f"http://127.0.0.1:{server.server_port}")
        Thread(target=server.serve_forever, daemon=True).start()
        yield made
        server.shutdown()


def three_questions(face: Face, model: Any) -> list[str]:
    """What `recall_degraded` says of three questions, one after the other."""
    stage = face.SemanticRank(llm=model, semantic_share=1)
    found = [face.refine(stage, GIVEN, "which?")[0] for _ in range(3)]
    return [each.metadata.get("recall_degraded", "") for each in found]


CUT = '{"scores": [[1,'
TOO_LONG = "maximum context length is 8192 tokens; reduce the length of messages or functions"
ACCIDENTS: list[tuple[str, Any, str]] = [
    ("chat", chat(refusal="I won't."), "(refusal: I won't.)"),
    ("chat", chat(CUT, "length"), "(finish_reason: length)"),
    ("chat", chat("", "length"), "(finish_reason: length)"),
    ("chat", chat(finish="content_filter"), "(finish_reason: content_filter)"),
    ("chat", chat("First comes the second."), "input_value='First comes"),
    ("chat", chat(""), "'parsed' field"),
    ("chat", error(400, TOO_LONG), TOO_LONG),
    ("chat", error(500, "the tool server is down"), "is down"),
    ("responses", responses({"type": "refusal", "refusal": "I won't."}), "(refusal: I won't.)"),
    ("responses", responses(written(CUT), incomplete="max_output_tokens"), "max_output_tokens)"),
    ("responses", responses(incomplete="content_filter"), "content_filter)"),
    ("messages", messages(stop="refusal"), "(stop_reason: refusal)"),
    ("messages", messages(tool(), stop="max_tokens"), "(stop_reason: max_tokens)"),
    ("messages", messages({"type": "text", "text": "Well."}), "(it said nothing)"),
    ("messages", messages(tool(ratings=[])), "Field required"),
    ("messages", error(400, "prompt is too long: 9000 tokens; 300 are of tools"), "too long"),
]


@langchain
@table(("name", "accident", "why"), ACCIDENTS, ids=[f"{x} {why}" for x, _, why in ACCIDENTS])
def test_an_accident_costs_that_reply_alone(
    face: Face, api: Api, name: str, accident: Any, why: str
) -> None:
    noted, *others = three_questions(face, api.start(name, accident))

    assert api.schemas == [True, False, True, True]
    assert noted.startswith("SemanticRank: asked again for plain JSON, as the form failed (")
    assert why in noted
    assert others == ["", ""]


REFUSED = [
    ("chat", error(400, "response_format of type 'json_schema' is not supported")),
    ("chat", error(404, "No endpoints found that support tool use")),
    ("responses", error(422, "Invalid schema for 'Scores': In context=(), 'minimum' is unknown")),
    ("messages", error(400, "this model does not support tools")),
]


@langchain
@table(("name", "refused"), REFUSED, ids=[said["error"]["message"] for _, (_, said) in REFUSED])
def test_a_schema_that_is_refused_is_sent_once(
    face: Face, api: Api, name: str, refused: Any
) -> None:
    noted, *others = three_questions(face, api.start(name, refused))

    assert api.schemas == [True, False, False, False]
    assert refused[1]["error"]["message"] in noted
    assert others == ["", ""]


@langchain
@table("name", ["chat", "responses", "messages"])
def test_a_wrong_key_is_not_tried_again_without_a_schema(face: Face, api: Api, name: str) -> None:
    noted, *others = three_questions(face, api.start(name, error(401, "invalid API key")))

    assert api.schemas == [True, True, True]
    assert "invalid API key" in noted
    assert others == ["", ""]


@langchain
@table(
    ("name", "accident", "why"),
    [
        ("chat", chat("", "length"), "the model said nothing (finish_reason: length)"),
        ("chat", chat(CUT, "length"), "the reply ended early (finish_reason: length)"),
        ("responses", responses(incomplete="max_output_tokens"), "details: max_output_tokens)"),
        ("messages", messages(stop="refusal"), "the model said nothing (stop_reason: refusal)"),
        ("messages", messages(), "ReplyError: the model said nothing"),
    ],
)
def test_a_reply_in_plain_json_that_ends_early_says_why(
    face: Face, api: Api, name: str, accident: Any, why: str
) -> None:
    stage = face.SemanticRank(llm=api.start(name, accident), structured=False)

    [first, _] = face.refine(stage, GIVEN, "which?")

    assert why in first.metadata["recall_degraded"]
