"""Serve memories to an agent, by the Model Context Protocol.

Claude Desktop, Cursor and others start it by themselves and speak with it on standard input and
output. Several of them may use one folder at once: the first one holds it, and does what the others
ask for. With --port it listens on HTTP instead, at /mcp. An agent sees only the memories of the
scope: that of the options, of the environment (RECALL_USER_ID, RECALL_AGENT_ID, RECALL_SESSION_ID,
RECALL_WORKSPACE), or of its token.
"""

from __future__ import annotations

import argparse
from contextlib import AsyncExitStack

from recall_stages.cli.collection import scope_of
from recall_stages.cli.served import (
    add_served,
    add_server,
    check_installed,
    run_server,
    serve_http,
    service_of,
    stop_on_signals,
)

EXAMPLE = "{program} ./memories --user-id ann"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_served(parser)
    parser.add_argument("--read-only", action="store_true", help="no tool that changes memories")
    add_server(parser, None, "listen on HTTP, on this port; 0 = any that is free")


def run(options: argparse.Namespace) -> int:
    """Serve until the client ends, or until Ctrl-C."""
    check_installed("mcp")
    if options.port is None:
        return run_server(_on_stdio(options))
    return run_server(serve_http(options, only_mcp=True, read_only=options.read_only))


async def _on_stdio(options: argparse.Namespace) -> None:
    from mcp.server.stdio import stdio_server  # noqa: PLC0415 - half a second to import

    from recall_stages.serve.mcp_server import McpTools  # noqa: PLC0415 - as above

    async with AsyncExitStack() as opened:
        service = await service_of(options, opened)
        stop_on_signals(opened.aclose)
        tools = McpTools(service, scope_of(options), read_only=options.read_only)
        server = tools.server()
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
