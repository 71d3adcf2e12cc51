"""The command line: `recall ask`, `load`, `stats`, `repair`, `explain`, `gate`, `time`, `eval`."""

from recall_stages.cli.program import main, recall

__all__ = ["main", "recall"]
