"""The command line: `recall ask`, `load`, `export`, `stats`, `repair`, `explain`, `gate` ..."""

from recall_stages.cli.program import main, recall

__all__ = ["main", "recall"]
