"""The metadata keys of rows: our own, and those of collections that somebody else made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import ConfigDict, Field

from recall_retrievers.core.memory import Memory, MetadataValue
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings import Settings

TimeUnit = Literal["milliseconds", "seconds", "iso", "mixed"]

# LlamaIndex's own keys: it drops or misreads a row whose metadata has them, and writes them into
# rows of its own, where they are of no use to a reader.
FRAMEWORK_KEYS = frozenset(
    {
        "_node_content",
        "_node_type",
        "document_id",
        "doc_id",
        "ref_doc_id",
        "relationships",
        "node_info",
        "text",
    }
)
EXPIRES_AT = "expires_at"
# Rows that expire have this too: rows without a key cannot be asked for, but "$ne" lets them pass.
MAY_EXPIRE = "may_expire"
NODE_SOURCE = "ref_doc_id"  # the document that a node of LlamaIndex was cut from
WRITTEN_AT = "written_at"  # when a row was last written: it shows what others have changed
KEYWORD_VECTOR = "keyword_vector"  # the words of a row, for a collection that searches by words
CREATED_KEYS = frozenset({"created_at", "created_day", "created_month"})
EVENT_KEYS = frozenset({"event_start", "event_end", "event_ranges"})
OWN_KEYS = frozenset(
    {WRITTEN_AT, KEYWORD_VECTOR, EXPIRES_AT, MAY_EXPIRE, "list_values"}
    | CREATED_KEYS
    | EVENT_KEYS
    | {"memory_type", "when_to_use", "author", "said_before", "turn_before", "quality"}
    | set(Scope.model_fields)
)

# The keys of fields of a memory: metadata with such a name belongs into the field.
FIELD_KEYS = OWN_KEYS & (Memory.model_fields.keys() | Scope.model_fields.keys())
_APART = "metadata."  # before a name of the user's that rows keep something else under

Row = tuple[str, str | None, Mapping[str, MetadataValue] | None]
"""A row's id, its text and its metadata."""


class Fields(Settings):
    """The metadata keys of a collection that somebody else made.

    Args:
        content: The metadata key of the text; None = the document itself.
        created_at: The key of the recorded time: epoch seconds or milliseconds, ISO 8601, or a
            common written form such as "March 5, 2024", "05.03.2024" or 20240305.
        expires_at: The key of the time from which a row is not found, in the same forms.
        memory_type: The key of the memory type.
        author: The key of the author.
        user_id: The key of the user, for scopes.
        agent_id: The key of the agent.
        session_id: The key of the conversation.
        workspace: The key of the group.
        day_first: Whether "05/03/2024" is 5 March (True) or May 3 (False). None = such a time is
            not read, and a warning says so.
    """

    model_config = ConfigDict(frozen=True)

    content: str | None = None
    created_at: str = Field(default="created_at", min_length=1)
    expires_at: str = Field(default=EXPIRES_AT, min_length=1)
    memory_type: str = Field(default="memory_type", min_length=1)
    author: str = Field(default="author", min_length=1)
    user_id: str = Field(default="user_id", min_length=1)
    agent_id: str = Field(default="agent_id", min_length=1)
    session_id: str = Field(default="session_id", min_length=1)
    workspace: str = Field(default="workspace", min_length=1)
    day_first: bool | None = None


OWN_FIELDS = Fields()


def row_key(name: str) -> str:
    """The key under which a row keeps metadata with this name.

    Examples:
        >>> row_key("topic"), row_key("document_id")
        ('topic', 'metadata.document_id')
    """
    taken = name in OWN_KEYS or name in FRAMEWORK_KEYS or name.startswith(_APART)
    return _APART + name if taken else name


def name_of(key: str) -> str:
    """The name of the metadata that a row keeps under this key; see `row_key`."""
    name = key.removeprefix(_APART)
    return name if row_key(name) == key else key
