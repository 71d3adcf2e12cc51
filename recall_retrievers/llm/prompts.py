"""What prompts about memories have in common: their words, and the forms of the replies.

A form is for models that take a schema, and only guides them. Whatever the model fills in is taken
as it is, then read and checked like any other reply: a memory number that does not exist is no
reason to ask again.
"""

from collections.abc import Mapping
from functools import lru_cache
from string import Template
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

USER = Template("""\
$question

The memories, $count in all:
$memories""")
"""The material of a prompt about a question and its memories."""

USER_WITH_MESSAGES = Template("""\
$question
$messages
The memories, $count in all:
$memories""")
"""The same with the last messages."""

SCALE = """\
1.0 = it answers the question; 0.7 = it answers a part of it; 0.4 = it is about the same matter \
and does not answer; 0.1 = it only shares words with it; 0.0 = it has nothing to do with it. Use \
the values between them too."""
"""The scale, in the prompts."""

SCORE_PAIRS = "[[number, score], [number, score], ...]"
"""The form of the scores, in the prompts. It is no JSON, so that a copy of it is no judgement."""

CITED_RULES = """\
Every sentence rests on memories and names them by number; keep to their own words, names and \
figures, and add nothing that they do not say. Where memories contradict each other, the one that \
was recorded later holds; where that is unclear, tell both with their dates. Write in the language \
of the question. If no memory helps, the list stays empty."""

REWRITE_RULES = f"""\
what bears on it, what can be acted on, in a sensible order, and nothing else. {CITED_RULES}"""

CITED_SENTENCES = '[{"text": sentence, "memories": [number, number]}, ...]'
"""The form of the sentences, in the prompts. It is no JSON, so that a copy of it is no text."""


MOST_SENTENCES = 20  # in a text


def _as_it_is(value: object, check: ValidatorFunctionWrapHandler) -> object:
    try:
        return check(value)
    except ValidationError:
        return value


Loose = Annotated[T, WrapValidator(_as_it_is)]
"""A type for the schema alone: a value of another type passes, and the reader checks it."""


@lru_cache(maxsize=256)
def reply_form(
    count: int, *, scores: str = "", sentences: str = "", most: int = MOST_SENTENCES
) -> type[BaseModel]:
    """The form of a reply about memories: lists of scores and of sentences, by their names."""
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


def abstention(question: str) -> str:
    """The text where a model says that the memories do not answer."""
    chinese = any("\u4e00" <= letter <= "\u9fff" for letter in question)
    return "这些记忆没有回答这个问题。" if chinese else "The memories do not answer this question."
