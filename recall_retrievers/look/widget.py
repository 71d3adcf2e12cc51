"""A widget for notebooks: questions asked of a retriever by hand, their answers as pictures."""

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, ClassVar

import anywidget
import traitlets

from recall_retrievers.agents.recall_tool import RecallToolInput
from recall_retrievers.core.errors import RecallError, StoreError
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings import Count, Timestamp
from recall_retrievers.core.settings_messages import got
from recall_retrievers.core.world import completed
from recall_retrievers.explain.explanation import Explanation, explain
from recall_retrievers.look.answer import (
    Explained,
    MemoryView,
    Sliders,
    explained,
    sliders_of,
    to_look_at,
)
from recall_retrievers.retriever.call_options import CallOptions, TimeMode
from recall_retrievers.retriever.memory_retriever import MemoryRetriever, RetrieverOptions
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.store.conditions import Position
from recall_retrievers.store.store import Store

_FOLDER = files("recall_retrievers.look")
_WRITTEN_BY_THE_PAGE = {"k", "method", "semantic_weight", "token_weight", "time_mode", "messages"}
_LITERALS = (str, int, float, dict)
_NO_WIDGETS = "Run this notebook to ask questions here, and to move the settings."


class _Asked(Sliders):
    """A question as the page sends it; what is left out is as the retriever is set."""

    public_name: ClassVar[str] = "a question"

    query: str = ""
    k: Count | None = None
    time_mode: TimeMode | None = None
    timestamp: Timestamp = None
    since: str | None = None
    until: str | None = None
    user_id: str | None = None
    limit: Count | None = None  # of a list
    after: str | None = None

    def options(self) -> CallOptions:
        """The settings of the call."""
        named = {"k": self.k, "timestamp": self.timestamp, "time_mode": self.time_mode}
        time = RecallToolInput(query="", since=self.since, until=self.until).options()
        given: Any = {**time, **{name: value for name, value in named.items() if value is not None}}
        if self.user_id is not None:
            given["scope"] = {"user_id": self.user_id}
        return given  # type: ignore[no-any-return]  # the names are those of the settings


class Explorer(anywidget.AnyWidget):
    """A retriever to look at; `explore` makes it."""

    _esm = _FOLDER.joinpath("look.js").read_text("utf-8")
    _css = _FOLDER.joinpath("look.css").read_text("utf-8")

    question = traitlets.Unicode().tag(sync=True)
    questions = traitlets.List(traitlets.Dict()).tag(sync=True)
    defaults = traitlets.Dict().tag(sync=True)
    own = traitlets.Dict().tag(sync=True)
    python = traitlets.Unicode().tag(sync=True)
    browses = traitlets.Bool().tag(sync=True)  # whether the store lists its memories

    def __init__(self, retriever: MemoryRetriever, question: str = "") -> None:
        usual = sliders_of(MemoryRetriever.model_construct(store=retriever.store))
        own = {name: x for name, x in sliders_of(retriever).items() if x != usual[name]}
        super().__init__(
            question=question,
            defaults=usual,
            own=own,
            python=_as_python(retriever),
            browses=isinstance(retriever.store, Store),
        )
        self._retriever = retriever
        self._still: Explanation | None = None
        if question:
            recall = completed(retriever.recalled(question, {}, retriever.world))
            self._still = explain(recall.memories, recall.why_nothing)
        self.on_msg(self._receive)

    def ask(self, **asked: Any) -> Explained:
        """The answer to a question, with some settings moved: what the picture is drawn from."""
        question = _Asked.model_validate(asked)
        options = question.options()
        world = self._retriever.world
        return completed(explained(self._retriever, question.query, options, question, world))

    def browse(self, **asked: Any) -> dict[str, object]:
        """A page of the memories in the retriever's scope, the newest first."""
        store, question = self._retriever.store, _Asked.model_validate(asked)
        if not isinstance(store, Store):
            raise StoreError("the memories of this store cannot be listed; ask a question")
        call = self._retriever.for_call(question.options())
        found = store.memories(
            scope=call.scope,
            filter=call.filter,
            time_range=next(iter(call.bounds(call.moment(datetime.now(UTC)), ExtractTime)), None),
            limit=question.limit,
            after=None if question.after is None else Position.read(question.after),
        )
        page = [*found]
        is_last = question.limit is None or len(page) < question.limit
        return {
            "memories": [MemoryView.model_validate(x).model_dump(mode="json") for x in page],
            "next": None if is_last else Position.of(page[-1]).written(),
        }

    def __repr__(self) -> str:
        return _NO_WIDGETS if self._still is None else str(self._still)

    def _repr_mimebundle_(self, **how: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The widget; where none runs, as on a page of a forge, a still picture stands for it."""
        shown = super()._repr_mimebundle_(**how)
        if shown is None:
            return None
        still = f"<p>{_NO_WIDGETS}</p>" if self._still is None else self._still.to_html()
        return {**shown[0], "text/html": still}, shown[1]

    def _receive(self, _: object, content: Mapping[str, Any], __: object) -> None:
        """Answer a message of the page: ``{"id": 1, "ask": {"query": "..."}}``, or ``browse``."""
        reply: dict[str, object] = {"id": content["id"]}
        try:
            if "browse" in content:
                reply["answer"] = self.browse(**content["browse"])
            else:
                reply["answer"] = self.ask(**content.get("ask", {})).model_dump(mode="json")
        except Exception as error:
            reply["error"] = str(error) or type(error).__name__
            if not isinstance(error, RecallError):
                raise  # the kernel shows where
        finally:  # the page would wait for ever
            self.send(reply)


def explore(retriever: MemoryRetriever, question: str = "", *, models: bool = False) -> Explorer:
    """Look at a retriever in a notebook: ask it, move its settings, mark what is right.

    Every question has the retriever's own scope and settings. Where no widget runs, the answer to
    the first question is shown as `explain` shows it.

    Args:
        retriever: A `RecallRetriever`. It is not changed.
        question: The first question. Empty = you write it.
        models: Whether stages with a language model, and rerankers of the framework, are asked.
            Every move of a slider asks them anew. Stages that write a text are left out anyway.

    Returns:
        The widget. Its ``questions`` are your judgements, as `evaluate` takes them: each has a
        question and the ids of the memories that you marked as right. ``ask(query="...")`` returns
        the data that the picture is drawn from.

    Raises:
        TypeError: When it is no `RecallRetriever`.
        ImportError: When anywidget is not installed: ``pip install "recall-retrievers[look]"``.

    Examples:
        >>> from langchain_recall import RecallRetriever, RecallStore
        >>> with RecallStore() as store:
        ...     ids = store.add(["The dentist filled a tooth.", "Tea at four."])
        ...     retriever = RecallRetriever(store=store, k=1)
        ...     look = explore(retriever, "What did the dentist do?")
        ...     look.ask(query="When is tea?", k=2).memories[0].content
        'Tea at four.'
        >>> look.questions
        []
    """
    if not isinstance(retriever, MemoryRetriever):
        raise TypeError(f"explore takes a RecallRetriever; got {got(retriever)}")
    return Explorer(to_look_at(retriever, models=models), question)


def _as_python(retriever: MemoryRetriever) -> str:
    """The beginning of a call that makes the retriever; the page writes its sliders behind it."""
    written = ["RecallRetriever(store=store"]
    for name in RetrieverOptions.__annotations__:
        if name in retriever.model_fields_set and name not in _WRITTEN_BY_THE_PAGE:
            value = getattr(retriever, name)
            shown = value.fields() if isinstance(value, Scope) else value
            written += [f"{name}={shown!r}"] if isinstance(shown, _LITERALS) else []
    return ", ".join(written)
