"""A check: a promise by name, and how to find out whether it is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recall_stages.testing.subject import Subject

AnySubject = Subject[Any, Any, Any]  # of any framework


class ContractError(AssertionError):
    """A promise is not kept; the message says how."""


class NotApplicable(Exception):  # noqa: N818 - no error
    """There is nothing to see: what is on trial asks no model."""


@dataclass(frozen=True)
class Verdict:
    """What a check came to.

    Attributes:
        holds: Whether the promise is kept; None where it does not apply.
        why: How it was broken, or why it does not apply; empty where it holds.
    """

    holds: bool | None
    why: str = ""


@dataclass(frozen=True)
class Check:
    """One promise; called with a subject, it raises where the promise is not kept.

    Attributes:
        name: A word for it.
        promise: What is promised.
        look: Raises `ContractError` where it is not kept.
    """

    name: str
    promise: str
    look: Callable[[AnySubject], None]

    def __str__(self) -> str:
        """The name, for ``pytest.mark.parametrize(..., ids=str)``."""
        return self.name

    def __call__(self, subject: AnySubject) -> None:
        """Check one; a promise that does not apply is kept.

        Raises:
            ContractError: When it is not kept.
        """
        verdict = self.judge(subject)
        if verdict.holds is False:
            raise ContractError(f"{self.promise}: {verdict.why}")

    def judge(self, subject: AnySubject) -> Verdict:
        """Check one, and say what it came to."""
        try:
            self.look(subject)
        except NotApplicable as reason:
            return Verdict(None, str(reason))
        except ContractError as broken:
            return Verdict(False, str(broken))
        except Exception as error:  # noqa: BLE001 - whatever it is, what is on trial raised it
            return Verdict(False, raised(error))
        return Verdict(True)


def raised(error: Exception) -> str:
    """An error in a line."""
    return f"raised {type(error).__name__}: {str(error)[:200]}"
