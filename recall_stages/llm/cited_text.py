"""A text of cited sentences out of a model's reply, which may be prose, or an honest "nothing"."""

from __future__ import annotations

from dataclasses import dataclass

from recall_stages.core.citation import Claim
from recall_stages.core.errors import ReplyError
from recall_stages.llm.claims import claims_of
from recall_stages.llm.replies import objects_with
from recall_stages.llm.salvage import read_answer
from recall_stages.llm.thoughts import without_thoughts


@dataclass(frozen=True, slots=True)
class CitedText:
    """The sentences of a reply, which nobody has checked yet.

    Attributes:
        claims: The sentences; none = the model says that the memories do not answer.
        note: What was wrong with the reply, if the sentences had to be saved; else empty.
    """

    claims: tuple[Claim, ...]
    note: str = ""


def read_sentences(reply: str, name: str) -> CitedText:
    """The sentences of a reply, with the memory numbers they cite.

    An empty list under the name is an answer: the memories do not help.

    Args:
        reply: The reply of the model.
        name: The name of the list.

    Raises:
        ReplyError: When there is no sentence in it.

    Examples:
        >>> read_sentences('{"points": [{"text": "Tea at four.", "memories": [1]}]}', "points")
        CitedText(claims=(Claim(sentence='Tea at four.', numbers=(1,)),), note='')
        >>> read_sentences('{"sentences": []}', "sentences").claims
        ()
        >>> read_sentences("Tea is at four [1].", "sentences").note
        'it is prose with marks, and no JSON'
    """
    try:
        answer = read_answer(reply, name)
        if answer.value == [] and objects_with(reply, name):
            return CitedText(())
        return CitedText(tuple(claims_of(answer.value)), answer.note)
    except ReplyError as error:
        claims = _prose(without_thoughts(reply))
        if not claims:
            raise error from None
        return CitedText(claims, "it is prose with marks, and no JSON")


def _prose(text: str) -> tuple[Claim, ...]:
    """The sentences of a text with marks; none if it has none, or something like an object."""
    if not text or "{" in text:
        return ()
    try:
        claims = claims_of(text)
    except ReplyError:
        return ()
    return tuple(claims) if any(claim.numbers for claim in claims) else ()
