"""The pictures of the documentation are what their scripts draw, on light and dark pages."""

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rounding import nearly_same

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
NAMES = ["how_it_works", "two_times", "last_tuesday"]
PICTURE, TIMES, FIRST = ((FOLDER / f"{x}.svg").read_text(encoding="utf-8") for x in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_picture_is_what_its_script_draws(name: str) -> None:
    drawn = runpy.run_path(str(FOLDER / f"{name}.py"))["draw"]()

    committed = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert nearly_same(drawn, committed, off=3)  # pixels, and scores


def test_last_tuesday_can_be_checked_by_the_reader() -> None:
    assert "2024-03-08 (Friday)" in PICTURE
    assert "recorded on 2024-03-05 (Tuesday)" in PICTURE


@pytest.mark.parametrize("picture", [PICTURE, TIMES, FIRST], ids=NAMES)
def test_it_stands_by_itself_on_any_ground(picture: str) -> None:
    tags = {each.tag.rpartition("}")[2] for each in ET.fromstring(picture).iter()}

    assert tags <= {
        "svg",
        "title",
        "style",
        "rect",
        "text",
        "line",
        "path",
        "polyline",
        "circle",
        "g",
    }
    assert "prefers-color-scheme:dark" in picture
    # A dark system shows light text, also in a page that is light: the picture has its own ground.
    drawn = ET.fromstring(picture)
    ground = next(each.attrib for each in drawn.iter() if each.tag.endswith("rect"))
    _, _, width, height = drawn.attrib["viewBox"].split()
    assert ground.items() >= {"class": "ground", "width": width, "height": height}.items()
    assert picture.count(".ground{fill:#") == 2  # light, and dark
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|href|url\(", picture)
    assert 'fill="white"' not in picture
