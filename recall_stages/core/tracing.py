"""OpenTelemetry spans and metrics of memory operations and model calls.

They follow the semantic conventions for generative AI, release 0.1.0, whose memory operations are
in development. Nothing of OpenTelemetry is imported here. An application that has configured it has
imported it; where it has not, an operation costs a look into the loaded modules.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib.metadata import version
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from recall_stages.core.candidate import Candidate

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter, Histogram, Meter, MeterProvider
    from opentelemetry.trace import Span, Tracer, TracerProvider

MemoryOperation = Literal["search_memory", "upsert_memory", "update_memory", "delete_memory"]
Attributes = Mapping[str, str | int | Sequence[str]]

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The environment variable that asks for texts: "true", or what the newer conventions call it."""

_ASKED_FOR = frozenset({"true", "span_only", "span_and_event"})
_LIBRARY = "recall-retrievers"
_OPERATION = "gen_ai.operation.name"
_GETTERS = {"trace": "get_tracer_provider", "metrics": "get_meter_provider"}
# Seconds, as the conventions have them: from 10 ms on, twice as many each time.
_SECONDS = [0.01 * 2**power for power in range(14)]
_TOKENS = [4.0**power for power in range(14)]

_within: ContextVar[str] = ContextVar("recall_operation", default="")


class Operation:
    """An operation that is traced; what becomes known of it is written here.

    Args:
        span: Its span. None = no spans are wanted.
        attributes: The attributes of its metrics.
    """

    def __init__(self, span: Span | None, attributes: Attributes) -> None:
        self._span = span
        self._attributes = attributes

    @property
    def seen(self) -> bool:
        """Whether anything of it is recorded."""
        return bool(self._attributes)

    def note(self, **attributes: str | int | Sequence[str]) -> None:
        """Add attributes to the span; in their names, a double underscore stands for a dot."""
        if self._span is not None:
            for name, value in attributes.items():
                self._span.set_attribute(name.replace("__", "."), value)

    def asked(self, text: str) -> None:
        """Note the question, if texts are asked for."""
        if self._span is not None and captures_text():
            self._span.set_attribute("gen_ai.memory.query.text", text)

    def counted(self, number: int) -> None:
        """Note how many memories it is about."""
        self.note(gen_ai__memory__record__count=number)

    def records(self, memories: Iterable[Candidate]) -> None:
        """Note how many memories it is about, and which ones, if texts are asked for."""
        if self._span is None:
            return
        listed = [*memories]
        self.counted(len(listed))
        if listed and captures_text():
            self._span.set_attribute("gen_ai.memory.records", _as_json(listed))

    def degraded(self, fallbacks: Sequence[str]) -> None:
        """Note the stages that could not do their work; the reasons only if texts are asked for."""
        stages = list(dict.fromkeys(each.partition(":")[0] for each in fallbacks))
        if self._span is not None and stages:
            self._span.set_attribute("recall.degraded", stages)
            if captures_text():
                self._span.set_attribute("recall.degraded.reasons", list(fallbacks))
        if instruments := _instruments():
            for stage in stages:
                instruments[2].add(1, {"recall.stage": stage})

    def tokens(self, sent: int, received: int) -> None:
        """Note the tokens that a model has counted."""
        self.note(gen_ai__usage__input_tokens=sent, gen_ai__usage__output_tokens=received)
        if instruments := _instruments():
            for kind, number in (("input", sent), ("output", received)):
                instruments[1].record(number, {**self._attributes, "gen_ai.token.type": kind})

    def ended(self, seconds: float, error: BaseException | None) -> None:
        """Note how long it took, and the error by its type: what it says may quote a memory."""
        kind = {} if error is None else {"error.type": type(error).__qualname__}
        if error is not None and self._span is not None:
            from opentelemetry.trace import StatusCode  # noqa: PLC0415 - the span is of it

            self._span.set_attributes(kind)
            self._span.set_status(StatusCode.ERROR, str(error) if captures_text() else None)
        if instruments := _instruments():
            instruments[0].record(seconds, {**self._attributes, **kind})


_UNSEEN = Operation(None, {})


def captures_text() -> bool:
    """Whether the texts of questions and memories are asked for."""
    return os.environ.get(CAPTURE, "").lower() in _ASKED_FOR


def memory_operation(
    name: MemoryOperation, store: str = "", *, record_id: str = ""
) -> AbstractContextManager[Operation]:
    """Trace what is done to memories; one in another with the same name is a part of that one.

    Args:
        name: Its name in the conventions.
        store: The name of the collection.
        record_id: The id of the memory, if it is about a single one.
    """
    about = {"gen_ai.memory.store.id": store, "gen_ai.memory.record.id": record_id}
    further = {key: value for key, value in about.items() if value}
    return _traced(name, name, {}, further)


def model_call(model: object) -> AbstractContextManager[Operation]:
    """Trace a call of a language model.

    Args:
        model: The framework's model.
    """
    name = next(
        (x for x in (getattr(model, each, None) for each in ("model_name", "model")) if x), ""
    )
    model_name = name if isinstance(name, str) else ""
    attributes = {"gen_ai.provider.name": _provider_of(model), "gen_ai.request.model": model_name}
    known = {key: value for key, value in attributes.items() if value}
    return _traced("chat", f"chat {model_name}".strip(), known, {})


@contextmanager
def _traced(
    operation: str, title: str, attributes: Attributes, further: Attributes
) -> Iterator[Operation]:
    is_part = _within.get() == operation and operation != "chat"
    if is_part or not any(_provider(signal) is not None for signal in _GETTERS):
        yield _UNSEEN
        return
    shared = {_OPERATION: operation, **attributes}
    began, error = perf_counter(), None
    outside = _within.set(operation)
    with _span(title, {**shared, **further}, client=operation == "chat") as span:
        traced = Operation(span, shared)
        try:
            yield traced
        except BaseException as raised:
            error = raised
            raise
        finally:
            _within.reset(outside)
            traced.ended(perf_counter() - began, error)


@contextmanager
def _span(title: str, attributes: Attributes, *, client: bool) -> Iterator[Span | None]:
    provider = _provider("trace")
    if provider is None:
        yield None
        return
    from opentelemetry.trace import SpanKind  # noqa: PLC0415 - it is loaded already

    with _tracer_of(provider).start_as_current_span(
        title,
        kind=SpanKind.CLIENT if client else SpanKind.INTERNAL,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        yield span if span.is_recording() else None


def _provider(signal: str) -> Any:
    """What the application has configured for a signal; None if it has configured nothing."""
    own = f"opentelemetry.{signal}"
    get = getattr(sys.modules.get(own), _GETTERS[signal], None)
    provider = None if get is None else get()
    # What the API has for itself, until somebody configures it, does nothing.
    return None if type(provider).__module__.startswith(own) else provider


def _instruments() -> tuple[Histogram, Histogram, Counter] | None:
    """Durations, tokens, and what was degraded; None if no metrics are wanted."""
    provider = _provider("metrics")
    return None if provider is None else _instruments_of(provider)


@lru_cache(maxsize=8)
def _tracer_of(provider: TracerProvider) -> Tracer:
    return provider.get_tracer(_LIBRARY, version(_LIBRARY))


@lru_cache(maxsize=8)
def _instruments_of(provider: MeterProvider) -> tuple[Histogram, Histogram, Counter]:
    meter = provider.get_meter(_LIBRARY, version(_LIBRARY))
    return (
        _histogram(meter, "gen_ai.client.operation.duration", "s", _SECONDS),
        _histogram(meter, "gen_ai.client.token.usage", "{token}", _TOKENS),
        meter.create_counter("recall.degraded", "{stage}", "Stages that could not do their work."),
    )


def _histogram(meter: Meter, name: str, unit: str, bounds: Sequence[float]) -> Histogram:
    try:
        return meter.create_histogram(name, unit, explicit_bucket_boundaries_advisory=bounds)
    except TypeError:  # Chroma takes older ones, too: before 1.30 the application sets the bounds
        return meter.create_histogram(name, unit)


def _provider_of(model: object) -> str:
    """The provider of a model, by the package of its class, such as "openai"."""
    parts = type(model).__module__.split(".")
    if parts[:2] == ["llama_index", "llms"] and len(parts) > 2:
        return parts[2]
    return parts[0].removeprefix("langchain_")


def _as_json(memories: Sequence[Candidate]) -> str:
    """Memories in the form of the conventions' `gen-ai-memory-records.json`."""
    records = [
        {"id": each.id, "content": each.content}
        | ({} if each.score is None else {"score": each.score})
        for each in memories
    ]
    return json.dumps(records, ensure_ascii=False)
