"""``python -m llamaindex_recall ask --memories FILE.jsonl "..."``."""

import sys

from recall_stages.cli import main

if __name__ == "__main__":
    sys.exit(main("python -m llamaindex_recall"))
