"""What prompts about memories have in common: their words, and the forms of the replies.

A form is for models that take a schema, and only guides them. Whatever the model fills in is taken
as it is, then read and checked like any other reply: a memory number that does not exist is no
reason to ask again.
"""

from collections.abc import Mapping
from typing import Annotated, TypeVar

from pydantic import (
    BaseModel,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
)

T = TypeVar("T")

USER_WITH_MESSAGES = """\
$question
$messages
The memories, $count in all:
$memories"""
"""The material of a prompt about a question, the last messages and the memories."""

USER = USER_WITH_MESSAGES.replace("$messages", "")

SCORE_PAIRS = "[[number, score], [number, score], ...]"
"""The form of the scores, in the prompts. It is no JSON, so that a copy of it is no judgement."""

CITED_RULES = """\
Every sentence rests on memories and names them by number; keep to their own words, names and \
figures, and add nothing that they do not say. Where memories contradict each other, the one that \
was recorded later holds; where that is unclear, tell both with their dates. Write in the language \
of the question. If no memory helps, the list stays empty."""

CITED_SENTENCES = '[{"text": sentence, "memories": [number, number]}, ...]'
"""The form of the sentences, in the prompts. It is no JSON, so that a copy of it is no text."""


MOST_SENTENCES = 20  # in a text
MOST_PAIRS = 50  # in a reply in a form: where it has as many, it may be cut off


def _as_it_is(value: object, check: ValidatorFunctionWrapHandler) -> object:
    try:
        return check(value)
    except ValidationError:
        return value


Loose = Annotated[T, WrapValidator(_as_it_is)]
"""A type for the schema alone: a value of another type passes, and the reader checks it."""


# The forms do not depend on the number of memories: a provider compiles each new schema, and puts
# it before the prompt, where another one would spoil its cache.
_Pair = Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=2, max_length=2)]
_Pairs = Loose[Annotated[list[_Pair], Field(max_length=MOST_PAIRS)]]
_Numbers = Annotated[list[Annotated[int, Field(ge=1)]], Field(max_length=MOST_SENTENCES)]


class CitedSentence(BaseModel):
    """A sentence, and the numbers of its memories."""

    text: str
    memories: _Numbers


_Sentences = Loose[Annotated[list[CitedSentence], Field(max_length=MOST_SENTENCES)]]


_LISTS = {
    "scores": (_Pairs, "A pair for each memory that bears on it: its number, its score."),
    "ranking": (_Pairs, "A pair for each memory that helps, the best first."),
    "sentences": (_Sentences, "A short text, and the numbers of the memories it rests on."),
    "points": (_Sentences, "A few points, and the numbers of the memories they rest on."),
}
REPLY_FORMS: Mapping[str, type[BaseModel]] = {
    name: create_model(name.capitalize(), __doc__=about, **{name: (kind, ...)})  # type: ignore[call-overload]  # a field by its name
    for name, (kind, about) in _LISTS.items()
}
"""The form of a reply about memories, by the name of its list."""


def abstention(question: str) -> str:
    """The text where a model says that the memories do not answer."""
    chinese = any("\u4e00" <= letter <= "\u9fff" for letter in question)
    return "这些记忆没有回答这个问题。" if chinese else "The memories do not answer this question."
