"""``python -m langchain_recall``: the command `recall`, by another name."""

import sys

from recall_retrievers.cli import recall

if __name__ == "__main__":
    sys.exit(recall("python -m langchain_recall"))
