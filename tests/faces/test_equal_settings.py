"""A stage is its settings: written down and read again, it gives the same answer."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.load import dumps, loads
from pydantic.fields import FieldInfo

import langchain_recall
import llamaindex_recall
from langchain_recall.document_compressor import MemoryCompressor
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.query import Query
from recall_retrievers.core.stage import Recall, Stage, pipeline
from recall_retrievers.core.world import run

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
RANKED_AGAIN = {"SemanticRank"}  # by a stage that follows


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


@pytest.mark.parametrize("kind", RANKING, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_a_default_that_is_written_out_changes_nothing(kind: Any) -> None:
    written_out = kind(top_n=kind().top_n)

    assert written_out.model_dump() == kind().model_dump()
    for k in (None, 1, 3, 12):
        assert answer(written_out, k) == answer(kind(), k)
        kept = 15 if kind.__name__ in RANKED_AGAIN else k or 5
        assert len(answer(kind(), k)[0]) == kept
