"""The benchmark of other stores finds what the stores' own filters find."""

from importlib.util import find_spec

import pytest


@pytest.mark.skipif(find_spec("langchain_qdrant") is None, reason="langchain-qdrant is not here")
def test_all_of_a_user_and_a_week_is_found(measured) -> None:
    from benchmarks import own_stores

    found = measured(own_stores.main, "--rows", 1000, "--users", 1, "--queries", 1)

    for ways in found.values():
        assert {name: figures["found"] for name, figures in ways.items()} == {
            "own_filter": 1,
            "recall": 1,
            "recall_hybrid": 1,
            "recall_no_push_down": pytest.approx(0.5, abs=0.5),
        }
