"""`recall load`: memories of a file into the collection beside it."""

from __future__ import annotations

import argparse

from recall_stages.cli.collection import add_file, check_kept, kept_in, opened_file
from recall_stages.cli.output import console, print_json, say

NAME = "load"
ABOUT = """\
load a file of memories into the collection beside it

The collection is kept beside the file, in FILE.recall. Lines that cannot be read are
left out, and three of them named on standard error (--json names all); where none can be read,
nothing is changed. What is loaded already is neither embedded nor written again, so a load
that was interrupted goes on where it was. In Python it is RecallStore("FILE.recall")."""
EXAMPLE = "{program} --memories notes.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_file(parser)


def run(given: argparse.Namespace) -> int:
    """Load, and say what became of the lines."""
    check_kept(given)
    with opened_file(given) as (_, loaded):
        if given.json:
            print_json(
                {
                    "collection": kept_in(given),
                    "memories": loaded.count,
                    "loaded_now": loaded.fresh,
                    "left_out": loaded.bad_lines,
                }
            )
        else:
            done = "loaded" if loaded.fresh else "were there already"
            say(console(), f"{loaded.count} memories {done} in {kept_in(given)}")
    return 0
