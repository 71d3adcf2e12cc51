"""Whatever a user gets wrong is said in the words of the public names, never in pydantic's."""

import importlib
import json
import pickle
import re
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from faces.adapters import Face, once
from faces.wrong_settings import ODD, OF_A_CALL, OF_A_RETRIEVER, OF_OTHERS, ask
from langchain_core.load import dumps, loads
from llama_index.core.base.response.schema import Response
from pydantic import BaseModel, ValidationError
from tables import table

import langchain_recall
import llamaindex_recall
from recall_retrievers.core.errors import RecallError, ScopeError, SettingsError
from recall_retrievers.core.settings import Settings
from recall_retrievers.store import RecallStore

PACKAGES = ("langchain_recall", "llamaindex_recall")


FOREIGN_WORDS = re.compile(
    r"pydantic|\[type=|input_value|validation error|Input should|Extra inputs|Field required|"
    r"MemoryRetriever|MemoryStore|CallOptions|RecallOptions|BaseModel|StageList|Timed\b|"
    r"function-|is-instance|NoneType"
)


def told(do: Callable[[], object]) -> str:
    with pytest.raises(SettingsError) as raised:
        do()

    said = str(raised.value)
    assert not FOREIGN_WORDS.search(said)
    assert isinstance(raised.value, ValueError)
    assert isinstance(raised.value, RecallError)
    shown = "".join(traceback.format_exception(raised.value))
    assert "errors.pydantic.dev" not in shown  # neither as a cause
    return said


MADE = [("RecallRetriever", *row) for row in OF_A_RETRIEVER] + OF_OTHERS


@pytest.mark.parametrize("package", PACKAGES)
@table(("name", "settings", "says"), [*MADE, *(("a call", *row) for row in OF_A_CALL)])
def test_a_wrong_setting_is_named_in_our_words(
    store: RecallStore, package: str, name: str, settings: dict[str, Any], says: str
) -> None:
    face = importlib.import_module(package)
    own = {"store": store} if name == "RecallRetriever" else {}
    make = partial(ask, face, store) if name == "a call" else getattr(face, name)

    said = told(lambda: make(**{**own, **settings}))

    assert [*settings][-1] in said
    assert says in said


@pytest.mark.parametrize("package", PACKAGES)
@table(("do", "says"), ODD)
def test_what_else_is_wrong_is_said_in_our_words(
    store: RecallStore, package: str, do: Callable[..., object], says: str
) -> None:
    assert says in told(lambda: do(importlib.import_module(package), store))


@pytest.mark.parametrize("package", PACKAGES)
def test_all_that_is_wrong_is_named_one_a_line(store: RecallStore, package: str) -> None:
    face = importlib.import_module(package)

    with pytest.raises(SettingsError) as raised:
        face.RecallRetriever(store=store, k=0, methd="hybrid", timestamp="soon", timezone="Mars")

    told = str(raised.value).splitlines()
    assert told[0] == "RecallRetriever has 4 wrong settings:"
    assert [line.split()[1] for line in told[1:]] == [
        "timestamp",
        "timezone",
        "k",
        "RecallRetriever",
    ]
    assert raised.value.problems[2] == "k must be at least 1; got 0"


CLASSES = sorted(
    {
        (package, name)
        for package in PACKAGES
        for name in importlib.import_module(package).__all__
        if isinstance(made := getattr(importlib.import_module(package), name), type)
        and issubclass(made, BaseModel)
    }
    - {("llamaindex_recall", "StageUsage")}  # an event
    - {("llamaindex_recall", "RecallVectorStore")}  # LlamaIndex's own base has its settings
)


@table(("package", "name"), CLASSES)
def test_every_class_refuses_what_it_does_not_know(package: str, name: str) -> None:
    made = getattr(importlib.import_module(package), name)
    assert issubclass(made, Settings)

    assert f"{name} has no argument 'no_such_name'" in told(lambda: made(no_such_name=1))


@pytest.mark.filterwarnings("ignore:The function `loads` is in beta")
def test_what_is_loaded_is_checked_in_the_same_way() -> None:
    rank = langchain_recall.FuseRerank
    written = json.loads(dumps(rank(top_n=3)))
    trusted: Any = {"valid_namespaces": ["langchain_recall"], "allowed_objects": [rank]}
    assert loads(json.dumps(written), **trusted).top_n == 3
    written["kwargs"] |= {"top_n": 0, "topn": 3}

    with pytest.raises(SettingsError) as raised:
        loads(json.dumps(written), **trusted)

    assert "top_n must be at least 1; got 0" in str(raised.value)
    assert "did you mean 'top_n'?" in str(raised.value)


def test_inside_a_model_of_ones_own_pydantic_names_the_way_to_it() -> None:
    class App(BaseModel):
        rank: langchain_recall.RelevanceThreshold

    with pytest.raises(ValidationError) as raised:
        App.model_validate({"rank": {"threshold": 7, "top_n": 3}})

    assert {each["loc"][0] for each in raised.value.errors()} == {"rank"}


def test_the_error_survives_a_way_to_another_process() -> None:
    with pytest.raises(SettingsError) as raised:
        langchain_recall.FuseRerank(top_n=0)

    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.problems) == (str(raised.value), raised.value.problems)


def test_explain_takes_a_response_and_refuses_what_is_none(store: RecallStore) -> None:
    retriever = llamaindex_recall.RecallRetriever(store=store)
    nodes = retriever.retrieve("Who likes tea?")
    assert nodes

    assert str(llamaindex_recall.explain(Response("Ann", nodes))) == str(
        llamaindex_recall.explain(nodes)
    )
    with pytest.raises(TypeError, match="explain takes a list of NodeWithScore"):
        llamaindex_recall.explain("Who likes tea?")  # type: ignore[arg-type]  # what is wrong
    with pytest.raises(TypeError, match="explain takes a list of Document"):
        langchain_recall.explain({"context": []})  # type: ignore[arg-type]  # what is wrong


QUESTIONS = {
    "an empty question": ("", {}, "query must say what to look for; got ''"),
    "a blank question": (" \n", {}, "query must say what to look for"),
    "a book": ("x" * 50_001, {}, "query may have 50,000 characters at most; got 50,001"),
    "a filter on a nested key": ("x", {"filter": {"a": {"b": 1}}}, "metadata is flat"),
    "a filter with an empty list": ("x", {"filter": {"a": {"$in": []}}}, "takes a list of values"),
    "a wider scope": ("x", {"scope": {"user_id": "bob"}}, "cannot be changed to 'bob' by a call"),
    "a range that ends before it starts": (
        "x",
        {"time_range": ("2024-03-02", "2024-03-01")},
        "start must be before end",
    ),
}


@once
@table("wrong", QUESTIONS, ids=str)
def test_a_question(store: RecallStore, face: Face, wrong: str) -> None:
    question, options, message = QUESTIONS[wrong]
    retriever = face.RecallRetriever(store=store, scope={"user_id": "ann"})

    with pytest.raises((ValueError, ScopeError), match=r"(?s).*") as raised:
        face.ask(retriever, question, **options)

    assert message in str(raised.value)


@once
def test_a_filter_cannot_widen_the_scope(store: RecallStore, face: Face) -> None:
    retriever = face.RecallRetriever(store=store, scope={"user_id": "ann"}, k=10)

    for wider in ({"user_id": "bob"}, {"$or": [{"user_id": "bob"}, {"user_id": "ann"}]}):
        found = face.ask(retriever, "the dentist", filter=wider)
        assert "bob" not in {each.id for each in found}
