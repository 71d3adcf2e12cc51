"""Check all files of a Chroma path.

It reads Chroma's index and its database, and the row index of this library, and changes nothing.
Close the path everywhere first. The exit code is 0 if all is whole, and 1 if something is damaged.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from recall_retrievers.cli.output import print_json, say
from recall_retrievers.store import RecallStore

EXAMPLE = "{program} notes.jsonl.recall"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("path", metavar="PATH", help="a folder of Chroma, such as FILE.recall")


def run(options: argparse.Namespace) -> int:
    """Check, and say what was found in each collection."""
    found = RecallStore.check(options.path)
    if options.json:
        print_json([asdict(each) for each in found])
    else:
        for each in found:
            say(str(each))
        if not found:
            say(f"{options.path} holds no collection")
    return 0 if all(each.whole for each in found) else 1
