"""What a reader is told, as text, as HTML and as a picture: no text of a memory is obeyed."""

import re
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console
from tables import table

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.query import OUTCOME
from recall_retrievers.core.stage import stamped, stamped_ranges
from recall_retrievers.explain.explanation import Explanation, explain
from recall_retrievers.timeline import TimeRange, extract_time, parse_time

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)  # a Friday
LAST_TUESDAY = (
    '"last Tuesday" is understood as 2024-03-05 (Tuesday); also possible: 2024-02-27 (Tuesday)'
)


def understood(ranges: list[TimeRange]) -> str:
    return explain(stamped([Candidate(content="Tea.")], ranges)).understood()


@table(
    ("question", "said"),
    [
        ("tea last Tuesday", LAST_TUESDAY),
        ("tea yesterday", '"yesterday" is understood as 2024-03-07 (Thursday)'),
        ("tea lately", '"lately" is understood as recently: newer memories first'),
        ("tea on Mondays", '"on Mondays" is understood as every Monday'),
        ("tea ages ago", '"ages ago" is understood as long ago: before 2023-03-08 12:00'),
        ("tea", ""),
    ],
)
def test_what_was_understood_is_told_with_what_else_it_may_mean(question: str, said: str) -> None:
    assert understood(extract_time(question, NOW)) == said


def test_each_time_has_a_line_and_one_whose_words_are_not_known_as_well() -> None:
    spring = TimeRange(datetime(2020, 3, 22, tzinfo=UTC), datetime(2020, 5, 5, tzinfo=UTC), "day")

    assert understood(extract_time("tea in January and on Mondays", NOW)).count("\n") == 1
    assert understood([spring]) == "the time asked about is understood as 2020-03-22 to 2020-05-04"


@table(
    ("degraded", "said"),
    [
        ("ExtractTime: ReplyError: expected a start", "No time was understood"),
        ("BuildQuery: TimeoutError; ExtractTime: TimeoutError", "No time was understood"),
        ("SemanticRank: TimeoutError", ""),
        ("", ""),
    ],
)
def test_where_a_model_failed_nothing_was_understood(degraded: str, said: str) -> None:
    notes = {"degraded": degraded} if degraded else {}

    shown = explain([Candidate(content="Tea.", steps=(Step("outcome", notes=notes),))])

    assert shown.understood().startswith(said)
    assert bool(shown.understood()) == bool(said)
    assert ("No time was understood" in str(shown)) == bool(said)


def test_brackets_in_the_name_of_a_stage_are_shown_as_they_are() -> None:
    left_out = Step(OUTCOME, about="3 left out by [bold]Mine[/x]")

    assert "3 left out by [bold]Mine[/x]" in str(
        explain([Candidate(content="Tea.", steps=(left_out,))])
    )


def test_a_stamp_can_be_read_by_a_person_and_stays_until_another_question() -> None:
    texts = ("last Tuesday", "on Mondays", "recently")
    ranges = tuple(each for text in texts for each in extract_time(text, NOW))
    tea = Candidate(content="Tea.")

    [stamped_once] = stamped(stamped([tea], extract_time("yesterday", NOW)), ranges)

    tuesday = "2024-03-05T00:00:00+00:00/2024-03-06T00:00:00+00:00"
    written, words, others = stamped_once.trace.values()
    assert str(written).startswith(f"{tuesday} | ../.. every Monday | ~")
    assert words == "last Tuesday | on Mondays | recently"
    assert others == "2024-02-27T00:00:00+00:00/2024-02-28T00:00:00+00:00 |  | "
    assert stamped_ranges([tea, stamped_once]) == ranges
    assert stamped([stamped_once], []) == (tea,)


NASTY = '</td><script>alert("1")</script> & <img src=x onerror=alert(1)> costs $5 or $x_1$ 上周二'


class Seen(HTMLParser):
    """The tags and the text of a page, and whether every tag that was opened is closed in turn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data if "style" not in self.open else ""


def explained(question: str = "tea last Tuesday", **fields: object) -> Explanation:
    march, february = (parse_time(f"2024-{month}-05T10:00Z") for month in ("03", "02"))
    today = tuple(extract_time("today", NOW))
    memories = [
        Candidate(content="Tea.", created_at=march, memory_type="conversation"),
        Candidate(content="Cake.", created_at=february, events=today),
        Candidate(content="No date."),
    ]
    steps = (
        Step("Retrieve", "add", 0.5, 0.5, "by_meaning", "by meaning", {"similarity": 0.4}),
        Step("FuseRerank", "times", 0.5, 0.25, "type_ratio", "conversation"),
        Step("FuseRerank", "times", 2.0, 0.5, "time_ratio", "recorded in time"),
    )
    scored = [each.after(0.5, *steps) for each in memories]
    last = Candidate(**{"content": "No score.", **fields})
    return explain(stamped([*scored, last], extract_time(question, NOW)))


def test_the_page_says_what_the_table_says() -> None:
    explanation = explained()
    seen = Seen(explanation._repr_html_())

    steps = ("0.500", "x 0.5 conversation = 0.250", "x 2 recorded in time = 0.500")
    for said in (*steps, "Tea.", "2024-03-05"):
        assert said in seen.text
        assert said in str(explanation)
    assert explanation.understood() in seen.text
    assert "tells of 2024-03-08 (Friday)" in seen.text
    assert seen.tags.count("tr") == 5


def test_a_notebook_that_is_opened_and_not_run_looks_right() -> None:
    page = explained().to_html()

    assert not {"http", "url(", "<style"} & {*re.findall(r"http|url\(|<style", page)}
    assert "color:inherit" in page  # that of the notebook, light or dark
    cells = re.findall(r"<t[hd] style=\"([^\"]*)\"", page)
    assert len(cells) == page.count("<th") - page.count("<thead") + page.count("<td")
    assert all("text-align:left" in style for style in cells)
    bars = re.findall(r"<i style=\"([^\"]*)\"", page)
    assert ["gradient" in style for style in bars[:3]] == [False, True, False]  # a loss
    for style in bars:
        assert re.search(r"display:block;height:6px;margin-left:[\d.]+%;width:[\d.]+%", style)
        # The border stays where JupyterLab takes the hatching out.
        assert ("border:1px solid" in style) == ("gradient" in style)


def test_a_long_memory_is_all_there_to_unfold() -> None:
    seen = Seen(explain([Candidate(content="tea and cake " * 40)]).to_html())

    assert {"details", "summary"} <= set(seen.tags)
    assert seen.text.replace("…", "").count("tea and cake") == 40


def test_rich_prints_it_too_and_nothing_found_is_said_everywhere() -> None:
    console = Console(record=True, width=100, color_system=None)
    console.print(explained())
    nothing = explain([])

    assert console.export_text().strip() == str(explained())
    assert str(nothing) == "No memories to explain."
    assert "No memories to explain." in Seen(nothing.to_html()).text
    assert "No memories to explain." in nothing.to_svg()


def drawn(explanation: Explanation, tag: str) -> list[ET.Element]:
    return [each for each in ET.fromstring(explanation.to_svg()).iter() if each.tag.endswith(tag)]


def words(explanation: Explanation) -> str:
    return "\n".join(each.text or "" for each in drawn(explanation, "text"))


def shaded(explanation: Explanation) -> list[tuple[float, float]]:
    """The bands from top to bottom that mark the time asked for: left edge and width."""
    bands = [each.attrib for each in drawn(explanation, "rect") if each.get("y") == "36.0"]
    return [(float(each["x"]), float(each["width"])) for each in bands]


def test_the_time_asked_for_is_shaded_with_what_else_it_may_mean() -> None:
    asked = explained()

    assert '"last Tuesday" is understood as 2024-03-05' in words(asked)
    assert {"1. Tea.", "no date", "time asked for", "also possible", "time it tells of"} <= {
        *words(asked).splitlines()
    }
    (other, width), (tuesday, same) = shaded(asked)  # 27 February, and a week later 5 March
    assert tuesday - other == pytest.approx(7 * width, abs=0.5)
    assert same == width
    tea, cake, *_ = drawn(asked, "circle")
    assert tuesday < float(tea.attrib["cx"]) < tuesday + width
    assert (tea.get("fill"), cake.get("class")) == (tea.get("stroke"), "ground")  # filled, hollow
    [told] = [each.attrib for each in drawn(asked, "line") if each.get("stroke") == "#009E73"]
    assert told["x1"] == cake.get("cx")  # from when it was recorded to when it tells of


def test_mondays_are_shaded_one_by_one_and_the_mornings_of_a_year_all() -> None:
    spans = shaded(explained("tea on Mondays"))
    asked = explained("tea in the mornings", created_at=parse_time("2023-03-05T10:00Z"))

    steps = [after - before for (before, _), (after, _) in pairwise(spans)]
    assert len(spans) == 5
    assert steps == pytest.approx([7 * spans[0][1]] * 4, abs=0.5)
    assert len(shaded(asked)) >= 365


@table(
    ("days", "labels"),
    [
        (0.5, ["7 Mar, 12:00", "18:00", "8 Mar"]),
        (5, ["4 Mar 2024", "5 Mar"]),
        (30, ["12 Feb 2024", "19 Feb"]),
        (150, ["Nov 2023", "Dec", "Jan 2024"]),
        (2000, ["2019", "2020"]),
        (90_000, ["1800", "1850"]),
    ],
)
def test_ticks_stand_where_a_calendar_begins_anew(days: float, labels: list[str]) -> None:
    moments = [NOW, NOW - timedelta(days=days)]

    shown = words(explain([Candidate(content="Tea.", created_at=each) for each in moments]))

    ticks = shown.splitlines()[1:-3]
    assert ticks[: len(labels)] == labels
    assert 3 <= len(ticks) <= 9


@pytest.mark.parametrize("said", ["lately", "since 2020", "before 1800", "", "ages ago"])
def test_any_range_can_be_drawn(said: str) -> None:
    assert "1. Tea." in words(explained(f"tea {said}"))


def test_a_notebook_has_the_picture_as_an_image_and_a_reader_its_words() -> None:
    page = explained().to_html()

    [image] = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    inside = ET.fromstring(b64decode(image).decode())
    shown = {each.text for each in inside.iter() if each.tag.endswith("text")}
    assert shown == {*words(explained()).splitlines()} - {
        LAST_TUESDAY
    }  # which the page says itself
    assert 'alt="The times of 4 memories. &quot;last Tuesday&quot; is understood as' in page
    assert "<img" not in explain([Candidate(content="No date.")]).to_html()


def test_text_is_drawn_as_it_is() -> None:
    assert NASTY[:20] in words(explain([Candidate(content=NASTY).scored(0.5)]))
