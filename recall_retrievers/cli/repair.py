"""Repair a Chroma path whose index is damaged.

A process that was killed while Chroma saved an index can leave it torn. The texts are intact: the
index is built again from the vectors that are left, and from the texts where there are none. Close
the path everywhere first. A repair that is interrupted has lost nothing: run it again.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from recall_retrievers.cli.output import print_json, say
from recall_retrievers.core.errors import EmbeddingMismatchError
from recall_retrievers.store import RecallStore
from recall_retrievers.store.embedding.embedder import MULTILINGUAL
from recall_retrievers.store.embedding.multilingual import Multilingual

EXAMPLE = "{program} notes.jsonl.recall"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("path", metavar="PATH", help="a folder of Chroma, such as FILE.recall")


def run(options: argparse.Namespace) -> int:
    """Repair, and say what was done to each collection."""
    try:
        repaired = RecallStore.repair(options.path, progress=True)
    except EmbeddingMismatchError as error:  # its texts must be embedded by another model
        if error.made_by != Multilingual.model_name:
            raise
        repaired = RecallStore.repair(options.path, embedding=MULTILINGUAL, progress=True)
    if options.json:
        print_json([asdict(each) for each in repaired])
        return 0
    for each in repaired:
        say(str(each))
    if not repaired:
        say(f"{options.path} holds no collection")
    return 0
