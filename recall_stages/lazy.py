"""Exports that load on first use, so that importing a face costs nothing it does not use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_exports(exports: Mapping[str, str], extras: Mapping[str, str]) -> Callable[[str], object]:
    """A module's ``__getattr__``.

    Args:
        exports: The module that defines each public name.
        extras: The import packages that those modules need, each with the extra of this
            distribution that installs it.

    Returns:
        A function that loads a name, or says which extra is missing.
    """

    def load(name: str) -> object:
        if name not in exports:
            raise AttributeError(
                f"there is no {name!r} here; there are: {', '.join(sorted(exports))}"
            )
        try:
            return getattr(import_module(exports[name]), name)
        except ModuleNotFoundError as error:
            missing = (error.name or "").split(".")[0]
            if missing not in extras:
                raise
            raise ImportError(
                f"{name} needs {missing}: pip install 'recall-retrievers[{extras[missing]}]'",
                name=error.name,
            ) from error

    return load
