"""The base of the stages that ask a language model."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from string import Template
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field, field_validator

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.query import Query
from recall_retrievers.core.settings import Seconds
from recall_retrievers.core.stage import Prompt, Stage
from recall_retrievers.llm.prompts import USER
from recall_retrievers.llm.windows import Window, windows
from recall_retrievers.text.tokens import Counter

SystemPrompt = Annotated[str | None, Field(min_length=1)]
"""The instructions for the model, in place of the stage's own."""


class ModelStage(Stage):
    """The base of every stage that asks a language model.

    A prompt is sent again after a pause if the model rejects it (429, 503) or the connection drops.
    The pause is that of the server's Retry-After; without one it grows. Other errors are final.

    Where a reply in a schema fails, the model is asked again for plain JSON. If it refuses the
    schema, or three such replies in a row fail, it gets none from then on. A model that takes no
    system message gets the instructions in the message of the user.

    Args:
        llm: The framework's model. None = no model is asked.
        timeout_s: Seconds to wait for the replies; late ones fail. None = the model's own limit.
        attempts: How often a prompt is sent at most. None = 3, or 1 if the model retries by itself.
        structured: Whether to pass the reply's form as a schema. None = if the model takes one.
    """

    placeholders: ClassVar[tuple[str, ...]] = ("question", "memories")
    """What a ``user_prompt`` must hold, where the stage has that setting."""
    optional_placeholders: ClassVar[tuple[str, ...]] = ("messages", "count")
    """What it may hold besides."""

    llm: object = Field(default=None, exclude=True, repr=False)
    timeout_s: Seconds | None = None
    attempts: int | None = Field(default=None, ge=1, le=10)
    structured: bool | None = None

    @field_validator("user_prompt", check_fields=False)
    @classmethod
    def _has_its_placeholders(cls, prompt: str | None) -> str | None:
        if prompt is None:
            return None
        named = Template(prompt).get_identifiers() if Template(prompt).is_valid() else None
        if named is None:
            raise ValueError("user_prompt has a $ with no name behind it; write $$ for the sign")
        known = (*cls.placeholders, *cls.optional_placeholders)
        missing = [each for each in cls.placeholders if each not in named]
        unknown = [each for each in named if each not in known]
        if missing or unknown:
            wrong = f"hold {_signs(missing)}" if missing else f"not hold {_signs(unknown)}"
            raise ValueError(f"user_prompt must {wrong}; it takes: {_signs(known)}")
        return prompt

    def prompt(self, system: str, user: str, form: type[BaseModel], **material: str) -> Prompt:
        """A prompt for this stage's model, with the material in place of the placeholders."""
        text = Template(user).substitute(material)
        return self.to_model(Prompt(system, text, form=form))

    def to_model(self, prompt: Prompt) -> Prompt:
        """A prompt with the model it goes to, and how it is sent."""
        names = ("llm", "timeout_s", "attempts", "structured")
        return replace(prompt, **{name: getattr(self, name) for name in names})


class ShowsMemories(ModelStage):
    """A stage that shows a model the memories.

    Args:
        token_budget: How many tokens of memories go into the prompt at most.
        token_counter: Counts tokens. None = tiktoken if its files are here, else an estimate.
        system_prompt: Instructions in place of the stage's own; they must ask for the same JSON.
        user_prompt: Template of the material: ``$question``, ``$memories``, and optionally
            ``$messages`` and ``$count``.
    """

    token_budget: int = Field(default=4000, ge=100, le=10_000_000)
    token_counter: Counter | None = Field(default=None, exclude=True, repr=False)
    system_prompt: SystemPrompt = None
    user_prompt: str | None = None

    def windows(self, memories: Sequence[Candidate], **how: int) -> list[Window]:
        """The memories that fit into a prompt; see `recall_retrievers.llm.windows`."""
        return windows(memories, budget=self.token_budget, count=self.token_counter, **how)

    def about(
        self,
        query: Query,
        window: Window,
        system: str,
        form: type[BaseModel],
        user: str = USER,
    ) -> Prompt:
        """The prompt about a question and the memories of a window."""
        texts = self.system_prompt or system, self.user_prompt or user
        return self.prompt(*texts, form, **window.material(query))


def _signs(names: Iterable[str]) -> str:
    return ", ".join(f"${name}" for name in names)
