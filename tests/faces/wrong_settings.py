"""What users get wrong, and what they are told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import langchain_recall
from recall_retrievers.core.message import Message
from recall_retrievers.evaluation.questions import Question
from recall_retrievers.store import Fields, RecallStore

Wrong = Callable[[Any, RecallStore], object]

# What is done wrong, the setting that the message names, and what else it says.
CASES: dict[str, tuple[Wrong, str, str]] = {
    "a path for a store": (
        lambda face, _: face.RecallRetriever(store="./memories"),
        "store",
        "must be an open store; got './memories'. Open it: RecallStore('./memories')",
    ),
    "a folder for a store": (
        lambda face, _: face.RecallRetriever(store=Path("memories")),
        "store",
        "Open it: RecallStore('memories')",
    ),
    "no store": (lambda face, _: face.RecallRetriever(), "store", "is missing: pass store="),
    "the class of the store": (
        lambda face, _: face.RecallRetriever(store=RecallStore),
        "store",
        "got the class RecallStore",
    ),
    "a setting of another retriever": (
        lambda face, store: face.RecallRetriever(store=store, search_kwargs={"k": 3}),
        "search_kwargs",
        "k, filter and threshold_score are arguments of their own here",
    ),
    "a setting that has another name here": (
        lambda face, store: face.RecallRetriever(store=store, similarity_top_k=3),
        "similarity_top_k",
        "here it is k",
    ),
    "a misspelt setting": (
        lambda face, store: face.RecallRetriever(store=store, semantic_wieght=0.5),
        "semantic_wieght",
        "did you mean 'semantic_weight'?",
    ),
    "k of zero": (
        lambda face, store: face.RecallRetriever(store=store, k=0),
        "k",
        "k must be at least 1; got 0",
    ),
    "k of a text": (
        lambda face, store: face.RecallRetriever(store=store, k="many"),
        "k",
        "must be a whole number; got 'many'",
    ),
    "a misspelt choice": (
        lambda face, store: face.RecallRetriever(store=store, method="hybird"),
        "method",
        "got 'hybird'. Did you mean 'hybrid'?",
    ),
    "a range of three": (
        lambda face, store: face.RecallRetriever(store=store, time_range=(1, 2, 3)),
        "time_range",
        "got (1, 2, 3)",
    ),
    "a filter of a text": (
        lambda face, store: face.RecallRetriever(store=store, filter="topic"),
        "filter",
        "must be a mapping; got 'topic'",
    ),
    "a filter with another library's operator": (
        lambda face, store: face.RecallRetriever(store=store, filter={"a": {"$like": "x"}}),
        "filter",
        "condition is one of",
    ),
    "a stage that is not constructed": (
        lambda face, store: face.RecallRetriever(store=store, stages=[face.FuseRerank]),
        "stages[0]",
        "got the class FuseRerank. Construct it: FuseRerank()",
    ),
    "no stage": (
        lambda face, store: face.RecallRetriever(store=store, stages=[face.FuseRerank(), 3]),
        "stages[1]",
        "must be a stage such as FuseRerank(), or a function",
    ),
    "no gate": (
        lambda face, store: face.RecallRetriever(store=store, gate="on"),
        "gate",
        "must be a SearchGate; got 'on'",
    ),
    "a conversation of a text": (
        lambda face, store: face.RecallRetriever(store=store, messages="Hi"),
        "messages",
        "got 'Hi'",
    ),
    "a misspelt setting of a call": (
        lambda face, store: _ask(face, store, kk=3),
        "kk",
        "a call has no argument 'kk'; did you mean 'k'?",
    ),
    "a user of a call": (
        lambda face, store: _ask(face, store, user_id="ann"),
        "user_id",
        "here it is scope={'user_id': ...}",
    ),
    "a time of a call": (
        lambda face, store: _ask(face, store, timestamp="soon"),
        "timestamp",
        "ISO 8601 string or datetime; got 'soon'",
    ),
    "a stage's number": (
        lambda face, _: face.FuseRerank(top_n=0),
        "top_n",
        "must be at least 1; got 0",
    ),
    "a stage by place": (
        lambda face, _: face.FuseRerank(3),
        "FuseRerank",
        "takes its arguments by name, as in FuseRerank(",
    ),
    "a model's name for a model": (
        lambda face, _: face.SemanticRank(llm="gpt"),
        "llm",
        "must be a",
    ),
    "the weights of a gate": (
        lambda face, _: face.SearchGate(weights={"asks": "much"}),
        "weights.asks",
        "must be a number; got 'much'",
    ),
    "half of a band": (
        lambda face, _: face.SearchGate(undecided=(3,)),
        "undecided",
        "is too short",
    ),
    "a decay": (
        lambda face, _: face.TimeDecay(half_life_days="long"),
        "half_life_days",
        "must be a number; got 'long'",
    ),
    "no content": (
        lambda face, _: face.Memory(content=""),
        "content",
        "must be a text with at least 1 character; got ''",
    ),
    "a content of another name": (
        lambda face, _: face.Memory(text="Tea."),
        "text",
        "here it is content",
    ),
    "a recorded time": (
        lambda face, _: face.Memory(content="Tea.", created_at="soon"),
        "created_at",
        "created_at must be an int, float, ISO 8601 string or datetime; got 'soon'",
    ),
    "a recorded time of another type": (
        lambda face, _: face.Memory(content="Tea.", created_at=True),
        "created_at",
        "got True",
    ),
    "a user beside the scope": (
        lambda face, _: face.Memory(content="Tea.", user_id="ann"),
        "user_id",
        "here it is scope={'user_id': ...}",
    ),
    "a scope's field": (
        lambda face, _: face.Memory(content="Tea.", scope={"user": "ann"}),
        "scope",
        "has no argument 'user'; did you mean 'user_id'?",
    ),
    "a memory that is changed": (
        lambda face, _: setattr(face.Memory(content="Tea."), "content", "Milk."),
        "content",
        "Memory cannot be changed; make another",
    ),
    "a memory of a number": (
        lambda face, _: face.Memory.model_validate(3),
        "Memory",
        "a mapping of its arguments; got 3",
    ),
    "a memory of broken JSON": (
        lambda face, _: face.Memory.model_validate_json("{"),
        "Memory",
        "is made of JSON",
    ),
    "a memory of JSON": (
        lambda face, _: face.Memory.model_validate_json('{"content": ""}'),
        "content",
        "must be a text with at least 1 character; got ''",
    ),
    "a field of a collection": (
        lambda face, _: Fields(bogus="date"),
        "bogus",
        "It takes: agent_id, author, content",
    ),
    "the fields of a store": (
        lambda _, __: RecallStore(fields={"creatd_at": "date"}),
        "creatd_at",
        "did you mean 'created_at'?",
    ),
    "a store by place": (
        lambda face, store: face.AnyStore(store),
        "AnyStore",
        "takes its arguments by name, as in AnyStore(source=...)",
    ),
    "a store of a text": (lambda face, _: face.AnyStore(source="faiss"), "source", "got 'faiss'"),
    "a source of a call in one": (
        lambda face, _: face.RecallConfig(source="./memories"),
        "source",
        "Open it: RecallStore('./memories')",
    ),
    "a ranker": (
        lambda face, store: face.RecallConfig(source=store, ranker=3),
        "ranker",
        "must be a stage such as",
    ),
    "a configuration that is none": (
        lambda face, _: face.recall("tea", 3),
        "RecallConfig",
        "a mapping of its arguments; got 3",
    ),
    "an agent's store": (
        lambda face, _: face.AgentMemory(store="./memories"),
        "store",
        "Open it: RecallStore('./memories')",
    ),
    "a question": (
        lambda face, _: Question(question="", relevant=["a"]),
        "question",
        "must be a text with at least 1 character; got ''",
    ),
    "a question to evaluate": (
        lambda face, store: face.evaluate(
            face.RecallRetriever(store=store), [{"question": "Tea?", "relevnt": ["a"]}]
        ),
        "relevant",
        "has no argument 'relevnt'; did you mean 'relevant'?",
    ),
    "a message": (
        lambda face, _: Message(role=3, content="Hi"),
        "role",
        "must be a text; got 3",
    ),
    "several stages, and none": (
        lambda face, _: _several(face, stages=[]),
        "stages",
        "must be a list with at least 1 item; got []",
    ),
    "the settings of several": (
        lambda face, _: _several(face, deadline_s=0, timezone="Mars"),
        "timezone",
        "got 'Mars'\n- deadline_s must be above 0; got 0",
    ),
}


def _several(face: Any, **settings: object) -> object:
    name = "RecallCompressor" if face is langchain_recall else "RecallPostprocessor"
    return getattr(face, name)(**settings)


def _ask(face: Any, store: RecallStore, **options: object) -> object:
    retriever = face.RecallRetriever(store=store)
    ask = getattr(retriever, "retrieve", None) or retriever.invoke
    return ask("Who likes tea?", **options)
