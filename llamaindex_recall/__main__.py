"""``python -m llamaindex_recall ask --memories FILE.jsonl "..."``."""

import gc
import sys

from recall_stages.cli import main

if __name__ == "__main__":
    gc.disable()  # a process this short pays more for collecting garbage than it gets back
    sys.exit(main("python -m llamaindex_recall"))
