"""What users get wrong, and what they are told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import langchain_recall
from recall_retrievers.core.message import Message
from recall_retrievers.evaluation.questions import Question
from recall_retrievers.store import Fields, RecallStore

Settings = dict[str, Any]

# Settings of a retriever with a store, and what is said; the last one is wrong, and named.
OF_A_RETRIEVER: list[tuple[Settings, str]] = [
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
OF_A_CALL: list[tuple[Settings, str]] = [
    ({"kk": 3}, "a call has no argument 'kk'; did you mean 'k'?"),
    ({"user_id": "ann"}, "here it is scope={'user_id': ...}"),
    ({"timestamp": "soon"}, "ISO 8601 string or datetime; got 'soon'"),
]
# Of the other classes of a face, by their names.
OF_OTHERS: list[tuple[str, Settings, str]] = [
    ("FuseRerank", {"top_n": 0}, "must be at least 1; got 0"),
    ("SemanticRank", {"llm": "gpt"}, "must be a"),
    ("SearchGate", {"weights": {"asks": "much"}}, "weights.asks must be a number; got 'much'"),
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
