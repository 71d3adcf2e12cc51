"""The program: its commands, and what it returns to the shell.

It runs on the stages alone, without loading either framework: that is what makes it start fast.
"""

from __future__ import annotations

import argparse
import gc
import io
import logging
import os
import sys
from collections.abc import Callable, Sequence
from inspect import cleandoc
from itertools import groupby
from textwrap import wrap
from typing import NamedTuple

from recall_retrievers import __version__
from recall_retrievers.cli import asking, managing, serve
from recall_retrievers.cli.collection import add_collection, add_load
from recall_retrievers.cli.evaluate import add_evaluate, evaluate
from recall_retrievers.cli.output import complain, writes_all
from recall_retrievers.core.errors import RecallError
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
    """A command. The docstring of the function that runs it is its help."""

    run: Callable[[argparse.Namespace], int]
    add_arguments: Callable[[argparse.ArgumentParser], None]
    example: str


_ASK = '--memories notes.jsonl "what did I say about the dentist last Tuesday?"'
_EXPLAIN = '--memories notes.jsonl --id m17 "what did I say about the dentist?"'
_EXPORT = "--chroma ./memories --output all.jsonl"
_STATS = "--chroma ./my_app --collection notes --field created_at=date"
_DELETE = "--chroma ./my_app --user-id ann --before 2024-01-01"
_TIME = '"what did we plan for early March?" --timestamp 2024-06-12T15:30'
_GATE = '"When is my sister\'s birthday?" && echo ask the memories'
_EVAL = "--memories notes.jsonl --queries questions.jsonl --at-least recall@5=0.8"
_COMMANDS = {
    "ask": Command(asking.ask, asking.add_ask, _ASK),
    "explain": Command(asking.explain, asking.add_explain, _EXPLAIN),
    "load": Command(managing.load, add_load, "conversations.json --into ./memories --user-id ann"),
    "export": Command(managing.export, managing.add_export, _EXPORT),
    "stats": Command(managing.stats, add_collection, _STATS),
    "delete": Command(managing.delete, managing.add_delete, _DELETE),
    "migrate": Command(managing.migrate, managing.add_migrate, "./memories http://localhost:8000"),
    "check": Command(managing.check, managing.add_path, "notes.jsonl.recall"),
    "repair": Command(managing.repair, managing.add_path, "notes.jsonl.recall"),
    "mcp": Command(serve.mcp, serve.add_mcp, "./memories --user-id ann"),
    "serve": Command(serve.serve, serve.add_serve, "./memories --tokens tokens.txt"),
    "time": Command(asking.time, asking.add_time, _TIME),
    "gate": Command(asking.gate, asking.add_gate, _GATE),
    "eval": Command(evaluate, add_evaluate, _EVAL),
}


def main(program: str, arguments: Sequence[str] | None = None) -> int:
    """Run the command line, as the user called it, and return the exit code."""
    parser = _parser(program)
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


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
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
    for name, each in _COMMANDS.items():
        about = cleandoc(each.run.__doc__ or name)
        command = commands.add_parser(
            name,
            help=about.splitlines()[0],
            description=about,
            epilog=f"example:\n  {program} {name} {each.example}",
            formatter_class=_Help,
        )
        each.add_arguments(command)
        command.add_argument("--json", action="store_true", help="print JSON instead of tables")
        command.add_argument("-v", "--verbose", action="store_true", help="log what is being done")
        command.set_defaults(run=each.run)
    return parser
