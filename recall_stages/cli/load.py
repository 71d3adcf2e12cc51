"""`recall load`: load a file of memories into the collection next to it."""

from __future__ import annotations

import argparse

from recall_stages.cli.collection import add_file, check_is_file, folder_of, opened_file
from recall_stages.cli.output import report

NAME = "load"
ABOUT = """\
load a file of memories into the collection next to it

The collection is in FILE.recall, next to the file. Lines that cannot be read are left out, and
three of them are named on standard error (--json names all). If no line can be read, nothing is
changed. Memories that are stored already are neither embedded nor written again. So if a load is
interrupted, the same command goes on where it ended. In Python, RecallStore("FILE.recall") opens
the collection."""
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
