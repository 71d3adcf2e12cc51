"""Evaluations side by side: their figures, and the questions that make the difference."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.world import MemoryStore
from recall_retrievers.evaluation.evaluate import (
    MEASURES,
    Answered,
    Evaluation,
    call_options,
    evaluate_with,
)
from recall_retrievers.evaluation.questions import Question, as_questions
from recall_retrievers.explain.explanation import plain_text
from recall_retrievers.explain.rows import rows, understood
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.stages.fuse_rerank import FuseRerank
from recall_retrievers.text.words import printable

BY_CATEGORY = "recall@5"
"""The measure that is shown for each category."""

_DECIDES = "ndcg@10"  # it sees that a memory moved up, where recall sees only whether it is there
_SHOWN = 3  # questions better and questions worse that are shown
_TEXT = 60  # characters of a memory that are shown

_Grid = dict[str, dict[str, float | None]]  # for each evaluation, by its name, a figure a column


@dataclass(frozen=True, slots=True)
class Difference:
    """A question that one evaluation answers better than the other.

    Attributes:
        question: The question.
        change: nDCG@10 of the second less that of the first: above 0, the second is better.
        places: By the name of each evaluation, where the wanted memories stand in it, from 1; None
            = not in the first ten.
        why: What lifted the best wanted memory in the second, or the memory that stands before it.
    """

    question: Question
    change: float
    places: dict[str, dict[str, int | None]]
    why: str

    @property
    def placed(self) -> list[str]:
        """The places in words, one text for each evaluation, such as "1, 4, -"."""
        return [_in_words(places) for places in self.places.values()]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several evaluations of the same questions, side by side.

    Printed, it has a table of the means, one by category where the questions name any, and the
    questions in which the last evaluation differs most from the first, with the reasons.

    Attributes:
        evaluations: Each by its name. The last is compared with the first.
    """

    evaluations: Mapping[str, Evaluation]

    @property
    def differences(self) -> list[Difference]:
        """The questions that the last answers better or worse than the first, by nDCG@10.

        The largest gain comes first, the largest loss last.
        """
        (first, old), *_, (last, new) = self.evaluations.items()
        found = []
        for before, after in zip(old.answers, new.answers, strict=True):
            if before.figures is None or after.figures is None:
                continue
            if change := after.figures[_DECIDES] - before.figures[_DECIDES]:
                places = {first: before.places, last: after.places}
                why = _why(after, better=change > 0)
                found.append(Difference(before.question, change, places, why))
        return sorted(found, key=lambda difference: -difference.change)

    def table(self) -> Table:
        """The means, a row for each evaluation, for a `rich` console."""
        figures = {name: evaluation.figures for name, evaluation in self.evaluations.items()}
        return _table({x: {each: own.get(each) for each in MEASURES} for x, own in figures.items()})

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def __rich__(self) -> Group:
        return Group(*self._parts())

    def to_text(self, width: int = 100) -> str:
        """The tables as plain text of a given width, in characters."""
        return plain_text(self, width)

    def _parts(self) -> Iterator[RenderableType]:
        yield self.table()
        names, found = list(self.evaluations), self.differences
        answers = self.evaluations[names[0]].answers
        counts = Counter(each.question.category for each in answers if each.question.category)
        if counts:
            yield Text(f"\n{BY_CATEGORY} by category (number of questions)")
            means = {name: each.by_category for name, each in self.evaluations.items()}
            yield _table(
                {
                    name: {f"{x} ({n})": own[x].get(BY_CATEGORY) for x, n in counts.items()}
                    for name, own in means.items()
                }
            )
        better = [each for each in found if each.change > 0]
        worse = found[len(better) :]
        heading = (
            f"{names[-1]} against {names[0]}, by nDCG@10: {len(better)} questions better, "
            f"{len(worse)} worse, {len(answers) - len(found)} the same. Below are the places of "
            "the wanted memories; - is not in the first ten."
        )
        yield Text(f"\n{printable(heading)}")
        if found:
            table = _headed("question", *found[0].places, "why")
            table.columns[0].ratio, table.columns[-1].ratio = 2, 4
            for each in [*better[:_SHOWN], *worse[-_SHOWN:]]:
                words = (each.question.question, *each.placed, each.why)
                table.add_row(*(Text(printable(text)) for text in words))
            yield table


def compare(evaluations: Mapping[str, Evaluation]) -> Comparison:
    """Put evaluations of the same questions side by side.

    Args:
        evaluations: What `evaluate` returned, by the name to show, at least two. The last is
            compared with the first.

    Raises:
        TypeError: When it is no mapping of names to evaluations.
        ValueError: When there are fewer than two, or they are of different questions.

    Examples:
        >>> from recall_retrievers.evaluation.evaluate import evaluate_with
        >>> from recall_retrievers.core.memory import Memory
        >>> tea, dentist = Memory(id="m2", content="Tea."), Memory(id="m1", content="A dentist.")
        >>> questions = [{"question": "Which dentist?", "relevant": ["m1"]}]
        >>> compared = compare({
        ...     "before": evaluate_with(lambda question: [tea, dentist], questions),
        ...     "after": evaluate_with(lambda question: [dentist, tea], questions),
        ... })
        >>> compared.differences[0].places
        {'before': {'m1': 2}, 'after': {'m1': 1}}
    """
    if not isinstance(evaluations, Mapping):
        raise TypeError(
            f'compare takes evaluations by name, as in compare({{"mine": evaluation, ...}}); '
            f"got {type(evaluations).__name__}"
        )
    for name, evaluation in evaluations.items():
        if not isinstance(evaluation, Evaluation):
            raise TypeError(
                f"compare takes evaluations; got {type(evaluation).__name__} for {name!r}: "
                "give what evaluate(retriever, questions) returns"
            )
    if len(evaluations) < 2:
        raise ValueError(f"compare takes at least two evaluations; got {len(evaluations)}")
    questions = [[a.question for a in evaluation.answers] for evaluation in evaluations.values()]
    if any(own != questions[0] for own in questions):
        raise ValueError(
            "the evaluations are of different questions; evaluate each retriever with the same list"
        )
    return Comparison(dict(evaluations))


STEPS: dict[str, dict[str, object]] = {
    "by meaning": {"method": "semantic", "stages": []},
    "by exact words": {"method": "keyword", "stages": []},
    "both, fused": {"stages": []},
    "+ time searched": {"stages": [ExtractTime()]},
    "+ time, type, author weighed": {"stages": [ExtractTime(), FuseRerank()]},
}
"""The settings of a retriever, step by step; the last are its defaults."""


def evaluate_steps(
    store: MemoryStore,
    questions: Iterable[Question | Mapping[str, object]],
    *,
    progress: bool = False,
) -> Comparison:
    """What each step of the search adds, measured on your own questions.

    Each row asks all questions with more of the search: by meaning alone, by words alone, both
    fused, the time in the question searched too, and last the time, the type and the author
    weighed. The last row is a `RecallRetriever` with its defaults. No model is called.

    Args:
        store: The collection.
        questions: See `evaluate`.
        progress: Show a progress bar on standard error, where that is a terminal.

    Returns:
        The steps side by side; ``evaluations`` has each by its name.

    Raises:
        TypeError: When a question is neither a `Question` nor a mapping.
        ValueError: When there is no question, or one is not as it should be.

    Examples:
        >>> from recall_retrievers.store import RecallStore
        >>> store = RecallStore()
        >>> ids = store.add([{"id": "tea", "content": "Anna likes tea."}, "Bob plays chess."])
        >>> steps = evaluate_steps(store, [{"question": "Who likes tea?", "relevant": ["tea"]}])
        >>> steps.evaluations["by meaning"].figures["recall@5"]
        1.0
        >>> store.close()
    """
    listed = as_questions(questions)
    return compare(
        {
            name: evaluate_with(
                partial(_found, MemoryRetriever(store=store, **settings)),
                listed,
                progress=progress,
                name=name,
            )
            for name, settings in STEPS.items()
        }
    )


def _found(retriever: MemoryRetriever, question: Question) -> Sequence[Candidate]:
    return retriever.recall_without_model(question.question, **call_options(question)).memories


def _in_words(places: Mapping[str, int | None]) -> str:
    found = sorted(place for place in places.values() if place is not None)
    return ", ".join([*map(str, found), *["-"] * (len(places) - len(found))])


def _why(answered: Answered, *, better: bool) -> str:
    """How the best wanted memory came to its score; where it got worse, what stands before it."""
    lines = understood(answered.memories)
    wanted = answered.question.relevant
    shown = next((m for m in answered.memories if (m.id in wanted) == better), None)
    if shown is None:
        return "\n".join([*lines, "nothing was found" if not answered.memories else ""]).strip()
    place = answered.memories.index(shown) + 1
    text = " ".join(shown.content.split())
    short = f"{text[:_TEXT]}…" if len(text) > _TEXT else text
    way = ", ".join(row.label for row in rows(shown))
    return "\n".join([*lines, f"{place}. {short}", way]).strip()


def _table(grid: _Grid) -> Table:
    table = _headed("", *next(iter(grid.values())))
    table.columns[0].no_wrap = True
    for name, figures in grid.items():
        shown = ("-" if value is None else f"{value:.3f}" for value in figures.values())
        table.add_row(Text(printable(name)), *shown)
    return table


def _headed(*names: str) -> Table:
    # As `Text`, so that a name such as "[old]" is shown as it is.
    return Table(*(Column(Text(printable(name))) for name in names))
