"""Documents of LangChain and nodes of LlamaIndex as memories, known by their shape.

No framework is imported. A document has a ``page_content``, a node has a ``node_id``.

A vector store returns the metadata that was put into it. A memory has more, such as a time and
events. So it notes, in flat metadata, which of its fields were in the metadata of its document.
"""

from collections.abc import Mapping
from datetime import UTC
from typing import Any, Protocol

from typing_extensions import TypeIs

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import MemoryFormatError, ScopeError
from recall_retrievers.core.flat_metadata import (
    DOCUMENT_FIELDS,
    from_flat,
    is_bookkeeping,
    scope_in,
    to_flat,
)
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.settings_messages import got
from recall_retrievers.store.chroma.fields import NODE_SOURCE, is_ours

_BUCKETS = frozenset({"created_day", "event_start", "event_end", "list_values", "may_expire"})


class DocumentLike(Protocol):  # of LangChain
    @property
    def page_content(self) -> str: ...

    @property
    def metadata(self) -> Mapping[Any, Any]: ...


class NodeLike(Protocol):  # of LlamaIndex, with or without a score
    @property
    def node_id(self) -> str: ...

    @property
    def metadata(self) -> Mapping[str, Any]: ...

    def get_content(self, metadata_mode: Any = ...) -> str: ...


def takes_no_more(others: Mapping[str, object]) -> None:
    """Refuse arguments that a vector store does not have: one may be a limit that was meant."""
    if others:
        cure = "set the scope when the vector store is made; RecallStore takes other conditions"
        raise TypeError(f"there is no argument {', '.join(others)} here; {cure}")


def is_document(source: object) -> TypeIs[DocumentLike]:
    return not isinstance(source, type) and hasattr(source, "page_content")


def is_node(source: object) -> TypeIs[NodeLike]:
    return not isinstance(source, type) and hasattr(source, "node_id")


def stored_memory(source: DocumentLike | NodeLike) -> Memory:
    """A document or a node as a memory that can be stored.

    Metadata with the name of a field of `Memory` becomes that field. So does ``event_ranges``, the
    events of a result. Scores and traces of results (``recall_*``) are left out, and values that
    are None. All else stays metadata. A node keeps the document that it was cut from as
    ``ref_doc_id``. Its other relations, its templates and its vector are not stored.
    """
    metadata = {str(name): each for name, each in source.metadata.items() if each is not None}
    if is_document(source):
        content, source_id = source.page_content, str(getattr(source, "id", None) or "")
    else:
        content, source_id = source.get_content(), source.node_id
        origin = getattr(getattr(source, "node", source), NODE_SOURCE, None)
        metadata |= {NODE_SOURCE: origin} if origin else {}
    read = from_flat(content, metadata, memory_id=source_id)
    for name in ("created_at", "expires_at", "superseded_at"):
        if getattr(read, name) is None and metadata.get(name, "") != "":
            raise MemoryFormatError(
                f"the {name} of {got(source_id or content)} cannot be read: "
                f"{got(metadata[name])}. Write it in ISO 8601, such as 2024-03-05T15:20:00Z, as "
                "epoch seconds or as a datetime"
            )
    quality = read.quality if read.quality is not None and 0 <= read.quality <= 1 else None
    # What has the name of a field, or of a key of our rows, and is something else.
    others = set() if is_ours(metadata) else {*_BUCKETS}
    others |= {"quality"} if quality is None else set()
    others |= set() if read.events else {"event_ranges"}
    rest = {name: x for name, x in metadata.items() if name in others and x != ""}
    fields = vars(read.memory()) | {
        "scope": scope_in(source.metadata),
        "metadata": {**read.metadata, **rest},
        "quality": quality,
    }
    for name in ("events", "memory_type"):
        if not fields[name]:  # the store reads events from the text
            del fields[name]
    try:
        return Memory.model_validate(fields)
    except ScopeError:
        raise
    except (ValueError, TypeError) as error:  # pydantic lets a validator's TypeError through
        raise MemoryFormatError(
            f"{type(source).__name__} {got(source_id or content)} cannot be stored: {error}"
        ) from error


def with_its_fields(memory: Memory, metadata: Mapping[str, object]) -> Memory:
    """A memory that notes which of its fields the metadata of its document named."""
    own = {name: value for name, value in memory.metadata.items() if not is_bookkeeping(name)}
    read = to_flat(Candidate.of(memory), UTC).keys() - own.keys()
    named = " ".join(sorted(read & metadata.keys()))
    return memory.model_copy(update={"metadata": {**own, DOCUMENT_FIELDS: named}})


def document_metadata(memory: Candidate | Memory) -> dict[str, object]:
    """The metadata of a memory as its document had it; times in ISO 8601, UTC.

    A memory that did not come from a document shows all its fields.

    Examples:
        >>> tea = Memory(content="Tea.", created_at=0, metadata={"topic": "drinks"})
        >>> document_metadata(with_its_fields(tea, tea.metadata))
        {'topic': 'drinks'}
        >>> document_metadata(tea)["created_at"]
        '1970-01-01T00:00:00+00:00'
    """
    candidate = memory if isinstance(memory, Candidate) else Candidate.of(memory)
    flat = to_flat(candidate, UTC)
    own = {name: value for name, value in flat.items() if not is_bookkeeping(name)}
    named = flat.get(DOCUMENT_FIELDS)
    if not isinstance(named, str):
        return own
    shown = {*named.split(), *candidate.metadata}
    return {name: value for name, value in own.items() if name in shown}
