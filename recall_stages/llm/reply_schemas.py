"""The forms of replies, for models that take a schema.

A form only guides the model. Whatever the model fills in is taken as it is, then read and checked
like any other reply: a memory number that does not exist is no reason to ask again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
)

T = TypeVar("T")


def _as_it_is(value: object, check: ValidatorFunctionWrapHandler) -> object:
    try:
        return check(value)
    except ValidationError:
        return value


Loose = Annotated[T, WrapValidator(_as_it_is)]
"""A type for the schema alone: a value of another type passes, and the reader checks it."""


@lru_cache(maxsize=256)
def scores_form(name: str, count: int) -> type[BaseModel]:
    """The form of a list of scores, one pair of number and score for each memory.

    Args:
        name: The name of the list.
        count: The number of memories in the prompt; no list is longer, and no number higher.

    Examples:
        >>> scores_form("scores", 9).model_json_schema()["properties"]["scores"]["maxItems"]
        9
    """
    return _form("Scores", _SCORES, {name: _pairs(count)})


@lru_cache(maxsize=256)
def sentences_form(name: str, count: int, most: int) -> type[BaseModel]:
    """The form of a list of sentences, each with the numbers of the memories that it rests on.

    Args:
        name: The name of the list.
        count: The number of memories in the prompt.
        most: The number of sentences at most.
    """
    return _form("Sentences", _TEXT, {name: _sentences(count, most)})


@lru_cache(maxsize=256)
def ranked_text_form(count: int, most: int) -> type[BaseModel]:
    """The form of scores and sentences in one reply."""
    fields = {"scores": _pairs(count), "sentences": _sentences(count, most)}
    return _form("RankedText", f"{_SCORES} {_TEXT}", fields)


_SCORES = "A pair for each memory: its number, and its score from 0.0 to 1.0."
_TEXT = "A short text, sentence by sentence, with the numbers of the memories it rests on."


def _pairs(count: int) -> Any:
    number_or_score = Annotated[float, Field(ge=0, le=max(count, 1))]
    pair = Annotated[list[number_or_score], Field(min_length=2, max_length=2)]
    return Loose[Annotated[list[pair], Field(max_length=count)]]


def _sentences(count: int, most: int) -> Any:
    number = Annotated[int, Field(ge=1, le=max(count, 1))]
    fields = {"text": str, "memories": Annotated[list[number], Field(max_length=count)]}
    sentence = _form("CitedSentence", "A sentence, and the numbers of its memories.", fields)
    return Loose[Annotated[list[sentence], Field(max_length=most)]]  # type: ignore[valid-type]  # made for this count


def _form(name: str, about: str, fields: Mapping[str, Any]) -> type[BaseModel]:
    required: dict[str, Any] = {field: (kind, ...) for field, kind in fields.items()}
    form: type[BaseModel] = create_model(name, __doc__=about, **required)
    return form


def as_reply(form: BaseModel) -> str:
    """A form that a model filled in, as the reply that it would have written.

    Examples:
        >>> as_reply(scores_form("scores", 2)(scores=[["one", 0.5]]))
        '{"scores":[["one",0.5]]}'
    """
    return form.model_dump_json(warnings=False)
