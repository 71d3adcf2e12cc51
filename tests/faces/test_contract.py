"""Our stages keep the promises of `benchmarks.conformance.checks`, and are their settings."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.load import dumps, loads
from pydantic.fields import FieldInfo
from tables import table
from test_house import STAGES

import langchain_recall
import llamaindex_recall
from benchmarks.conformance.checks import CHECKS
from benchmarks.conformance.langchain_subject import Subject
from benchmarks.conformance.ours import FACES, REPLIES, subject
from langchain_recall.document_compressor import MemoryCompressor
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.query import Query
from recall_retrievers.core.stage import Recall, Stage, pipeline
from recall_retrievers.core.world import run

ASKS = {"SemanticRank", "RerankMemory", "RewriteMemory", "Reflect"}
ABOUT_MODELS = {"failing", "odd", "kept"}


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("package", FACES)
def test_every_stage_keeps_every_promise(package: str, name: str) -> None:
    verdicts = {check.name: check.judge(subject(package, name)) for check in CHECKS}

    assert {n: each.why for n, each in verdicts.items() if each.holds is False} == {}
    not_asked = {n for n, each in verdicts.items() if each.holds is None}
    assert not_asked == (set() if name in ASKS else ABOUT_MODELS)


def test_every_stage_that_takes_a_model_is_given_one() -> None:
    takes = {name for name in STAGES if "llm" in getattr(langchain_recall, name).model_fields}

    assert takes == set(REPLIES)


class Breaks(BaseDocumentCompressor):
    """A compressor that asks its model, survives its errors, and then breaks a promise."""

    llm: Any
    wrong: Callable[[list[Document]], list[Document]]

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> list[Document]:
        if documents:
            with suppress(Exception):
                self.llm.invoke("?")
        return self.wrong(list(documents))


def changed(documents: list[Document], **change: Any) -> list[Document]:
    return [each.model_copy(update=change) for each in documents]


def marked(documents: list[Document], **more: Any) -> list[Document]:
    return [changed([each], metadata={**each.metadata, **more})[0] for each in documents]


def alter(documents: list[Document]) -> list[Document]:
    for document in documents:
        document.metadata["seen"] = True
    return documents


def lose_metadata(documents: list[Document]) -> list[Document]:
    return [changed([x], metadata={"mark": x.metadata["mark"]})[0] for x in documents]


ALWAYS = {"subset", "bare", "failing", "odd", "kept"}
BROKEN: list[tuple[Callable[[list[Document]], list[Document]], set[str]]] = [
    (list, set()),
    (alter, {"unaltered"}),
    (lambda found: changed(found, id=None), {"ids"}),
    (lambda found: [*found, *found[:1]], {"ties", *ALWAYS}),
    (lambda found: changed(found, page_content="Nobody said this."), ALWAYS),
    (lose_metadata, {"metadata"}),
    (lambda found: found[::-1], {"ties"}),
    (lambda found: marked(found, relevance_score=np.float64(0.5)), {"plain"}),
    (lambda found: marked(found, detail={"at": [object()]}), {"plain"}),
    (lambda found: [x for x in found if x.metadata["relevance_score"] >= 0], {"bare"}),
]


@table(("wrong", "names"), BROKEN)
def test_a_check_sees_what_it_is_there_for(wrong: Any, names: set[str]) -> None:
    """tests/benchmarks/test_conformance.py has the checks that stock pieces fail."""
    trial = Subject(lambda model: Breaks(llm=model, wrong=wrong), reply=str)

    verdicts = {check.name: check.judge(trial) for check in CHECKS}

    assert {name for name, verdict in verdicts.items() if verdict.holds is False} == names


NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)
MEMORIES = tuple(
    Candidate(
        content=f"The dentist and {place} cups of tea.",
        id=str(place),
        score=1 - place / 20,
        created_at=NOW.replace(day=1 + place % 7),
    )
    for place in range(15)
)
HOW_MANY = st.none() | st.integers(1, 15)
SWITCHES = st.fixed_dictionaries({}, optional={"timezone": st.just("Europe/Berlin")})


def _stages(face: Any) -> Iterator[type]:
    for name in face.__all__:
        value = getattr(face, name)
        if (
            isinstance(value, type)
            and issubclass(value, Stage)
            and not name.startswith(("Memory", "Recall"))
        ):
            yield value


ABSENT = FieldInfo(default=...)
CLASSES = [*_stages(langchain_recall), *_stages(llamaindex_recall)]
RANKING = [each for each in CLASSES if each.model_fields.get("top_n", ABSENT).default is None]


def read_again(stage: Any) -> Any:
    if isinstance(stage, MemoryCompressor):
        kind = type(stage)
        return loads(dumps(stage), valid_namespaces=["langchain_recall"], allowed_objects=[kind])
    return type(stage).from_json(stage.to_json())


def answer(stage: Any, k: int | None) -> list[Any]:
    recall = Recall(Query(text="the dentist on Tuesday?", reference_time=NOW, k=k), MEMORIES)
    outcome = run(pipeline([stage], recall))
    found = [(memory.id, memory.score, memory.trace) for memory in outcome.memories]
    return [found, outcome.text, outcome.query.time_ranges, outcome.skipped]


@pytest.mark.filterwarnings("ignore:The function `loads` is in beta")
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
@settings(max_examples=12)
@given(own=SWITCHES, top_n=HOW_MANY, k=HOW_MANY)
def test_read_again_it_is_the_same_stage(kind: Any, own: Any, top_n: Any, k: Any) -> None:
    ranks = {"top_n": top_n} if kind in RANKING else {}
    stage = kind(**own, **ranks)

    back = read_again(stage)

    assert back.model_dump() == stage.model_dump()
    assert answer(back, k) == answer(stage, k)
