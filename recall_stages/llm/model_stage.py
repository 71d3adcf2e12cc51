"""The base of the stages that ask a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from string import Template
from typing import ClassVar

from pydantic import BaseModel, Field, field_validator

from recall_stages.core.stage import Prompt, Stage


class AskingStage(Stage):
    """A stage that asks a model.

    Args:
        llm: The framework's model; None = what the stage does without one.
        timeout_s: Seconds to wait for the replies, all attempts taken together; those that are
            late count as failed. None = as the model has it.
        attempts: How often a prompt is sent at the most: where the model turns it away (429, 503)
            or the connection drops, it is sent again after a pause, which is that of the server's
            Retry-After, or else grows. Other errors are not tried again. None = three times; once,
            where the model tries again by itself (LangChain's ``with_retry``, or ``max_retries``).
        structured: Whether to give the model the form of the reply apart from the prompt (schema
            or tool call). Where that fails, the same is asked for in plain JSON, and the trace
            says so. None = where the model says that it takes a form.
    """

    llm: object = Field(default=None, exclude=True, repr=False)
    timeout_s: float | None = Field(default=None, gt=0)
    attempts: int | None = Field(default=None, ge=1, le=10)
    structured: bool | None = None

    def to_model(self, prompt: Prompt) -> Prompt:
        """A prompt with the model it goes to, and how."""
        return replace(
            prompt,
            llm=self.llm,
            timeout_s=self.timeout_s,
            attempts=self.attempts,
            structured=self.structured,
        )


class ModelStage(AskingStage):
    """A stage that asks a model in words which the user may replace.

    Args:
        system_prompt: What the model is told to do, in place of the stage's own words. It must ask
            for the same JSON, which is read and checked as before. None = the stage's own.
        user_prompt: How the material is put, with the placeholders of the stage, such as
            ``$question`` and ``$memories``; a dollar sign is ``$$``. None = the stage's own.

    Raises:
        SettingsError: On construction, when a placeholder is missing or unknown.
    """

    placeholders: ClassVar[tuple[str, ...]] = ("question", "memories")
    optional_placeholders: ClassVar[tuple[str, ...]] = ()
    form: ClassVar[type[BaseModel]]
    """What a reply looks like."""

    system_prompt: str | None = Field(default=None, min_length=1)
    user_prompt: str | None = None

    @field_validator("user_prompt")
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

    def prompt(self, system: str, user: Template, **material: str) -> Prompt:
        """What is asked: the stage's own words, or those that replace them, with the material."""
        template = user if self.user_prompt is None else Template(self.user_prompt)
        text = template.substitute(material)
        return self.to_model(Prompt(self.system_prompt or system, text, form=self.form))


def _signs(names: Sequence[str]) -> str:
    return ", ".join(f"${name}" for name in names)
