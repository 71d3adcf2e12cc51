"""Load a file of memories into the collection next to it.

The collection is in FILE.recall, next to the file. Lines that cannot be read are left out, and
three of them are named on standard error (--json names all). If no line can be read, nothing is
changed. Memories that are stored already are neither embedded nor written again. So if a load is
interrupted, the same command goes on where it ended. In Python, RecallStore("FILE.recall") opens
the collection.
"""

from __future__ import annotations

import argparse

from recall_retrievers.cli.collection import STDIN, add_file, opened
from recall_retrievers.cli.output import report

EXAMPLE = "{program} --memories notes.jsonl"


add_arguments = add_file


def run(options: argparse.Namespace) -> int:
    """Load the file, and print what was loaded."""
    if options.memories == STDIN:
        raise ValueError(
            "load keeps a collection beside a file, and there is none of standard input; name a "
            "file, or ask with --memories -"
        )
    with opened(options, searched=False) as collection:
        count = collection.store.count()
    result = {
        "collection": collection.name,
        "memories": count,
        "loaded_now": collection.fresh,
        "left_out": collection.bad_lines,
    }
    done = "loaded" if collection.fresh else "were there already"
    report(options, result, f"{count} memories {done} in {collection.name}")
    return 0
