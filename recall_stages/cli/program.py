"""The program: its commands, and what it returns to the shell.

It runs on the stages alone, without loading either framework: that is what makes it start fast.
"""

from __future__ import annotations

import argparse
import gc
import logging
import sys
from collections.abc import Sequence

from recall_stages.cli import ask, evaluate, explain, gate, load, stats, time
from recall_stages.errors import RecallError

_ABOUT = """\
Ask your memories in plain words, and see why each one came back.

It works on a JSONL file (one JSON object with "content" a line) or on a Chroma collection, without
a model, a key or a network. It needs neither LangChain nor LlamaIndex."""

_BEGIN = """\
begin with:
  {program} ask --memories notes.jsonl "what did I say about the dentist last Tuesday?"
  {program} time "what did we plan for early March?"
  {program} eval --memories notes.jsonl --queries questions.jsonl

exit codes: 0 done; 1 the answer is no (gate; eval --at-least); 2 the input cannot be used"""

_COMMANDS = (ask, explain, load, stats, time, gate, evaluate)


def main(program: str, arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        program: How the user called it, for the help text.
        arguments: The words after it; None = those of the process.

    Returns:
        The exit code: 0 done, 1 the answer is no, 2 the input cannot be used.
    """
    given = _parser(program).parse_args(arguments)
    logging.basicConfig(level=logging.WARNING)
    logging.getLogger("recall_stages").setLevel(logging.DEBUG if given.verbose else logging.WARNING)
    try:
        return int(given.run(given))
    except (RecallError, OSError, ValueError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2


def recall(program: str = "recall") -> int:
    """The command `recall`, in a process of its own."""
    gc.disable()  # a process this short pays more for collecting garbage than it gets back
    return main(program)


def _parser(program: str) -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog=program,
        description=_ABOUT,
        epilog=_BEGIN.format(program=program),
        formatter_class=raw,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in _COMMANDS:
        about, example = module.ABOUT, module.EXAMPLE
        command = commands.add_parser(
            module.NAME,
            help=about.splitlines()[0],
            description=about,
            epilog="example:\n  " + example.format(program=f"{program} {module.NAME}"),
            formatter_class=raw,
        )
        module.add_arguments(command)
        command.add_argument("--json", action="store_true", help="print JSON instead of tables")
        command.add_argument("-v", "--verbose", action="store_true", help="log what is being done")
        command.set_defaults(run=module.run)
    return parser
