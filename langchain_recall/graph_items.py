"""An item of LangGraph's store as a memory, and back."""

import json
import math
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import ge, gt, le, lt
from typing import Any

from langgraph.store.base import Item, MatchCondition, PutOp, SearchItem, get_text_at_path

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import MemoryFormatError, ScopeError
from recall_retrievers.core.memory import Memory, MetadataValue
from recall_retrievers.core.query import Filter
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings_messages import got
from recall_retrievers.store.chroma.where import check_size

_NAMESPACE = "langgraph_namespace"  # the whole namespace, as JSON
_KEY = "langgraph_key"
_VALUE = "langgraph_value"  # as JSON
_CREATED = "langgraph_created_at"  # when it was first put; the memory has the time of the last
_TTL = "langgraph_ttl"  # minutes
_DEPTH = "langgraph_depth"  # how many labels the namespace has
_LABEL = "langgraph_label_{}"  # one of them
_INDEXED = "langgraph_indexed"  # whether a question may find it
_UNKNOWN = datetime.fromtimestamp(0, UTC)
_IDS = uuid.UUID("5d1c1a54-6a0e-5b7e-9a3b-0f2f5f3f9c11")

Namespace = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ItemWriter:
    """Makes memories of items.

    ``fields`` are the paths in a value whose texts are searched; None = all of it. ``template`` is
    a namespace with the fields of a scope in braces, such as ("notes", "{user_id}").
    """

    fields: Sequence[str] | None
    template: Namespace
    bound: Scope

    def row_id(self, namespace: Namespace, key: str) -> str:
        names = json.dumps([self.bound.fields(), namespace, key])
        return str(uuid.uuid5(_IDS, names))

    def scope(self, namespace: Namespace) -> Scope:
        if not all(isinstance(label, str) and label for label in namespace):
            problem = "each label of a namespace must be a text with at least 1 character"
            raise ScopeError(f"{problem}; got {namespace!r}")
        pairs = list(zip(self.template, namespace, strict=False))
        if any(part != label and not _is_field(part) for part, label in pairs):
            return Scope()
        return Scope(**{part[1:-1]: label for part, label in pairs if _is_field(part)})

    def memory(self, put: PutOp, now: datetime, before: Memory | None) -> Memory:
        value = dict(put.value or {})
        try:
            text = "" if put.index is False else self._text(value, put.index)
            as_json = _as_json(value)
        except RecursionError:
            raise MemoryFormatError(
                f"the value of item {got(put.key)} is nested too deep; make it flatter"
            ) from None
        metadata: dict[str, MetadataValue] = {
            _NAMESPACE: json.dumps(put.namespace, ensure_ascii=False),
            _KEY: put.key,
            _VALUE: as_json,
            _DEPTH: len(put.namespace),
            _INDEXED: bool(text),
            **flat_values(value),
            **{_LABEL.format(place): label for place, label in enumerate(put.namespace)},
        }
        if put.ttl is not None:
            metadata[_TTL] = float(put.ttl)
        if before is not None:
            metadata[_CREATED] = _parts(before)["created_at"].isoformat()
        return Memory(
            id=self.row_id(put.namespace, put.key),
            content=text or "/".join((*put.namespace, put.key)),
            created_at=now,
            scope=self.scope(put.namespace),
            metadata=metadata,
            expires_at=None if put.ttl is None else now + timedelta(minutes=put.ttl),
        )

    def _text(self, value: Mapping[str, object], index: list[str] | None) -> str:
        """The text by which questions find a value; empty where it has none."""
        paths = self.fields if index is None else index
        if paths is None:
            leaves = list(_leaves(value))
            if len(leaves) == 1:
                return leaves[0][1].strip()
            return "\n".join(f"{path}: {leaf}" for path, leaf in leaves if leaf.strip())
        texts = (text for path in paths for text in get_text_at_path(dict(value), path))
        return "\n".join(text for text in texts if text.strip())


def in_namespace(
    prefix: Sequence[str | None] = (),
    filter: Mapping[str, object] | None = None,
    *,
    indexed: bool | None = None,
) -> Filter:
    """The condition of the memories of items whose namespace begins with these labels; None = any.

    What the collection can check of a filter is part of it; the rest is left to `admits`.
    """
    check_size(len(filter or {}))
    labels = {_LABEL.format(n): label for n, label in enumerate(prefix) if label is not None}
    condition: dict[str, object] = {**labels} or {_DEPTH: {"$gte": 1}}
    if indexed is not None:
        condition[_INDEXED] = indexed
    pushed = _conditions(filter or {})[:_MOST_PUSHED]
    if not pushed:
        return condition
    return {"$and": [condition, {"$or": [{_FLAT: False}, {"$and": pushed}]}]}


def namespace_of(memory: Memory | Candidate) -> Namespace:
    return tuple(json.loads(str(memory.metadata[_NAMESPACE])))


def ttl_of(memory: Memory | Candidate) -> timedelta | None:
    minutes = memory.metadata.get(_TTL)
    return timedelta(minutes=float(minutes)) if isinstance(minutes, int | float) else None


def to_item(memory: Memory | Candidate) -> Item:
    return Item(**_parts(memory))


def to_search_item(memory: Memory | Candidate) -> SearchItem:
    """The item of a memory that a search found; it has a score if a question found it."""
    return SearchItem(**_parts(memory), score=getattr(memory, "score", None))


def _parts(memory: Memory | Candidate) -> dict[str, Any]:
    updated = memory.created_at.astimezone(UTC) if memory.created_at else _UNKNOWN
    created = memory.metadata.get(_CREATED)
    return {
        "namespace": namespace_of(memory),
        "key": str(memory.metadata[_KEY]),
        "value": json.loads(str(memory.metadata[_VALUE])),
        "created_at": datetime.fromisoformat(created) if isinstance(created, str) else updated,
        "updated_at": updated,
    }


def matches(namespace: Namespace, condition: MatchCondition) -> bool:
    path, kind = condition.path, condition.match_type
    if kind not in ("prefix", "suffix"):
        raise ValueError(f"match_type must be 'prefix' or 'suffix'; got {kind!r}")
    labels = namespace if kind == "prefix" else namespace[len(namespace) - len(path) :]
    pairs = zip(labels, path, strict=False)
    return len(namespace) >= len(path) and all(part in ("*", label) for label, part in pairs)


def _as_json(value: Mapping[str, object]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except TypeError as error:
        raise TypeError(f"the value of an item must be JSON: {error}") from error


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """The single values in a value, each with its path; what is None is left out."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _leaves(part, path)
    elif value is not None:
        yield path, str(value)


def _is_field(part: str) -> bool:
    return part.startswith("{") and part.endswith("}")


_FLAT = "langgraph_flat"  # whether the plain values are metadata, each by itself
_IS = "langgraph_is_{}"  # one of them
# In Chroma Cloud a row has 32 keys of up to 36 bytes, and a condition has 8 parts.
_MOST_FLAT, _LONGEST_NAME, _MOST_PUSHED = 8, 23, 2
_LONGEST = 200  # characters of a text that is compared
_ORDER = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


def admits(filter: Mapping[str, object] | None, value: Mapping[str, object]) -> bool:
    """Whether a value fulfils a filter as LangGraph's stores read it.

    A missing key is equal to None. It is neither more nor less than anything.
    """
    return all(_fulfils(value.get(key), wanted) for key, wanted in (filter or {}).items())


def _fulfils(value: object, wanted: object) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(_compares(value, str(key), bound) for key, bound in wanted.items())
        if not isinstance(value, Mapping):
            return False
        return all(_fulfils(value.get(key), part) for key, part in wanted.items())
    if isinstance(wanted, list | tuple):
        if not isinstance(value, list | tuple) or len(value) != len(wanted):
            return False
        return all(_fulfils(item, part) for item, part in zip(value, wanted, strict=True))
    return value == wanted


def _compares(value: object, operator: str, bound: object) -> bool:
    if operator == "$eq":
        return value == bound
    if operator == "$ne":
        return value != bound
    if operator not in _ORDER:
        raise ValueError(
            f"filter operator must be one of $eq, $ne, {', '.join(_ORDER)}; got {operator!r}"
        )
    left, right = _number(value), _number(bound)
    return left is not None and right is not None and _ORDER[operator](left, right)


def _number(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return None


def _plain(value: object) -> str | float | None:
    """A value as it is compared in the collection: equal values are equal there, too."""
    if isinstance(value, str):
        return value[:_LONGEST]
    number = _number(value)  # 1, 1.0 and True are equal
    return number if number is not None and math.isfinite(number) else None


def flat_values(value: Mapping[str, object]) -> dict[str, MetadataValue]:
    plain = {
        _IS.format(name): _plain(part)
        for name, part in value.items()
        if isinstance(part, str | int | float) and _can_be_named(name)
    }
    known = {name: part for name, part in plain.items() if part is not None}
    whole = len(known) == len(plain) <= _MOST_FLAT
    return {_FLAT: whole, **(known if whole else {})}


def _conditions(filter: Mapping[str, object]) -> list[Filter]:
    conditions: list[Filter] = []
    for name, wanted in filter.items():
        for operator, bound in (wanted if isinstance(wanted, Mapping) else {"$eq": wanted}).items():
            plain = _plain(bound)
            ordered = operator in _ORDER and isinstance(plain, float)
            if _can_be_named(name) and plain is not None and (operator == "$eq" or ordered):
                conditions.append({_IS.format(name): {str(operator): plain}})
    return conditions


def _can_be_named(name: str) -> bool:
    return len(name.encode("utf-8", "surrogatepass")) <= _LONGEST_NAME
