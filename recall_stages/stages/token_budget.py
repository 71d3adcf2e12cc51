"""TokenBudget: R -> R. The best memories that fit into a number of tokens. No model call."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from recall_stages.core.stage import Recall, Stage
from recall_stages.llm.budget import fit_budget
from recall_stages.text.tokens import Counter, token_counter


class TokenBudget(Stage):
    """Keep the best memories that fit into a number of tokens, in their order.

    A memory that is too long for the rest of the budget is left out. Shorter ones after it may
    still fit. The trace names the memories that are left out, as ``left_out``. The best memory
    always stays. If it is longer than the whole budget, it is cut, with a mark.

    Args:
        token_budget: The number of tokens for the memories' texts and conditions of use.
        token_counter: Counts the tokens of a text. None = tiktoken if its files are on this
            machine, else an estimate; nothing is downloaded.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_stages.core.candidate import Candidate
        >>> from recall_stages.core.query import Query
        >>> query = Query(text="tea?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> texts = ("Tea at four.", "No milk.", "Jam.")
        >>> memories = tuple(Candidate(content=text) for text in texts)
        >>> stage = TokenBudget(token_budget=16, token_counter=len)
        >>> [each.content for each in stage.apply(Recall(query, memories)).memories]
        ['Tea at four.', 'Jam.']
    """

    token_budget: int = Field(default=2000, ge=1)
    token_counter: Counter | None = Field(default=None, exclude=True, repr=False)

    def apply(self, recall: Recall) -> Recall:
        """Keep the memories that fit."""
        count = self.token_counter or token_counter()
        return replace(
            recall, memories=tuple(fit_budget(recall.memories, self.token_budget, count))
        )
