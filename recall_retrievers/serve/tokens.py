"""Bearer tokens: each is bound to a scope, and none is ever written to a log."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recall_retrievers.core.errors import ScopeError, SettingsError
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.system import others_can_read

_log = logging.getLogger(__name__)

VARIABLE = "RECALL_TOKENS"
"""The environment variable that may hold the tokens."""

EVERYBODY = "*"
_SHORTEST = 16  # characters of a token
_FORM = (
    'expected one token a line with its scope, such as "TOKEN user_id=ann", or "TOKEN *" for the '
    "memories of everybody"
)


@dataclass(frozen=True, slots=True)
class Client:
    """Who sent a request. The name is for limits and logs; it does not tell the token."""

    name: str
    scope: Scope


class Tokens:
    """Bearer tokens and the scope of each: one a line; lines that begin with # are left out.

    Only digests are kept, so a token can be neither printed nor logged. ``source`` says in errors
    where the text is from.
    """

    def __init__(self, text: str, source: object = "tokens") -> None:
        self._clients: dict[bytes, Client] = {}
        lines = (words for line in text.splitlines() if (words := line.split()))
        named = ([token, *words] for token, *words in lines if not token.startswith("#"))
        for number, (token, *words) in enumerate(named, 1):
            digest = _digest(token)
            if len(token) < _SHORTEST or not token.isascii():
                raise _wrong(number, f"has less than {_SHORTEST} characters, or is not ASCII")
            if digest in self._clients:
                raise _wrong(number, "is there twice")
            self._clients[digest] = Client(f"token {number}", _scope(number, words))
        if not self._clients:
            raise SettingsError("tokens", (f"{source} has no token; {_FORM}",))

    def client(self, token: str) -> Client | None:
        """The client that has this token; the time it takes does not depend on the token."""
        digest, found = _digest(token), None
        for known, client in self._clients.items():
            if hmac.compare_digest(known, digest):
                found = client
        return found

    @classmethod
    def configured(cls, file: Path | None) -> Tokens | None:
        """The tokens of a file, or else of the environment; None if it has no such variable.

        A variable without a token is an error: a secret that was not set must open no server.
        """
        if file is None:
            text = os.environ.get(VARIABLE)
            # In a variable, a semicolon may stand for the end of a line.
            return None if text is None else cls(text.replace(";", "\n"), VARIABLE)
        if others_can_read(file):
            _log.warning("%s can be read by other users of this machine: chmod 600", file)
        return cls(file.read_text(encoding="utf-8"), file)


def _scope(number: int, words: Sequence[str]) -> Scope:
    if not words:
        raise _wrong(number, "has no scope")
    if words == [EVERYBODY]:
        return Scope()
    named = dict(word.partition("=")[::2] for word in words)
    if unknown := [name for name in named if name not in Scope.model_fields]:
        raise _wrong(number, f"has {', '.join(unknown)!r}, which is no field of a scope")
    try:
        return Scope.model_validate(named)
    except ScopeError as error:
        raise _wrong(number, str(error)) from None


def _wrong(number: int, what: str) -> SettingsError:
    return SettingsError("tokens", (f"token {number} {what}; {_FORM}",))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
