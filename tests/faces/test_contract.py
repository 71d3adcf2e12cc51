"""Our stages keep the promises that `benchmarks.conformance.checks` checks, each in both faces."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import BaseDocumentCompressor, Document
from tables import table
from test_house import STAGES

import langchain_recall
from benchmarks.conformance.checks import CHECKS
from benchmarks.conformance.langchain_subject import Subject
from benchmarks.conformance.ours import FACES, REPLIES, subject

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
