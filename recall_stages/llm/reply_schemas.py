"""The forms of replies, for models that take a schema.

A form only guides the model. Whatever the model fills in is taken as it is, then read and checked
like any other reply: a memory number that does not exist is no reason to ask again.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

T = TypeVar("T")


def _as_it_is(value: object, check: ValidatorFunctionWrapHandler) -> object:
    try:
        return check(value)
    except ValidationError:
        return value


Loose = Annotated[T, WrapValidator(_as_it_is)]
"""A type for the schema alone: a value of another type passes, and the reader checks it."""


class Judgement(BaseModel):
    """How a memory was judged: its number, and a score from 0.0 to 1.0."""

    memory: int
    score: float


class CitedSentence(BaseModel):
    """A sentence, and the numbers of the memories that it rests on."""

    text: str
    memories: list[int]


def as_reply(form: BaseModel) -> str:
    """A form that a model filled in, as the reply that it would have written.

    Examples:
        >>> class Scores(BaseModel):
        ...     scores: Loose[list[Judgement]]
        >>> as_reply(Scores(scores=[{"memory": "one"}]))
        '{"scores":[{"memory":"one"}]}'
    """
    return form.model_dump_json(warnings=False)
