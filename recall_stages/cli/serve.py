"""Serve memories over HTTP, and by the Model Context Protocol at /mcp.

POST /retrieve_personal_memory and /retrieve_task_memory answer questions; /memories adds, lists,
changes and deletes; /openapi.json describes it all. Without tokens it listens on this machine
alone. The tokens are in a file (--tokens), or in the environment (RECALL_TOKENS, with ; between
them), each with the scope to which its client is bound.
"""

from __future__ import annotations

import argparse

from recall_stages.cli.served import add_served, add_server, run_server

EXAMPLE = "{program} ./memories --tokens tokens.txt"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_served(parser)
    add_server(parser, 8002, "the port; 0 = any that is free (8002)")
    parser.set_defaults(only_mcp=False, read_only=False)


run = run_server
