"""The benchmark of loading measures both parts of it, on any file of memories."""

from __future__ import annotations

import json

import pytest

from benchmarks import loading


def test_it_says_what_share_the_reading_of_event_times_has(tmp_path, capsys):
    memories, out = tmp_path / "memories.jsonl", tmp_path / "out.json"
    lines = [
        {"content": "We met Anna two weeks ago.", "created_at": "2024-03-20T18:30:00"},
        {"content": "Ben drinks tea.", "created_at": "2024-03-20T18:31:00", "author": "Ben"},
    ]
    memories.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    loading.main(["--memories", str(memories), "--rows", "5", "--rounds", "1", "--json", str(out)])

    result = json.loads(out.read_text(encoding="utf-8"))
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
