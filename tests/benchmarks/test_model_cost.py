"""The benchmark of model calls counts those of both sides, where they arrive."""

from __future__ import annotations

import pytest

from benchmarks import model_cost


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
    for by in list(costs.values())[1:]:
        assert all(cost["tokens_in"] > cost["tokens_out"] > 10 for cost in by.values())
    assert "rank and rewrite" in capsys.readouterr().out
