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
def reply_form(
    count: int, *, scores: str = "", sentences: str = "", most: int = 20
) -> type[BaseModel]:
    """The form of a reply about memories: a list of scores, a list of sentences, or both.

    Args:
        count: The number of memories in the prompt; no list is longer, and no number higher.
        scores: The name of the list of scores, a pair of number and score for each memory; empty =
            the reply has none.
        sentences: The name of the list of sentences, each with the numbers of the memories that it
            rests on; empty = the reply has none.
        most: The number of sentences at most.

    Examples:
        >>> reply_form(9, scores="scores").model_json_schema()["properties"]["scores"]["maxItems"]
        9
    """
    fields: dict[str, Any] = {}
    if scores:
        number_or_score = Annotated[float, Field(ge=0, le=max(count, 1))]
        pair = Annotated[list[number_or_score], Field(min_length=2, max_length=2)]
        fields[scores] = Loose[Annotated[list[pair], Field(max_length=count)]]
    if sentences:
        number = Annotated[int, Field(ge=1, le=max(count, 1))]
        cited = {"text": str, "memories": Annotated[list[number], Field(max_length=count)]}
        sentence = _form("CitedSentence", "A sentence, and the numbers of its memories.", cited)
        listed = list[sentence]  # type: ignore[valid-type]  # made for this count
        fields[sentences] = Loose[Annotated[listed, Field(max_length=most)]]
    about = " ".join(text for name, text in ((scores, _SCORES), (sentences, _TEXT)) if name)
    return _form("Reply", about, fields)


_SCORES = "A pair for each memory: its number, and its score from 0.0 to 1.0."
_TEXT = "A short text, sentence by sentence, with the numbers of the memories it rests on."


def _form(name: str, about: str, fields: Mapping[str, Any]) -> type[BaseModel]:
    required: dict[str, Any] = {field: (kind, ...) for field, kind in fields.items()}
    form: type[BaseModel] = create_model(name, __doc__=about, **required)
    return form
