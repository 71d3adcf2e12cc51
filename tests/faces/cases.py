"""Questions that every store answers alike: what is set, and which memories come back."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Case:
    """A question, what is set, and which memories come back, best first."""

    name: str
    question: Any
    expected: list[str]
    settings: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


CASES = [
    Case("type ratios order what is equally near", "dentist", ["fear", "moved", "bob"], {"k": 3}),
    Case(
        "a named time is preferred",
        "the dentist last Tuesday",
        ["bob", "filling", "tea"],
        {"k": 3},
    ),
    Case(
        "a named time does not exclude",
        "the dentist last Tuesday",
        ["fear", "moved"],
        {"k": 2, "scope": {"user_id": "ann"}},
    ),
    Case(
        "a required time excludes",
        "the filling in my tooth last Tuesday",
        ["filling", "tea"],
        {"scope": {"user_id": "ann"}, "time_mode": "require", "k": 2},
    ),
    Case(
        "an ignored time is not read",
        "the dentist last Tuesday?",
        ["fear", "moved", "bob"],
        {"k": 3, "time_mode": "ignore"},
    ),
    Case(
        "the event time matches as the recorded time does",
        "the wedding last Saturday",
        ["wedding"],
        {"time_mode": "require"},
    ),
    Case(
        "a range handed in is taken instead of the words",
        "the dentist last Tuesday",
        ["moved"],
        {"time_mode": "require", "time_range": ("2024-02-01", "2024-02-02")},
    ),
    Case("the scope of the retriever", "dentist", ["bob"], {"scope": {"user_id": "bob"}}),
    Case("the scope of the call", "dentist", ["bob"], options={"scope": {"user_id": "bob"}}),
    Case(
        "a call narrows the scope",
        "dentist",
        ["fear"],
        {"scope": {"user_id": "ann"}},
        {"scope": {"agent_id": "helper"}},
    ),
    Case(
        "a filter",
        "dentist",
        ["moved", "filling"],
        {"filter": {"topic": "health", "stars": {"$gte": 3}}},
    ),
    Case(
        "a call's filter holds besides the retriever's",
        "dentist, green tea",
        ["moved"],
        {"filter": {"topic": "health"}},
        {"filter": {"stars": {"$gt": 3}}},
    ),
    Case(
        "a filter on the recorded time takes a date",
        "dentist",
        ["fear"],
        {"filter": {"created_at": {"$lt": "2024-01-01T00:00:00Z"}}},
    ),
    Case(
        "a filter's time is read in the asker's zone",
        "dentist",
        ["fear"],
        {
            "filter": {"created_at": {"$gt": "2023-11-21T03:00", "$lt": "2023-11-21T04:00"}},
            "timezone": "Asia/Tokyo",
        },
    ),
    Case(
        "a filter's number is a time as everywhere: epoch seconds",
        "dentist",
        ["fear"],
        {"filter": {"created_at": {"$lt": 1704067200}}},
    ),
    Case("k of the call", "dentist", ["fear"], {"k": 4}, {"k": 1}),
    Case(
        "the moment of the call",
        "the dentist yesterday",
        ["moved"],
        {"time_mode": "require"},
        {"timestamp": "2024-02-02T08:00:00Z"},
    ),
    Case(
        "the time zone says what a day is",
        "the dentist yesterday",
        ["fear"],
        {"time_mode": "require", "timezone": "Asia/Tokyo"},
        {"timestamp": "2023-11-22T08:00:00+09:00"},
    ),
    Case("a threshold on similarity", "Green tea", ["tea"], {"threshold_score": 0.45}),
    Case("no more than k without a stage", "dentist", ["fear", "moved"], {"k": 2, "stages": []}),
    Case("nothing in scope", "dentist", [], {"scope": {"user_id": "nobody"}}),
]
