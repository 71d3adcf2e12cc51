"""`recall load`: load a file of memories into the collection beside it."""

from __future__ import annotations

import argparse

from recall_stages.cli.collection import add_file, check_is_file, folder_of, opened_file
from recall_stages.cli.output import report

NAME = "load"
ABOUT = """\
load a file of memories into the collection beside it

The collection is kept beside the file, in FILE.recall. Lines that cannot be read are
left out, and three of them named on standard error (--json names all); where none can be read,
nothing is changed. What is loaded already is neither embedded nor written again, so a load
that was interrupted goes on where it was. In Python it is RecallStore("FILE.recall")."""
EXAMPLE = "{program} --memories notes.jsonl"


add_arguments = add_file


def run(options: argparse.Namespace) -> int:
    """Load the file, and print what was loaded."""
    check_is_file(options)
    with opened_file(options, searched=False) as (_, loaded):
        result = {
            "collection": folder_of(options),
            "memories": loaded.count,
            "loaded_now": loaded.fresh,
            "left_out": loaded.bad_lines,
        }
        done = "loaded" if loaded.fresh else "were there already"
        report(options, result, f"{loaded.count} memories {done} in {folder_of(options)}")
    return 0
