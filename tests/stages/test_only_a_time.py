"""A question for nothing but a time is answered with memories of that time."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tables import table

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.query import Query
from recall_retrievers.core.stage import Recall
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.stages.fuse_rerank import FuseRerank
from recall_retrievers.store import RecallStore
from recall_retrievers.text.questions import asks_for_time_alone
from recall_retrievers.timeline import extract_time

ROOT = Path(__file__).parents[2]
NOW = datetime(2023, 5, 7, 12, tzinfo=UTC)


def lines(file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ROOT / file).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("half", ["development", "held back"])
def test_the_first_five_are_of_the_time(words: Any, half: str) -> None:
    shares, rows = [], lines("examples/memorybank/memories.jsonl")
    with RecallStore(embedding=words) as store:
        store.add({**row, "created_at": f"{row['created_at']}+00:00"} for row in rows)
        retriever = MemoryRetriever(store=store)
        for asked in lines("benchmarks/data/only_a_time.jsonl"):
            if asked["half"] != half:
                continue
            found = retriever.recall_without_model(
                asked["text"], timestamp=NOW, scope={"user_id": asked["user_id"]}
            )
            days = [f"{memory.created_at:%Y-%m-%d}" for memory in found.memories]
            inside = [asked["first_day"] <= day <= asked["last_day"] for day in days]
            mine = [row["created_at"] for row in rows if row["user_id"] == asked["user_id"]]
            there = sum(asked["first_day"] <= day[:10] <= asked["last_day"] for day in mine)
            shares.append(sum(inside[:there]) / min(5, there))

    assert len(shares) in (40, 60)
    assert sum(shares) / len(shares) >= 0.95


@table(
    ("text", "alone"),
    [
        ("What did Ann tell us last Tuesday?", True),
        ("What did Bob tell us last Tuesday?", False),
        ("Which film did we discuss yesterday?", False),
        ("Who am I?", False),
        ("昨天张曼婷做了什么？", True),
        ("昨天看了什么电影？", False),
        ("Was there anything special that we talked through yesterday?", True),
        ("Worüber haben wir gestern gesprochen?", True),
        ("Was haben wir gestern gegessen?", False),
        ("¿De qué cosas hablamos ayer?", True),
        ("¿Qué película vimos ayer?", False),
        ("De quels sujets avons-nous discuté hier ?", True),
        ("Quel film avons-nous vu hier ?", False),
        ("昨日どんな話をしましたか？", True),
        ("昨日どんな映画を見ましたか？", False),
    ],
)
def test_a_topic_or_another_person_is_more_than_a_time(text: str, alone: bool) -> None:
    spans = [time.span for time in extract_time(text, NOW) if time.span]

    assert asks_for_time_alone(text, spans, ["Ann", "张曼婷"]) is alone


def of(*told: Candidate, text: str) -> list[str]:
    query = Query(text=text, reference_time=NOW, time_ranges=tuple(extract_time(text, NOW)))
    return [memory.id for memory in FuseRerank().apply(Recall(query, told)).memories]


def note(name: str, score: float, ago: timedelta) -> Candidate:
    return Candidate(content=name, id=name, score=score, created_at=NOW - ago)


def test_of_an_empty_day_the_best_of_other_days_come() -> None:
    assert of(note("other", 0.5, timedelta(days=9)), text="What happened yesterday?") == ["other"]


def test_of_a_time_alone_what_hardly_resembles_the_question_comes_too() -> None:
    assert of(note("faint", 0.01, timedelta(days=1)), text="What happened yesterday?") == ["faint"]


def why(memory: Candidate) -> str:
    weighed = [step for step in memory.steps if step.stage == "FuseRerank"]
    return next(step.about for step in reversed(weighed) if step.change != "divide")


def test_recently_is_a_time_too(words: Any) -> None:
    old = [{"content": f"up to {n}", "created_at": NOW - timedelta(days=400)} for n in range(60)]
    new = {"content": "Moved.", "created_at": NOW - timedelta(days=2)}
    with RecallStore(embedding=words) as store:
        store.add([*old, new])
        retriever = MemoryRetriever(store=store)
        found = retriever.recall_without_model("What have I been up to lately?", timestamp=NOW)

    first, *others = found.memories
    assert first.content == "Moved."
    assert {why(memory) for memory in others} == {"370 days before the time asked for"}


def test_a_time_is_filled_up_from_its_other_reading_and_the_days_around(words: Any) -> None:
    told = ["05-02", "04-25", "05-03", "04-29", "05-06", "01-01"]  # asked on a Sunday, 7 May
    with RecallStore(embedding=words) as store:
        store.add({"content": f"Did {day}", "created_at": f"2023-{day}T12:00Z"} for day in told)
        store.add(
            {"content": f"What did I do, {n} or {n * n}?", "created_at": "2021-05-01T12:00Z"}
            for n in range(300)
        )
        store.add([{"content": "Did it a year ago", "created_at": "2022-05-20T12:00Z"}])
        retriever = MemoryRetriever(store=store, k=5)

        def asked(**options: Any) -> list[tuple[str, str]]:
            found = retriever.recall_without_model(
                "What did I do last Tuesday?", timestamp=NOW, **options
            ).memories
            scores = [memory.score for memory in found]
            assert scores == sorted({*scores}, reverse=True)
            return [(memory.content, why(memory)) for memory in found]

        assert asked() == [
            ("Did 05-02", "recorded in time"),
            ("Did 04-25", "another reading: 2023-04-25 (Tuesday)"),
            ("Did 05-03", "1 day after the time asked for"),
            ("Did 04-29", "3 days before the time asked for"),
            ("Did 05-06", "4 days after the time asked for"),
        ]
        assert asked(time_mode="require") == [("Did 05-02", "recorded in time")]
        far = retriever.recall_without_model("What did I do in May?", timestamp=NOW).memories
        assert "another reading: 2022-05-01 to 2022-05-31" in map(why, far)


def test_a_year_ago_is_that_day_then_the_days_around_it_then_its_year(words: Any) -> None:
    told = ["01-03", "05-02", "05-07", "05-10", "11-30"]  # asked on 7 May, 2023
    with RecallStore(embedding=words) as store:
        store.add({"content": f"Did {day}", "created_at": f"2022-{day}T12:00Z"} for day in told)
        store.add([{"content": "Did a year ago", "created_at": NOW - timedelta(days=3)}])
        retriever = MemoryRetriever(store=store, timestamp=NOW, k=6)
        for question in ("What did I do a year ago?", "Was habe ich vor einem Jahr gemacht?"):
            found = retriever.recall_without_model(question).memories
            days = [memory.content.removeprefix("Did ") for memory in found]
            assert days == ["05-07", "05-10", "05-02", "01-03", "11-30", "a year ago"]


@table("time_range", [("2023-05-02", "2023-05-03"), "on 2 May", "on Tuesday, 2 May 2023"], ids=str)
def test_a_time_of_the_call_orders_as_one_in_the_question(time_range: Any, words: Any) -> None:
    with RecallStore(embedding=words) as store:
        told = ("05-02", "05-03", "05-06", "04-29", "01-01")
        store.add({"content": f"Did {day}", "created_at": f"2023-{day}T12:00Z"} for day in told)
        store.add([{"content": "Fed a cat", "created_at": "2023-02-01T12:00Z"}])
        retriever = MemoryRetriever(store=store, timestamp=NOW)

        def asked(question: str, **options: Any) -> list[tuple[str, str]]:
            found = retriever.recall_without_model(question, **options).memories
            return [(memory.content, why(memory)) for memory in found]

        named = asked("What did I do on 2 May?")
        assert named[1] == ("Did 05-03", "1 day after the time asked for")
        assert asked("What did I do?", time_range=time_range) == named
        assert asked("a cat?", time_range=time_range)[0][0] == "Fed a cat"  # it has a topic


@table(
    ("question", "k", "found"),
    [
        ("What about the old garden on 2 May?", 4, {"garden", "dentist", "rain", "a"}),
        ("What about the old garden this week?", 2, {"garden", "a"}),  # the week holds three
        ("What about the old garden this week?", 4, {"garden", "dentist", "rain", "a"}),
        (
            "What about the old garden on the afternoon of 2 May?",
            4,
            {"garden", "a", "cellar", "c"},
        ),
        ("What about the old garden this year?", 4, {"garden", "a", "cellar", "c"}),
        ("What about the old garden lately?", 4, {"garden", "a", "cellar", "c"}),
        ("What about the old cellar this week?", 4, {"cellar", "garden", "a", "dentist"}),
    ],
)
def test_a_named_day_comes_back_whole_if_the_best_is_of_it(
    question: str, k: int, found: set[str], words: Any
) -> None:
    day = {"garden": "The old garden.", "dentist": "Saw the dentist.", "rain": "Rain, all of it."}
    other = {"a": "Some old garden.", "b": "Garden with Tom.", "c": "Garden, again."}
    other["cellar"] = "The old cellar, the cellar"
    with RecallStore(embedding=words) as store:
        store.add(
            {
                "id": name,
                "content": text,
                "created_at": NOW - timedelta(days=5 + 30 * (name in other)),
            }
            for name, text in (day | other).items()
        )
        store.add([{"content": "Rain, all of it.", "created_at": NOW - timedelta(days=5)}])
        recall = MemoryRetriever(store=store, k=k).recall_without_model(question, timestamp=NOW)

    names = {text: name for name, text in (day | other).items()}
    assert len(recall.memories) == k
    assert {names[memory.content] for memory in recall.memories} == found


def test_of_a_full_day_different_hours_come_first() -> None:
    morning = [note(f"m{n}", 0.9, timedelta(hours=28, minutes=n)) for n in range(5)]
    evening = note("evening", 0.2, timedelta(hours=18))
    other = note("other", 1.0, timedelta(days=9))

    found = of(*morning, evening, other, text="What happened yesterday?")

    assert found[0] in {memory.id for memory in morning}
    assert "evening" in found
    assert "other" not in found


def test_what_is_asked_beside_a_time_is_found_elsewhere_too() -> None:
    dentist = note("dentist", 1.0, timedelta(days=9))

    yesterday = note("x", 0.2, timedelta(days=1))

    assert of(dentist, yesterday, text="What did the dentist do yesterday?")[0] == "dentist"


@table(
    ("question", "least", "most"),
    [
        ("Which film did we see on 2 May?", 2, 4),
        ("Which film did we see in mid-April?", 2, 2),
        ("Which film did we see in the week of 17 April?", 2, 2),
        ("Which film did we see in April?", 1, 1.01),  # a wrong month would cost too much
        ("Which film did we see this spring?", 1, 1.01),
        ("Which films did we see in April?", 2, 2),
        ("How often did we see a film last week?", 2, 2),
        ("¿Cuántas veces vimos una película en abril?", 2, 2),
        ("四月我们看了多少次电影？", 2, 2),
        ("Which film did we see last week?", 1.5, 1.5),
        ("Which film did we see yesterday?", 1.5, 1.5),
        ("Which film did we see lately?", 1, 1.01),
        (f"{'We talked of films. ' * 10} Which film did we see in mid-April?", 1, 1.01),
    ],
)
def test_a_place_in_the_calendar_weighs_whatever_one_lucky_word_does(
    question: str, least: float, most: float
) -> None:
    ranges = tuple(extract_time(question, NOW))
    query = Query(text=question, reference_time=NOW, time_ranges=ranges)
    told = [note(str(n), 0.07, timedelta(days=n)) for n in range(1, 30)]
    ranked = FuseRerank(top_n=50).apply(Recall(query, (*told, note("x", 1, timedelta(days=90)))))
    ratios = [float(memory.trace["time_ratio"]) for memory in ranked.memories]

    assert least <= max(ratios) <= most


def test_a_date_is_trusted_more_than_a_weekday_and_a_month_or_a_year_least() -> None:
    def ratio(text: str) -> float:
        query = Query(text=text, reference_time=NOW, time_ranges=tuple(extract_time(text, NOW)))
        told = [note(str(n), 0.6, timedelta(days=n)) for n in range(1, 30)]
        best = note("best", 1.0, timedelta(days=90))
        ranked = FuseRerank(top_n=50).apply(Recall(query, (*told, best))).memories
        return max(float(memory.trace["time_ratio"]) for memory in ranked)

    times = ("on 2 May", "on Tuesday", "in April", "this year")
    date, weekday, month, year = (ratio(f"Which film did we see {each}?") for each in times)
    assert date > weekday > max(month, year)
    assert min(month, year) > 1
