"""Every error of this library. Each says what was wrong, what was expected and what to do."""

import logging
import traceback


class RecallError(Exception):
    """The parent of every error raised by this library.

    Attributes:
        stored: If `add` raised it: the ids of the memories that are stored, in the order of the
            call.
        unsure: The ids of memories that may be stored: Chroma failed while it wrote them, and did
            not answer afterwards.
    """

    stored: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()


MOST_PROBLEMS = 10  # that a `SettingsError` names; a request may have any number


class SettingsError(RecallError, ValueError):
    """Settings are out of range, of another type, missing or not known; the message names ten.

    Attributes:
        owner: The class whose settings they are.
        problems: A sentence for each setting, ten at most: what was expected, and what was handed
            in.
    """

    def __init__(self, owner: str, problems: tuple[str, ...]) -> None:
        super().__init__(owner, problems)
        self.owner = owner
        self.problems = problems

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return self.problems[0]
        at_least = "at least " if len(self.problems) == MOST_PROBLEMS else ""
        head = f"{self.owner} has {at_least}{len(self.problems)} wrong settings:"
        return "\n- ".join([head, *self.problems])


class SupersededError(SettingsError):
    """A memory cannot be superseded: another one supersedes it already."""


class QueryError(RecallError, ValueError):
    """The question cannot be asked: it is empty, or not text."""


class FilterError(RecallError, ValueError):
    """A metadata filter names an operator, a key or a value that no collection can match."""


class ScopeError(RecallError):
    """A scope names nobody, lacks what is required, or reaches outside the one that is bound."""

    # No ValueError: pydantic would put those of a validator into a ValidationError of its own.


class MemoryFormatError(RecallError, ValueError):
    """A memory cannot be stored, or a stored row cannot be read."""


class EmbeddingMismatchError(RecallError, ValueError):
    """A collection holds vectors of another embedding model than the one given.

    Attributes:
        made_by: The name of the model that made them; empty if nobody noted it.
    """

    def __init__(self, message: str, made_by: object = "") -> None:
        super().__init__(message)
        self.made_by = made_by if isinstance(made_by, str) else ""


class StoreError(RecallError, RuntimeError):
    """The collection cannot do what was asked, or Chroma failed."""


class StoreUnavailableError(StoreError):
    """The server or the embedding model does not answer; the same call may succeed later."""


class StoreClosedError(StoreError):
    """The store was closed, or was opened in another process than this one."""


class StoreLockedError(StoreError):
    """Another process holds the path; Chroma loses vectors when two write to one."""


class StoreDamagedError(StoreError):
    """Files of a Chroma path are torn or missing; `RecallStore.repair` mends what can be mended."""


class MissingCollectionError(StoreError):
    """The collection does not exist, and its name may be mistyped; the names there are listed."""


class MissingMemoryError(StoreError, LookupError):
    """There is no memory with this id in the scope."""


class ForeignCollectionError(StoreError):
    """The collection was made by somebody else: it is searched, never written."""


class KeywordSearchError(StoreError):
    """The store finds by meaning alone: it cannot be searched for words."""


class IdLookupError(StoreError):
    """The store finds by questions: it cannot be asked for memories by their ids."""


class ReplyError(RecallError, ValueError):
    """A model's reply is not what was asked for."""


class ModelError(RecallError):
    """A language model raised an error, or did not reply in time.

    Attributes:
        cause: The model's own error.
    """

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.cause = cause


class QuestionFileError(RecallError, ValueError):
    """A file of questions for an evaluation cannot be read."""


def described(error: Exception) -> str:
    """An error as one line: its class and what it says; of a model's, its own class."""
    return str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"


def log_failure(log: logging.Logger, what: str, error: Exception) -> None:
    """Log what was not done and why, without any text of a memory; at the level DEBUG with all."""
    # What others say may quote what they were handed. So the log has their classes alone, and of a
    # bug the lines of code that it has passed.
    said, cause = type(error).__name__, str(error.__cause__ or "")
    if not isinstance(error, RecallError):
        said = "\n".join([said, *traceback.format_tb(error.__traceback__)])
    elif not isinstance(error, MemoryFormatError):
        said = described(error).replace(cause, "...") if cause else described(error)
    log.error("%s: %s", what, said)
    log.debug("%s", what, exc_info=error)
