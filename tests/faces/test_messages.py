"""Whatever a user gets wrong is said in the words of the public names, never in pydantic's."""

import importlib
import json
import pickle
import re
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from faces.adapters import Face, once
from langchain_core.load import dumps, loads
from llama_index.core.base.response.schema import Response
from pydantic import BaseModel, ValidationError
from tables import table

import langchain_recall
import llamaindex_recall
from recall_retrievers.core.errors import RecallError, ScopeError, SettingsError
from recall_retrievers.core.message import Message
from recall_retrievers.core.settings import Settings
from recall_retrievers.evaluation.questions import Question
from recall_retrievers.store import Fields, RecallStore

Given = dict[str, Any]

# Given of a retriever with a store, and what is said; the last one is wrong, and named.
OF_A_RETRIEVER: list[tuple[Given, str]] = [
    ({"store": "./memories"}, "must be an open store; got './memories'. Open it: RecallStore('./m"),
    ({"store": Path("memories")}, "Open it: RecallStore('memories')"),
    ({"store": RecallStore}, "got the class RecallStore"),
    ({"search_kwargs": {"k": 3}}, "k, filter and threshold_score are arguments of their own here"),
    ({"similarity_top_k": 3}, "here it is k"),
    ({"semantic_wieght": 0.5}, "did you mean 'semantic_weight'?"),
    ({"k": 0}, "k must be at least 1; got 0"),
    ({"k": "many"}, "must be a whole number; got 'many'"),
    ({"method": "hybird"}, "got 'hybird'. Did you mean 'hybrid'?"),
    ({"time_range": (1, 2, 3)}, "got (1, 2, 3)"),
    ({"filter": "topic"}, "must be a mapping; got 'topic'"),
    ({"filter": {"a": {"$like": "x"}}}, "condition is one of"),
    ({"stages": [3]}, "stages[0] must be a stage such as FuseRerank(), or a function"),
    ({"gate": "on"}, "must be a SearchGate; got 'on'"),
    ({"messages": "Hi"}, "got 'Hi'"),
]
OF_A_CALL: list[tuple[Given, str]] = [
    ({"kk": 3}, "a call has no argument 'kk'; did you mean 'k'?"),
    ({"user_id": "ann"}, "here it is scope={'user_id': ...}"),
    ({"timestamp": "soon"}, "ISO 8601 string or datetime; got 'soon'"),
]
# Of the other classes of a face, by their names.
OF_OTHERS: list[tuple[str, Given, str]] = [
    ("FuseRerank", {"top_n": 0}, "must be at least 1; got 0"),
    ("SemanticRank", {"llm": "gpt"}, "must be a"),
    ("SearchGate", {"threshold": "much"}, "threshold must be a number; got 'much'"),
    ("SearchGate", {"undecided": (3,)}, "is too short"),
    ("TimeDecay", {"half_life_days": "long"}, "must be a number; got 'long'"),
    ("Memory", {"content": ""}, "must be a text with at least 1 character; got ''"),
    ("Memory", {"text": "Tea."}, "here it is content"),
    ("Memory", {"content": "Tea.", "created_at": "soon"}, "ISO 8601 string or datetime; got 'so"),
    ("Memory", {"content": "Tea.", "created_at": True}, "got True"),
    ("Memory", {"content": "Tea.", "user_id": "ann"}, "here it is scope={'user_id': ...}"),
    ("Memory", {"content": "Tea.", "scope": {"user": "ann"}}, "'user'; did you mean 'user_id'?"),
    ("AnyStore", {"source": "faiss"}, "got 'faiss'"),
    ("RecallConfig", {"source": "./memories"}, "Open it: RecallStore('./memories')"),
    ("AgentMemory", {"store": "./memories"}, "Open it: RecallStore('./memories')"),
]
# What is none of these.
ODD: list[tuple[Callable[[Any, RecallStore], object], str]] = [
    (lambda face, _: face.RecallRetriever(), "store is missing: pass store="),
    (
        lambda face, store: face.RecallRetriever(store=store, stages=[face.FuseRerank]),
        "stages[0] must be a stage; got the class FuseRerank. Construct it: FuseRerank()",
    ),
    (lambda face, _: face.FuseRerank(3), "FuseRerank takes its arguments by name, as in FuseRer"),
    (lambda face, store: face.AnyStore(store), "AnyStore takes its arguments by name, as in AnyS"),
    (
        lambda face, _: setattr(face.Memory(content="Tea."), "content", "Milk."),
        "Memory cannot be changed; make another",
    ),
    (lambda face, _: face.Memory.model_validate(3), "Memory is made of a mapping of its argument"),
    (lambda face, _: face.Memory.model_validate_json("{"), "Memory is made of JSON"),
    (
        lambda face, _: face.Memory.model_validate_json('{"content": ""}'),
        "content must be a text with at least 1 character; got ''",
    ),
    (lambda _, __: Fields(bogus="date"), "'bogus'. It takes: agent_id, author, content"),
    (lambda _, __: RecallStore(fields={"creatd_at": "date"}), "'creatd_at'; did you mean 'creat"),
    (
        lambda face, store: face.RecallConfig(source=store, ranker=3),
        "ranker must be a stage such as",
    ),
    (lambda face, _: face.recall("tea", 3), "RecallConfig is made of a mapping of its arguments"),
    (
        lambda _, __: Question(question="", relevant=["a"]),
        "question must be a text with at least 1 character; got ''",
    ),
    (
        lambda face, store: face.evaluate(
            face.RecallRetriever(store=store), [{"question": "Tea?", "relevnt": ["a"]}]
        ),
        "has no argument 'relevnt'; did you mean 'relevant'?",
    ),
    (lambda _, __: Message(role=3, content="Hi"), "role must be a text; got 3"),
    (lambda face, _: _several(face, stages=[]), "stages must be a list with at least 1 item; got"),
    (
        lambda face, _: _several(face, deadline_s=0, timezone="Mars"),
        "got 'Mars'\n- deadline_s must be above 0; got 0",
    ),
]


def _several(face: Any, **settings: object) -> object:
    name = "RecallCompressor" if face is langchain_recall else "RecallPostprocessor"
    return getattr(face, name)(**settings)


def ask(face: Any, store: RecallStore, **options: object) -> object:
    retriever = face.RecallRetriever(store=store)
    call = getattr(retriever, "retrieve", None) or retriever.invoke
    return call("Who likes tea?", **options)


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
