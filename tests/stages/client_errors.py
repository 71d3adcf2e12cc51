"""Errors shaped as those of model clients, which are not installed here."""

from types import SimpleNamespace
from typing import Any


def error(name: str, *bases: type[Exception], **attributes: Any) -> Exception:
    """An error with this name and these attributes."""
    made = type(name, bases or (Exception,), {})("slow down")
    for attribute, value in attributes.items():
        setattr(made, attribute, value)
    return made


def status(number: int, **headers: str) -> Exception:
    response = SimpleNamespace(status_code=number, headers=headers)
    return error("APIStatusError", status_code=number, response=response)


def wrapped(cause: Exception) -> Exception:
    outer = RuntimeError("the framework failed")
    outer.__cause__ = cause
    return outer
