"""The widget without a browser: what its page asks is answered, within the retriever's own limits.

The page itself is tested in a browser (tests/look), and in a real JupyterLab (tests/install).
"""

from typing import Any

import pytest
from faces.adapters import Face, both, once
from faces.conftest import NOW
from faces.slow_models import all_judged

from recall_retrievers.store import RecallStore

QUESTION = "What about the dentist last Tuesday?"


def explorer(face: Face, store: RecallStore, question: str = "", **settings: Any) -> Any:
    mine = {"scope": {"user_id": "ann"}, "timestamp": NOW, "timezone": "UTC"}
    models = settings.pop("models", False)
    retriever = face.RecallRetriever(store=store, **mine, **settings)
    return face.explore(retriever, question, models=models)


def sent(
    widget: Any, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], kind: str = "ask"
) -> dict[str, Any]:
    """The reply to a message of the page."""
    replies: list[dict[str, Any]] = []
    monkeypatch.setattr(widget, "send", replies.append)
    widget._handle_custom_msg({"id": 7, kind: asked}, [])
    [reply] = replies
    assert reply.pop("id") == 7
    return reply


@both
def test_the_page_gets_the_answer_that_the_retriever_gives(
    face: Face, store: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    widget = explorer(face, store, k=2)
    asked: dict[str, object] = {"query": QUESTION, "k": 3}

    answer = sent(widget, monkeypatch, asked)["answer"]
    later = sent(widget, monkeypatch, asked | {"timestamp": "2024-01-12"})["answer"]
    in_january = {"since": "2024-01-01", "until": "2024-01-31"}
    then = sent(widget, monkeypatch, asked | in_january)["answer"]
    whenever = sent(widget, monkeypatch, asked | {"time_mode": "ignore"})["answer"]

    found = face.ask(widget._retriever, QUESTION, k=3)
    assert [each["id"] for each in answer["memories"]] == [each.id for each in found]
    assert [each["score"] for each in answer["memories"]] == [each.score for each in found]
    assert answer["times"][0]["means"] == "2024-03-05 (Tuesday)"
    assert later["times"][0]["means"] == "2024-01-09 (Tuesday)"
    assert [each["id"] for each in then["memories"]] == ["wedding"]
    assert whenever["times"] == []
    everyone = [*answer["memories"], *answer["left_out"]]
    assert "bob" not in {each["id"] for each in everyone}


@both
def test_without_a_question_the_page_lists_the_memories_of_the_scope(
    face: Face, store: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    widget = explorer(face, store)
    listed, after = [], None
    while True:
        asked = {"limit": 2, "after": after}
        page = sent(widget, monkeypatch, asked, "browse")["answer"]
        listed += page["memories"]
        if (after := page["next"]) is None:
            break

    assert [each["id"] for each in listed] == ["filling", "tea", "moved", "wedding", "fear"]
    assert (
        len(sent(widget, monkeypatch, {"until": "9999-12-31"}, "browse")["answer"]["memories"]) == 5
    )
    february = {"since": "2024-02-01", "until": "2024-02-29"}
    [moved] = sent(widget, monkeypatch, february, "browse")["answer"]["memories"]
    assert moved["id"] == "moved"
    others = sent(widget, monkeypatch, {"user_id": "bob"}, "browse")
    assert "scope" in others["error"]
    lost = sent(widget, monkeypatch, {"after": "x"}, "browse")
    assert "after must be the `next` of the page before" in lost["error"]
    assert "query must say what to look for" in sent(widget, monkeypatch, {}, "nothing")["error"]
    assert widget.browses


@both
def test_models_are_asked_only_where_that_is_wanted(face: Face, store: RecallStore) -> None:
    for models in (False, True):
        model = face.model(all_judged)
        stages = [face.ExtractTime(llm=model), face.SemanticRank(llm=model), face.FuseRerank()]

        answer = explorer(face, store, stages=stages, models=models).ask(query=QUESTION)

        assert bool(model.prompts) == models
        assert answer.memories
        assert answer.degraded == []

    failing = [face.SemanticRank(llm=face.model(ValueError("no credit"))), face.FuseRerank()]
    [reason] = explorer(face, store, stages=failing, models=True).ask(query=QUESTION).degraded
    assert reason.startswith("SemanticRank: ")


@once
def test_what_is_wrong_is_told_to_the_page(
    face: Face, store: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    widget = explorer(face, store)

    for asked, said in (
        ({"query": " "}, "query must say what to look for"),
        ({"query": QUESTION, "k": "x"}, "k must be a whole number; got 'x'"),
        ({"query": QUESTION, "scope": {"user_id": "bob"}}, "a question has no argument 'scope'"),
        ({"query": QUESTION, "since": "then"}, "since must be a date"),
    ):
        assert sent(widget, monkeypatch, asked)["error"].startswith(said)
    with pytest.raises(TypeError, match="explore takes a RecallRetriever; got 'store'"):
        face.explore("store")


@once
def test_an_unexpected_error_is_told_too_and_shown_by_the_kernel(
    face: Face, own_store: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(memories: Any, query: Any) -> Any:
        raise ZeroDivisionError("a stage of mine")

    widget = explorer(face, own_store, stages=[broken])

    replies: list[dict[str, Any]] = []
    monkeypatch.setattr(widget, "send", replies.append)
    with pytest.raises(ZeroDivisionError):
        widget._receive(widget, {"id": 1, "ask": {"query": QUESTION}}, [])
    assert replies == [{"id": 1, "error": "a stage of mine"}]


@once
def test_the_settings_of_the_retriever_are_those_that_the_page_begins_with(
    face: Face, store: RecallStore
) -> None:
    widget = explorer(face, store, k=3, semantic_weight=0.4, replace=[face.FuseRerank()])

    assert widget.own == {"k": 3, "semantic_weight": 0.4}
    usual = {"k": 5, "method": "hybrid", "time_mode": "prefer", "time_ratio": 2.0}
    assert widget.defaults == {**usual, "semantic_weight": None, "token_weight": None}
    assert widget.python == (
        "RecallRetriever(store=store, timestamp='2024-03-08T12:00:00Z', timezone='UTC', "
        "scope={'user_id': 'ann'}"
    )


@both
def test_what_was_marked_is_evaluated_as_it_is(face: Face, store: RecallStore) -> None:
    widget = explorer(face, store)
    asked_at = widget.ask(query=QUESTION).model_dump(mode="json")["asked_at"]

    widget.set_state(  # as the page sends it
        {"questions": [{"question": QUESTION, "relevant": ["filling"], "timestamp": asked_at}]}
    )

    assert face.evaluate(widget._retriever, widget.questions).figures["hit@5"] == 1


@both
def test_where_no_widget_runs_the_answer_is_the_table_of_explain(
    face: Face, store: RecallStore
) -> None:
    widget = explorer(face, store, QUESTION)
    explained = face.explained(face.ask(widget._retriever, QUESTION))

    shown, _ = widget._repr_mimebundle_()

    assert shown["text/plain"] == repr(widget) == str(explained)
    assert shown["text/html"] == explained.to_html()
    assert "application/vnd.jupyter.widget-view+json" in shown
    assert "Run this notebook" in explorer(face, store)._repr_mimebundle_()[0]["text/html"]
