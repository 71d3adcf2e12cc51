"""Questions of a user's own, with the memories that should come back for each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import ConfigDict, Field, ValidationError

from recall_stages.errors import QuestionFileError
from recall_stages.memory import Scope
from recall_stages.retriever import CallOptions
from recall_stages.timed import Timed

_SCOPE = tuple(Scope.model_fields)


class Question(Timed):
    """A question, and the ids of the memories that answer it.

    Args:
        question: What is asked, in plain words; never empty.
        relevant: The ids of the memories that should come back. Empty = none answers it; such a
            question is asked, and has no figures.
        scope: Whose memories may answer.

    Examples:
        >>> asked = Question(question="Which dentist?", relevant=["m1"], scope={"user_id": "ann"})
        >>> asked.options()["scope"].fields()
        {'user_id': 'ann'}
    """

    model_config = ConfigDict(frozen=True)

    question: str = Field(min_length=1)
    relevant: frozenset[str]
    scope: Scope = Scope()

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
            have them, ``timestamp``, ``timezone``, ``user_id``, ``agent_id``, ``session_id``,
            ``workspace``.

    Raises:
        QuestionFileError: When there is no question in it, or a line is not as it should be; the
            message names the line.
    """
    questions = []
    with Path(path).open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    questions.append(_question(json.loads(line)))
                except (TypeError, ValueError) as error:
                    raise QuestionFileError(f"{path} line {number}: {_in_short(error)}") from error
    if not questions:
        raise QuestionFileError(
            f'{path} has no questions; write one a line: {{"question": "...", "relevant": ["id"]}}'
        )
    return questions


def _question(row: object) -> Question:
    if not isinstance(row, Mapping):
        raise TypeError('expected an object such as {"question": "...", "relevant": ["id"]}')
    scope = {name: row[name] for name in _SCOPE if row.get(name)}
    return Question(**{k: v for k, v in row.items() if k not in _SCOPE}, scope=scope)


def _in_short(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return ": ".join([*(str(part) for part in first["loc"]), first["msg"]])
    return str(error)
