"""The changes of `update`: checked, and made to a stored memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import ClassVar, TypedDict

from pydantic import Field, field_validator

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.clock import TimeInput
from recall_retrievers.core.memory import AwareTime, Memory, MetadataValue
from recall_retrievers.core.settings import Settings, Share
from recall_retrievers.timeline import TimeRange
from recall_retrievers.timeline.parse_time import in_zone

_FIELDS = {"text": "content", "timestamp": "created_at"}  # where a memory calls them otherwise
_OWNER = "the owner of a memory cannot be changed; add it anew. scope= says whose it is"


class MemoryChanges(TypedDict, total=False):
    """What `update` can change; what is left out stays as it is.

    Attributes:
        text: The text.
        metadata: Values by name. Other names stay; None takes a name out.
        timestamp: When it was recorded.
        memory_type: The memory type.
        expires_at: From when on nobody finds it; None = it never expires.
        events: The times that the text names; read from the text if it has changed.
        author: The person or role that said or wrote it.
        when_to_use: The condition in which it helps.
        quality: How good it is, 0 to 1.
    """

    text: str
    metadata: Mapping[str, MetadataValue | None]
    timestamp: TimeInput
    memory_type: str
    expires_at: TimeInput | None
    events: Sequence[TimeRange]
    author: str
    when_to_use: str
    quality: float | None


class Changes(Settings):
    """The changes of one call, checked; see `MemoryChanges`."""

    public_name: ClassVar[str] = "update"
    elsewhere: ClassVar[Mapping[str, str]] = {
        "content": "here it is text",
        "created_at": "here it is timestamp",
        **dict.fromkeys(("user_id", "agent_id", "session_id", "workspace"), _OWNER),
    }

    text: str = Field(default="", min_length=1)
    metadata: Mapping[str, object] = Field(default_factory=dict)
    timestamp: AwareTime | None = None
    memory_type: str = ""
    expires_at: AwareTime | None = None
    events: tuple[TimeRange, ...] = ()
    author: str = ""
    when_to_use: str = ""
    quality: Share | None = None

    @field_validator("text")
    @classmethod
    def _says_something(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("text must hold some text; got only white space")
        return text

    @field_validator("timestamp", mode="before")
    @classmethod
    def _is_a_moment(cls, timestamp: object) -> object:
        if timestamp is None:
            raise ValueError("timestamp must be a moment; a stored memory always has one")
        return timestamp

    def made_to(self, memory: Candidate, zone: tzinfo | None, *, read_events: bool) -> Memory:
        """The memory as it is after the changes.

        Its events are read again if its text or its time has changed, unless they are among the
        changes.

        Args:
            memory: The memory as it is stored.
            zone: The time zone in which words such as "today" are read. Rows have none.
            read_events: Whether the store reads events from texts.
        """
        fields = vars(memory.memory())
        fields["created_at"] = memory.created_at and in_zone(memory.created_at, zone)
        for name in self.model_fields_set - {"metadata"}:
            fields[_FIELDS.get(name, name)] = getattr(self, name)
        metadata = {**fields["metadata"], **self.metadata}
        fields["metadata"] = {name: x for name, x in metadata.items() if x is not None}
        moved = (fields["content"], fields["created_at"]) != (memory.content, memory.created_at)
        if moved and read_events and "events" not in self.model_fields_set:
            del fields["events"]
        return Memory.model_validate(fields)
