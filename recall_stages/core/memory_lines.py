"""Memories from the lines of a file, one JSON object a line; an error for every other line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from recall_stages.core.errors import MemoryFormatError, ScopeError, SettingsError
from recall_stages.core.memory import Memory
from recall_stages.core.scope import with_scope
from recall_stages.timeline import parse_time

_EXAMPLES = 3  # bad lines that are shown
_EXPECTED = 'Expected one JSON object a line, such as {"content": "..."}'


def read_memories(
    content: bytes, name: str, timezone: str | None
) -> tuple[dict[str, Memory], dict[int, str]]:
    """The memories of a file by id, and the errors of the other lines by line number.

    Raises:
        MemoryFormatError: When no line can be read.
    """
    _refuse_an_array(content, name)
    memories: dict[str, Memory] = {}
    bad_lines: dict[int, str] = {}
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            try:
                memory = _memory(_text(line), timezone)
                memories[memory.id] = memory
            except (ScopeError, TypeError, ValueError) as error:
                bad_lines[number] = _in_short(error)
    if not memories:
        raise MemoryFormatError("\n".join(_refused(content, name, bad_lines)))
    return memories, bad_lines


def examples(bad_lines: Mapping[int, str]) -> list[str]:
    """The first lines that cannot be read, and the number of further ones."""
    shown = [f"line {number}: {why}" for number, why in [*bad_lines.items()][:_EXAMPLES]]
    more = len(bad_lines) - len(shown)
    return [*shown, f"and {more:,} more"] if more else shown


def _refused(content: bytes, name: str, bad_lines: Mapping[int, str]) -> Iterator[str]:
    if not bad_lines:
        yield f"{name} is empty; nothing is changed. {_EXPECTED}"
        return
    yield f"{name}: none of {len(bad_lines):,} lines can be read; nothing is changed. {_EXPECTED}"
    yield from examples(bad_lines)
    if not content.lstrip().startswith(b"{") and b"," in content.splitlines()[0]:
        yield "It looks like CSV. Write each row as a JSON object, with the names of the columns"


def _refuse_an_array(content: bytes, name: str) -> None:
    # First of all: in an array over several lines, the last line may well be a memory.
    if content.lstrip().startswith(b"["):
        try:
            json.loads(content)
        except ValueError:  # a list on one line, and further lines
            return
        raise MemoryFormatError(
            f"{name} is a JSON array; nothing is changed. {_EXPECTED}. This writes it so: "
            f"jq -c '.[]' {name}"
        )


def _text(line: bytes) -> str:
    try:
        return line.decode("utf-8-sig")  # some editors put a mark before the first line
    except UnicodeDecodeError as error:
        raise MemoryFormatError(
            f"is not UTF-8 at byte {error.start + 1}; save the file as UTF-8"
        ) from error


def _memory(line: str, timezone: str | None) -> Memory:
    read = json.loads(line)
    if not isinstance(read, Mapping):
        raise MemoryFormatError('expected an object such as {"content": "..."}')
    row: dict[str, Any] = with_scope(read)
    if "content" not in row:
        raise MemoryFormatError(f"expected a content; got only {', '.join(row) or 'nothing'}")
    fields = {name: value for name, value in row.items() if name in Memory.model_fields}
    rest = {k: v for k, v in row.items() if k not in fields and v is not None}
    fields["metadata"] = {**(row.get("metadata") or {}), **rest}
    for name in ("created_at", "expires_at"):
        if row.get(name) is not None:
            fields[name] = parse_time(row[name], timezone, name=name)
    # A line without an id gets a digest of its text, so that loading it twice stores it once.
    fields["id"] = str(row.get("id") or hashlib.sha256(line.strip().encode()).hexdigest()[:24])
    return Memory.model_validate(fields)


def _in_short(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"is no JSON: {error.msg} at column {error.colno}"
    return "; ".join(error.problems) if isinstance(error, SettingsError) else str(error)
