"""Exports that load on first use, so that importing a face costs nothing it does not use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_exports(exports: Mapping[str, str], framework: str, extra: str) -> Callable[[str], object]:
    """A module's ``__getattr__``.

    Args:
        exports: The module that defines each public name.
        framework: The import package that those modules need.
        extra: The extra of this distribution that installs it.

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
            if (error.name or "").split(".")[0] != framework:
                raise
            raise ImportError(
                f"{name} needs {framework}: pip install 'recall-retrievers[{extra}]'",
                name=error.name,
            ) from error

    return load
