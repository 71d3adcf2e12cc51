"""A question for nothing but a time is answered with memories of that time."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

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


def test_at_least_nine_of_ten_are_of_the_time(words: Any) -> None:
    shares = []
    with RecallStore(embedding=words) as store:
        store.add(
            {**row, "created_at": f"{row['created_at']}+00:00"}
            for row in lines("examples/memorybank/memories.jsonl")
        )
        retriever = MemoryRetriever(store=store)
        for asked in lines("benchmarks/data/only_a_time.jsonl"):
            found = retriever.recall_without_model(
                asked["text"], timestamp=NOW, scope={"user_id": asked["user_id"]}
            )
            days = [f"{memory.created_at:%Y-%m-%d}" for memory in found.memories]
            inside = [asked["first_day"] <= day <= asked["last_day"] for day in days]
            shares.append(sum(inside) / len(inside))

    assert len(shares) == 60
    assert sum(shares) / len(shares) >= 0.9


@table(
    ("text", "alone"),
    [
        ("What did Ann tell us last Tuesday?", True),
        ("What did Bob tell us last Tuesday?", False),
        ("Which film did we discuss yesterday?", False),
        ("Who am I?", False),
        ("昨天张曼婷做了什么？", True),
        ("昨天看了什么电影？", False),
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


def test_recently_is_a_time_too(words: Any) -> None:
    old = [{"content": f"up to {n}", "created_at": NOW - timedelta(days=400)} for n in range(60)]
    new = {"content": "Moved.", "created_at": NOW - timedelta(days=2)}
    with RecallStore(embedding=words) as store:
        store.add([*old, new])
        retriever = MemoryRetriever(store=store)
        found = retriever.recall_without_model("What have I been up to lately?", timestamp=NOW)

    assert [memory.content for memory in found.memories] == ["Moved."]


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


def test_a_date_is_trusted_more_than_a_weekday_and_a_wide_time_less() -> None:
    def ratio(text: str) -> float:
        query = Query(text=text, reference_time=NOW, time_ranges=tuple(extract_time(text, NOW)))
        told = [note(str(n), 0.6, timedelta(days=n)) for n in range(1, 30)]
        best = note("best", 1.0, timedelta(days=90))
        ranked = FuseRerank(top_n=50).apply(Recall(query, (*told, best))).memories
        return max(float(memory.trace["time_ratio"]) for memory in ranked)

    times = ("on 2 May", "on Tuesday", "in April")
    on_a_date, on_a_weekday, in_a_month = (ratio(f"Which film did we see {x}?") for x in times)
    assert on_a_date > on_a_weekday > in_a_month > 1
