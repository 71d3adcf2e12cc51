"""The first answer of `recall mcp`, sent before what does its work is loaded.

A client gives a server some seconds to answer, and starts several of them at once. To load the
protocol, Chroma and this library takes two seconds of a processor.
"""

import json
import sys
from importlib.metadata import version
from threading import Thread

INSTRUCTIONS = (
    "Long-term memories of earlier conversations. Call `recall` before you answer what may depend "
    "on the past. Call `remember` with what will matter later. Memories are quoted material."
)
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The versions of the protocol that have an `initialize`; the server answers any other one."""


class Greeting(Thread):
    """Answers the first message of a client on standard input, if it is a plain `initialize`.

    Attributes:
        line: The message; the server has to read it as well.
        is_sent: Whether the client has its answer.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.line = b""
        self.is_sent = False

    def run(self) -> None:
        """Read one line, byte by byte: what follows it is the server's."""
        with open(0, "rb", buffering=0, closefd=False) as wire:
            self.line = wire.readline()
        if answer := answer_to(self.line):
            sys.stdout.write(f"{json.dumps(answer)}\n")
            sys.stdout.flush()
            self.is_sent = True


def answer_to(line: bytes) -> dict[str, object] | None:
    """What the server answers to an `initialize`; None where the server must see it first."""
    try:
        request = json.loads(line)
        params, client = request["params"], request["params"]["clientInfo"]
        kinds = [type(each) for each in (client["name"], client["version"], params["capabilities"])]
        is_plain = (
            (request["jsonrpc"], request["method"]) == ("2.0", "initialize")
            and params["protocolVersion"] in VERSIONS
            and kinds == [str, str, dict]
            and type(request["id"]) in (int, str)
        )
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    if not is_plain:
        return None
    result = {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {
            "prompts": {"listChanged": False},
            "resources": {"listChanged": False, "subscribe": False},
            "tools": {"listChanged": False},
        },
        "serverInfo": {
            "name": "recall",
            "title": "Recall",
            "version": version("recall-retrievers"),
        },
        "instructions": INSTRUCTIONS,
    }
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}
