"""The pictures of the documentation are what their scripts draw, on light and dark pages."""

import re
import runpy
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rounding import nearly_same

from benchmarks.grown_page import read_opening
from benchmarks.opening_picture import draw as draw_opening

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
NAMES = ["how_it_works", "two_times", "last_tuesday", "latency", "opening"]
PICTURE, TIMES, FIRST, LATENCY, OPENING = (
    (FOLDER / f"{x}.svg").read_text(encoding="utf-8") for x in NAMES
)


def words_and_lines(picture: str) -> tuple[set[str | None], list[dict[str, str]]]:
    drawn = [*ET.fromstring(picture).iter()]
    texts = {each.text for each in drawn if each.tag.endswith("text")}
    return texts, [each.attrib for each in drawn if each.tag.endswith("polyline")]


@pytest.mark.parametrize("name", NAMES[:3])
def test_the_picture_is_what_its_script_draws(name: str) -> None:
    drawn = runpy.run_path(str(FOLDER / f"{name}.py"))["draw"]()

    committed = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert nearly_same(drawn, committed, off=3)  # pixels, and scores


def test_last_tuesday_can_be_checked_by_the_reader() -> None:
    assert "2024-03-08 (Friday)" in PICTURE
    assert "recorded on 2024-03-05 (Tuesday)" in PICTURE


@pytest.mark.parametrize("picture", [PICTURE, TIMES, FIRST, LATENCY, OPENING], ids=NAMES)
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


def test_the_picture_of_latency_names_its_axes_and_pairs_its_colours() -> None:
    words, lines = words_and_lines(LATENCY)

    assert {"processor milliseconds (median)", "memories in the collection"} <= words
    assert "one user of twenty" in words
    colours = Counter(line["stroke"] for line in lines)
    assert set(colours.values()) == {2}  # langchain-chroma and ours, on the same kind of question
    assert sum("stroke-dasharray" in line for line in lines) == len(colours)
    page = (FOLDER.parent / "measured.md").read_text(encoding="utf-8")
    assert "(pictures/latency.svg)" in page


def test_the_picture_of_opening_has_a_chart_for_time_memory_and_questions() -> None:
    words, lines = words_and_lines(OPENING)

    titles = {"seconds to the first answer", "MB beyond Chroma's own"}
    assert titles | {"ms for a question after that"} <= words
    assert sorted(Counter(line["stroke"] for line in lines).values()) == [2, 3, 3]
    assert sum("stroke-dasharray" not in line for line in lines) == 3  # ours
    page = FOLDER.parent / "how_it_grows.md"
    assert "(pictures/opening.svg)" in page.read_text(encoding="utf-8")
    assert draw_opening(read_opening(page)) == (FOLDER / "opening.svg").read_text(encoding="utf-8")
