"""`recall eval`: how well the user's own questions are answered."""

import argparse
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from recall_retrievers.cli.collection import opened
from recall_retrievers.cli.options import add_collection
from recall_retrievers.cli.output import print_json, print_time, range_json, say, show
from recall_retrievers.cli.streams import complain
from recall_retrievers.evaluation.comparison import Comparison, evaluate_steps
from recall_retrievers.evaluation.evaluate import LOOKED_AT, MEASURES, Evaluation
from recall_retrievers.evaluation.questions import Question, read_questions
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange


def add_eval(parser: argparse.ArgumentParser) -> None:
    """Add the options of `recall eval`."""
    add_collection(parser)
    parser.add_argument(
        "--queries", metavar="FILE", type=Path, required=True, help="the questions, one a line"
    )
    parser.add_argument(
        "--at-least",
        metavar="MEASURE=SHARE",
        type=_bound,
        action="append",
        default=[],
        help=f"return 1 where all steps together stay below; of {', '.join(MEASURES)}; repeatable",
    )


def eval(options: argparse.Namespace) -> int:  # noqa: A001 - as the command
    """How well your own questions are answered.

    The command asks questions whose answers you know. It prints three figures for the first five
    and ten results: the share of the right memories that are found (recall), how high they rank
    (nDCG), and how often at least one is found (hit). It prints them for the search by meaning
    alone, by words alone, and after each further step. Then it lists the times that it read in the
    questions, and the memories that were missed. No model is asked.

    Each line of the file of questions is
      {"question": "...", "relevant": ["id", "id"]}
    with timestamp, timezone, user_id, agent_id, session_id, workspace as you have them.
    """
    questions = [
        each if each.timezone else each.model_copy(update={"timezone": options.timezone})
        for each in read_questions(options.queries)
    ]
    with opened(options) as collection:
        _name_missing(collection.store, questions)
        steps = evaluate_steps(collection.store, questions, progress=True)
    now, calendar = datetime.now(UTC), ExtractTime()
    times = [calendar.read(each.question, each.moment(now)) for each in questions]
    final = list(steps.evaluations.values())[-1]
    if options.json:
        print_json(_json(steps.evaluations, final, times))
    else:
        _show(steps, final, times)
    failed = [
        f"{name} is {final.figures.get(name, 0):.3f}, below {share:g}"
        for name, share in options.at_least
        if final.figures.get(name, 0) < share
    ]
    for each in failed:
        complain(each)
    return 1 if failed else 0


def _bound(text: str) -> tuple[str, float]:
    name, _, share = text.partition("=")
    if name not in MEASURES:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(MEASURES)}")
    try:
        return name, float(share)
    except ValueError:
        message = f"expected a share from 0 to 1, as in {name}=0.8; got {share!r}"
        raise argparse.ArgumentTypeError(message) from None


def _name_missing(store: RecallStore, questions: Sequence[Question]) -> None:
    wanted = sorted({each for question in questions for each in question.relevant})
    missing = set(wanted) - {memory.id for memory in store.get(wanted)}
    if missing:
        some = ", ".join(sorted(missing)[:5])
        complain(f"relevant ids that are not in the collection, {len(missing)} in all: {some}")


def _show(steps: Comparison, final: Evaluation, times: Sequence[Sequence[TimeRange]]) -> None:
    say(f"Questions that name a time: {sum(map(bool, times))}", style="bold")
    for answer, ranges in zip(final.answers, times, strict=True):
        if ranges:
            say(answer.question.question)
            print_time(ranges)
    wanted = sum(len(each.question.relevant) for each in final.answers)
    count = sum(len(each.missed) for each in final.answers)
    of_all = f"{count} of {wanted}"
    say(f"\nMemories missed, as not among the first {LOOKED_AT}: {of_all}", style="bold")
    for each in final.answers:
        if each.missed:
            say(f"{each.question.question}  {', '.join(sorted(each.missed))}")
    if count:
        say('Why: recall explain --id ID "the question", with the options of this command')
    say("")
    show(steps.table())
    without = sum(each.figures is None for each in final.answers)
    say(
        f"{len(final.answers)} questions, {without} that no memory answers; "
        f"{final.milliseconds:.0f} ms each (median). The last line is what `recall ask` does."
    )


def _json(
    evaluations: Mapping[str, Evaluation],
    final: Evaluation,
    times: Sequence[Sequence[TimeRange]],
) -> dict[str, object]:
    return {
        "questions": len(final.answers),
        "steps": {
            name: {**each.figures, "ms": round(each.milliseconds, 2)}
            for name, each in evaluations.items()
        },
        "by_question": [
            {
                "question": each.question.question,
                "found": each.found,
                "missed": sorted(each.missed),
                "time": [range_json(one) for one in ranges],
                **(each.figures or {}),
            }
            for each, ranges in zip(final.answers, times, strict=True)
        ],
    }
