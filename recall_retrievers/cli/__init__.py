"""The command line: `recall ask`, `load`, `export`, `stats`, `mcp`, `serve`, and some more."""

from recall_retrievers.cli.program import main, recall

__all__ = ["main", "recall"]
