"""The benchmark of opening builds what it opens, and measures each system alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import opening
from benchmarks.kept_collection import client_of
from benchmarks.made_collection import NotBuiltError, made
from benchmarks.opening_process import SYSTEMS
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore

PAGE = Path(__file__).parents[2] / "docs" / "how_it_grows.md"


def test_a_build_that_was_ended_goes_on(tmp_path):
    with pytest.raises(NotBuiltError, match="1 of 40 rows"):
        made(tmp_path, 40, minutes=0)
    kept = made(tmp_path, 40, minutes=1)

    # The default model's name, so that `recall ask` opens it, and the questions' own vectors.
    with RecallStore(kept.path, embedding=kept.embedding) as store:
        [found] = store.find([Search(kept.questions[0], 40)])
        assert store.count() == len({each.memory.content for each in found}) == 40
    with RecallStore(kept.path) as store:
        assert store.count() == 40

    for system in SYSTEMS.values():
        figures = system(kept)
        assert 0 < figures["first_s"] <= figures["hybrid_s"]
        assert figures["rss_mb"] <= figures["peak_mb"]


def test_the_row_index_is_built_once_in_a_run(tmp_path, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr(
        opening, "_process", lambda system, data: asked.append(system) or SYSTEMS[system](data)
    )
    monkeypatch.setattr(opening, "_asked", lambda data, rounds: 1.0)

    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    words = ["--rows", "30", "--rounds", "2", "--folder", str(tmp_path), "--page", str(page)]
    opening.main(words)

    assert asked == ["recall", *(name for name in SYSTEMS for _ in range(2))]
    assert "recall, building" in capsys.readouterr().out
    written = page.read_text(encoding="utf-8")
    assert written.count("\n| 30 | ") == len(SYSTEMS) + 1
    assert "\n| 10,000 | " not in written
    assert written.count("<!-- figures of") == written.count("<!-- end of figures -->") == 2
    with client_of(tmp_path / "rows-30") as client:
        assert client.get_collection("memories", embedding_function=None).count() == 30
