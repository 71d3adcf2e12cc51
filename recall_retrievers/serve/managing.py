"""The operations that manage memories: add, list, count, get, update, supersede, delete."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic.json_schema import SkipJsonSchema

from recall_retrievers.core.errors import MissingMemoryError, QueryError
from recall_retrievers.core.memory import Memory, MetadataValue, check_values
from recall_retrievers.core.query import LONGEST_QUESTION, Filter
from recall_retrievers.core.requests import Search
from recall_retrievers.core.scope import Scope
from recall_retrievers.look.answer import MemoryView
from recall_retrievers.serve.operation import (
    MOST_PER_REQUEST,
    Flag,
    Moment,
    MomentOrNull,
    NotEmpty,
    Operation,
    OptionalText,
    ReadingOperation,
    ScopedService,
    ScopeFields,
    TimedOperation,
    with_one_of,
)
from recall_retrievers.store.chroma.fields import new_id
from recall_retrievers.store.conditions import MemoryChanges, Order, Position

_MOST_ADDED = 1_000
_ALIKE = 10  # the nearest memories, among which an equal text would be


def _as_json(filter: object) -> object:
    """A filter as it stands in a URL."""
    if not isinstance(filter, str):
        return filter
    try:
        return json.loads(filter)
    except (ValueError, RecursionError):
        raise ValueError(f"""must be JSON, such as {{"topic": "tea"}}; got {filter!r}""") from None


def _as_list(ids: object) -> object:
    """The ids as they stand in a URL, where one is no list."""
    return [ids] if isinstance(ids, str) else ids


UrlFilter = Annotated[
    Filter | SkipJsonSchema[None],
    BeforeValidator(_as_json),
    NotEmpty,
    WithJsonSchema({"type": "string", "contentMediaType": "application/json"}),
]
UrlIds = Annotated[
    Sequence[str] | SkipJsonSchema[None],
    BeforeValidator(_as_list),
    NotEmpty,
    WithJsonSchema({"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1}),
]


_Content = Annotated[str, WithJsonSchema({"type": "string", "pattern": r"\S"})]
_KINDS = [{"type": each} for each in ("string", "number", "boolean")]
_VALUES = [*_KINDS, *({"type": "array", "items": each, "minItems": 1} for each in _KINDS)]
_METADATA: dict[str, Any] = {
    "type": "object",
    "propertyNames": {"pattern": "^[^#$]"},
    "additionalProperties": {"anyOf": _VALUES},
}
_CHANGES = {**_METADATA, "additionalProperties": {"anyOf": [*_VALUES, {"type": "null"}]}}


class _Described(ScopeFields):
    """What a new memory and a change may say alike."""

    expires_at: MomentOrNull = Field(default=None, description="When to forget it; null = never.")
    when_to_use: str = Field(default="", description="For a task: the condition.")
    author: str = Field(default="", description="The person or role that said it.")
    quality: float | None = Field(
        default=None, strict=True, ge=0, le=1, description="How good it is."
    )


class NewMemory(_Described):
    """A memory to store; see `Memory`."""

    content: _Content = Field(min_length=1, description="The text.")
    id: str = Field(default="", description="A memory with this id is replaced; empty = a new id.")
    memory_type: str = Field(default="observation", description="Such as task or insight.")
    created_at: MomentOrNull = Field(default=None, description="When it was recorded; null = now.")
    metadata: Annotated[
        dict[str, MetadataValue], BeforeValidator(check_values), WithJsonSchema(_METADATA)
    ] = Field(default_factory=dict, description="Flat values.")

    @model_validator(mode="before")
    @classmethod
    def _with_an_id(cls, values: object) -> object:
        check_values(values)
        # The operation may be done again, and then nothing is stored twice.
        if isinstance(values, Mapping) and values.get("id", "") == "":
            return {**values, "id": new_id(datetime.now(UTC))}
        return values

    def memory(self) -> Memory:
        """The memory."""
        own = {name: getattr(self, name) for name in self.model_fields_set - _SCOPE}
        return Memory.model_validate({**own, "scope": self.scope()})


_SCOPE = set(ScopeFields.model_fields)


class Added(BaseModel):
    """The ids of the memories that are stored now, in order."""

    ids: list[str]
    known: list[str] = Field(default_factory=list, description="Those that were stored before.")


class Page(BaseModel):
    """Some memories, and where the next page begins."""

    memories: list[MemoryView]
    next: str | None = Field(default=None, description="Pass it as `after`; null = no more.")


class Counted(BaseModel):
    """How many memories there are."""

    count: int


class Deleted(BaseModel):
    """How many memories were deleted."""

    deleted: int


class AddMemories(Operation):
    """Store memories, all of them or none."""

    result = Added

    memories: list[NewMemory] = Field(
        min_length=1, max_length=_MOST_ADDED, description="The memories."
    )
    only_new: Flag = Field(default=False, description="Leave out texts that are stored already.")

    async def done_by(self, service: ScopedService) -> Added:
        """Store them in the scope of the service."""
        memories = [each.memory() for each in self.memories]
        if not self.only_new:
            return Added(ids=await service.store.aadd(memories))
        async with service.adding_new:
            known = await _stored_before(service, memories)
            await service.store.aadd([each for each in memories if each.id not in known])
        return Added(
            ids=[known.get(each.id, each.id) for each in memories], known=[*known.values()]
        )


async def _stored_before(service: ScopedService, memories: Sequence[Memory]) -> dict[str, str]:
    """The ids of memories with these texts and scopes, by the ids of the new ones."""
    known, first = dict[str, str](), dict[tuple[Scope, str], str]()
    searches = [
        Search(x.content[:LONGEST_QUESTION], _ALIKE, service.scope.narrow(x.scope))
        for x in memories
    ]
    found = await service.store.afind(searches)
    for new, search, hits in zip(memories, searches, found, strict=True):
        for old in (hit.memory for hit in hits):
            same = old.content.split() == new.content.split() and old.scope == search.scope
            if same and old.id != new.id:  # it has the same id where the operation is done again
                known.setdefault(new.id, old.id)
        earlier = first.setdefault((search.scope, " ".join(new.content.split())), new.id)
        if earlier != new.id:
            known.setdefault(new.id, earlier)
    return known


class _Conditions(TimedOperation):
    """Conditions on memories."""

    memory_type: OptionalText = Field(default=None, description="Only memories of this type.")
    filter: UrlFilter = Field(
        default=None, description="Conditions on metadata, as Chroma writes them, in JSON."
    )

    def _conditions(self, service: ScopedService) -> dict[str, Any]:
        """The conditions, as the methods of a store take them."""
        return {
            "time_range": service.time_range(self.options()),
            "filter": self.filter,
            "memory_type": self.memory_type,
        }


class _Reading(_Conditions, ReadingOperation):
    def _conditions(self, service: ScopedService) -> dict[str, Any]:
        standing = {"as_of": self.as_of, "include_superseded": self.include_superseded}
        return {**super()._conditions(service), **standing}


class ListMemories(_Reading):
    """List memories by their time."""

    result = Page

    order: Order = Field(default="newest", description="Which come first.")
    limit: int = Field(default=20, ge=1, le=MOST_PER_REQUEST, description="How many at most.")
    after: str | None = Field(default=None, description="The `next` of the page before.")

    async def done_by(self, service: ScopedService) -> Page:
        """Read one memory more than is shown: so it is known whether there is another page."""
        listed = service.store.amemories(
            **self._conditions(service),
            order=self.order,
            limit=self.limit + 1,
            after=None if self.after is None else Position.read(self.after),
        )
        found = [memory async for memory in listed]
        shown = found[: self.limit]
        is_last = len(found) == len(shown)
        return Page(memories=shown, next=None if is_last else Position.of(shown[-1]).written())


class CountMemories(_Reading):
    """Count memories."""

    result = Counted

    async def done_by(self, service: ScopedService) -> Counted:
        """Count them."""
        return Counted(count=await service.store.acount(**self._conditions(service)))


class GetMemory(Operation):
    """Get a memory."""

    result = MemoryView

    id: str = Field(min_length=1, description="The id of the memory.")

    async def done_by(self, service: ScopedService) -> MemoryView:
        """Read it; an id that is not in the scope is an error."""
        found = await service.store.aget([self.id])
        if not found:
            why = f"there is no memory with the id {self.id!r}; list them to see ids"
            raise MissingMemoryError(why)
        return MemoryView.model_validate(found[0])


class _Change(_Described, Operation):
    id: str = Field(min_length=1, description="The id of the memory.")
    content: _Content = Field(default="", description="The new text.")
    memory_type: str = Field(default="", description="The new type.")
    created_at: Moment = Field(default=None, description="When it was recorded.")
    metadata: Annotated[
        Mapping[str, MetadataValue | None],
        BeforeValidator(check_values),
        WithJsonSchema(_CHANGES),
    ] = Field(default_factory=dict, description="New values; null takes one out.")

    def _named(self) -> dict[str, object]:
        """What is named; that must be something."""
        named = self.model_fields_set - _SCOPE - {"id"}
        if not named:
            raise QueryError(f"name what is to be changed: {', '.join(_CHANGED)}")
        return {name: getattr(self, name) for name in named}


_CHANGED = sorted(_Change.model_fields.keys() - _SCOPE - {"id"})


class UpdateMemory(_Change):
    """Change fields of a memory; what is not named stays."""

    model_config = ConfigDict(json_schema_extra=with_one_of(*_CHANGED))

    result = MemoryView

    async def done_by(self, service: ScopedService) -> MemoryView:
        """Change what is named."""
        changes = {_IN_PYTHON.get(name, name): value for name, value in self._named().items()}
        updated = await service.store.aupdate(self.id, **cast("MemoryChanges", changes))
        return MemoryView.model_validate(updated)


_IN_PYTHON = {"content": "text", "created_at": "timestamp"}


class SupersedeMemory(_Change):
    """Store a memory in the place of another one, which stays and counts no more."""

    result = Added

    content: _Content = Field(min_length=1, description="The text of the new memory.")
    created_at: MomentOrNull = Field(default=None, description="When it was recorded; null = now.")
    metadata: Annotated[Mapping[str, MetadataValue], WithJsonSchema(_METADATA)] = Field(
        default_factory=dict, description="Flat values."
    )

    async def done_by(self, service: ScopedService) -> Added:
        """Store it; the same request again changes nothing."""
        return Added(ids=[await service.store.asupersede(self.id, self._named())])


class DeleteMemory(Operation):
    """Delete a memory."""

    result = Deleted

    id: str = Field(min_length=1, description="The id of the memory.")

    async def done_by(self, service: ScopedService) -> Deleted:
        """Delete it; one that is not there is no error, so it can be done twice."""
        return Deleted(deleted=await service.store.adelete([self.id]))


class DeleteMemories(_Conditions):
    """Delete the memories that fulfil all conditions; a scope alone is no condition."""

    result = Deleted

    ids: UrlIds = Field(default=None, description="Only memories with these ids.")
    everything: Flag = Field(default=False, description="Delete all memories of the scope.")

    async def done_by(self, service: ScopedService) -> Deleted:
        """Delete them; without a condition, and without ``everything``, it is an error."""
        conditions = self._conditions(service)
        delete = service.store.adelete
        return Deleted(deleted=await delete(self.ids, **conditions, everything=self.everything))
