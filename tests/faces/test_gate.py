"""The gate in retrievers and in the lists of the frameworks: one table, both faces, sync, async."""

from typing import Any

from faces.adapters import Face, Found, once
from faces.listening import Events
from langchain_core.callbacks import BaseCallbackHandler
from llama_index_instrumentation import get_dispatcher
from tables import table

from llamaindex_recall.retriever import SearchSkipped
from recall_retrievers.store import RecallStore

QUESTIONS = {
    "What did I tell you about the dentist?": True,
    "Who is my dentist?": True,
    "Und wie heißt mein Zahnarzt?": True,
    "我的牙医叫什么名字？": True,
    "What is a dentist?": False,
    "How do dentists free memory in C?": False,
    "Thanks!": False,
    "Was ist ein Zahnarzt?": False,
}
CANDIDATES = [Found("filling", "The dentist put a filling in my tooth.", 0.6, {})]


@once
@table("question", QUESTIONS)
def test_a_question_that_needs_no_memories_gets_none(
    store: RecallStore, face: Face, question: str
) -> None:
    counted = Counted(store)

    found = face.ask(face.RecallRetriever(store=counted, gate=face.SearchGate()), question)

    assert bool(found) is QUESTIONS[question] is face.should_search_memory(question)
    assert bool(counted.searches) is QUESTIONS[question]


@table("question", QUESTIONS)
def test_in_a_list_of_the_framework_it_drops_the_candidates(face: Face, question: str) -> None:
    kept = face.refine(face.SearchGate(), CANDIDATES, question)

    assert [each.id for each in kept] == ["filling"] * QUESTIONS[question]


@once
def test_among_the_stages_of_a_retriever_it_ends_the_work(store: RecallStore, face: Face) -> None:
    stages = [face.SearchGate(), face.ExtractTime(), face.FuseRerank()]
    counted = Counted(store)
    retriever = face.RecallRetriever(store=counted, stages=stages)

    assert face.ask(retriever, "What is a dentist?") == []
    assert not counted.searches
    assert face.ask(retriever, "Who is my dentist?")


def test_an_empty_result_says_why_to_those_who_listen(store: RecallStore, face: Face) -> None:
    retriever = face.RecallRetriever(store=store, gate=face.SearchGate())
    told: list[str] = []
    expected = f"SearchGate: {face.SearchGate().explain('What is a dentist?')}"

    if face.is_langchain:

        class Listener(BaseCallbackHandler):
            def on_custom_event(self, name: str, data: str, **_: object) -> None:
                told.append(f"{name}: {data}")

        listening = retriever.with_config(callbacks=[Listener()])
        assert face.ask(listening, "What is a dentist?") == []
        face.ask(listening, "Who is my dentist?")
        assert told == [f"recall_skipped: {expected}"]
        return

    root, events = get_dispatcher(), Events()
    root.add_event_handler(events)
    try:
        assert face.ask(retriever, "What is a dentist?") == []
        face.ask(retriever, "Who is my dentist?")
    finally:
        root.event_handlers.remove(events)
    [skipped] = [each for each in events._seen if isinstance(each, SearchSkipped)]
    assert (skipped.query, skipped.why) == ("What is a dentist?", expected)
    assert skipped.class_name() == "SearchSkipped"


class Counted:
    """A store that keeps what is looked up in it."""

    def __init__(self, store: RecallStore) -> None:
        self.searches: list[Any] = []
        self._store = store
        self.get, self.add = store.get, store.add

    def find(self, searches: Any) -> Any:
        self.searches += searches
        return self._store.find(searches)

    async def afind(self, searches: Any) -> Any:
        self.searches += searches
        return await self._store.afind(searches)
