"""Scope: the owner of memories, and the fields that a scope must name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict, get_args

from pydantic import ConfigDict, model_serializer, model_validator

from recall_retrievers.core.errors import ScopeError
from recall_retrievers.core.settings import Settings
from recall_retrievers.core.settings_messages import got

ScopeName = Literal["user_id", "agent_id", "session_id", "workspace"]

WITH_SCOPE = "Pass scope={'user_id': ...}"


class ScopeFields(TypedDict, total=False):
    user_id: str
    agent_id: str
    session_id: str
    workspace: str


class Scope(Settings):
    """The owner of memories: the part of a collection that a retriever may see.

    A memory is found only if it has the same value in every field that is set. A call can narrow
    the scope of a retriever, never widen it. A field that is left out sets no limit. An empty field
    is an error: it names nobody, and an unknown user must never see everybody's memories. None and
    ``{}`` are a scope without limits.

    Args:
        user_id: The person who owns the memories.
        agent_id: The agent that stores them.
        session_id: One conversation.
        workspace: A group of users and agents.

    Raises:
        ScopeError: When a field is not a text, or is an empty text. None is allowed.

    Examples:
        >>> Scope(user_id="alice").narrow(Scope(session_id="monday")).fields()
        {'user_id': 'alice', 'session_id': 'monday'}
        >>> Scope(user_id="")
        Traceback (most recent call last):
        recall_retrievers.core.errors.ScopeError: scope user_id must be a text with at least 1 \
character that is no space; got ''. An empty user_id is nobody: pass the right one, or leave \
user_id out
    """

    model_config = ConfigDict(frozen=True)

    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    workspace: str | None = None

    def __eq__(self, other: object) -> bool:
        """Whether both name the same; every question asks, and pydantic takes ten times as long."""
        return self is other or (type(other) is type(self) and vars(self) == vars(other))

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    @model_validator(mode="before")
    @classmethod
    def _names_somebody(cls, scope: object) -> object:
        if scope is None:
            return {}
        if isinstance(scope, Scope):
            return scope
        if not isinstance(scope, Mapping):
            raise ScopeError(
                f'scope must be a Scope or a mapping such as {{"user_id": "ann"}}; got {got(scope)}'
            )
        for name in (field for field in get_args(ScopeName) if field in scope):
            value = scope[name]
            if not isinstance(value, str) or not value.strip():
                raise ScopeError(
                    f"scope {name} must be a text with at least 1 character that is no space; "
                    f"got {got(value)}. An empty {name} is nobody: pass the right one, or leave "
                    f"{name} out"
                )
        return dict(scope)

    @model_serializer
    def _only_what_is_set(self) -> dict[str, str]:
        # If a field without a value were written, it would be read again as an empty field.
        return self.fields()

    def fields(self) -> dict[str, str]:
        # This runs for each memory of a collection; `model_dump` takes twice as long.
        return {name: value for name, value in vars(self).items() if value is not None}

    def narrow(self, other: Scope) -> Scope:
        """The scope that has the limits of both.

        Raises:
            ScopeError: When ``other`` names another value for a field that is already set.
        """
        others = other.fields()
        if not others:
            return self
        mine = self.fields()
        for name, value in others.items():
            if mine.get(name, value) != value:
                raise ScopeError(
                    f"scope {name} is {got(mine[name])} and cannot be changed to {got(value)} by "
                    f"a call; open another retriever with scope={{{name!r}: {got(value)}}}"
                )
        return Scope(**mine | others)

    def holds(self, other: Scope) -> bool:
        mine = self.fields()
        return not mine or mine.items() <= other.fields().items()

    def require(self, names: Sequence[str], how: str = WITH_SCOPE) -> None:
        """Raise an error if a field is not set; it says ``how`` to name it."""
        for name in names:
            if getattr(self, name) is None:
                raise ScopeError(
                    f"the scope must name {name}, because of require_scope={tuple(names)!r}; got "
                    f"{got(self.fields())}. {how.replace('user_id', name)}"
                )


ANYBODY = Scope()  # the scope that sets no limit


def required_names(names: object) -> tuple[ScopeName, ...]:
    known: tuple[ScopeName, ...] = get_args(ScopeName)
    if not isinstance(names, list | tuple) or not all(name in known for name in names):
        raise ScopeError(
            f"require_scope takes a tuple of {', '.join(known)}, such as ('user_id',); got "
            f"{got(names)}"
        )
    return tuple(names)


ScopeInput = Scope | Mapping[str, str] | None  # None and ``{}`` set no limit


def with_scope(row: Mapping[str, object]) -> dict[str, object]:
    """Move the scope fields at the top of a row to its ``scope``; the two must not contradict.

    In a row of a file or of `RecallStore.add`, a field such as ``user_id`` may stand in either.
    """
    flat = {name: value for name, value in row.items() if name in Scope.model_fields}
    rest = {name: value for name, value in row.items() if name not in flat}
    if flat:
        rest["scope"] = Scope.model_validate(flat).narrow(Scope.model_validate(row.get("scope")))
    return rest
