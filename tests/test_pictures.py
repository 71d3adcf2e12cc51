"""The picture of the README is what its script draws, and shows on light and dark pages."""

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree as ET

from rounding import nearly_same

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
PICTURE = (FOLDER / "how_it_works.svg").read_text(encoding="utf-8")


def test_the_picture_is_what_its_script_draws() -> None:
    drawn = runpy.run_path(str(FOLDER / "how_it_works.py"))["draw"]()

    assert nearly_same(drawn, PICTURE, off=3)  # pixels, and scores


def test_it_stands_by_itself_on_any_ground() -> None:
    tags = {each.tag.rpartition("}")[2] for each in ET.fromstring(PICTURE).iter()}

    assert tags == {"svg", "title", "style", "rect", "text", "line", "path"}
    assert "prefers-color-scheme:dark" in PICTURE
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|href|url\(", PICTURE)
