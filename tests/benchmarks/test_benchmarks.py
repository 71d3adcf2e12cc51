"""The benchmarks count rightly, read what they are given, and say what they cannot do."""

from __future__ import annotations

from datetime import UTC, date, datetime
from importlib import import_module

import pytest
from tables import table

from benchmarks import loading, model_cost, retrieval, time_expressions
from benchmarks.ago import ago_days
from benchmarks.baselines import Baselines
from benchmarks.datasets import DataError, read_expressions, read_retrieval_set
from benchmarks.embedding import once_per_text

FIGURES = {"recall@5", "recall@10", "ndcg@10", "hit@5"}

MEMORIES = [
    ("house", "m1", "The plumber repaired the kitchen tap.", "Ada", "2024-03-05T10:00:00"),
    ("house", "m2", "We painted the fence green.", "Ada", "2024-03-11T09:00:00"),
    ("house", "m3", "The plumber sent his bill for the tap.", "Bo", "2024-03-12T18:30:00"),
    ("house", "m4", "The plumber will come again in summer.", "Bo", "2024-03-20T08:00:00"),
    ("trip", "m1", "The ferry to the island was late.", "Cy", "2024-05-01T12:00:00"),
]
QUERIES = [
    {
        "corpus": "house",
        "id": "q1",
        "text": "What did the plumber do last Tuesday?",
        "category": "dated",
        "relevant": ["m3"],
        "time": {"start": "2024-03-12", "end": "2024-03-13", "span": "last tuesday"},
        "off_text": "What did the plumber do yesterday?",
    },
    {
        "corpus": "trip",
        "id": "q2",
        "text": "Was the ferry late?",
        "now": "2024-05-02T12:00:00",
        "relevant": ["m1"],
    },
    {
        "corpus": "house",
        "id": "q3",
        "text": "Who painted the ferry?",
        "now": "2024-03-21T12:00:00",
        "category": "adversarial",
        "relevant": ["m2"],
    },
]
EXPRESSIONS = [
    ("en", "What happened on March 5th, 2024?", "2024-03-05", "2024-03-06", []),
    ("en", "What did I say two weeks ago?", "2024-02-26", "2024-03-05", []),
    ("en", "What did I see in 2019?", "2018-01-01", "2019-01-01", [["2019-01-01", "2020-01-01"]]),
    ("en", "What did I eat yesterday?", "2001-01-01", "2001-01-02", []),
    ("quiet", "Where does the plumber live?", None, None, []),
]


@pytest.fixture
def folder(retrieval_set):
    return retrieval_set("house-timed", MEMORIES, *QUERIES)


def test_a_query_sees_its_own_corpus_up_to_its_moment(folder):
    data = read_retrieval_set(folder)
    assert data.name == "house-timed"
    assert [len(data.visible(question)) for question in data.questions] == [3, 1, 4]
    assert data.questions[0].now == datetime(2024, 3, 13, 12, tzinfo=UTC)


def test_baselines_rank_only_what_may_be_found(folder):
    data = read_retrieval_set(folder)
    ranked = Baselines(data, once_per_text()).rank(data.questions[0], "the plumber's bill")
    assert ranked["bm25"][0] == ranked["dense"][0] == ranked["rrf"][0] == "m3"
    assert all("m4" not in ranking for ranking in ranked.values())


def test_both_faces_find_the_same_and_write_what_was_promised(folder, measured, capsys):
    faces = ("langchain", "llamaindex")
    results = [measured(retrieval.main, "--data", folder, "--face", face) for face in faces]
    printed = capsys.readouterr().out
    assert "house-timed: langchain, time parser" in printed
    assert "upper bound" in printed
    for result in results:
        assert result.pop("ms_per_query").keys() == {"p50", "p95"}
        assert result.pop("face")
    assert results[0] == results[1]
    result = results[0]
    assert result.keys() == {
        "set", "time", "queries", "overall", "by_category", "time_naming", "baselines",
        "without_time",
        "whole_days",
    }  # fmt: skip
    assert result["without_time"] == {"queries": 2, "moved": []}
    assert result["set"] == "house-timed"
    assert result["queries"] == 3
    assert result["overall"].keys() == result["time_naming"].keys() == FIGURES
    assert result["overall"]["hit@5"] == 1
    assert result["time_naming"]["ndcg@10"] == 1  # the right Tuesday's memory comes first
    assert result["by_category"].keys() == {"adversarial", "dated", "plain"}
    assert result["baselines"].keys() == {"bm25", "dense", "rrf"}
    for figures in result["baselines"].values():
        assert figures.keys() == FIGURES | {"by_category", "time_naming", "ahead"}


def test_several_folders_write_a_list(folder, measured):
    results = measured(retrieval.main, "--data", folder, "--data", folder)
    assert [result["set"] for result in results] == ["house-timed"] * 2


@table(
    ("use", "text", "key"),
    [
        ("parser", "What did the plumber do last Tuesday?", None),
        ("none", "What did the plumber do last Tuesday?", "time_mode"),
        ("oracle", "What did the plumber do?", "time_range"),
        ("wrong", "What did the plumber do yesterday?", None),
    ],
)
def test_what_becomes_of_the_time_that_is_named(folder, use, text, key):
    data = read_retrieval_set(folder)
    asked, options = retrieval.asked(data, data.questions[0], use)
    assert asked == text
    # There is a later memory in this corpus, so the call is cut; in the other there is none.
    wanted = {"k", "timestamp", "timezone", "filter", key} - {None}
    assert options.keys() == wanted
    assert "filter" not in retrieval.asked(data, data.questions[1], use)[1]


def test_a_bad_line_is_named(folder):
    with (folder / "memories.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"corpus": "house"}\n')
    with pytest.raises(DataError, match=r"memories\.jsonl line 6: KeyError: 'id'"):
        read_retrieval_set(folder)


def test_time_expressions_are_counted_by_set(jsonl, measured):
    names = ("set", "text", "start", "end", "alternatives")
    known = {"lang": "en", "reference": "2024-03-13T12:00:00"}
    rows = [{**known, **dict(zip(names, row, strict=True))} for row in EXPRESSIONS]
    result = measured(time_expressions.main, "--data", jsonl("expressions.jsonl", *rows))
    assert result.keys() == {"by_set", "ms_median"}
    assert result["by_set"] == {
        # The right date, a week ago by its calendar week, an alternative; the last is wrong.
        "en": {"n": 4, "strict": 0.75, "lenient": 0.75, "silent": None},
        "quiet": {"n": 1, "strict": None, "lenient": None, "silent": 1.0},
    }


def test_the_times_of_memories_are_counted_by_half(jsonl, measured):
    known = {"recorded_at": "2026-03-09T10:00:00", "first_day": "2026-06-05", "ahead": True}
    known |= {"last_day": "2026-06-05", "half": "held back"}
    rows = [
        {**known, "text": "We booked Rome for 5 June.", "language": "en"},
        {**known, "text": "Am 5. Juni waren wir in Rom.", "language": "de"},
    ]
    row = {"set": "en", "text": "hello", "lang": "en", "reference": known["recorded_at"]}
    row |= {"start": None, "end": None, "alternatives": []}
    files = jsonl("expressions.jsonl", row), "--memories", jsonl("memories.jsonl", *rows)
    shares = measured(time_expressions.main, "--data", *files)["memories"]
    assert shares["held back"] == {"n": 2, "direction": 0.5, "range": 0.5}
    assert shares["held back, en"] == {"n": 1, "direction": 1.0, "range": 1.0}


def test_an_open_end_is_a_time_that_is_named(jsonl):
    row = {"set": "en", "text": "before 2024-03-05", "reference": "2024-03-13T12:00:00"}
    row |= {"start": None, "end": "2024-03-05", "alternatives": []}
    (case,) = read_expressions(jsonl("open.jsonl", row))
    assert [(each.start, each.end.day) for each in case.readings] == [(None, 5)]


@table(
    ("text", "readings"),
    [
        ("two weeks ago", [("2024-03-01", "2024-03-01"), ("2024-02-26", "2024-03-03")]),
        ("a month ago", [("2024-02-15", "2024-02-15"), ("2024-02-01", "2024-02-29")]),
        ("3 years ago", [("2021-03-15", "2021-03-15"), ("2021-01-01", "2021-12-31")]),
        ("三周前", [("2024-02-23", "2024-02-23"), ("2024-02-19", "2024-02-25")]),
        ("2015年前", []),
        ("weeks ago", []),
    ],
)
def test_ago_may_be_the_day_or_its_calendar_unit(text, readings):
    found = ago_days(text, date(2024, 3, 15))
    assert [(str(first), str(last)) for first, last in found] == readings


WRONG = """
ablation --data nowhere
gate_weights --data nowhere.jsonl --language en
latency --rows 5
latency --rows many
latency --questions 0
latency --json nowhere/out.json
loading --rows 0
loading --rounds 0
loading --memories nowhere
measured.__main__ --results nowhere
model_cost --memories nowhere
model_cost --candidates 0
opening --rows 5
opening --rounds 0
opening --json nowhere/out.json
retrieval --data nowhere
server --rows 5
server --json nowhere/out.json
time_expressions --data nowhere
weak_models --data benchmarks --shares 2
weak_models --data benchmarks --shares x
weak_models --data benchmarks --seeds 0
weak_models --data benchmarks --questions 0
""".strip().splitlines()


@table("line", WRONG)
def test_what_it_cannot_do_is_named(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, *words = line.split()

    with pytest.raises(SystemExit) as stopped:
        import_module(f"benchmarks.{name}").main(words)

    shown = capsys.readouterr().err
    assert stopped.value.code == 2
    assert words[-2] in shown or words[-1] in shown or "nowhere" in shown


def test_it_says_what_share_the_reading_of_event_times_has(jsonl, measured, capsys):
    memories = jsonl(
        "memories.jsonl",
        {"content": "We met Anna two weeks ago.", "created_at": "2024-03-20T18:30:00"},
        {"content": "Ben drinks tea.", "created_at": "2024-03-20T18:31:00", "author": "Ben"},
    )

    result = measured(loading.main, "--memories", memories, "--rows", 5, "--rounds", 1)

    assert (result["rows"], result["with_events"]) == (5, 3)
    assert result["rate"] > 0
    assert result["rss_mb"] > 50
    assert result["embedded_again"] == 0
    both = result["reading_ms"] + result["loading_ms"]
    assert result["share"] == pytest.approx(result["reading_ms"] / both, abs=1e-3)
    told = capsys.readouterr().out
    assert "5 memories, " in told
    assert "0 embedded again" in told
    assert "3 with event times" in told


@pytest.mark.usefixtures("embeds_once")
def test_it_counts_what_both_sides_ask(measured, capsys):
    costs = measured(model_cost.main, "--latency-ms", 0, "--candidates", 5)

    assert list(costs) == ["no model", "rank", "rewrite", "rank and rewrite"]
    calls = {step: {who: cost["calls"] for who, cost in by.items()} for step, by in costs.items()}
    assert calls["no model"] == {"ours": 0, "stock LangChain": 0}
    assert calls["rank"]["stock LangChain"] == calls["rank"]["LLMRerank"] == 1
    assert calls["rank"]["RankGPTRerank"] == 1
    assert calls["rewrite"] == {"ours": 1, "CitationQueryEngine": 1}
    assert calls["rank and rewrite"]["stock LangChain"] == 2
    assert calls["rank and rewrite"]["ours"] == calls["rank"]["ours"] + 1
    assert costs["rank"]["ours"]["prefix"] > costs["rank"]["stock LangChain"]["prefix"]
    assert costs["rank and rewrite"]["ours"]["again"] == 0 < costs["rank"]["LLMRerank"]["again"]
    for by in list(costs.values())[1:]:
        assert all(cost["tokens_in"] > cost["tokens_out"] > 10 for cost in by.values())
    assert "rank and rewrite" in capsys.readouterr().out
