"""Who listens to what a framework tells of its runs: one shape for callbacks and spans."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from faces.adapters import Face
from langchain_core.callbacks import BaseCallbackHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler


@dataclass
class Run:
    """A run, or a span: what went in, and how it ended."""

    name: str
    parent: "Run | None"
    given: Any = None
    outcome: Any = None
    error: BaseException | None = None
    ended: int = 0
    inside: list["Run"] = field(default_factory=list)


class Runs:
    """All runs of a framework by their ids, under names that both share."""

    def __init__(self) -> None:
        self.all: dict[Any, Run] = {}

    def begin(self, run_id: Any, parent_id: Any, name: str, given: Any) -> None:
        parent = self.all.get(parent_id)
        if parent is not None and parent.name == name:  # LlamaIndex has two methods for one thing
            self.all[run_id] = parent
            return
        run = self.all[run_id] = Run(name, parent, given)
        if parent is not None:
            parent.inside.append(run)

    def end(self, run_id: Any, outcome: Any = None, error: BaseException | None = None) -> None:
        run = self.all[run_id]
        run.outcome, run.error = outcome, error
        run.ended += 1

    def named(self, *names: str) -> list[Run]:
        runs = {id(run): run for run in self.all.values()}.values()
        return [run for run in runs if run.name in names]

    @property
    def questions(self) -> list[Run]:
        return self.named("question")


class Callbacks(BaseCallbackHandler):
    """LangChain's, put down."""

    run_inline = True  # else an async chain would hand us the ends before the beginnings

    def __init__(self, runs: Runs) -> None:
        self.runs = runs

    def on_retriever_start(self, _: Any, query: str, **of: Any) -> None:
        self._begin(of, "question", query)

    def on_chain_start(self, _: Any, inputs: Any, **of: Any) -> None:
        self._begin(of, of["name"], inputs)

    def on_chat_model_start(self, _: Any, messages: Any, **of: Any) -> None:
        self._begin(of, "model", str(messages))

    def _begin(self, of: dict[str, Any], name: str, given: Any) -> None:
        self.runs.begin(of["run_id"], of["parent_run_id"], name, given)

    def on_retriever_end(self, outcome: Any, *, run_id: Any, **of: Any) -> None:
        self.runs.end(run_id, outcome)

    on_chain_end = on_llm_end = on_retriever_end

    def on_retriever_error(self, error: BaseException, *, run_id: Any, **of: Any) -> None:
        self.runs.end(run_id, error=error)

    on_chain_error = on_llm_error = on_retriever_error


class Spans(SimpleSpanHandler):
    """LlamaIndex's, put down."""

    def __init__(self, runs: Runs) -> None:
        super().__init__()
        self._runs = runs

    def new_span(self, id_: str, bound_args: Any, *args: Any, **of: Any) -> Any:
        name, _, method = id_.partition("-")[0].partition(".")
        given = bound_args.arguments if method == "apply" else str(bound_args)
        if name == "RecallRetriever":
            name = "question"
        elif method in {"chat", "achat", "complete", "acomplete"}:
            name = "model"
        self._runs.begin(id_, of["parent_span_id"], name, given)
        return super().new_span(id_, bound_args, *args, **of)

    def prepare_to_exit_span(self, id_: str, *args: Any, result: Any = None, **of: Any) -> Any:
        self._runs.end(id_, result)
        return super().prepare_to_exit_span(id_, *args, result=result, **of)

    def prepare_to_drop_span(self, id_: str, *args: Any, err: Any = None, **of: Any) -> Any:
        self._runs.end(id_, error=err)
        return super().prepare_to_drop_span(id_, *args, err=err, **of)


class Events(BaseEventHandler):
    """And its events."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: list[Any] = []

    def handle(self, event: Any, **kwargs: Any) -> None:
        self._seen.append(event)


@contextmanager
def listening(face: Face) -> Iterator[tuple[Runs, dict[str, Any]]]:
    """The runs to come, and what to give a call so that they are heard of."""
    runs = Runs()
    if face.is_langchain:
        yield runs, {"callbacks": [Callbacks(runs)]}
        return
    root, spans = get_dispatcher(), Spans(runs)
    root.add_span_handler(spans)
    try:
        yield runs, {}
    finally:
        root.span_handlers.remove(spans)
