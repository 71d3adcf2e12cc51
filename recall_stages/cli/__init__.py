"""The command line: `recall ask`, `load`, `export`, `stats`, `mcp`, `serve`, and some more."""

from recall_stages.cli.program import main, recall

__all__ = ["main", "recall"]
