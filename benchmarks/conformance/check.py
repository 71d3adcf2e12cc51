"""A check: the name of a promise, and a function that tests it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.conformance.subject import Subject

AnySubject = Subject[Any, Any, Any]  # of any framework


class ContractError(AssertionError):
    """A promise is broken; the message says how."""


class NotApplicable(Exception):  # noqa: N818 - no error
    """The check does not apply: the subject asks no model."""


@dataclass(frozen=True)
class Verdict:
    """The result of a check.

    Attributes:
        holds: Whether the promise holds; None if it does not apply.
        why: How it is broken, or why it does not apply; empty if it holds.
    """

    holds: bool | None
    why: str = ""


@dataclass(frozen=True)
class Check:
    """One promise; a call with a subject raises if the promise is broken.

    Attributes:
        name: Its name.
        promise: The promise.
        look: Raises `ContractError` if it is broken.
    """

    name: str
    promise: str
    look: Callable[[AnySubject], None]

    def __str__(self) -> str:
        """The name, for ``pytest.mark.parametrize(..., ids=str)``."""
        return self.name

    def __call__(self, subject: AnySubject) -> None:
        """Check a subject; a promise that does not apply holds.

        Raises:
            ContractError: When it is broken.
        """
        verdict = self.judge(subject)
        if verdict.holds is False:
            raise ContractError(f"{self.promise}: {verdict.why}")

    def judge(self, subject: AnySubject) -> Verdict:
        """Check a subject, and return the result."""
        try:
            self.look(subject)
        except NotApplicable as reason:
            return Verdict(None, str(reason))
        except ContractError as broken:
            return Verdict(False, str(broken))
        except Exception as error:  # noqa: BLE001 - whatever it is, the subject raised it
            return Verdict(False, raised(error))
        return Verdict(True)


def raised(error: Exception) -> str:
    """An error in a line."""
    return f"raised {type(error).__name__}: {str(error)[:200]}"
