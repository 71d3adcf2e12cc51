"""Every error that is ours. Each says what was wrong, what was expected and what to do."""


class RecallError(Exception):
    """The parent of every error raised by this library."""


class QueryError(RecallError, ValueError):
    """The question cannot be asked: it is empty, or not text."""


class FilterError(RecallError, ValueError):
    """A metadata filter names an operator, a key or a value that no collection can match."""


class ScopeError(RecallError, ValueError):
    """A call asked for memories outside the scope that the retriever was opened with."""


class MemoryFormatError(RecallError, ValueError):
    """A memory cannot be stored, or a stored row cannot be read, as it stands."""


class EmbeddingMismatchError(RecallError, ValueError):
    """A collection holds vectors of another embedding model than the one given."""


class StoreError(RecallError, RuntimeError):
    """The collection cannot do what was asked of it."""


class StoreClosedError(StoreError):
    """The store was closed, or was opened in another process than this one."""


class StoreLockedError(StoreError):
    """Another process holds the path; Chroma loses vectors when two write to one."""


class ForeignCollectionError(StoreError):
    """The collection was made by somebody else: it is searched, never written."""


class KeywordSearchError(StoreError):
    """The store finds by meaning alone: it cannot be searched for words."""


class IdLookupError(StoreError):
    """The store finds by questions: it cannot be asked for memories by their ids."""


class ReplyError(RecallError, ValueError):
    """A model's reply is not what was asked for."""


class QuestionFileError(RecallError, ValueError):
    """A file of questions for an evaluation cannot be read as it stands."""
