"""FuseRerank: its formula, what must hold whatever it is given, and the later of two values."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stages.scripted import answered
from tables import table

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.message import Message
from recall_retrievers.core.query import Query
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Recall
from recall_retrievers.explain.rows import rows
from recall_retrievers.stages.fuse_rerank import FuseRerank
from recall_retrievers.stages.model_rankers import SemanticRank
from recall_retrievers.timeline import TimeRange, extract_time

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)
TUESDAY = TimeRange(
    datetime(2024, 3, 5, tzinfo=UTC), datetime(2024, 3, 6, tzinfo=UTC), "day", text="Tuesday"
)

memories = st.lists(
    st.builds(
        Candidate,
        content=st.text(min_size=1).filter(str.strip),
        id=st.uuids().map(str),
        memory_type=st.sampled_from(["conversation", "observation", "insight", "diary"]),
        created_at=st.none()
        | st.datetimes(datetime(2024, 2, 1), datetime(2024, 4, 1), timezones=st.just(UTC)),
        score=st.none() | st.floats(-1, 1),
    ),
    max_size=12,
)


EVERY = FuseRerank(top_n=100)


def fuse(given_memories, stage=EVERY, ranges=(TUESDAY,), k=None):
    query = Query(text="x", reference_time=NOW, time_ranges=ranges, k=k)
    return stage.apply(Recall(query, tuple(given_memories))).memories


@given(memories)
def test_it_invents_and_repeats_nothing_and_twice_is_once(given_memories) -> None:
    once = fuse(given_memories)
    after = [memory.id for memory in once]
    scores = [memory.score for memory in once]

    assert len(after) == len(set(after))
    assert set(after) <= {memory.id for memory in given_memories}
    assert scores == sorted(scores, reverse=True)
    assert fuse(once) == once
    without = fuse(given_memories, ranges=())
    assert all(memory.trace["time_ratio"] == 1 for memory in without)


@given(memories.filter(lambda many: all(memory.score is not None for memory in many)), st.randoms())
def test_the_order_of_the_candidates_does_not_matter(given_memories, random) -> None:
    shuffled = list(given_memories)
    random.shuffle(shuffled)

    def scores(many):
        return {memory.id: memory.score for memory in fuse(many)}

    assert scores(shuffled) == scores(given_memories)


@table(("kind", "ratio"), [("insight", 2.0), ("diary", 1.0)])
def test_the_formula(kind: str, ratio: float) -> None:
    told = Candidate(content="a", memory_type=kind, created_at=TUESDAY.start, score=0.3)

    [fused] = fuse([told])

    assert fused.noted("fused") == pytest.approx(0.3 * ratio * 2.0)
    assert fused.score == min(1.0, fused.noted("fused"))


@table(
    ("created_at", "match"),
    [
        (TUESDAY.start, "recorded"),
        (TUESDAY.end - timedelta(microseconds=1), "recorded"),
        (TUESDAY.end, "none"),
        (None, "none"),
    ],
)
def test_the_end_of_a_range_is_not_in_it(created_at, match) -> None:
    told = Candidate(content="a", created_at=created_at, score=0.5)

    assert fuse([told])[0].trace["time_match"] == match


@table(
    ("question", "inside", "beside", "elsewhere"),
    [
        (  # the rest of its day: the nearer, the more
            "Which tea did I drink yesterday at 9:30 am?",
            ["07T09:25"],
            ["07T10:30", "07T15:00", "07T23:00"],
            ["06T09:30", "08T09:30"],
        ),
        ("Which tea did I drink at nine yesterday?", ["07T09:50"], ["07T12:00"], ["08T09:50"]),
        (  # a night belongs to the day on which it began; a date without a time of day is a day
            "Which tea did I drink yesterday?",
            ["07T00:00", "07T23:30"],
            ["08T00:30", "08T02:00", "08T04:00"],
            ["08T00:00", "08T06:00", "06T12:00"],
        ),
        ("Which tea did I drink last night?", ["07T23:00", "08T01:00"], ["08T06:00"], ["07T12:00"]),
        ("Which tea did I drink last week?", ["01T12:00"], [], ["04T00:00", "04T01:00"]),
    ],
)
def test_beside_a_time_of_day_is_its_day_and_beside_a_day_its_night(
    question: str, inside: list[str], beside: list[str], elsewhere: list[str]
) -> None:
    moments = [datetime.fromisoformat(f"2024-03-{x}+00:00") for x in inside + beside + elsewhere]
    told = [Candidate(content=f"{x:%dT%H:%M}", score=0.5, created_at=x) for x in moments]

    ranked = fuse(told, ranges=tuple(extract_time(question, NOW)))

    matches = {memory.content: memory.trace["time_match"] for memory in ranked}
    assert [x for x in inside if matches[x] != "recorded"] == []
    assert [memory.content for memory in ranked if matches[memory.content] == "near"] == beside
    assert [x for x in elsewhere if matches[x] != "none"] == []


def test_scores_on_another_scale_are_brought_to_one() -> None:
    fused = fuse([Candidate(content="a", score=12.0), Candidate(content="b", score=6.0)])

    assert [memory.trace["relevance"] for memory in fused] == [1.0, 0.5]


def test_the_threshold_drops_what_neither_relevance_nor_weights_lift() -> None:
    below = Candidate(content="a", score=0.02, created_at=TUESDAY.start)
    lifted = Candidate(content="b", score=0.09, created_at=TUESDAY.start)
    condemned = Candidate(content="c", score=0.12, memory_type="conversation")

    assert [memory.content for memory in fuse([below, lifted, condemned])] == ["b", "c"]


def test_alone_in_a_retriever_it_keeps_what_the_retriever_wants() -> None:
    many = [Candidate(content=str(n), score=0.5) for n in range(9)]

    assert len(fuse(many, FuseRerank(), k=7)) == 7
    assert len(fuse(many, FuseRerank(), k=2)) == 2
    assert len(fuse(many, FuseRerank())) == 5
    assert len(fuse(many, FuseRerank(top_n=3), k=7)) == 3


def test_recently_prefers_the_recent_and_long_ago_the_old_and_neither_excludes() -> None:
    recently = TimeRange(NOW - timedelta(days=30), NOW, "day", text="recently", soft=True)
    long_ago = TimeRange(None, NOW - timedelta(days=365), "year", text="ages ago", soft=True)

    def ranked(range_: TimeRange, **told: tuple[float, int]) -> list[str]:
        found = [
            Candidate(content=name, score=score, created_at=NOW - timedelta(days=days))
            for name, (score, days) in told.items()
        ]
        return [memory.content for memory in fuse(found, ranges=(range_,))]

    fading = ranked(recently, old=(0.5, 400), weeks=(0.5, 28), new=(0.45, 1))
    assert fading == ["new", "weeks", "old"]
    assert ranked(long_ago, new=(0.5, 1), old=(0.4, 900)) == ["old", "new"]


def test_what_comes_back_every_week_does_so_on_the_askers_calendar() -> None:
    tuesdays = extract_time("on Tuesdays", NOW.astimezone(ZoneInfo("Asia/Tokyo")))
    monday_in_london = datetime(2024, 3, 4, 20, tzinfo=UTC)  # five on Tuesday morning in Tokyo
    told = Candidate(content="a", score=0.5, created_at=monday_in_london)

    assert fuse([told], ranges=tuple(tuesdays))[0].trace["time_match"] == "recorded"


@table(
    ("question", "is_trusted"),
    [
        ("What did we eat on Monday 20 May?", True),
        ("What did we eat in May?", False),
        ("How often did we eat soup on Mondays?", False),
    ],
)
def test_a_day_is_trusted_for_its_name_and_a_month_or_a_day_of_every_week_is_not(
    question: str, is_trusted: bool
) -> None:
    now = datetime(2024, 6, 12, 12, tzinfo=UTC)
    inside = Candidate(content="soup", score=0.3, created_at=datetime(2024, 5, 20, tzinfo=UTC))
    outside = replace(inside, content="rice", score=0.9, created_at=now)
    query = Query(text=question, reference_time=now, time_ranges=extract_time(question, now))

    fused = FuseRerank().apply(Recall(query, (inside, outside))).memories

    [trust] = [each.trace["time_trust"] for each in fused if each.content == "soup"]
    assert (trust > 0.3) is is_trusted


@table(
    ("question", "factor"),
    [("What did we eat yesterday?", 1), ("What did we eat in May?", 2), ("What did we eat?", 2)],
)
def test_no_type_lifts_what_lies_outside_a_named_day(question: str, factor: float) -> None:
    insight = Candidate(content="soup", memory_type="insight", score=0.5, created_at=NOW)

    [fused] = fuse([insight], ranges=tuple(extract_time(question, NOW)))

    assert fused.trace["type_ratio"] == factor


def test_candidates_that_were_fused_without_a_time_can_be_fused_with_one() -> None:
    told = Candidate(content="a", score=0.5, created_at=TUESDAY.start)
    [again] = fuse(fuse([told], ranges=()))

    assert again.score == pytest.approx(0.5 * 2)


def judged(said: str, share: float, scores: dict[str, float], *first: FuseRerank) -> Recall:
    candidates = tuple(Candidate(content=x, id=x, score=score) for x, score in scores.items())
    stages = [*first, SemanticRank(llm=object(), semantic_share=share), FuseRerank()]
    return answered(stages, Recall(Query(text="x", reference_time=NOW), candidates), said)[0]


def test_what_another_stage_has_scored_since_is_weighed_anew() -> None:
    said = '{"scores": [{"memory": 1, "score": 0.2}, {"memory": 2, "score": 0.8}]}'

    recall = judged(said, 1, {"first": 0.9, "second": 0.3}, FuseRerank())

    assert [(each.id, each.score) for each in recall.memories] == [("second", 0.8), ("first", 0.2)]


@pytest.mark.parametrize("share", [0.3, 1])
def test_a_judgement_of_nought_drops_no_memory(share: float) -> None:
    said = '{"scores": [[1, 0.0], [2, 0.0], [3, 0.0]]}'

    recall = judged(said, share, dict.fromkeys("abc", 0.12))

    assert [each.id for each in recall.memories] == ["a", "b", "c"]
    assert recall.dropped == recall.fallbacks == ()


def test_the_time_that_a_memory_tells_of_counts_as_the_time_it_was_recorded() -> None:
    event = TimeRange(TUESDAY.start, TUESDAY.end, "day")
    neither = Candidate(content="neither", score=0.5, created_at=NOW - timedelta(days=30))
    told = replace(neither, content="told", events=(event,))
    recorded = replace(neither, content="recorded", created_at=TUESDAY.start)

    scores = {each.content: each.score for each in fuse([neither, told, recorded])}

    assert scores["told"] == scores["recorded"] > 0.9
    assert scores["neither"] == 0.5


@table(
    ("question", "first"),
    [
        ("Which hotel did you suggest?", "I suggest the Ritz."),
        ("Which hotel would you suggest?", "Which hotel do you suggest?"),
        ("你给我推荐了哪家酒店？", "I suggest the Ritz."),
        ("你会推荐哪家酒店？", "Which hotel do you suggest?"),
    ],
)
def test_what_the_assistant_said_is_found_by_who_asks_for_it(question: str, first: str) -> None:
    turns = (
        Candidate(content="I suggest the Ritz.", id="1", author="assistant", score=1.0),
        Candidate(content="Which hotel do you suggest?", id="2", author="user", score=0.8),
    )
    query = Query(text=question, reference_time=NOW)

    [best, _] = FuseRerank().apply(Recall(query, turns)).memories

    assert best.content == first


def test_what_was_said_stays_where_no_score_is_above_0() -> None:
    said = (Message(role="user", content="Tea?"), Message(role="assistant", content="Green tea."))
    query = Query(text="And when?", reference_time=NOW, messages=said)
    found = [Candidate(content=x, id=x, score=0.0) for x in ("Green tea.", "The car is red.")]

    assert not FuseRerank().apply(Recall(query, tuple(found))).memories  # and nothing is raised


def test_a_memory_of_nobody_that_names_the_person_is_lifted_as_the_turns_of_the_person() -> None:
    turns = (
        Candidate(content="I sold the car.", id="1", author="Ann Lee", score=0.5),
        Candidate(content="Ann sold the car.", id="2", score=0.5),
        Candidate(content="Ben sold the car.", id="3", score=0.5),
    )
    query = Query(text="What did Ann sell?", reference_time=NOW)

    found = FuseRerank().apply(Recall(query, turns)).memories

    assert {each.id: each.trace["author_ratio"] for each in found} == {"1": 1.25, "2": 1.25, "3": 1}


JUNE = datetime(2024, 6, 12, tzinfo=UTC)
STAGE = FuseRerank()
LEEDS, BATH = "Ann lives in Leeds.", "Ann lives in Bath now."


def ranked(question, early, late, stage=STAGE, **other):
    """What the stage makes of two memories, of January and of May; the earlier one fits better."""
    last = {"content": late, "id": "2", "score": 0.85, "created_at": JUNE.replace(month=5)}
    first = Candidate(content=early, id="1", score=0.9, created_at=JUNE.replace(month=1))
    said = [first, Candidate(**last | other)]
    query = Query(text=question, reference_time=JUNE, time_ranges=extract_time(question, JUNE))
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
                 {"created_at": JUNE.replace(month=1)}, {"score": 0.6}], ids=str)  # fmt: skip
def test_only_a_near_and_later_memory_of_the_same_author_moves(other: dict[str, object]) -> None:
    assert ranked("Where does Ann live?", LEEDS, BATH, **other)[0].content == LEEDS
    assert ranked("Where does Ann live?", LEEDS, BATH, score=0.95)[0].content == BATH


def test_it_is_switched_off_with_the_order_and_twice_is_once() -> None:
    off = ranked("Where does Ann live?", LEEDS, BATH, FuseRerank(fuse_order=False))
    once = ranked("Where does Ann live?", LEEDS, BATH)
    query = Query(text="Where does Ann live?", reference_time=JUNE)

    assert off[0].content == LEEDS
    assert FuseRerank().apply(Recall(query, once)).memories == once
