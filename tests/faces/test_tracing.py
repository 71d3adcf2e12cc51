"""OpenTelemetry: what a span and a metric say of an operation, and what they never say unasked."""

import asyncio
import json
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

import pytest
from faces.adapters import Face, both, langchain, once
from faces.conftest import MEMORIES, NOW
from faces.slow_models import SlowChat
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from recall_retrievers.core.errors import MissingMemoryError, QueryError
from recall_retrievers.core.stage import Search
from recall_retrievers.core.tracing import CAPTURE, memory_operation
from recall_retrievers.store import RecallStore

QUESTION = "What did the dentist do?"
DURATION = "gen_ai.client.operation.duration"


class Telemetry:
    """An SDK that keeps what it is told."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        self._reader = InMemoryMetricReader()
        self.meters = MeterProvider([self._reader])

    def spans(self) -> Sequence[ReadableSpan]:
        """The spans since the last call, in the order in which they ended."""
        ended = self._exporter.get_finished_spans()
        self._exporter.clear()
        return ended

    def points(self, name: str) -> list[tuple[dict[str, Any], float]]:
        """The attributes of each point of a metric, and its sum."""
        data: Any = self._reader.get_metrics_data()
        scopes = [scope for each in data.resource_metrics for scope in each.scope_metrics]
        found = [each for scope in scopes for each in scope.metrics if each.name == name]
        return [
            (dict(point.attributes), getattr(point, "sum", None) or getattr(point, "value", 0))
            for each in found
            for point in each.data.data_points
        ]


@pytest.fixture
def telemetry(monkeypatch: pytest.MonkeyPatch) -> Telemetry:
    # OpenTelemetry lets a process set its providers once; a test needs its own.
    made = Telemetry()
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", made.tracers)
    monkeypatch.setattr(metrics._internal, "_METER_PROVIDER", made.meters)
    monkeypatch.delenv(CAPTURE, raising=False)
    return made


def retriever(face: Face, store: RecallStore, **settings: Any) -> Any:
    return face.RecallRetriever(store=store, timestamp=NOW, timezone="UTC", k=2, **settings)


@both
def test_a_question_is_one_search_and_its_model_calls_are_in_it(
    face: Face, own_store: RecallStore, telemetry: Telemetry
) -> None:
    stages = [face.FuseRerank(), face.SemanticRank(llm=face.model("nonsense"))]
    face.ask(retriever(face, own_store, stages=stages, time_mode="ignore"), QUESTION)

    [chat, search] = telemetry.spans()
    assert search.name == "search_memory"
    assert dict(search.attributes or {}) == {
        "gen_ai.operation.name": "search_memory",
        "gen_ai.memory.store.id": own_store.name,
        "gen_ai.memory.record.count": 2,
        "recall.degraded": ("SemanticRank",),
    }
    assert chat.name == "chat"
    assert chat.parent is not None
    assert chat.parent.span_id == search.context.span_id
    assert telemetry.points("recall.degraded") == [({"recall.stage": "SemanticRank"}, 1)]
    operations = {each[0]["gen_ai.operation.name"] for each in telemetry.points(DURATION)}
    assert operations == {"search_memory", "chat"}


@langchain
def test_what_is_done_to_memories_is_a_span_each(
    face: Face, own_store: RecallStore, telemetry: Telemetry
) -> None:
    face.call(own_store, "add", [{"id": "tea", "content": "Ann likes tea."}])
    face.call(own_store, "update", "tea", metadata={"cups": 2})
    face.call(own_store, "find", [Search("tea", 3)])
    face.call(own_store, "delete", ["tea"])
    face.call(own_store, "purge")

    spans = telemetry.spans()
    counted, named = "gen_ai.memory.record.count", "gen_ai.memory.record.id"
    told = [(each.name, each.attributes or {}) for each in spans]
    said = [(name, about[counted], about.get(named)) for name, about in told]
    assert said == [
        ("upsert_memory", 1, None),
        ("update_memory", 1, "tea"),
        ("search_memory", 3, None),
        ("delete_memory", 1, "tea"),
        ("delete_memory", 0, None),
    ]
    assert {about["gen_ai.memory.store.id"] for _, about in told} == {own_store.name}
    assert "Ann" not in "".join(each.to_json() for each in spans)


@pytest.mark.parametrize("wanted", ["spans", "metrics"])
def test_an_application_may_want_spans_or_metrics_alone(
    own_store: RecallStore, telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    module, provider = (
        (metrics._internal, "_METER_PROVIDER") if wanted == "spans" else (trace, "_TRACER_PROVIDER")
    )
    monkeypatch.setattr(module, provider, None)

    own_store.find([Search("tea", 3)])

    assert [each.name for each in telemetry.spans()] == ["search_memory"] * (wanted == "spans")
    if wanted == "metrics":
        operations = [each[0]["gen_ai.operation.name"] for each in telemetry.points(DURATION)]
        assert operations.count("search_memory") == 1


def test_an_error_has_its_type_and_nothing_that_it_says(
    own_store: RecallStore, telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch
) -> None:
    for capture, description in (("", None), ("true", "'rum'")):
        monkeypatch.setenv(CAPTURE, capture)
        with pytest.raises(MissingMemoryError):
            own_store.update("rum", text="Bob drinks rum.")
        [update] = telemetry.spans()
        assert update.status.status_code is StatusCode.ERROR
        assert (update.attributes or {})["error.type"] == "MissingMemoryError"
        assert not update.events
        if description is None:
            assert update.status.description is None
        else:
            assert description in str(update.status.description)
    assert ("error.type", "MissingMemoryError") in telemetry.points(DURATION)[0][0].items()


def test_a_question_that_is_cancelled_ends_its_span(
    own_store: RecallStore, telemetry: Telemetry
) -> None:
    face = Face("langchain_recall", is_async=True)

    async def cancelled() -> None:
        asked = retriever(face, own_store, stages=[face.SemanticRank(llm=SlowChat(replies=[]))])
        task = asyncio.create_task(asked.ainvoke(QUESTION, time_mode="ignore"))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert {each.name for each in telemetry.spans()} == {"chat", "search_memory"}


@once
def test_no_text_leaves_unless_it_is_asked_for(
    face: Face, own_store: RecallStore, telemetry: Telemetry, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = face.RewriteMemory(llm=face.model("The dentist put a filling in my tooth."))
    asked = retriever(face, own_store, stages=[writer])
    with pytest.raises(QueryError):
        face.ask(asked, " ")
    face.ask(asked, QUESTION)
    said = "".join(each.to_json() for each in telemetry.spans())
    assert "dentist" not in said
    assert "filling" not in said

    monkeypatch.setenv(CAPTURE, "true")
    face.ask(retriever(face, own_store), QUESTION)
    [search] = telemetry.spans()
    attributes = search.attributes or {}
    assert attributes["gen_ai.memory.query.text"] == QUESTION
    records = json.loads(str(attributes["gen_ai.memory.records"]))
    assert {each["content"] for each in records} <= {each["content"] for each in MEMORIES}
    assert {"id", "content", "score"} == set(records[0])


@once
def test_tokens_that_the_model_has_counted_are_measured(
    face: Face, own_store: RecallStore, telemetry: Telemetry
) -> None:
    counted = {"input_tokens": 70, "output_tokens": 9, "total_tokens": 79}
    stage = face.SemanticRank(llm=_counting(face, counted))
    face.ask(retriever(face, own_store, stages=[stage], time_mode="ignore"), QUESTION)
    [chat, _] = telemetry.spans()
    attributes = chat.attributes or {}
    assert attributes["gen_ai.usage.input_tokens"] == 70
    tokens = {p["gen_ai.token.type"]: n for p, n in telemetry.points("gen_ai.client.token.usage")}
    assert tokens == {"input": 70, "output": 9}


def _counting(face: Face, counted: dict[str, int]) -> Any:
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    reply: Any = AIMessage("nonsense", usage_metadata=counted)
    return GenericFakeChatModel(messages=iter([reply]))


def test_nothing_is_imported_and_nothing_is_on_unless_it_is_configured() -> None:
    script = """
        import sys
        sys.modules["opentelemetry"] = None  # as if it were not installed
        from recall_retrievers.core.tracing import memory_operation, model_call
        with memory_operation("search_memory", "notes") as operation, model_call(None):
            operation.asked("tea?")
            operation.records([])
            operation.degraded(["SemanticRank: late"])
        print(operation.seen, [each for each in sys.modules if each.startswith("opentelemetry.")])
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split() == ["False", "[]"]
    # Chroma imports its interface, which does nothing by itself.
    with memory_operation("search_memory") as operation:
        assert not operation.seen
