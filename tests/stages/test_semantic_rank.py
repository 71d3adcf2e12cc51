"""SemanticRank without a model, and what it sends to one."""

from datetime import UTC, datetime

from stages.scripted import answered

from recall_stages.core.candidate import Candidate
from recall_stages.core.memory import Query
from recall_stages.core.stage import Recall
from recall_stages.core.world import run
from recall_stages.stages.semantic_rank import SemanticRank
from recall_stages.timeline import parse_time

ASKED = Recall(
    Query(text="Who filled my tooth?", reference_time=datetime(2024, 3, 8, 12, tzinfo=UTC)),
    (
        Candidate(
            content="The dentist did.", author="Ann", created_at=parse_time("2024-03-05T10:00:00Z")
        ),
        Candidate(content="Ask <b>first</b>.", when_to_use="At the dentist's", memory_type="task"),
    ),
)


def test_switched_off_it_only_sorts() -> None:
    stage = SemanticRank(llm=object(), enable_ranker=False)
    candidates = tuple(Candidate(content=str(s), score=s) for s in (0.2, 0.7, 0.5))

    recall = run(stage.apply(Recall(ASKED.query, candidates)))

    assert [memory.score for memory in recall.memories] == [0.7, 0.5, 0.2]


def test_copies_of_a_text_are_judged_once() -> None:
    copies = tuple(Candidate(content="The same.", id=str(n), score=0.5) for n in range(3))
    other = Candidate(content="Another.", id="x", score=0.4)

    [prompt] = next(SemanticRank(llm=object()).apply(Recall(ASKED.query, (*copies, other))))

    assert prompt.user.count("The same.") == 1


def test_what_a_model_leaves_out_stays_below_all_that_it_judged() -> None:
    candidates = tuple(
        Candidate(content=name, id=name, score=0.5) for name in ("left out", "judged")
    )
    stage = SemanticRank(llm=object())

    recall, _ = answered([stage], Recall(ASKED.query, candidates), '[{"memory": 2, "score": 0.4}]')

    assert [each.id for each in recall.memories] == ["judged", "left out"]
    assert (recall.memories[1].score or 0) < 0.4
