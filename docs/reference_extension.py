"""For the reference: what a class takes, in readable types, and where a name is imported from.

Griffe reads sources and would call every setting required; the classes themselves know better. It
would take a method that is made of another one, as in ``acount = awaited(count)``, for a value.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import griffe
from pydantic import BaseModel
from pydantic.fields import FieldInfo

FACES = ("langchain_recall", "llamaindex_recall")
_LONGEST = 60  # characters of a default in a signature
_PUBLIC = {"MemoryRetriever": "RecallRetriever"}  # the base of that of both faces
_SECTION = re.compile(r"^Args:\n(?:(?: {4}.*)?\n?)+?(?=\n\S|\Z)", re.MULTILINE)
_ENTRY = re.compile(r"^ {4}(\w+):.*\n?(?:^ {8}.*\n?)*", re.MULTILINE)
_FRAMEWORKS = ("langchain_core.", "llama_index.")


class PublicNames(griffe.Extension):
    """Gives each pydantic model the ``__init__`` that it has, and each public name its import."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called when a package has been read."""
        for found in _public(pkg):
            value = getattr(import_module(found.parent.path), found.name, None)
            if isinstance(found, griffe.Class) and isinstance(value, type):
                _describe(found, value)
                _with_twins(found)
            elif isinstance(found, griffe.Function) and callable(value):
                _with_values(found, value)
            if found.docstring:
                found.docstring.value = _with_import(found)


def _public(module: griffe.Module) -> Iterator[griffe.Class | griffe.Function]:
    for member in module.members.values():
        if isinstance(member, griffe.Module):
            yield from _public(member)
        elif isinstance(member, griffe.Class | griffe.Function) and member.name[0] != "_":
            yield member


def _describe(found: griffe.Class, value: type) -> None:
    if found.parent.path.startswith(FACES):
        # A class of a face has the docstring of the class that it is made of, at run time.
        found.docstring = griffe.Docstring(inspect.getdoc(value) or "", parent=found)
    if issubclass(value, BaseModel) and found.docstring:
        found.docstring.value = _with_inherited(found.docstring.value, value)
    # Settings that are taken as **settings are the fields; another constructor names what it takes.
    if issubclass(value, BaseModel) and inspect.getfullargspec(value.__init__).varkw:
        fields = {
            name: field
            for name, field in value.model_fields.items()
            if name not in _of_the_framework(value)
        }
        parameters = [
            griffe.Parameter(
                name,
                annotation=written_type(field.annotation),
                kind=griffe.ParameterKind.keyword_only,
                default=_default(field),
            )
            for name, field in sorted(fields.items(), key=lambda each: not each[1].is_required())
        ]
        made = griffe.Function("__init__", parameters=griffe.Parameters(*parameters))
        found.set_member("__init__", made)


def _with_inherited(text: str, model: type[BaseModel]) -> str:
    """A docstring with the settings that only the classes explain that a model inherits from."""
    documented, inherited = _arguments(text), {}
    for base in model.__mro__[1:]:
        if base.__module__.startswith("recall_retrievers."):
            inherited |= {
                name: entry
                for name, entry in _arguments(inspect.getdoc(base) or "").items()
                if name in model.model_fields and name not in {*documented, *inherited}
            }
    section = _SECTION.search(text)
    if not inherited or not section:
        return text
    own = section[0].rstrip("\n")
    return text.replace(own, "\n".join([own, *(each.rstrip() for each in inherited.values())]), 1)


def _arguments(text: str) -> dict[str, str]:
    section = _SECTION.search(text)
    return {each[1]: each[0] for each in _ENTRY.finditer(section[0])} if section else {}


def _with_twins(found: griffe.Class) -> None:
    """Show each twin for ``await`` as a method, with the parameters of the method it awaits."""
    for name, member in list(found.members.items()):
        value = str(member.value) if isinstance(member, griffe.Attribute) else ""
        made = re.fullmatch(r"awaited(_each)?\((\w+)\)", value)
        if made:
            method = found.members[made[2]]
            returns = str(method.returns).replace("Iterator", "AsyncIterator")
            twin = griffe.Function(
                name,
                parameters=method.parameters,
                returns=returns,
                docstring=member.docstring,
                lineno=member.lineno,
                endlineno=member.endlineno,
            )
            twin.labels |= set() if made[1] else {"async"}
            found.set_member(name, twin)


def _with_values(found: griffe.Function, value: Callable[..., object]) -> None:
    """Types of the inside by their public names, and defaults that are constants by their value."""
    for name, real in inspect.signature(value).parameters.items():
        parameter = found.parameters[name]
        parameter.annotation = _PUBLIC.get(str(parameter.annotation), parameter.annotation)
        if parameter.default is not None and re.search(r"\b_?[A-Z_]{3,}$", str(parameter.default)):
            written = _written_value(real.default)
            parameter.default = written if len(written) < _LONGEST else "..."


def _of_the_framework(model: type) -> set[str]:
    """The settings that a framework's base class brings, and that none of ours declares anew."""
    bases = [base for base in model.__mro__ if issubclass(base, BaseModel)]
    theirs = [base for base in bases if base.__module__.startswith(_FRAMEWORKS)]
    declared = {name for base in bases if base not in theirs for name in base.__annotations__}
    return {name for base in theirs for name in base.model_fields} - declared


def _with_import(found: griffe.Class | griffe.Function) -> str:
    """The docstring with a line that imports the name, after the sentence that it begins with."""
    faces = [face for face in FACES if found.name in import_module(face).__all__]
    own = found.path.split(".")[0]
    if own in faces:  # a class of one framework; the other has its own or none
        faces.sort(key=lambda face: face != own)
    module, *others = faces or [found.parent.path]
    line = f"`from {module} import {found.name}`"
    line += "".join(f", or from `{other}`" for other in others)
    summary, _, rest = found.docstring.value.partition("\n\n")
    return f"{summary}\n\n{line}\n\n{rest}"


def written_type(annotation: object) -> str:
    """A type as a user would write it: without validators and the modules that its parts are of."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation is None or annotation is types.NoneType:
        return "None"
    if annotation is Any:
        return "Any"
    if annotation is ...:
        return "..."
    if isinstance(annotation, list):  # the parameters of a Callable
        return f"[{', '.join(map(written_type, annotation))}]"
    if origin is Annotated:
        return written_type(parts[0])
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, parts))}]"
    if origin in {Union, types.UnionType}:
        return " | ".join(dict.fromkeys(map(written_type, parts)))
    if origin is not None:
        name = "Callable" if origin is Callable else getattr(origin, "__name__", str(origin))
        return f"{name}[{', '.join(map(written_type, parts))}]" if parts else name
    name = getattr(annotation, "__name__", "") or str(annotation)
    return name.rpartition(".")[2]


def _default(field: FieldInfo) -> str | None:
    if field.is_required():
        return None
    return _written_value(field.get_default(call_default_factory=True, validated_data={}))


def _written_value(value: object) -> str:
    """A value as a user would write it: a model by its class and the settings that differ."""
    if isinstance(value, list):
        return f"[{', '.join(map(_written_value, value))}]"
    if isinstance(value, BaseModel):
        changed = value.model_dump(exclude_defaults=True)
        settings = ", ".join(f"{name}={setting!r}" for name, setting in changed.items())
        return f"{type(value).__name__}({settings})"
    return repr(value)
