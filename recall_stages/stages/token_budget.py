"""TokenBudget: R -> R. As many of the best memories as a prompt has room for. No model call."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from recall_stages.core.stage import Recall, Stage
from recall_stages.llm.budget import fit_budget
from recall_stages.text.tokens import Counter, token_counter


class TokenBudget(Stage):
    """Keep the best memories that fit into so many tokens, in their order.

    One that is too long for what is left is passed over, and shorter ones after it may still fit;
    those left out are named in the trace, as ``left_out``. The best memory always stays: where it
    is longer than the whole budget, it is cut, with a mark.

    Args:
        token_budget: How many tokens the memories' texts and conditions of use may be.
        token_counter: What counts them: a function from a text to a number. None = tiktoken where
            its files are on this machine, else an estimate; nothing is downloaded.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_stages.core.candidate import Candidate
        >>> from recall_stages.core.memory import Query
        >>> asked = Query(text="tea?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> known = tuple(Candidate(content=text) for text in ("Tea at four.", "No milk.", "Jam."))
        >>> stage = TokenBudget(token_budget=16, token_counter=len)
        >>> [each.content for each in stage.apply(Recall(asked, known)).memories]
        ['Tea at four.', 'Jam.']
    """

    token_budget: int = Field(default=2000, ge=1)
    token_counter: Counter | None = Field(default=None, exclude=True, repr=False)

    def apply(self, recall: Recall) -> Recall:
        """Keep what fits."""
        count = self.token_counter or token_counter()
        return replace(
            recall, memories=tuple(fit_budget(recall.memories, self.token_budget, count))
        )
