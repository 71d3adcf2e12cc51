"""Copy a collection from a folder to a server, or to Chroma Cloud.

The vectors are copied as well, so nothing is embedded again. A copy that was interrupted goes on
where it ended: run it again. A collection in Chroma Cloud that an older version made has no words
to search for; its copy has. "cloud" is Chroma Cloud, with the environment variables CHROMA_TENANT,
CHROMA_DATABASE and CHROMA_API_KEY. In Python it is store.copy_to(other).
"""

from __future__ import annotations

import argparse

from recall_retrievers.cli.existing import PLACE, UNKNOWN, NoModel, open_existing, source_of
from recall_retrievers.cli.output import report
from recall_retrievers.core.errors import StoreError
from recall_retrievers.store import Fields, RecallStore

EXAMPLE = "{program} ./memories http://localhost:8000"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("source", metavar="FROM", help=PLACE)
    parser.add_argument("target", metavar="TO", help=f"{PLACE}; a new folder is made")
    parser.add_argument("--collection", default="memories", help="the one to copy (memories)")
    parser.add_argument("--as", dest="name", help="its name there (the same)")


def run(options: argparse.Namespace) -> int:
    """Copy the collection, and print how many memories it has."""
    name = options.name or options.collection
    if (options.source, options.collection) == (options.target, name):
        raise ValueError("this would copy a collection onto itself; name another one with --as")
    with open_existing(options.source, options.collection, Fields(), searched=False) as source:
        if source.embedding_model == UNKNOWN:
            raise StoreError(
                f"collection {options.collection!r} was not made by RecallStore. Copy it in "
                "Python, with the model that made its vectors: RecallStore(..., fields=..., "
                "embedding=...).copy_to(other)"
            )
        target, embedding = source_of(options.target, new=True), NoModel(source.embedding_model)
        with RecallStore(target, name, embedding=embedding, create=True) as copy:
            count = source.copy_to(copy, progress=True)
            there = copy.count()
    result = {"collection": name, "copied": count, "memories": there}
    report(options, result, f"{count} memories copied to {options.target}, collection {name}")
    return 0
