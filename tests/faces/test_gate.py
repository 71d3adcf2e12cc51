"""The gate in retrievers and in the lists of the frameworks; tests/stages has what it decides."""

from typing import Any

from faces.adapters import Face, Found, once
from faces.listening import Events
from langchain_core.callbacks import BaseCallbackHandler
from llama_index_instrumentation import get_dispatcher

from llamaindex_recall.retriever import SearchSkipped
from recall_retrievers.store import RecallStore

NEEDED, NOT_NEEDED = "Who is my dentist?", "What is a dentist?"
CANDIDATES = [Found("filling", "The dentist put a filling in my tooth.", 0.6, {})]


@once
def test_a_question_that_needs_no_memories_costs_no_search(store: RecallStore, face: Face) -> None:
    stages = [face.SearchGate(), face.ExtractTime(), face.FuseRerank()]
    for settings in ({"gate": face.SearchGate()}, {"stages": stages}):
        counted = Counted(store)
        retriever = face.RecallRetriever(store=counted, **settings)

        assert face.ask(retriever, NOT_NEEDED) == []
        assert not counted.searches
        assert face.ask(retriever, NEEDED)
        assert counted.searches
    assert (face.should_search_memory(NEEDED), face.should_search_memory(NOT_NEEDED)) == (1, 0)


def test_in_a_list_of_the_framework_it_drops_the_candidates(face: Face) -> None:
    assert face.refine(face.SearchGate(), CANDIDATES, NOT_NEEDED) == []
    assert [each.id for each in face.refine(face.SearchGate(), CANDIDATES, NEEDED)] == ["filling"]


def test_an_empty_result_says_why_to_those_who_listen(store: RecallStore, face: Face) -> None:
    retriever = face.RecallRetriever(store=store, gate=face.SearchGate())
    told: list[str] = []
    expected = f"SearchGate: {face.SearchGate().explain(NOT_NEEDED)}"

    if face.is_langchain:

        class Listener(BaseCallbackHandler):
            def on_custom_event(self, name: str, data: str, **_: object) -> None:
                told.append(f"{name}: {data}")

        listening = retriever.with_config(callbacks=[Listener()])
        assert face.ask(listening, NOT_NEEDED) == []
        face.ask(listening, NEEDED)
        assert told == [f"recall_skipped: {expected}"]
        return

    root, events = get_dispatcher(), Events()
    root.add_event_handler(events)
    try:
        assert face.ask(retriever, NOT_NEEDED) == []
        face.ask(retriever, NEEDED)
    finally:
        root.event_handlers.remove(events)
    [skipped] = [each for each in events._seen if isinstance(each, SearchSkipped)]
    assert (skipped.query, skipped.why) == (NOT_NEEDED, expected)
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
