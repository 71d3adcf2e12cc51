"""Where ``--json`` writes: looked at before a long run, not after it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def json_file(given: str) -> Path:
    """An argument's file, in a folder that is there.

    Raises:
        argparse.ArgumentTypeError: When the folder is missing.
    """
    file = Path(given)
    if not file.parent.is_dir():
        raise argparse.ArgumentTypeError(f"the folder {file.parent} is not there")
    return file


def write_json(file: Path | None, result: object) -> None:
    """Write a result, where a file was asked for."""
    if file is not None:
        text = json.dumps(result, indent=2, ensure_ascii=False)
        file.write_text(f"{text}\n", encoding="utf-8")
