"""The base of the stages that show memories to a language model, in as many prompts as it takes."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from recall_stages.core.errors import described
from recall_stages.core.memory import Memory
from recall_stages.core.stage import Recall
from recall_stages.llm.model_stage import ModelStage
from recall_stages.llm.windows import Window, windows
from recall_stages.text.tokens import Counter, token_counter


class WindowStage(ModelStage):
    """A stage that asks a model about memories: all its prompts at once, each within a budget.

    Args:
        token_budget: How many tokens of memories go into one prompt.
        token_counter: What counts them: a function from a text to a number. None = tiktoken where
            its files are on this machine, else an estimate; nothing is downloaded.
    """

    token_budget: int = Field(default=4000, ge=100)
    token_counter: Counter | None = Field(default=None, exclude=True, repr=False)

    def windows(self, memories: Sequence[Memory], most: int | None = None) -> list[Window]:
        """The memories of each prompt, at most so many in one."""
        count = self.token_counter or token_counter()
        return windows(memories, budget=self.token_budget, count=count, most=most)

    def some_failed(
        self, recall: Recall, errors: Sequence[Exception], windows: Sequence[Window]
    ) -> Recall:
        """The recall, which names the first error where the replies to some windows are no use."""
        if not errors:
            return recall
        why = described(errors[0])
        return recall.fell_back(
            type(self).__name__, f"{len(errors)} of {len(windows)} prompts failed: {why}"
        )
