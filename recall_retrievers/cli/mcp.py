"""Serve memories to an agent, by the Model Context Protocol.

Claude Desktop, Cursor and others start it by themselves and speak with it on standard input and
output. Several of them may use one folder at once: the first one holds it, and does what the others
ask for. With --port it listens on HTTP instead, at /mcp. An agent sees only the memories of the
scope: that of the options, of the environment (RECALL_USER_ID, RECALL_AGENT_ID, RECALL_SESSION_ID,
RECALL_WORKSPACE), or of its token.
"""

from __future__ import annotations

import argparse

from recall_retrievers.cli.serve import add_served, add_server, run

__all__ = ["EXAMPLE", "add_arguments", "run"]

EXAMPLE = "{program} ./memories --user-id ann"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_served(parser)
    parser.add_argument("--read-only", action="store_true", help="no tool that changes memories")
    add_server(parser, None, "listen on HTTP, on this port; 0 = any that is free")
    parser.set_defaults(only_mcp=True)
