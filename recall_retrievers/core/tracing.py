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
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from tqdm import tqdm

from recall_retrievers.core.candidate import Candidate

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

    Without a span the application has configured nothing, and nothing is recorded.
    """

    def __init__(self, span: Span | None = None, attributes: Attributes | None = None) -> None:
        self._span = span
        self._attributes = attributes or {}

    @property
    def seen(self) -> bool:
        """Whether anything of it is recorded."""
        return self._span is not None

    def note(self, **attributes: str | int | Sequence[str]) -> None:
        """Add attributes to the span; in their names, a double underscore stands for a dot."""
        if self._span is not None:
            for name, value in attributes.items():
                self._span.set_attribute(name.replace("__", "."), value)

    def asked(self, text: str) -> None:
        """Note the question, if texts are asked for."""
        if self.seen and captures_text():
            self.note(gen_ai__memory__query__text=text)

    def counted(self, number: int) -> None:
        """Note how many memories it is about."""
        self.note(gen_ai__memory__record__count=number)

    def records(self, memories: Iterable[Candidate]) -> None:
        """Note how many memories it is about, and which ones, if texts are asked for."""
        if not self.seen:
            return
        listed = [*memories]
        self.counted(len(listed))
        if listed and captures_text():
            self.note(gen_ai__memory__records=_as_json(listed))

    def degraded(self, fallbacks: Sequence[str]) -> None:
        """Note the stages that could not do their work; the reasons only if texts are asked for."""
        if not self.seen or not fallbacks:
            return
        stages = list(dict.fromkeys(each.partition(":")[0] for each in fallbacks))
        self.note(recall__degraded=stages)
        if captures_text():
            self.note(recall__degraded__reasons=list(fallbacks))
        for stage in stages:
            _instruments().degraded.add(1, {"recall.stage": stage})

    def tokens(self, sent: int, received: int) -> None:
        """Note the tokens that a model has counted."""
        if self.seen:
            self.note(gen_ai__usage__input_tokens=sent, gen_ai__usage__output_tokens=received)
            for kind, number in (("input", sent), ("output", received)):
                attributes = {**self._attributes, "gen_ai.token.type": kind}
                _instruments().tokens.record(number, attributes)


def captures_text() -> bool:
    """Whether the texts of questions and memories are asked for."""
    return os.environ.get(CAPTURE, "").lower() in _ASKED_FOR


def memory_operation(
    name: MemoryOperation, store: str = "", *, record_id: str = ""
) -> AbstractContextManager[Operation]:
    """Trace what is done to memories; one in another with the same name is a part of that one."""
    about = {"gen_ai.memory.store.id": store, "gen_ai.memory.record.id": record_id}
    further = {key: value for key, value in about.items() if value}
    return _traced(name, name, {}, further)


def model_call(model: object) -> AbstractContextManager[Operation]:
    """Trace a call of a language model."""
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    model_name = name if isinstance(name, str) else ""
    attributes = {"gen_ai.provider.name": _provider_of(model), "gen_ai.request.model": model_name}
    known = {key: value for key, value in attributes.items() if value}
    return _traced("chat", f"chat {model_name}".strip(), known, {})


@contextmanager
def _traced(
    operation: str, title: str, attributes: Attributes, further: Attributes
) -> Iterator[Operation]:
    is_part = _within.get() == operation and operation != "chat"
    if is_part or not any(map(_is_configured, _GETTERS)):
        yield Operation()
        return
    from opentelemetry import trace  # noqa: PLC0415 - it is loaded already

    shared = {_OPERATION: operation, **attributes}
    began, outcome = perf_counter(), dict[str, str]()
    outside = _within.set(operation)
    with _tracer_of(trace.get_tracer_provider()).start_as_current_span(
        title,
        kind=trace.SpanKind.CLIENT if operation == "chat" else trace.SpanKind.INTERNAL,
        attributes={**shared, **further},
        record_exception=False,  # what an error says may quote a memory
        set_status_on_exception=False,
    ) as span:
        try:
            yield Operation(span, shared)
        except BaseException as error:
            outcome = {"error.type": type(error).__qualname__}
            span.set_attributes(outcome)
            span.set_status(trace.StatusCode.ERROR, str(error) if captures_text() else None)
            raise
        finally:
            _within.reset(outside)
            _instruments().seconds.record(perf_counter() - began, {**shared, **outcome})


def _is_configured(signal: str) -> bool:
    """Whether the application has configured a signal."""
    own = f"opentelemetry.{signal}"
    get = getattr(sys.modules.get(own), _GETTERS[signal], None)
    # What the API has for itself, until somebody configures it, does nothing.
    return get is not None and not type(get()).__module__.startswith(own)


class _Instruments(NamedTuple):
    """The metrics; those of an application that has configured none do nothing."""

    seconds: Histogram
    tokens: Histogram
    degraded: Counter


def _instruments() -> _Instruments:
    from opentelemetry.metrics import get_meter_provider  # noqa: PLC0415 - only where it is used

    return _instruments_of(get_meter_provider())


@lru_cache(maxsize=8)
def _tracer_of(provider: TracerProvider) -> Tracer:
    return provider.get_tracer(_LIBRARY, version(_LIBRARY))


@lru_cache(maxsize=8)
def _instruments_of(provider: MeterProvider) -> _Instruments:
    meter = provider.get_meter(_LIBRARY, version(_LIBRARY))
    return _Instruments(
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


T = TypeVar("T")


def progress_bar(
    things: Iterable[T] | None = None,
    *,
    unit: str,
    desc: str | None = None,
    total: int | None = None,
    wanted: bool = True,
) -> tqdm[T]:
    """A progress bar; silent where there is no terminal, and with ``TQDM_DISABLE=1`` set."""
    # tqdm no longer reads its own variable where `disable` is set.
    off = not wanted or os.environ.get("TQDM_DISABLE", "0") not in {"", "0"}
    # None = off where there is no terminal.
    return tqdm(things, desc=desc, total=total, unit=f" {unit}", disable=True if off else None)
