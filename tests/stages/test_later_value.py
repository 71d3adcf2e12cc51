"""Of two values the later one comes first, where a question asks what is so now."""

from datetime import UTC, datetime

import pytest
from tables import table

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.query import Query
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Recall
from recall_retrievers.explain.rows import rows
from recall_retrievers.stages.fuse_rerank import FuseRerank
from recall_retrievers.timeline import extract_time

NOW = datetime(2024, 6, 12, tzinfo=UTC)
STAGE = FuseRerank()
LEEDS, BATH = "Ann lives in Leeds.", "Ann lives in Bath now."


def ranked(question, early, late, stage=STAGE, **other):
    """What the stage makes of two memories, of January and of May; the earlier one fits better."""
    last = {"content": late, "id": "2", "score": 0.85, "created_at": NOW.replace(month=5)}
    first = Candidate(content=early, id="1", score=0.9, created_at=NOW.replace(month=1))
    said = [first, Candidate(**last | other)]
    query = Query(text=question, reference_time=NOW, time_ranges=extract_time(question, NOW))
    return stage.apply(Recall(query, tuple(said))).memories


UPDATES = [
    ("Where does Ann live?", LEEDS, BATH),
    ("Wie viel wiege ich?", "Ich wiege 82 Kilo.", "Ich wiege jetzt 77 Kilo."),
    ("¿Cuál es la contraseña del wifi?", "La contraseña del wifi es garza7.",
     "La contraseña del wifi es nutria22."),
    ("Où habite Claire ?", "Claire habite à Lyon.", "Claire habite maintenant à Nantes."),
    ("小丽住在哪里？", "小丽住在成都。", "小丽现在住在南京。"),
    ("鍵の番号は？", "鍵の番号はサギ7です。", "鍵の番号はカワウソ22です。"),
]  # fmt: skip
AS_BEFORE = [
    ("Where did Ann live?", LEEDS, BATH),  # the past
    ("Where does Ann live since May 2023?", LEEDS, BATH),  # a time
    ("What was Ann's old address?", "Ann's address is 4 Elm Row.", "Ann's address is 9 Oak Row."),
    ("Where does Ann live?", LEEDS, "Tom lives in Bath."),  # another one
    ("Where does Ann live in Leeds?", LEEDS, BATH),  # the question has the value
    ("Where do friends live?", "A friend Eva lives in Kent.", "A friend Raj lives in York."),
    ("What does Ann read?", "Ann read a book on bees.", "Ann read a book on ice. She liked it."),
    ("Where is Ann?", "Ann was in Leeds.", "Ann was in Bath."),  # no state
    ("What does Ann like?", "Ann likes olives.", "Ann likes figs."),  # both are true
    ("Which cats are Ann's?", "Ann's cat is Miso.", "Ann's cat is Biscuit."),
    ("Where does Ann live?", LEEDS, "Ann lives alone, near a mill with ducks, bees, sheep, goats."),
    ("Where does Ann live?", LEEDS, "Ann lives in Bath. The garden is big."),
    ("Where does Ann work as a cook?", LEEDS, BATH),  # no answer
    ("Where is Ann?", "Ann has bees, ducks, sheep.", "Ann has cold feet."),  # little in common
    ("Who is a doctor?", "Ann is a doctor.", "Tom is a doctor."),
]


@table(("question", "early", "late"), UPDATES)
def test_the_later_of_two_values_is_first(question: str, early: str, late: str) -> None:
    found = ranked(question, early, late)

    assert [memory.content for memory in found] == [late, early]
    assert [memory.score for memory in found] == pytest.approx([0.9, 0.85])
    assert all("the later of two values first" in rows(memory)[-1].label for memory in found)


@table(("question", "early", "late"), AS_BEFORE)
def test_what_is_no_update_stays_in_place(question: str, early: str, late: str) -> None:
    assert [memory.content for memory in ranked(question, early, late)] == [early, late]


@table("other", [{"author": "tom"}, {"scope": Scope(user_id="tom")}, {"created_at": None},
                 {"created_at": NOW.replace(month=1)}, {"score": 0.6}], ids=str)  # fmt: skip
def test_only_a_near_and_later_memory_of_the_same_author_moves(other: dict[str, object]) -> None:
    assert ranked("Where does Ann live?", LEEDS, BATH, **other)[0].content == LEEDS
    assert ranked("Where does Ann live?", LEEDS, BATH, score=0.95)[0].content == BATH


def test_it_is_switched_off_with_the_order_and_twice_is_once() -> None:
    off = ranked("Where does Ann live?", LEEDS, BATH, FuseRerank(fuse_order=False))
    once = ranked("Where does Ann live?", LEEDS, BATH)
    query = Query(text="Where does Ann live?", reference_time=NOW)

    assert off[0].content == LEEDS
    assert FuseRerank().apply(Recall(query, once)).memories == once
