"""The benchmark of loading measures both parts of it, on any file of memories."""

from __future__ import annotations

import pytest

from benchmarks import loading


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
