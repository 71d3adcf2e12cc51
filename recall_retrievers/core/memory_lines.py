"""Memories as the lines of a file, one JSON object a line: read, and written."""

import hashlib
import json
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.errors import MemoryFormatError, ScopeError, SettingsError
from recall_retrievers.core.memory import Memory, UnreadEvents
from recall_retrievers.core.scope import with_scope
from recall_retrievers.timeline import parse_time
from recall_retrievers.timeline.parse_time import resolve_timezone
from recall_retrievers.timeline.time_range import format_interval, parse_interval

VECTOR = "embedding"  # of a line: the vector of its text, and the model that made it

_FIRST = ("id", "content", "created_at", "memory_type")  # of a line, in this order
_LAST = ("scope", "events", "metadata")
_EXAMPLES = 3  # bad lines that are shown
_EXPECTED = 'Expected one JSON object a line, such as {"content": "..."}'
_STDIN = "-"


@dataclass(slots=True)
class Lines:
    """What was read of a file; of two lines with one id, the later one counts."""

    memories: dict[str, Memory] = field(default_factory=dict)  # by id
    # The models and the vectors of the lines that have any, by id.
    vectors: dict[str, tuple[str, NDArray[np.float32]]] = field(default_factory=dict)
    bad: dict[int, str] = field(default_factory=dict)  # what is wrong, by the number of the line


def read_memories(path: str | Path, *, timezone: str | None = None) -> list[Memory]:
    """Read a JSONL file of memories, as the command line does.

    Each line is a JSON object with ``content`` and any other field of `Memory`. ``user_id``,
    ``agent_id``, ``session_id`` and ``workspace`` stand at its top, or in ``scope``. ``events`` is
    a list of intervals, such as ``["2024-03-05/2024-03-06"]``. Further names are metadata, and
    values that are null are left out. A line without an ``id`` gets one made of its text, so that
    storing a file twice stores each memory once.

    Lines that cannot be read are left out. A warning has their number, and shows three of them.

    Args:
        path: The file; "-" reads standard input.
        timezone: The zone of times without one, such as "Europe/Berlin". None = the machine's.

    Raises:
        MemoryFormatError: When no line can be read.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "notes.jsonl")
        ...     _ = path.write_bytes(b'{"content": "Tea.", "user_id": "ann", "topic": "tea"}')
        ...     [memory] = read_memories(path)
        >>> memory.scope.user_id, memory.metadata
        ('ann', {'topic': 'tea'})
    """
    from_stdin = str(path) == _STDIN
    name = "standard input" if from_stdin else Path(path).name
    content = sys.stdin.buffer.read() if from_stdin else Path(path).read_bytes()
    read = read_lines(content, name, timezone)
    if read.bad:
        warnings.warn("\n".join(left_out(name, read.bad)), stacklevel=2)
    return list(read.memories.values())


def read_lines(content: bytes, name: str, timezone: str | None) -> Lines:
    """The memories of a file, and the errors of the lines that are none; one must be a memory."""
    _refuse_an_array(content, name)
    read = Lines()
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            try:
                row = _row(_text(line))
                vector = _vector(row)
                memory = _memory(row, line, timezone)
            except (ScopeError, TypeError, ValueError, RecursionError) as error:
                read.bad[number] = _in_short(error)
                continue
            read.memories[memory.id] = memory
            read.vectors.pop(memory.id, None)
            if vector is not None:
                read.vectors[memory.id] = vector
    if not read.memories:
        raise MemoryFormatError("\n".join(_refused(content, name, read.bad)))
    return read


def memory_line(
    memory: Memory, *, model: str = "", vector: Iterable[float] | None = None
) -> dict[str, object]:
    """A memory as the object of a line, with every field that it has; `read_lines` reads it."""
    line: dict[str, object] = {}
    for name in dict.fromkeys([*_FIRST, *Memory.model_fields]):
        value = getattr(memory, name)
        if name not in _LAST and value is not None and (value != "" or name in _FIRST):
            line[name] = value.isoformat() if isinstance(value, datetime) else value
    line |= memory.scope.fields()
    if not isinstance(memory.events, UnreadEvents):
        line["events"] = list(map(format_interval, memory.events))
    if memory.metadata:
        line["metadata"] = dict(sorted(memory.metadata.items()))  # Chroma has no order of its own
    if vector is not None:
        line[VECTOR] = {"model": model, "vector": list(vector)}
    return line


def left_out(name: str, bad_lines: Mapping[int, str]) -> list[str]:
    """What is said of lines of a file that cannot be read: how many, and the first of them."""
    lines = "1 line" if len(bad_lines) == 1 else f"{len(bad_lines):,} lines"
    return [f"{name}: without {lines} that cannot be read", *_examples(bad_lines)]


def _examples(bad_lines: Mapping[int, str]) -> list[str]:
    shown = [f"line {number}: {why}" for number, why in [*bad_lines.items()][:_EXAMPLES]]
    more = len(bad_lines) - len(shown)
    return [*shown, f"and {more:,} more"] if more else shown


def _refused(content: bytes, name: str, bad_lines: Mapping[int, str]) -> Iterator[str]:
    if not bad_lines:
        yield f"{name} is empty; nothing is changed. {_EXPECTED}"
        return
    yield f"{name}: none of {len(bad_lines):,} lines can be read; nothing is changed. {_EXPECTED}"
    yield from _examples(bad_lines)
    if not content.lstrip().startswith(b"{") and b"," in content.splitlines()[0]:
        yield "It looks like CSV. Write each row as a JSON object, with the names of the columns"


def _refuse_an_array(content: bytes, name: str) -> None:
    # First of all: in an array over several lines, the last line may well be a memory.
    if content.lstrip().startswith(b"["):
        try:
            json.loads(content)
        except (ValueError, RecursionError):  # a list on one line, and further lines
            return
        raise MemoryFormatError(
            f"{name} is a JSON array; nothing is changed. {_EXPECTED}. This writes it so: "
            f"jq -c '.[]' {name}"
        )


def _text(line: bytes) -> str:
    try:
        return line.decode("utf-8-sig")  # some editors put a mark before the first line
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 at byte {error.start + 1}; save the file as UTF-8"
        raise MemoryFormatError(problem) from error


def _row(line: str) -> dict[str, Any]:
    read = json.loads(line)
    if not isinstance(read, Mapping):
        raise MemoryFormatError('expected an object such as {"content": "..."}')
    return with_scope(read)


def _memory(row: Mapping[str, Any], line: bytes, timezone: str | None) -> Memory:
    if "content" not in row:
        raise MemoryFormatError(f"expected a content; got only {', '.join(row) or 'nothing'}")
    fields = {name: value for name, value in row.items() if name in Memory.model_fields}
    rest = {k: v for k, v in row.items() if k not in fields and v is not None}
    metadata = row.get("metadata") or {}
    # `Memory` says what is wrong with anything else.
    fields["metadata"] = {**metadata, **rest} if isinstance(metadata, Mapping) else metadata
    for name in ("created_at", "expires_at", "superseded_at"):
        if row.get(name) is not None:
            fields[name] = parse_time(row[name], timezone, name=name)
    if isinstance(fields.get("events"), list):
        zone = resolve_timezone(timezone)
        events = fields["events"]
        fields["events"] = [parse_interval(x, zone) if isinstance(x, str) else x for x in events]
    # A line without an id gets a digest of its text, so that loading it twice stores it once.
    digest = hashlib.sha256(_text(line).strip().encode()).hexdigest()[:24]
    fields["id"] = str(row.get("id") or digest)
    return Memory.model_validate(fields)


def _vector(row: dict[str, Any]) -> tuple[str, NDArray[np.float32]] | None:
    written = row.get(VECTOR)
    if not isinstance(written, Mapping) or written.keys() != {"model", "vector"}:
        return None  # metadata under that name
    del row[VECTOR]
    vector = np.asarray(written["vector"], dtype=np.float32)
    if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
        raise MemoryFormatError(f"expected a list of finite numbers as the vector of {VECTOR}")
    return str(written["model"]), vector


def _in_short(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"is no JSON: {error.msg} at column {error.colno}"
    if isinstance(error, RecursionError):
        return "is no memory: lists or objects stand in one another a thousand times"
    return "; ".join(error.problems) if isinstance(error, SettingsError) else str(error)
