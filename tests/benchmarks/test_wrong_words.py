"""A benchmark that is asked for what it cannot do says so, and measures nothing."""

from importlib import import_module

import pytest
from tables import table

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
""".strip().splitlines()


@table("line", WRONG)
def test_what_it_cannot_do_is_named(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, *words = line.split()

    with pytest.raises(SystemExit) as stopped:
        import_module(f"benchmarks.{name}").main(words)

    shown = capsys.readouterr().err
    assert stopped.value.code == 2
    assert words[-2] in shown or words[-1] in shown or "nowhere" in shown
