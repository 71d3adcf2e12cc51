"""The benchmark of the server: several clients at once, and no error."""

import pytest

from benchmarks import serving


@pytest.mark.slow
def test_clients_are_served_at_once(measured, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_ALONE", 9)

    served = measured(serving.main, "--clients", 4, "--seconds", 1.5, "--rows", 40)

    assert served["errors"] == 0
    assert served["requests"] >= 1
    assert served["latency_ms"]["ask"]["p50"] > 0
    assert "4 clients" in capsys.readouterr().out
