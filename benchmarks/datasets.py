"""The benchmark data as small frozen values; times without a zone are read in UTC."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TypeVar

from recall_retrievers.core.memory import Memory
from recall_retrievers.gate.turns import Conversation, read_turns

T = TypeVar("T")
Row = Mapping[str, object]


class DataError(Exception):
    """The data is not there, or not as it should be; the message is for the user."""


@dataclass(frozen=True, slots=True)
class Window:
    """The time a question names, half-open, and the words that name it (empty = not marked)."""

    start: datetime
    end: datetime
    span: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question, and the ids of the memories of its corpus that answer it."""

    corpus: str
    text: str
    now: datetime
    category: str
    relevant: frozenset[str]
    window: Window | None
    off_text: str | None
    messages: Sequence[tuple[str, str]] = ()  # the role and the text of each before it


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """A folder of memories and questions.

    Attributes:
        name: The folder's name.
        corpora: The memories of each corpus, the oldest first.
        questions: In the order of the file.
    """

    name: str
    corpora: Mapping[str, Sequence[Memory]]
    questions: Sequence[Question]

    def visible(self, question: Question) -> Sequence[Memory]:
        """The memories a question may find: its corpus up to, and with, its ``now``."""
        memories = self.corpora[question.corpus]
        return memories[: bisect_right(memories, question.now, key=recorded)]


@dataclass(frozen=True, slots=True)
class Bounds:
    """A range of time with None for an open end."""

    start: datetime | None
    end: datetime | None


@dataclass(frozen=True, slots=True)
class Expression:
    """A text, and the readings of the time it names: the likeliest first, none = it names none."""

    set: str
    text: str
    reference: datetime
    readings: Sequence[Bounds]


Days = tuple[date | None, date | None]


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory that tells of a time: its first and last day, and whether it is still to come."""

    text: str
    recorded_at: datetime
    days: Days
    ahead: bool
    language: str
    half: str


@dataclass(frozen=True, slots=True)
class GateCase:
    """A conversation, and whether it needs memories.

    Attributes:
        conversation: What was said.
        search: Whether it needs memories.
        language: Such as "de"; empty where it is not told.
        batch: Of which batch of prompts it is; None where it is not told.
    """

    conversation: Conversation
    search: bool
    language: str
    batch: int | None


def set_folders(folders: Sequence[Path]) -> list[Path]:
    """The folders of sets among folders that are sets or hold sets, in order of their names.

    Raises:
        DataError: When a folder is neither.
    """
    found = []
    for folder in folders:
        inside = sorted(each.parent for each in folder.glob("*/memories.jsonl"))
        if not inside and not (folder / "memories.jsonl").is_file():
            raise DataError(
                f"{folder} has no memories.jsonl; --data takes a folder with one, or with folders "
                "that have one"
            )
        found += inside or [folder]
    return found


def read_retrieval_set(folder: Path) -> RetrievalSet:
    """Read ``memories.jsonl`` and ``queries.jsonl``.

    Raises:
        DataError: When the folder or a file is missing, or a line is not as it should be.
    """
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder; --data takes one with memories.jsonl in it")
    corpora: dict[str, list[Memory]] = defaultdict(list)
    for corpus, memory in _read(folder / "memories.jsonl", _remembered):
        corpora[corpus].append(memory)
    for memories in corpora.values():
        memories.sort(key=recorded)
    questions = _read(folder / "queries.jsonl", _question)
    for question in questions:
        if question.corpus not in corpora:
            raise DataError(f"{folder}: no memories of {question.corpus!r}, which a query names")
    return RetrievalSet(folder.resolve().name, dict(corpora), questions)


def read_expressions(file: Path) -> list[Expression]:
    """Read a file of time expressions.

    Raises:
        DataError: When the file is missing, or a line is not as it should be.
    """
    return _read(file, _expression)


def read_remembered(file: Path) -> list[Remembered]:
    """Read a file of memories that tell of a time.

    Raises:
        DataError: When the file is missing, or a line is not as it should be.
    """
    return _read(file, _of_a_time)


def read_gate_cases(file: Path) -> list[GateCase]:
    """Read a file of prompts labelled with whether they need memories.

    Raises:
        DataError: When the file is missing, or a line is not as it should be.
    """
    return _read(file, _gate_case)


def recorded(memory: Memory) -> datetime:
    """When a memory of a set was recorded; all of them say."""
    return memory.created_at or datetime.min.replace(tzinfo=UTC)


def _read(file: Path, parse: Callable[[Row], T]) -> list[T]:
    if not file.is_file():
        raise DataError(f"{file} is not there")
    parsed = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            parsed.append(parse(json.loads(line)))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{file} line {number}: {type(error).__name__}: {error}") from error
    return parsed


def _remembered(row: Row) -> tuple[str, Memory]:
    memory = Memory(
        id=str(row["id"]),
        content=str(row["text"]),
        memory_type=str(row.get("memory_type") or "conversation"),
        author=str(row["speaker"]),
        created_at=_moment(row["created_at"]),
    )
    return str(row["corpus"]), memory


def _question(row: Row) -> Question:
    window, off_text, relevant = row["time"], row["off_text"], row["relevant"]
    return Question(
        corpus=str(row["corpus"]),
        text=str(row["text"]),
        now=_moment(row["now"]),
        category=str(row["category"]),
        relevant=frozenset(map(str, relevant if isinstance(relevant, list) else ())),
        window=_window(window) if isinstance(window, dict) else None,
        off_text=None if off_text is None else str(off_text),
        messages=[(each["role"], each["content"]) for each in row.get("messages") or ()],  # type: ignore[attr-defined]  # a list of messages, or the line is refused
    )


def _window(row: Row) -> Window:
    return Window(_moment(row["start"]), _moment(row["end"]), str(row.get("span") or ""))


def _expression(row: Row) -> Expression:
    # One open end is "before 4pm" or "since May"; only a text with neither end names no time.
    named = row["start"] is not None or row["end"] is not None
    pairs = [(row["start"], row["end"]), *row["alternatives"]] if named else []  # type: ignore[misc]  # a list, or the line is refused
    readings = [Bounds(*(bound and _moment(bound) for bound in pair)) for pair in pairs]
    return Expression(str(row["set"]), str(row["text"]), _moment(row["reference"]), readings)


def _of_a_time(row: Row) -> Remembered:
    days = (date.fromisoformat(str(row["first_day"])), date.fromisoformat(str(row["last_day"])))
    told = (str(row["text"]), _moment(row["recorded_at"]))
    return Remembered(*told, days, bool(row["ahead"]), str(row["language"]), str(row["half"]))


def _gate_case(row: Row) -> GateCase:
    if not isinstance(row["search"], bool):
        raise TypeError(f"search must be true or false; got {row['search']!r}")
    batch = row.get("batch")
    if batch is not None and not isinstance(batch, int):
        raise TypeError(f"batch must be a number; got {batch!r}")
    conversation: Conversation = row["conversation"]  # type: ignore[assignment]  # or the next line refuses it
    read_turns(conversation)
    return GateCase(conversation, row["search"], str(row.get("language") or ""), batch)


def _moment(value: object) -> datetime:
    moment = datetime.fromisoformat(str(value))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
