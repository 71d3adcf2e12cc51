"""The base of the stages that ask a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from string import Template
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field, field_validator

from recall_retrievers.core.settings import Seconds
from recall_retrievers.core.stage import Prompt, Stage
from recall_retrievers.text.tokens import Counter

SystemPrompt = Annotated[str | None, Field(min_length=1)]
"""The instructions for the model, in place of the stage's own."""

TokenBudget = Annotated[int, Field(ge=100, le=10_000_000)]
"""How many tokens of memories go into one prompt."""

TokenCounter = Annotated[Counter | None, Field(exclude=True, repr=False)]
"""What counts the tokens of a text; None = `token_counter`."""


class ModelStage(Stage):
    """The base of every stage that asks a language model.

    Args:
        llm: The framework's model; None = what the stage does without one.
        timeout_s: Seconds to wait for the replies, all attempts taken together; late replies count
            as failed. None = the model's own limit.
        attempts: How often a prompt is sent at most. It is sent again after a pause if the model
            rejects it (429, 503) or the connection drops. The pause is that of the server's
            Retry-After; without one it grows. Other errors are final. None = three times, or once
            if the model itself tries again (LangChain's ``with_retry``, or ``max_retries``).
        structured: Whether to pass the form of the reply as a schema or a tool call. If that fails,
            plain JSON is asked for, and the trace says so. None = if the model says that it takes
            one.

    Raises:
        SettingsError: On construction, when a ``user_prompt`` lacks a placeholder of the stage, or
            has an unknown one.
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
        if missing:
            raise ValueError(f"user_prompt must hold {_signs(missing)}")
        if unknown:
            raise ValueError(
                f"user_prompt has no {_signs(unknown)} to put in; it takes: {_signs(known)}"
            )
        return prompt

    def prompt(self, system: str, user: str, form: type[BaseModel], **material: str) -> Prompt:
        """A prompt in the form of this stage.

        Args:
            system: The instructions.
            user: The template of the material, with placeholders.
            form: The form of a reply.
            **material: The text for each placeholder.
        """
        text = Template(user).substitute(material)
        return self.to_model(Prompt(system, text, form=form))

    def to_model(self, prompt: Prompt) -> Prompt:
        """A prompt with the model it goes to, and how it is sent."""
        return replace(
            prompt,
            llm=self.llm,
            timeout_s=self.timeout_s,
            attempts=self.attempts,
            structured=self.structured,
        )


def _signs(names: Sequence[str]) -> str:
    return ", ".join(f"${name}" for name in names)
