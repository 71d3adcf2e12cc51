"""Errors of settings: pydantic's findings, in our words."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import reduce
from reprlib import Repr
from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from recall_retrievers.core.errors import MOST_PROBLEMS, SettingsError

Path = tuple[str | int, ...]
"""Where a value stands in what was handed in: names, and places in lists."""

_MISSING = object()
_SCALARS = str | int | float | complex | bytes | None
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 60

# What pydantic expected, by the type of its finding; `{...}` is filled in from its context.
_EXPECTED = {
    "greater_than_equal": "at least {ge}",
    "greater_than": "above {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "below {lt}",
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(
        ("int_type", "int_parsing", "int_parsing_size", "int_from_float"), "a whole number"
    ),
    **dict.fromkeys(("bool_type", "bool_parsing"), "True or False"),
    "string_type": "a text",
    "string_too_short": "a text with at least {min_length} character",
    "tuple_type": "a tuple",
    **dict.fromkeys(("list_type", "set_type", "frozen_set_type", "iterable_type"), "a list"),
    "too_short": "a list with at least {min_length} item",
    "too_long": "a list with at most {max_length} items",
    **dict.fromkeys(("dict_type", "mapping_type"), "a mapping"),
    "callable_type": "a function",
    "is_instance_of": "a {class}",
    **dict.fromkeys(
        ("dataclass_type", "dataclass_exact_type", "model_type", "model_attributes_type"),
        "a {class_name}",
    ),
}

_CLASSES = {  # what a user calls a class that a setting must be of; else it is called by its name
    "Runnable": "a chat model or an LLM of LangChain's",
    "LLM": "an LLM of LlamaIndex's",
}


def settings_error(owner: type[BaseModel], found: ValidationError, values: object) -> SettingsError:
    """What pydantic found wrong with what was handed in: our own error, a sentence a setting."""
    by_path: dict[Path, list[ErrorDetails]] = {}
    for problem in found.errors(include_url=False):
        by_path.setdefault(_path(problem, values), []).append(problem)
        if len(by_path) > MOST_PROBLEMS:
            break
    problems = [
        problem
        for path, details in by_path.items()
        for problem in _problems(owner, path, details, values)
    ]
    return SettingsError(public_name(owner), tuple(dict.fromkeys(problems))[:MOST_PROBLEMS])


def public_name(owner: type[BaseModel]) -> str:
    return str(vars(owner).get("public_name", owner.__name__))


def got(value: object) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, _SCALARS | list | tuple | dict | set | frozenset):
        return _SHORT.repr(value)
    if isinstance(value, Callable) and hasattr(value, "__name__"):  # type: ignore[arg-type]  # of collections.abc, which can be asked
        return f"the function {value.__name__}"
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind}"


def _path(found: ErrorDetails, values: object) -> Path:
    """As much of where pydantic found it as the user has written.

    Between these stand pydantic's own names, as of the members of a union.
    """
    path: list[str | int] = []
    inside = values
    for place, part in enumerate(found["loc"]):
        value = _part(inside, part)
        is_last = place == len(found["loc"]) - 1
        if value is not _MISSING:
            inside = value
        elif not (is_last and found["type"] == "missing"):
            continue
        path.append(part)
    return tuple(path)


def _part(inside: object, part: str | int) -> object:
    if isinstance(inside, Mapping):
        return inside.get(part, _MISSING)
    if isinstance(inside, Sequence) and not isinstance(inside, str) and isinstance(part, int):
        return inside[part] if part < len(inside) else _MISSING
    return _MISSING


def _problems(
    owner: type[BaseModel], path: Path, details: Sequence[ErrorDetails], values: object
) -> Iterator[str]:
    """What is wrong with one value; of a union each member has found something."""
    name = _named(path)
    expected: list[str] = []
    for detail in details:
        cause = detail.get("ctx", {}).get("error")
        if isinstance(cause, SettingsError):
            yield from (f"{name}: {problem}" if name else problem for problem in cause.problems)
        elif isinstance(cause, Exception):
            yield _sentence(name, str(cause))
        elif about_whole := _of_the_whole(owner, path, detail["type"]):
            yield about_whole
        else:
            expected.append(_expected(detail))
    if expected and not path:
        yield f"{public_name(owner)} is made of a mapping of its arguments; got {got(values)}"
    elif expected:
        choices = list(dict.fromkeys(expected))
        listed = " or ".join([", ".join(choices[:-1]), choices[-1]] if choices[1:] else choices)
        value = reduce(_part, path, values)
        yield f"{name} must be {listed}; got {got(value)}{_nearest(value, listed)}"


def _of_the_whole(owner: type[BaseModel], path: Path, kind: str) -> str | None:
    """What is wrong with a whole set of settings, rather than with a value in it."""
    name, made = _named(path), public_name(owner)
    match kind:
        case "missing" if isinstance(path[-1], int):
            return f"{_named(path[:-1])} is too short: it has no value at place {path[-1] + 1}"
        case "missing":
            return f"{name} is missing: pass {name}=..."
        case "extra_forbidden":
            return _unknown(owner, path)
        case "frozen_instance":
            change = f"model_copy(update={{{name!r}: ...}})"
            return f"{made} cannot be changed; make another: {change}"
        case "json_invalid":
            return f"{made} is made of JSON here; what was handed in is none"
        case _:
            return None


def _sentence(name: str, text: str) -> str:
    """What a check of ours says, with the name of the setting where it leaves that out."""
    if text.startswith("must "):
        return f"{name} {text}"
    return text if not name or re.search(rf"\b{re.escape(name)}\b", text) else f"{name}: {text}"


def _named(path: Path) -> str:
    return "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" if place else part
        for place, part in enumerate(path)
    )


def _expected(found: ErrorDetails) -> str:
    known = _EXPECTED.get(found["type"])
    if known is None:
        return found["msg"].removeprefix("Input should be ").removeprefix("a valid ")
    context = found.get("ctx", {})
    wanted = context.get("class", context.get("class_name"))
    if wanted in _CLASSES:
        return _CLASSES[wanted]
    return known.format(**{k: f"{v:g}" if isinstance(v, float) else v for k, v in context.items()})


def _nearest(value: object, listed: str) -> str:
    choices = re.findall(r"'([^']*)'", listed)
    close = get_close_matches(value, choices, n=1) if isinstance(value, str) else []
    return f". Did you mean {close[0]!r}?" if close else ""


def _unknown(owner: type[BaseModel], path: Path) -> str:
    inside: type[BaseModel] | None = owner
    for part in path[:-1]:
        field = None if inside is None else inside.model_fields.get(str(part))
        inside = inside if isinstance(part, int) else field and _model(field.annotation)
    called = _named(path[:-1]) or public_name(owner)
    name = str(path[-1])
    wrong = f"{called} has no argument {got(name)}"
    if inside is None:
        return wrong
    elsewhere = getattr(inside, "elsewhere", {})
    if name in elsewhere:
        return f"{wrong}; {elsewhere[name]}"
    known = sorted(inside.model_fields)
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"{wrong}{hint} It takes: {', '.join(known)}"


def _model(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model, get_args(annotation))), None)
