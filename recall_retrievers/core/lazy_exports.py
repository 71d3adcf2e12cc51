"""Exports that load on first use, so that importing a face costs nothing it does not use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Never

_EXTRAS = {"mcp": "serve", "starlette": "serve", "anywidget": "look"}


class _Missing(type):
    """A name whose extra is not installed: it can be imported, and using it says which one.

    So ``import *``, ``hasattr`` and ``inspect`` work with any extras.
    """

    why: str

    def __new__(cls, name: str, bases: tuple[type, ...], values: dict[str, object]) -> _Missing:
        missing = [base.why for base in bases if isinstance(base, _Missing)]
        if missing:
            raise ImportError(missing[0])
        return super().__new__(cls, name, bases, values)

    def __call__(cls, *_: object, **__: object) -> Never:
        raise ImportError(cls.why)


def check_owner(package: str) -> None:
    """Raise an ImportError if the distribution that has the name of a face installs it, too.

    Of both packages, whichever came last has replaced files. The folders are read here, in a
    millisecond: `importlib.metadata` takes 40 to load.
    """
    for folder in map(Path, sys.path):
        for record in folder.glob(f"{package}-*.dist-info/RECORD"):
            if f"\n{package}/" in "\n" + record.read_text(encoding="utf-8", errors="replace"):
                other = package.replace("_", "-")
                raise ImportError(
                    f"two projects install {package}: recall-retrievers and {other}, which is not "
                    "ours; each replaces files of the other. Keep one of them, such as by: pip "
                    f"uninstall -y {other} && pip install --force-reinstall --no-deps "
                    "recall-retrievers",
                    name=package,
                )


def by_name(*tables: Mapping[str, str]) -> dict[str, str]:
    """The module of each name, sorted by name, from tables with the names of each module."""
    rows = (row for table in tables for row in table.items())
    return dict(sorted((name, module) for module, names in rows for name in names.split()))


def lazy_exports(
    exports: Mapping[str, str], extras: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """A module's ``__getattr__`` and ``__dir__``, from each name's module and package's extra.

    The packages of the servers and the widget are known; ``extras`` has the others. Where an extra
    is missing, its names are there all the same; see `_Missing`.
    """

    def load(name: str) -> object:
        if name not in exports:
            raise _unknown(name, exports)
        try:
            return getattr(import_module(exports[name]), name)
        except ModuleNotFoundError as error:
            missing = (error.name or "").split(".")[0]
            extra = {**_EXTRAS, **extras}.get(missing)
            if extra is None:
                raise
            why = f"{name} needs {missing}: pip install 'recall-retrievers[{extra}]'"
            return _Missing(name, (), {"why": why})

    return load, lambda: [*exports]


def _unknown(name: str, exports: Mapping[str, str]) -> Exception:
    """What to raise for a name that is not there: it says which one was probably meant."""
    close = get_close_matches(name, exports, n=1, cutoff=0.75)
    hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(sorted(exports))}"
    message = f"there is no {name!r} here; {hint}"
    # Of an AttributeError `from langchain_recall import RecallRetreiver` shows nothing. So that
    # statement, which asks from within Python's own import, is answered by an ImportError.
    asks = sys._getframe(2)  # noqa: SLF001 - documented; there is no other way to know
    module = asks.f_locals.get("module") if asks.f_code.co_name == "_handle_fromlist" else None
    if close and isinstance(module, ModuleType) and not find_spec(f"{module.__name__}.{name}"):
        return ImportError(message, name=module.__name__)
    return AttributeError(message)
