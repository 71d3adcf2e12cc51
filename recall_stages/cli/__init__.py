"""The command line: `recall ask`, `load`, `stats`, `explain`, `gate`, `time` and `eval`."""

from recall_stages.cli.program import main, recall

__all__ = ["main", "recall"]
