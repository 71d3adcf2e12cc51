"""Options that several commands have: what they work on, and whose memories in it."""

import argparse
import json
from contextlib import suppress
from pathlib import Path

from recall_retrievers.core.scope import Scope

PLACE = "a folder of Chroma, a server such as http://localhost:8000, or cloud"
FILE = (
    "JSON objects, one a line: content; and created_at, memory_type, user_id, ... The collection "
    "is kept beside it, in FILE.recall, so that the next question starts at once; - reads standard "
    "input, and keeps nothing"
)
STDIN = Path("-")


def add_collection(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a collection: that of a file, or one of Chroma."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--memories", metavar="FILE", type=Path, help=FILE)
    where.add_argument("--chroma", metavar="PATH|URL", help=f"{PLACE}; only read")
    parser.add_argument("--collection", help="its name, with --chroma (memories)")
    parser.add_argument(
        "--field",
        metavar="OURS=THEIRS",
        action="append",
        default=[],
        help="with --chroma, where others keep something, such as created_at=date; repeatable",
    )
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options of how a file is read."""
    parser.add_argument("--timezone", help="such as Europe/Berlin (the machine's)")
    parser.add_argument(
        "--event-times",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether the times that a text names are read when the file is loaded (yes)",
    )


def add_scope(parser: argparse.ArgumentParser, about: str = "only the memories of this {}") -> None:
    """Add the options of a scope."""
    for name in Scope.model_fields:
        parser.add_argument(f"--{name.replace('_', '-')}", help=about.format(name))


def scope_of(options: argparse.Namespace) -> Scope:
    """The scope that the options name."""
    named = {name: getattr(options, name) for name in Scope.model_fields}
    return Scope.model_validate({k: value for k, value in named.items() if value is not None})


def json_value(text: str) -> object:
    """An option that is JSON, and not empty."""
    with suppress(ValueError):
        if value := json.loads(text):
            return value
    message = f"""expected JSON that is not empty, such as '{{"topic": "health"}}'; got {text!r}"""
    raise argparse.ArgumentTypeError(message)
