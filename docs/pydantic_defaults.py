"""For the reference: the settings of a pydantic model are the parameters of its constructor.

Griffe reads sources and would call every setting required; the classes themselves know better.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import griffe
from pydantic import BaseModel
from pydantic.fields import FieldInfo


class PydanticDefaults(griffe.Extension):
    """Gives each pydantic model the ``__init__`` that it has."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called when a package has been read."""
        for found in _classes(pkg):
            model = getattr(import_module(found.module.path), found.name, None)
            if isinstance(model, type) and issubclass(model, BaseModel):
                parameters = [
                    griffe.Parameter(
                        name,
                        annotation=_annotation(field),
                        kind=griffe.ParameterKind.keyword_only,
                        default=_default(field),
                    )
                    for name, field in model.model_fields.items()
                ]
                made = griffe.Function("__init__", parameters=griffe.Parameters(*parameters))
                found.set_member("__init__", made)


def _classes(module: griffe.Module) -> Iterator[griffe.Class]:
    for member in module.members.values():
        if isinstance(member, griffe.Module):
            yield from _classes(member)
        elif isinstance(member, griffe.Class):
            yield member


def _annotation(field: FieldInfo) -> str:
    """The type without the modules that its parts come from."""
    told = getattr(field.annotation, "__name__", None) if isinstance(field.annotation, type) else ""
    return told or re.sub(r"\b(?:\w+\.)+", "", str(field.annotation))


def _default(field: FieldInfo) -> str | None:
    if field.is_required():
        return None
    if field.default_factory is None:
        return repr(field.default)
    return f"{field.default_factory()!r}" if field.default_factory in (dict, list) else "..."
