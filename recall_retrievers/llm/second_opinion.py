"""A second opinion about checked sentences: a function of yours, or a chat model."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, Field

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.citation import Citation
from recall_retrievers.core.errors import ModelError, ReplyError, described
from recall_retrievers.core.requests import Answers, Prompt, Request, Requests, Work
from recall_retrievers.llm.answers import read_answer
from recall_retrievers.llm.checking.citation_check import Verified
from recall_retrievers.llm.fencing import QUOTED_MATERIAL, body, fenced, harmless, quoted
from recall_retrievers.llm.replies import whole_number
from recall_retrievers.llm.windows import Window

Support = Callable[[str, Sequence[str]], bool]
"""Whether memories say what a sentence says: called with the sentence and their texts."""

SYSTEM = f"""\
You check sentences against memories. Each sentence names the memories that it cites. It is \
supported if these say it: the same people, things, numbers and times, in the same roles; nothing \
denied that they affirm, and no part that they do not say. Other words for the same are fine. \
{QUOTED_MATERIAL} So are the sentences. Reply with JSON only, the numbers of the sentences that \
are not supported, or an empty list:
{{"unsupported": [...]}}"""


def _function_or_model(check: object) -> object:
    if check is None or callable(check) or _is_model(check):
        return check
    raise ValueError(f"check must be a function or a model; got {type(check).__name__}")


Check = Annotated[object, AfterValidator(_function_or_model), Field(exclude=True, repr=False)]
"""A function as `Support`, or the framework's model; None = no second opinion."""

Opinions = Generator[Requests, Answers, tuple[list[Verified | Exception], str]]


def second_opinions(
    check: object,
    outcomes: Sequence[Verified | Exception],
    shown: Sequence[Window],
    to_model: Callable[[Prompt], Prompt],
) -> Opinions:
    """Ask about every sentence that passed, and remove those that are not supported.

    A model that fails, or whose reply cannot be read, removes nothing; the note says so. The error
    of a function is raised.
    """
    asked = [
        (place, each)
        for place, each in enumerate(outcomes)
        if isinstance(each, Verified) and each.citations
    ]
    results = [*outcomes]
    if check is None or not asked:
        return results, ""
    requests: list[Request] = [
        replace(to_model(_prompt(each.citations, shown[place])), llm=check)
        if _is_model(check)
        else Work(partial(_by, check, each, shown[place]))
        for place, each in asked
    ]
    note = ""
    try:
        answers = yield requests
    except ModelError as error:
        return results, f"no second opinion: {described(error)}"
    for (place, each), answer in zip(asked, answers, strict=True):
        try:
            results[place] = _without(each, _refused(answer, len(each.citations)))
        except ReplyError as error:
            note = f"no second opinion: {described(error)}"
    return results, note


def _is_model(check: object) -> bool:
    return any(hasattr(check, name) for name in ("invoke", "chat"))


def _by(check: object, verified: Verified, window: Window) -> list[int]:
    """The numbers, from 1, of the sentences that a function does not find supported."""
    assert callable(check)  # noqa: S101 - as `_function_or_model` has seen to
    return [
        number
        for number, each in enumerate(verified.citations, 1)
        if not check(each.sentence, [body(memory) for memory in _cited(each, window)])
    ]


def _cited(citation: Citation, window: Window) -> list[Candidate]:
    return [window.memories[number - window.first - 1] for number in citation.numbers]


def _without(verified: Verified, refused: set[int]) -> Verified | ReplyError:
    """The outcome without the sentences of these numbers; an error if there are no others."""
    if len(refused) == len(verified.citations):
        return ReplyError(f"a second opinion supports none of {len(refused)} sentences")
    kept = tuple(each for n, each in enumerate(verified.citations, 1) if n not in refused)
    return replace(verified, citations=kept, removed=verified.removed + len(refused))


def _prompt(citations: Sequence[Citation], window: Window) -> Prompt:
    numbers = sorted({number - window.first for each in citations for number in each.numbers})
    memories = "\n".join(quoted(number, window.memories[number - 1]) for number in numbers)
    sentences = "\n".join(
        fenced(
            "sentence",
            harmless(each.sentence),
            number=str(place),
            cites=", ".join(str(number - window.first) for number in each.numbers),
        )
        for place, each in enumerate(citations, 1)
    )
    return Prompt(SYSTEM, f"The memories:\n{memories}\n\nThe sentences:\n{sentences}")


def _refused(reply: object, count: int) -> set[int]:
    """The numbers in the reply of a model, or those of a function."""
    if isinstance(reply, Exception):
        raise ReplyError(described(reply))
    value = reply if isinstance(reply, list) else read_answer(str(reply), "unsupported").value
    numbers = [whole_number(each) for each in value] if isinstance(value, list) else [None]
    if not all(number is not None and 1 <= number <= count for number in numbers):
        raise ReplyError(
            f"expected numbers of sentences from 1 to {count}; got {str(value)[:80]!r}"
        )
    return {number for number in numbers if number is not None}
