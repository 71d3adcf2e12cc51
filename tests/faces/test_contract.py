"""Our stages keep the promises that `benchmarks.conformance.checks` checks, each in both faces."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import BaseDocumentCompressor, Document
from test_house import STAGES

import langchain_recall
from benchmarks.conformance.check import ContractError
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


# -- each check sees what it is there for: compressors that break one promise each ----------------


class Breaks(BaseDocumentCompressor):
    """A compressor that asks its model and keeps the order, but for what is wrong with it."""

    llm: Any
    wrong: Callable[..., Sequence[Document]]

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> Sequence[Document]:
        return self.wrong(self, documents)

    def said(self) -> str:
        try:
            return self.llm.invoke("?").text
        except Exception:  # noqa: BLE001 - it is what a good one does
            return ""


def fine(piece: Breaks, documents: Sequence[Document]) -> Sequence[Document]:
    if documents:
        piece.said()
    return list(documents)


def asks_about_nothing(piece: Breaks, documents: Sequence[Document]) -> Sequence[Document]:
    piece.said()
    return list(documents)


def alters(piece: Breaks, documents: Sequence[Document]) -> Sequence[Document]:
    for document in documents:
        document.metadata["seen"] = True
    return fine(piece, documents)


def _changed(documents: Sequence[Document], **change: Any) -> list[Document]:
    return [each.model_copy(update=change) for each in documents]


def loses_ids(piece: Breaks, documents: Sequence[Document]) -> Sequence[Document]:
    return _changed(fine(piece, documents), id=None)


def doubles(piece: Breaks, documents: Sequence[Document]) -> Sequence[Document]:
    return [*fine(piece, documents), *documents[:1]]


def rewrites(piece: Breaks, documents: Sequence[Document]) -> Sequence[Document]:
    return _changed(fine(piece, documents), page_content="Nobody said this.")


def loses_metadata(piece: Breaks, documents: Sequence[Document]) -> Sequence[Document]:
    return [
        each.model_copy(update={"metadata": {"mark": each.metadata["mark"]}})
        for each in fine(piece, documents)
    ]


def turns_around(piece: Breaks, documents: Sequence[Document]) -> Sequence[Document]:
    return list(reversed(fine(piece, documents)))


def numpy_scores(piece: Breaks, documents: Sequence[Document]) -> Sequence[Document]:
    return [
        each.model_copy(update={"metadata": {**each.metadata, "relevance_score": np.float64(0.5)}})
        for each in fine(piece, documents)
    ]


def nests_what_json_cannot_carry(
    piece: Breaks, documents: Sequence[Document]
) -> Sequence[Document]:
    return [
        each.model_copy(update={"metadata": {**each.metadata, "detail": {"at": [object()]}}})
        for each in fine(piece, documents)
    ]


def wants_scores(piece: Breaks, documents: Sequence[Document]) -> Sequence[Document]:
    return [each for each in fine(piece, documents) if each.metadata["relevance_score"] >= 0]


def lets_errors_through(piece: Breaks, documents: Sequence[Document]) -> Sequence[Document]:
    if documents:
        piece.llm.invoke("?")
    return list(documents)


def trusts_numbers(piece: Breaks, documents: Sequence[Document]) -> Sequence[Document]:
    said = piece.said() if documents else ""
    if not said.startswith("["):
        return list(documents)
    try:
        return [documents[number - 1] for number in json.loads(said)]
    except (ValueError, RecursionError, TypeError):
        return list(documents)


def wants_an_answer(piece: Breaks, documents: Sequence[Document]) -> Sequence[Document]:
    return list(documents) if documents and piece.said().startswith("[1") else []


BROKEN: list[tuple[Callable[..., Sequence[Document]], set[str]]] = [
    (fine, set()),
    (asks_about_nothing, {"empty"}),
    (alters, {"unaltered"}),
    (loses_ids, {"ids"}),
    (doubles, {"subset", "ties", "bare", "failing", "odd", "kept"}),
    (rewrites, {"subset", "bare", "failing", "odd", "kept"}),
    (loses_metadata, {"metadata"}),
    (turns_around, {"ties"}),
    (numpy_scores, {"plain"}),
    (nests_what_json_cannot_carry, {"plain"}),
    (wants_scores, {"bare"}),
    (lets_errors_through, {"failing"}),
    (trusts_numbers, {"odd"}),
    (wants_an_answer, {"failing", "kept"}),
]


@pytest.mark.parametrize(("wrong", "names"), BROKEN, ids=lambda case: getattr(case, "__name__", ""))
def test_what_is_broken_is_seen(wrong: Callable[..., Sequence[Document]], names: set[str]) -> None:
    trial = Subject(lambda model: Breaks(llm=model, wrong=wrong), reply=str)

    verdicts = {check.name: check.judge(trial) for check in CHECKS}

    assert {name for name, verdict in verdicts.items() if verdict.holds is False} == names
    assert all(verdict.why for verdict in verdicts.values() if verdict.holds is False)


def test_a_sync_that_says_other_things_than_async_is_seen() -> None:
    class Twofold(Breaks):
        async def acompress_documents(self, *given: Any, **named: Any) -> Sequence[Document]:
            return list(reversed(self.compress_documents(*given, **named)))

    [check] = [check for check in CHECKS if check.name == "async"]

    with pytest.raises(
        ContractError, match=r"sync and async give the same result: sync \['a', 'b', 'c'"
    ):
        check(Subject(lambda model: Twofold(llm=model, wrong=fine)))
