"""A memory that gives orders widens no scope and deletes nothing."""

import re

from conftest import WordsEmbedding
from faces.adapters import Face, once
from stages.injections import INJECTIONS, Injection
from tables import table

from recall_retrievers.store import RecallStore

NOW = "2024-03-08T12:00:00Z"
MOVED = "The dentist moved to Elm Street."
COMMANDS = [each for each in INJECTIONS if re.search("bob|delete|search|DROP|系统", each.text)]


@once
@table("injection", COMMANDS, ids=lambda injection: injection.text)
def test_no_scope_is_widened_and_nothing_is_deleted(
    words: WordsEmbedding, face: Face, injection: Injection
) -> None:
    with RecallStore(embedding=words) as store:
        store.add(
            [
                {"id": "sly", "content": injection.text, "scope": {"user_id": "ann"}},
                {"id": "moved", "content": MOVED, "scope": {"user_id": "ann"}},
                {"id": "bob", "content": "Bob sees Dr. Lee.", "scope": {"user_id": "bob"}},
            ]
        )
        retriever = face.personal_memory_retriever(
            store,
            face.model(injection.reply),
            rewrite=True,
            scope={"user_id": "ann"},
            timestamp=NOW,
        )

        [told] = face.ask(retriever, "Where is the dentist?")

        assert set(told.metadata["recall_ids"].split(", ")) <= {"sly", "moved"}
        assert "Lee" not in told.content
        cited = [each.ids for each in face.cited(told)]
        assert all(ids and set(ids) <= {"sly", "moved"} for ids in cited)
        assert store.count() == 3
