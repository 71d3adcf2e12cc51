"""The commands that serve memories: `recall serve`, `recall mcp` and `recall look`."""

import argparse
import asyncio
import gc
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from recall_retrievers.cli.options import PLACE, add_scope
from recall_retrievers.core.errors import RecallError
from recall_retrievers.core.scope import Scope
from recall_retrievers.serve.greeting import Greeting

_FIRST_S = 1.0  # a client that is there has its answer before two seconds of imports begin


def add_serve(parser: argparse.ArgumentParser) -> None:
    """Add the options of `recall serve`."""
    _add_served(parser)
    _add_server(parser, 8002, "the port; 0 = any that is free (8002)")
    parser.set_defaults(only_mcp=False, read_only=False)


def add_mcp(parser: argparse.ArgumentParser) -> None:
    """Add the options of `recall mcp`."""
    _add_served(parser)
    parser.add_argument("--read-only", action="store_true", help="no tool that changes memories")
    _add_server(parser, None, "listen on HTTP, on this port; 0 = any that is free")
    parser.set_defaults(only_mcp=True)


def add_look(parser: argparse.ArgumentParser) -> None:
    """Add the options of `recall look`."""
    _add_served(parser, "FILE|FOLDER|URL", f"a file of memories, or {PLACE}")
    parser.add_argument("--port", type=int, default=0, help="the port (any that is free)")
    parser.add_argument("--no-browser", dest="browser", action="store_false", help="open none")
    parser.set_defaults(only_mcp=False, read_only=False, host="127.0.0.1")


def look(options: argparse.Namespace) -> int:
    """Look at memories and questions in a browser, on a timeline.

    It opens the page of `recall serve` for this machine alone, with a token of its own, until
    Ctrl-C. A file of JSON lines is loaded first, as `recall ask --memories` loads it, and what you
    change on the page is changed in FILE.recall, beside the file.
    """
    return _serve(options)


def serve(options: argparse.Namespace) -> int:
    """Serve memories over HTTP, and by the Model Context Protocol at /mcp.

    A browser shows them at /, with a timeline and every score explained.
    POST /retrieve_personal_memory and /retrieve_task_memory answer questions; /memories adds,
    lists, changes and deletes; /openapi.json describes it all. Without tokens it listens on this
    machine alone. The tokens are in a file (--tokens), or in the environment (RECALL_TOKENS, with ;
    between them), each with the scope to which its client is bound.
    """
    return _serve(options)


def mcp(options: argparse.Namespace) -> int:
    """Serve memories to an agent, by the Model Context Protocol.

    Claude Desktop, Cursor and others start it by themselves and speak with it on standard input and
    output. Several of them may use one folder at once: the first one holds it, and does what the
    others ask for. With --port it listens on HTTP instead, at /mcp. An agent sees only the memories
    of the scope: that of the options, of the environment (RECALL_USER_ID, RECALL_AGENT_ID,
    RECALL_SESSION_ID, RECALL_WORKSPACE), or of its token.
    """
    return _serve(options)


def _serve(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C, or until the client ends."""
    for name in ("mcp", "starlette", "uvicorn"):
        if find_spec(name) is None:
            needs = f"recall {options.command} needs {name}"
            raise RecallError(f"{needs}: pip install 'recall-retrievers[serve]'")
    greeting = Greeting()
    if options.port is None:
        greeting.start()
        greeting.join(_FIRST_S)
    from recall_retrievers.cli import serving  # noqa: PLC0415 - two seconds to import

    gc.enable()  # the other commands are too short for it
    asyncio.run(serving.serve(options, greeting))
    return 0


def _add_served(
    parser: argparse.ArgumentParser,
    metavar: str = "FOLDER|URL",
    about: str = f"{PLACE}; a new folder is made",
) -> None:
    parser.add_argument("store", metavar=metavar, help=about)
    parser.add_argument("--collection", default="memories", help="its name (memories)")
    add_scope(parser)
    for name in Scope.model_fields:
        parser.set_defaults(**{name: os.environ.get(f"RECALL_{name.upper()}")})
    parser.add_argument(
        "--require-scope",
        metavar="FIELD",
        type=lambda text: text.split(","),
        action="extend",
        default=[],
        help="a field that every request must name, such as user_id; repeatable",
    )
    parser.add_argument("--timezone", help="of questions that name none (the machine's)")


def _add_server(parser: argparse.ArgumentParser, port: int | None, port_help: str) -> None:
    parser.add_argument("--port", type=int, default=port, help=port_help)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
    parser.add_argument(
        "--allowed-host",
        metavar="NAME",
        dest="allowed_hosts",
        action="append",
        default=argparse.SUPPRESS,
        help="a name under which a proxy on this machine serves it; repeatable",
    )
    parser.add_argument(
        "--tokens",
        metavar="FILE",
        type=Path,
        help="one token a line, with the scope it is bound to: TOKEN user_id=ann; or TOKEN *",
    )
    numbers: tuple[tuple[str, Callable[[str], object], str], ...] = (
        ("--rate", _rate, "requests a second of one client, or none (100)"),
        ("--most-bytes", int, "bytes of one request (4000000)"),
        ("--most-connections", int, "clients that are connected at once (500)"),
        ("--request-timeout-s", float, "seconds in which a request must arrive (20)"),
    )
    for name, read, about in numbers:
        parser.add_argument(name, type=read, default=argparse.SUPPRESS, help=about)


def _rate(text: str) -> float | None:
    return None if text == "none" else float(text)
