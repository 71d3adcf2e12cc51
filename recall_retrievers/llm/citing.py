"""The sentences that a model writes about memories, checked and given to a second opinion.

A second opinion is a function of the user, or a chat model.
"""

from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, Field

from recall_retrievers.core.errors import ModelError, ReplyError, described
from recall_retrievers.core.query import Citation, Recall
from recall_retrievers.core.requests import Answers, Prompt, Requests, Work
from recall_retrievers.core.settings import Share
from recall_retrievers.llm.checking.citation_check import Verified, notes_on, verify
from recall_retrievers.llm.cited_text import read_sentences
from recall_retrievers.llm.fencing import QUOTED_MATERIAL, body, fenced, harmless, quoted
from recall_retrievers.llm.model_stage import ShowsMemories
from recall_retrievers.llm.replies import read_answer, whole_number
from recall_retrievers.llm.windows import Window

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
"""A function of a sentence and the texts of its memories, the framework's model, or none."""


class Cites(ShowsMemories):
    """A stage in which a model writes sentences that cite memories."""

    min_support: Share = 0.5  # `benchmarks.citations` has the measurements
    check: Check = None


def written(
    stage: Cites, recall: Recall, window: Window, prompt: Prompt, name: str
) -> Generator[Requests, Answers, tuple[Recall, Verified]]:
    """Ask for sentences, a list with a name, and check them. The recall says what was odd.

    Raises:
        ModelError: When the model fails.
        ReplyError: When no sentence holds.
    """
    [reply] = yield [prompt]
    text = read_sentences(reply, name)
    least, appeal = stage.min_support, stage.check is not None
    verified = verify(text.value, window.memories, least, appeal=appeal)
    if text.value and not verified.citations:
        raise ReplyError(
            f"{verified.removed} of {len(text.value)} sentences do not rest on what they cite"
        )
    notes = [*text.notes]
    if appeal and verified.citations:
        verified, note = yield from _second_opinion(stage, verified, window)
        notes += [note] if note else []
    if left_out := [m.id or m.content[:20] for m in recall.memories if m not in window.memories]:
        notes.append(f"no room for memories {', '.join(left_out)}")
    return recall.fell_back(stage.stage_name, *notes, *notes_on(verified)), verified


def _second_opinion(
    stage: Cites, verified: Verified, window: Window
) -> Generator[Requests, Answers, tuple[Verified, str]]:
    """Ask `check` about every sentence that may stay, and remove what it does not support.

    A model that fails, or whose reply cannot be read, decides nothing: the doubtful sentences are
    removed, and no others. The note says so. The error of a function is raised.
    """
    citations, note = verified.citations, ""
    try:
        if _is_model(stage.check):
            [reply] = yield [replace(stage.to_model(_prompt(citations, window)), llm=stage.check)]
            refused = _read(reply, len(citations))
        else:
            [refused] = yield [Work(partial(_unsupported, stage.check, citations, window))]
    except (ModelError, ReplyError) as error:
        note = f"no second opinion: {described(error)}"
        refused = {n for n, each in enumerate(citations, 1) if each in verified.doubtful}
    rest = tuple(each for n, each in enumerate(citations, 1) if n not in refused)
    if not rest:
        raise ReplyError(f"no second opinion supports any of {len(refused)} sentences")
    return replace(verified, citations=rest, removed=verified.removed + len(refused)), note


def _is_model(check: object) -> bool:
    return any(hasattr(check, name) for name in ("invoke", "chat"))


def _unsupported(check: object, citations: Sequence[Citation], window: Window) -> set[int]:
    """The numbers, from 1, of the sentences that a function does not find supported."""
    assert callable(check)  # noqa: S101 - as `_function_or_model` has seen to
    texts = [body(memory) for memory in window.memories]
    return {
        number
        for number, each in enumerate(citations, 1)
        if not check(each.sentence, [texts[cited - 1] for cited in each.numbers])
    }


def _prompt(citations: Sequence[Citation], window: Window) -> Prompt:
    numbers = sorted({number for each in citations for number in each.numbers})
    memories = [quoted(number, window.memories[number - 1]) for number in numbers]
    sentences = [
        fenced(
            "sentence", harmless(x.sentence), number=str(n), cites=", ".join(map(str, x.numbers))
        )
        for n, x in enumerate(citations, 1)
    ]
    shown = ["The memories:", *memories, "", "The sentences:", *sentences]
    return Prompt(SYSTEM, "\n".join(shown))


def _read(reply: str, count: int) -> set[int]:
    """The numbers of sentences in the reply of a model."""
    value = read_answer(reply, "unsupported").value
    numbers = {whole_number(each) for each in value} if isinstance(value, list) else {None}
    if not numbers <= {*range(1, count + 1)}:
        raise ReplyError(
            f"expected numbers of sentences from 1 to {count}; got {str(value)[:80]!r}"
        )
    return {number for number in numbers if number is not None}
