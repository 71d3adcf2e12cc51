"""The benchmarks of servers, of opening and of latency measure each system alike."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from benchmarks import latency, opening, rivals, serving
from benchmarks.counting_proxy import CountingProxy
from benchmarks.grown_page import write_server
from benchmarks.kept_collection import client_of
from benchmarks.made_collection import NotBuiltError, made
from benchmarks.opening_process import SYSTEMS
from benchmarks.real_rows import real_rows
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore

PAGE = Path(__file__).parents[2] / "docs" / "how_it_grows.md"


def test_the_proxy_counts_what_it_passes_on():
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer():
            connection, _ = listening.accept()
            with connection:
                connection.sendall(3 * connection.recv(100))

        threading.Thread(target=answer, daemon=True).start()
        with CountingProxy(listening.getsockname()[1]) as proxy:
            with socket.create_connection(("127.0.0.1", proxy.port)) as connection:
                connection.sendall(b"question")
                answered = b"".join(iter(lambda: connection.recv(100), b""))

            assert answered == 3 * b"question"
            assert (proxy.up, proxy.down) == (8, 24)
            proxy.reset()
            assert (proxy.up, proxy.down) == (0, 0)


def test_the_figures_go_into_the_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    steps = {name: {"s": 0.5, "down": 2048} for name in ("first", "next", "deleted")}

    write_server(page, {"recall": steps, "langchain_chroma": steps})

    written = page.read_text(encoding="utf-8")
    assert written.count("| 500 ms, 2.0 KB | 500 ms, 2.0 KB | 500 ms, 2.0 KB |") == 2
    page.write_text("# Another page", encoding="utf-8")
    with pytest.raises(ValueError, match="has no place for figures"):
        write_server(page, {"recall": steps, "langchain_chroma": steps})


@pytest.mark.slow
def test_clients_are_served_at_once(measured, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_ALONE", 9)

    served = measured(serving.main, "--clients", 4, "--seconds", 1.5, "--rows", 40)

    assert served["errors"] == 0
    assert served["requests"] >= 1
    assert served["latency_ms"]["ask"]["p50"] > 0
    assert "4 clients" in capsys.readouterr().out


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

    assert asked == ["recall", *SYSTEMS, *SYSTEMS]
    assert "recall, building" in capsys.readouterr().out
    written = page.read_text(encoding="utf-8")
    # Also while the index is built, and the ways to ask.
    assert written.count("\n| 30 | ") == len(SYSTEMS) + 2
    assert "\n| 10,000 | " not in written
    assert written.count("<!-- figures of") == written.count("<!-- end of figures -->") == 2
    with client_of(tmp_path / "rows-30") as client:
        assert client.get_collection("memories", embedding_function=None).count() == 30


@pytest.mark.usefixtures("embeds_once")
def test_latency_compares_the_systems(measured):
    cases = measured(latency.main, "--rows", 200, "--questions", 2)["by_rows"]["200"]
    assert [*cases] == ["all", "one_user", "a_time", "add", "open", "disk"]
    for case, systems in cases.items():
        installed = {*rivals.NEEDED} - {*rivals.missing()}
        others = installed if case.startswith("all") else installed - rivals.WITHOUT_CONDITIONS
        more = {"recall_meaning", *others} if case[:3] not in {"add", "ope", "dis"} else set()
        assert systems.keys() == {"recall", "langchain_chroma", *more}
        assert all(each["cost"] > 0 for each in systems.values())
        assert systems["langchain_chroma"]["ratio"] == 1


def test_both_embed_a_question_alike_and_anew():
    data = real_rows([], 200, 1, None)
    [question] = data.questions
    ours, _ = data.embedding.embed_query_with_tokens(question)
    again, _ = data.embedding.embed_query_with_tokens(question)
    assert again is not ours
    assert again.tolist() == ours.tolist()
    assert data.embedding.for_langchain().embed_query(question) == ours.tolist()
