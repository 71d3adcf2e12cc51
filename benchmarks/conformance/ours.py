"""Our stages, in both faces."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping, Sequence

from benchmarks.conformance import langchain_subject, llamaindex_subject
from benchmarks.conformance.check import AnySubject
from benchmarks.conformance.material import ITEMS
from benchmarks.conformance.piece import Piece, scored
from benchmarks.conformance.subject import Reply
from recall_retrievers.core.stage import Stage

SUBJECTS = {
    "langchain_recall": langchain_subject.Subject,
    "llamaindex_recall": llamaindex_subject.Subject,
}
FACES = tuple(SUBJECTS)


def _cited(key: str) -> Callable[[Sequence[int]], str]:
    texts = dict(enumerate((item.content for item in ITEMS), 1))
    return lambda numbers: json.dumps(
        {key: [{"text": texts.get(n, "Tea."), "memories": [n]} for n in numbers]}
    )


# What a model that works says, in the form that each stage wants.
REPLIES: Mapping[str, Reply] = {
    "BuildQuery": lambda _: '{"query": "tea"}',
    "ExtractTime": lambda _: '{"times": []}',
    "Reflect": _cited("points"),
    "RerankMemory": scored("ranking", "memory", "score", 0.5),
    "RewriteMemory": _cited("sentences"),
    "SearchGate": lambda _: '{"search": true}',
    "SemanticRank": scored("scores", "memory", "score", 0.5),
}
TEXTS = {"MergeMemory", "PrintMemory", "Reflect", "RewriteMemory"}


def stages(face: str) -> list[str]:
    """The names of a face's stages."""
    package = importlib.import_module(face)
    exported = {name: getattr(package, name) for name in package.__all__}
    kinds = {name: each for name, each in exported.items() if isinstance(each, type)}
    several = {"RecallCompressor", "RecallPostprocessor"}
    return sorted(n for n, each in kinds.items() if issubclass(each, Stage) and n not in several)


def subject(face: str, name: str) -> AnySubject:
    """A stage of ours on trial."""
    package = importlib.import_module(face)
    stage = getattr(package, name)
    made: AnySubject = SUBJECTS[face](
        (lambda model: stage(llm=model)) if name in REPLIES else (lambda _: stage()),
        reply=REPLIES.get(name),
        originals=package.originals if name in TEXTS else None,
    )
    return made


def pieces(face: str) -> list[Piece]:
    """A row for each stage of a face."""
    return [Piece(f"{face}.{name}", lambda name=name: subject(face, name)) for name in stages(face)]  # type: ignore[misc]  # a default binds the loop's name
