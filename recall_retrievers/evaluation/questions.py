"""Questions of a user's own, with the memories that should come back for each."""

import json
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ConfigDict, Field

from recall_retrievers.core.errors import QuestionFileError, ScopeError, SettingsError
from recall_retrievers.core.scope import Scope, ScopeInput, with_scope
from recall_retrievers.core.settings import Timed, TimeInput
from recall_retrievers.core.settings_messages import got
from recall_retrievers.retriever.call_options import CallOptions


class Question(Timed):
    """A question, and the ids of the memories that answer it.

    Args:
        question: The question, in plain words; never empty.
        relevant: The ids of the memories that should come back. Empty = none answers it; such a
            question is asked, and has no figures.
        scope: Whose memories may answer.
        category: A kind of question, such as "dates"; comparisons have a figure for each.

    Examples:
        >>> question = Question(question="Tea?", relevant=["m1"], scope={"user_id": "ann"})
        >>> question.options()["scope"].fields()
        {'user_id': 'ann'}
    """

    model_config = ConfigDict(frozen=True)

    question: str = Field(min_length=1)
    relevant: frozenset[str]
    scope: Scope = Scope()
    category: str = ""

    if TYPE_CHECKING:  # what may be handed in; checkers would take the types that are read back

        def __init__(  # noqa: PLR0913 - what a question may say, each by name
            self,
            *,
            question: str,
            relevant: list[str] | tuple[str, ...] | AbstractSet[str],
            timestamp: TimeInput | None = None,
            timezone: str | None = None,
            scope: ScopeInput = None,
            category: str = "",
        ) -> None: ...

    def options(self) -> CallOptions:
        """What the question sets of a retriever's call: the moment of asking, and the scope."""
        options: CallOptions = {"scope": self.scope}
        if self.timestamp is not None:
            options["timestamp"] = self.timestamp
        if self.timezone is not None:
            options["timezone"] = self.timezone
        return options


def read_questions(path: str | Path) -> list[Question]:
    """Read a JSONL file of questions.

    Args:
        path: One JSON object a line: ``question`` and ``relevant`` (a list of ids); and, as you
            have them, ``timestamp``, ``timezone``, ``category``, ``user_id``, ``agent_id``,
            ``session_id``, ``workspace``.

    Raises:
        QuestionFileError: When there is no question in it, or a line is not as it should be; the
            message names the line.
    """
    questions = []
    with Path(path).open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    questions.append(_question(json.loads(line.decode("utf-8-sig"))))
                except (ScopeError, TypeError, ValueError, RecursionError) as error:
                    raise QuestionFileError(f"{path} line {number}: {error}") from error
    if not questions:
        raise QuestionFileError(
            f'{path} has no questions; write one a line: {{"question": "...", "relevant": ["id"]}}'
        )
    return questions


def as_questions(questions: Iterable[Question | Mapping[str, object]]) -> list[Question]:
    """Questions, or what a line of a file of questions holds, as questions; at least one."""
    read = []
    for number, question in enumerate(questions, 1):
        try:
            read.append(question if isinstance(question, Question) else _question(question))
        except SettingsError as error:
            problems = tuple(f"question {number}: {each}" for each in error.problems)
            raise SettingsError(error.owner, problems) from None
        except TypeError as error:
            raise TypeError(f"question {number}: {error}") from error
    if not read:
        raise ValueError("there is no question to evaluate; give at least one Question")
    return read


def _question(row: object) -> Question:
    if not isinstance(row, Mapping):
        raise TypeError(
            f'expected an object such as {{"question": "...", "relevant": ["id"]}}; got {got(row)}'
        )
    return Question.model_validate(with_scope(row))
