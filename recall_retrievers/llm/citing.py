"""The sentences that a model writes about memories, checked and given to a second opinion.

A second opinion is a function of the user, or a chat model.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, Field

from recall_retrievers.core.errors import ModelError, ReplyError, described
from recall_retrievers.core.query import Citation, Recall
from recall_retrievers.core.requests import Answers, Prompt, Request, Requests, Work
from recall_retrievers.core.settings import Share
from recall_retrievers.llm.checking.citation_check import Verified, notes_on, verify
from recall_retrievers.llm.cited_text import read_sentences
from recall_retrievers.llm.fencing import QUOTED_MATERIAL, body, fenced, harmless, quoted
from recall_retrievers.llm.model_stage import ShowsMemories
from recall_retrievers.llm.replies import read_answer, whole_number
from recall_retrievers.llm.windows import Window, read_replies, some_failed

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

Checked = Verified | Exception
"""The outcome of a window."""


class Cites(ShowsMemories):
    """A stage in which a model writes sentences that cite memories."""

    min_support: Share = 0.5  # `benchmarks.citations` has the measurements
    check: Check = None


def written(
    stage: Cites,
    recall: Recall,
    asked: Sequence[tuple[Window, Prompt]],
    name: str,
    refuses: Callable[[Verified], bool] = lambda _: False,
) -> Generator[Requests, Answers, tuple[Recall, list[Checked]]]:
    """Ask for sentences, a list with a name, and check them. The recall says what was odd.

    Some that hold are of no use if their stage ``refuses`` the outcome of their window.

    Raises:
        ModelError: When the model fails.
        ReplyError: When no sentence of any window holds.
    """
    shown = [window for window, _ in asked]
    replies = yield [prompt for _, prompt in asked]
    notes: list[str] = []

    def read(reply: str, window: Window) -> Verified:
        text = read_sentences(reply, name)
        least, appeal = stage.min_support, stage.check is not None
        verified = verify(text.value, window.memories, least, window.first, appeal=appeal)
        if (text.value and not verified.citations) or refuses(verified):
            raise ReplyError(
                f"{verified.removed} of {len(text.value)} sentences do not rest on what they cite"
            )
        notes.extend(text.notes)
        return verified

    outcomes = read_replies([*zip(shown, replies, strict=True)], read)
    outcomes, note = yield from _second_opinions(stage, outcomes, shown)
    recall = some_failed(recall, stage.stage_name, outcomes)
    verified = [each for each in outcomes if isinstance(each, Verified)]
    notes += [note] if note else []
    recall = recall.fell_back(stage.stage_name, *dict.fromkeys(notes), *notes_on(verified))
    return recall, outcomes


def _second_opinions(
    stage: Cites, outcomes: list[Checked], shown: Sequence[Window]
) -> Generator[Requests, Answers, tuple[list[Checked], str]]:
    """Ask `check` about every sentence that may stay, and remove what it does not support.

    A model that fails, or whose reply cannot be read, decides nothing: the doubtful sentences are
    removed, and no others. The note says so. The error of a function is raised.
    """
    asked = {n: e for n, e in enumerate(outcomes) if isinstance(e, Verified) and e.citations}
    if stage.check is None or not asked:
        return outcomes, ""
    by_model = _is_model(stage.check)
    requests: list[Request] = [
        replace(stage.to_model(_prompt(each.citations, shown[place])), llm=stage.check)
        if by_model
        else Work(partial(_unsupported, stage.check, each.citations, shown[place]))
        for place, each in asked.items()
    ]
    try:
        answers = yield requests
    except ModelError as error:
        answers = [error] * len(asked)
    results, note = [*outcomes], ""
    for (place, each), answer in zip(asked.items(), answers, strict=True):
        try:
            refused = _read(answer, len(each.citations)) if by_model else answer
        except (ModelError, ReplyError) as error:
            note = f"no second opinion: {described(error)}"
            refused = {n for n, e in enumerate(each.citations, 1) if e in each.doubtful}
        rest = tuple(e for n, e in enumerate(each.citations, 1) if n not in refused)
        nothing = ReplyError(f"no second opinion supports any of {len(refused)} sentences")
        removed = each.removed + len(refused)
        results[place] = replace(each, citations=rest, removed=removed) if rest else nothing
    return results, note


def _is_model(check: object) -> bool:
    return any(hasattr(check, name) for name in ("invoke", "chat"))


def _unsupported(check: object, citations: Sequence[Citation], window: Window) -> set[int]:
    """The numbers, from 1, of the sentences that a function does not find supported."""
    assert callable(check)  # noqa: S101 - as `_function_or_model` has seen to
    texts = [body(memory) for memory in window.memories]
    cited = [[texts[n - window.first - 1] for n in each.numbers] for each in citations]
    pairs = enumerate(zip(citations, cited, strict=True), 1)
    return {number for number, (each, texts) in pairs if not check(each.sentence, texts)}


def _prompt(citations: Sequence[Citation], window: Window) -> Prompt:
    cited = [[number - window.first for number in each.numbers] for each in citations]
    numbers = sorted({number for each in cited for number in each})
    memories = [quoted(number, window.memories[number - 1]) for number in numbers]
    sentences = [
        fenced("sentence", harmless(each.sentence), number=str(n), cites=str(numbers)[1:-1])
        for n, (each, numbers) in enumerate(zip(citations, cited, strict=True), 1)
    ]
    shown = ["The memories:", *memories, "", "The sentences:", *sentences]
    return Prompt(SYSTEM, "\n".join(shown))


def _read(reply: str | Exception, count: int) -> set[int]:
    """The numbers of sentences in the reply of a model."""
    if isinstance(reply, Exception):
        raise reply
    value = read_answer(reply, "unsupported").value
    numbers = {whole_number(each) for each in value} if isinstance(value, list) else {None}
    if not numbers <= {*range(1, count + 1)}:
        raise ReplyError(
            f"expected numbers of sentences from 1 to {count}; got {str(value)[:80]!r}"
        )
    return {number for number in numbers if number is not None}
