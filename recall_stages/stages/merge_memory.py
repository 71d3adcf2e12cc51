"""MergeMemory: R -> text. The memories under one heading, with a request to use the helpful parts.

No model call. It is the simple end of the task memory flow.
"""

from __future__ import annotations

from dataclasses import replace
from string import Template
from typing import ClassVar

from pydantic import Field

from recall_stages.core.candidate import Candidate
from recall_stages.core.stage import Recall, Stage
from recall_stages.llm.fencing import indented
from recall_stages.llm.windows import fit_budget
from recall_stages.ranking.copies import distinct
from recall_stages.text.tokens import Counter, token_counter

TEXT = Template("""\
Previous memories:
$memories

Consider the helpful parts of these memories when you answer the question.""")


class MergeMemory(Stage):
    """Put the memories into one text, for a model that answers with their help.

    Equal texts are written once. Without memories, the text is empty.

    Args:
        token_budget: The number of tokens of memories in the text. The best memories that fit are
            in the text. The trace names the others, as ``left_out``. None = all.
        token_counter: Counts the tokens of a text. None = tiktoken if its files are on this
            machine, else an estimate.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_stages.core.query import Query
        >>> query = Query(text="Uploads?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> memory = Candidate(content="Catch PermissionError.", when_to_use="When uploads fail")
        >>> print(MergeMemory().apply(Recall(query, (memory,))).text)
        Previous memories:
        - When uploads fail: Catch PermissionError.
        <BLANKLINE>
        Consider the helpful parts of these memories when you answer the question.
    """

    writes_text: ClassVar[bool] = True

    token_budget: int | None = Field(default=None, ge=1)
    token_counter: Counter | None = Field(default=None, exclude=True, repr=False)

    def apply(self, recall: Recall) -> Recall:
        """Write the text."""
        recall = recall.at_most(recall.query.k)
        memories = distinct(recall.memories)
        if not memories:
            return replace(recall, text="")
        fitting = [*memories]
        if self.token_budget is not None:
            count = self.token_counter or token_counter()
            fitting = fit_budget(memories, self.token_budget, count)
        text = TEXT.substitute(memories="\n".join(map(_line, fitting)))
        best = memories[0]  # only this one may be cut, and only in the text
        fitting[0] = replace(fitting[0], content=best.content, when_to_use=best.when_to_use)
        return replace(recall, memories=tuple(fitting), text=text)


def _line(memory: Candidate) -> str:
    when = f"{memory.when_to_use}: " if memory.when_to_use else ""
    return "- " + indented(when + memory.content.strip(), "  ")
