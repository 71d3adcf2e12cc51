"""The benchmark of other stores finds what the stores' own filters find."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.mark.skipif(find_spec("langchain_qdrant") is None, reason="langchain-qdrant is not here")
def test_all_of_a_user_and_a_week_is_found(tmp_path: Path) -> None:
    from benchmarks import own_stores

    out = tmp_path / "out.json"
    own_stores.main(["--rows", "1000", "--users", "1", "--queries", "1", "--json", str(out)])

    for ways in json.loads(out.read_text(encoding="utf-8")).values():
        assert {name: figures["found"] for name, figures in ways.items()} == {
            "own_filter": 1,
            "recall": 1,
            "recall_hybrid": 1,
            "recall_no_push_down": pytest.approx(0.5, abs=0.5),
        }
