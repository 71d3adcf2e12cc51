"""What every command needs of a terminal, and nothing that takes time to load."""

import sys
from typing import TextIO

from recall_retrievers.text.words import printable


def complain(text: str) -> None:
    """Write a line to standard error, in the same way."""
    print(printable(text), file=sys.stderr)


def writes_all(stream: TextIO) -> bool:
    """Whether every letter can be written to a stream."""
    return (stream.encoding or "utf-8").lower().startswith("utf")
