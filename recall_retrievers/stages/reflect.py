"""Reflect: Q x R -> text. A summary or key points of the memories; every sentence cites them.

Without a model, and if no sentence can be verified, the first sentences of the best memories.
"""

from collections.abc import Sequence
from dataclasses import replace
from string import Template
from typing import Any, ClassVar, Literal

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import ModelError, RecallError, ReplyError
from recall_retrievers.core.memory import REFLECTION, Memory, digest
from recall_retrievers.core.query import Citation, Query, cited_ids
from recall_retrievers.core.stage import Flow, Prompt, Recall, Write
from recall_retrievers.llm.cited_text import sentences_in
from recall_retrievers.llm.citing import Cites, written
from recall_retrievers.llm.fencing import QUOTED_MATERIAL
from recall_retrievers.llm.prompts import CITED_RULES, CITED_SENTENCES, REPLY_FORMS, abstention
from recall_retrievers.llm.windows import Window

FEWEST, MOST = 3, 5  # key points

SYSTEM = Template(f"""\
You say what memories come to, taken together, with regard to a question: $wanted. {CITED_RULES} \
{QUOTED_MATERIAL} So is the question. Reply with JSON only, one entry for each $entry:
{{"points": {CITED_SENTENCES}}}""")

WANTED = {
    "summary": {"wanted": "a summary of a few sentences", "entry": "sentence"},
    "key_points": {
        "wanted": f"{FEWEST} to {MOST} key points of one sentence each, the weightiest first",
        "entry": "point",
    },
}


class Reflect(Cites):
    """Write a summary or key points of the memories, in sentences that cite them.

    Each sentence is verified as in `RewriteMemory`. A sentence that fails is removed, and the trace
    counts it. If nothing is left, if the model fails, and without a model, the text is the first
    sentences of the best memories. A model may reply with an empty list; the text then says that
    the memories do not answer. Stored reflections among the memories are left out. The memories
    must fit into the prompt. If they do not, the best are used, and the trace names the others.

    Args:
        llm: The framework's model. None = the first sentences of the best memories.
        kind: "summary", or "key_points": 3 to 5 of them, a line each.
        store_reflections: Store what the model wrote as a memory of type "reflection", with the
            question and the ids of the memories it cites. The same reflection is stored once,
            and one that repeats a memory is not. Only inside a retriever; a collection that cannot
            be written is named in the trace.
        min_support: The share of a sentence's words, but for two, that must stand near each other
            in the memories it cites, 0 to 1; with 0 these need only exist.
        check: A second opinion about the sentences, as in `RewriteMemory`.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_retrievers.core.world import run
        >>> query = Query(text="tea?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> memories = (Candidate(content="Ann likes tea. Often."), Candidate(content="No milk."))
        >>> print(run(Reflect(kind="key_points").apply(Recall(query, memories))).text)
        - Ann likes tea. [1]
        - No milk. [2]
    """

    writes_text: ClassVar[bool] = True

    kind: Literal["summary", "key_points"] = "summary"
    store_reflections: bool = False

    def apply(self, recall: Recall) -> Flow:
        """Write the reflection, verify every sentence of it, and store it if that is set."""
        sources = tuple(each for each in recall.memories if each.memory_type != REFLECTION)
        if not sources:
            why = "there is nothing to reflect on but reflections"
            return recall.fell_back(self.stage_name, why) if recall.memories else recall
        recall = replace(recall, memories=sources).at_most(recall.query.k)
        citations = _first_sentences(recall.memories)
        if self.llm is not None:
            [window] = self.windows(recall.memories)
            prompt = self._prompt(recall.query, window)
            try:
                recall, verified = yield from written(self, recall, window, prompt, "points")
            except (ModelError, ReplyError) as error:
                recall = recall.fell_back(self.stage_name, error)
            else:
                citations = verified.citations
                if not citations:
                    return replace(recall, text=abstention(recall.query.text))
                citations = citations[: MOST if self.kind == "key_points" else None]
                if self.store_reflections:
                    recall = yield from self._stored(recall, citations)
        marked = [each.marked() for each in citations]
        points = self.kind == "key_points"
        text = "\n".join(f"- {each}" for each in marked) if points else " ".join(marked)
        return replace(recall, text=text, citations=citations)

    def _stored(self, recall: Recall, citations: Sequence[Citation]) -> Flow:
        """Store the reflection; the recall says so if it cannot be stored."""
        separator = "\n" if self.kind == "key_points" else " "
        text = separator.join(each.sentence for each in citations)
        if any(text == memory.content.strip() for memory in recall.memories):
            return recall  # it repeats a memory: of two copies, a search returns one
        try:
            yield [Write((reflection_of(text, citations, recall),))]
        except (RecallError, OSError) as error:  # the reflection is there, if not stored
            recall = recall.fell_back(self.stage_name, error)
        return recall

    def _prompt(self, query: Query, window: Window) -> Prompt:
        system = SYSTEM.substitute(WANTED[self.kind])
        return self.about(query, window, system, REPLY_FORMS["points"])


def reflection_of(text: str, citations: Sequence[Citation], recall: Recall) -> Memory:
    """A reflection as a memory, with the question, and the ids and text digests of its sources.

    Its id is a digest, so it is stored once. It expires with the first of its sources.
    """
    query = recall.query
    texts = {memory.id: memory.content for memory in recall.memories}
    ids = cited_ids(citations)
    ends = [x.expires_at for x in recall.memories if x.id in ids and x.expires_at]
    owner = sorted(query.scope.fields().items())
    digests = [digest(texts[memory_id]) for memory_id in ids]
    about: dict[str, Any] = {"query": query.text, "source_ids": ids, "source_digests": digests}
    return Memory(
        id=f"reflection-{digest(repr((owner, ids, text)))}",
        content=text,
        memory_type=REFLECTION,
        created_at=query.reference_time,
        scope=query.scope,
        expires_at=min(ends, default=None),
        metadata={name: value for name, value in about.items() if value},
    )


def _first_sentences(memories: Sequence[Candidate]) -> tuple[Citation, ...]:
    """The text without a model: the first sentences of the best memories."""
    return tuple(
        Citation((sentences_in(memory.content) or [memory.content])[0], (number,), (memory.id,))
        for number, memory in enumerate(memories[:MOST], 1)
    )
