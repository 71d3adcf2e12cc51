"""The program: its commands, and what it returns to the shell.

It loads the command that is named, and neither framework: that is what makes it start fast.
"""

import argparse
import gc
import io
import logging
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from inspect import cleandoc
from itertools import groupby
from textwrap import wrap
from typing import NamedTuple, Never

from recall_retrievers import __version__
from recall_retrievers.cli.streams import complain, writes_all
from recall_retrievers.core.errors import RecallError
from recall_retrievers.core.lazy_exports import check_owner
from recall_retrievers.text.words import printable

_ABOUT = """\
Ask your memories in plain words, and see why each one came back.

It works on a JSONL file (one JSON object with "content" a line), on standard input (-) or on a
Chroma collection, without a model, a key or a network. It needs neither LangChain nor
LlamaIndex."""

_BEGIN = """\
begin with:
  {program} ask --memories notes.jsonl "what did I say about the dentist last Tuesday?"
  {program} time "what did we plan for early March?"
  {program} eval --memories notes.jsonl --queries questions.jsonl

exit codes: 0 done; 1 the answer is no (gate; check; eval --at-least); 2 the input cannot be used;
130 stopped with Ctrl-C"""


class Command(NamedTuple):
    """A command: its module, and what it does in a line.

    In the module its function is called as the command, and that of its options ``add_COMMAND``.
    The docstring of the function is its help; its first line is ``about``.
    """

    module: str
    about: str


_COMMANDS = {
    "ask": Command("asking", "Ask the memories of a file or collection."),
    "explain": Command("asking", "Every number behind an answer, or behind one that is missing."),
    "load": Command(
        "managing", "Load a file of memories into the collection next to it, or into another one."
    ),
    "export": Command(
        "managing", "Write the memories of a collection to a file, or to standard output."
    ),
    "stats": Command(
        "managing",
        "What a collection holds: the number of memories, their types, owners and times.",
    ),
    "delete": Command(
        "managing", "Delete memories of a collection by their owner, time, type or metadata."
    ),
    "migrate": Command("managing", "Copy a collection from a folder to a server, or back."),
    "check": Command("managing", "Check all files of a Chroma path."),
    "repair": Command("managing", "Repair a Chroma path whose index is damaged."),
    "mcp": Command("serve", "Serve memories to an agent, by the Model Context Protocol."),
    "serve": Command(
        "serve", "Serve memories over HTTP, and by the Model Context Protocol at /mcp."
    ),
    "look": Command("serve", "Look at memories and questions in a browser, on a timeline."),
    "time": Command("times", "What is understood of the time in a text."),
    "gate": Command("asking", "Whether a message needs memories at all, and why."),
    "eval": Command("evaluate", "How well your own questions are answered."),
}
_EXAMPLES = {
    "ask": '--memories notes.jsonl "what did I say about the dentist last Tuesday?"',
    "explain": '--memories notes.jsonl --id m17 "what did I say about the dentist?"',
    "load": "conversations.json --into ./memories --user-id ann",
    "export": "--chroma ./memories --output all.jsonl",
    "stats": "--chroma ./my_app --collection notes --field created_at=date",
    "delete": "--chroma ./my_app --user-id ann --before 2024-01-01",
    "migrate": "./memories http://localhost:8000",
    "check": "notes.jsonl.recall",
    "repair": "notes.jsonl.recall",
    "mcp": "./memories --user-id ann",
    "serve": "./memories --tokens tokens.txt",
    "look": "notes.jsonl",
    "time": '"what did we plan for early March?" --timestamp 2024-06-12T15:30',
    "gate": '"When is my sister\'s birthday?" && echo ask the memories',
    "eval": "--memories notes.jsonl --queries questions.jsonl --at-least recall@5=0.8",
}


def main(program: str, arguments: Sequence[str] | None = None) -> int:
    """Run the command line, as the user called it, and return the exit code."""
    for face in ("langchain_recall", "llamaindex_recall"):
        try:
            check_owner(face)
        except ImportError as error:  # the face itself may be the other project's by now
            complain(f"{program}: {error}")
    parser = _parser(program, sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    shown = logging.StreamHandler()
    shown.setFormatter(_Printable(logging.BASIC_FORMAT))
    logging.basicConfig(level=logging.WARNING, handlers=[shown])
    logging.getLogger("recall_retrievers").setLevel(
        logging.DEBUG if options.verbose else logging.WARNING
    )
    try:
        code = int(options.run(options))
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads on, as of `| head`. What Python still holds would fail once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt as stopped:
        complain("; ".join([f"{program}: stopped", *map(str, stopped.args)]))
        return 130
    except (RecallError, OSError, ValueError) as error:
        complain(f"{program}: {error}")
        return 2
    return code


class _Printable(logging.Formatter):
    """Lines of a log in which what would steer the terminal is written out."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def recall(program: str = "recall") -> int:
    """The command `recall`, in a process of its own."""
    gc.disable()  # a process this short pays more for collecting garbage than it gets back
    for stream in (sys.stdout, sys.stderr):
        # A pipe on Windows, and some locales, lack most letters: they are escaped, and no error.
        if isinstance(stream, io.TextIOWrapper) and not writes_all(stream):
            stream.reconfigure(errors="backslashreplace")
    return main(program)


class _Help(argparse.HelpFormatter):
    """Help at the width of the terminal; indented lines stay as they are."""

    # argparse has no public way to say how a text is filled; its own formatters do it so as well.
    def _fill_text(self, text: str, width: int, indent: str) -> str:
        filled = []
        for is_shown, lines in groupby(text.splitlines(), lambda line: line[:1] in {"", " "}):
            block = [*lines]
            filled += block if is_shown else wrap(" ".join(block), min(width, 100))
        return "\n".join(indent + line for line in filled)


class _Parser(argparse.ArgumentParser):
    """A parser that says first what is wrong, in one line."""

    def error(self, message: str) -> Never:
        """Say what is wrong, and end the process."""
        complain(f"{self.prog}: {message}\n{self.prog} --help shows how to call it")
        sys.exit(2)


def _parser(program: str, arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of the command that the arguments name; of the others it has the names alone."""
    parser = _Parser(
        prog=program,
        description=_ABOUT,
        epilog=_BEGIN.format(program=program),
        formatter_class=_Help,
    )
    version = f"recall {__version__}"
    parser.add_argument(
        "--version", action="version", version=version, help="show the version and exit"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    named = next((word for word in arguments if not word.startswith("-")), None)
    if named is not None and named not in _COMMANDS:
        close = get_close_matches(named, _COMMANDS, n=1)
        there = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(_COMMANDS)}"
        parser.error(f"there is no command {named!r}; {there}")
    for name, each in _COMMANDS.items():
        command = commands.add_parser(name, help=each.about, formatter_class=_Help)
        if name == named:
            module = import_module(f"recall_retrievers.cli.{each.module}")
            run = getattr(module, name)
            command.description = cleandoc(run.__doc__)
            command.epilog = f"example:\n  {program} {name} {_EXAMPLES[name]}"
            getattr(module, f"add_{name}")(command)
            command.add_argument("--json", action="store_true", help="print JSON, not tables")
            command.add_argument("-v", "--verbose", action="store_true", help="log what is done")
            command.set_defaults(run=run)
    return parser
