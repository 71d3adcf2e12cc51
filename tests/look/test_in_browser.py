"""The page of `recall serve` in a real browser: what a reader sees, moves and changes."""

import sys
from collections.abc import Iterator
from datetime import date, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from conftest import WordsEmbedding
from look.browsing import ask, launched, sent, shown
from serve.kit import ALL, ANN, TOKENS
from stages.hostile import HOSTILE

from recall_retrievers.evaluation.questions import read_questions
from recall_retrievers.explain.explanation import explain
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.stages.fuse_rerank import FuseRerank
from recall_retrievers.store import RecallStore

FOCUSED = "document.activeElement"
ENDS = "bars => bars.map(bar => 100 * bar.getBBox().width / bar.viewBox.baseVal.width)"
QUESTION = "What did the dentist say last Tuesday?"
MEMORIES = [
    {"id": "tooth", "content": "The dentist filled a tooth.", "created_at": "2024-03-05T10:00Z"},
    {"id": "moved", "content": "The dentist moved to Elm St.", "created_at": "2024-02-27T10:00Z"},
    {"id": "plan", "content": "On 20 March the dentist is off.", "created_at": "2024-03-01T10:00Z"},
    {"id": "tea", "content": "Tea at four.", "created_at": "2024-03-02T16:00Z"},
    {"id": "cake", "content": "The baker said there is cake.", "created_at": "2024-03-03T16:00Z"},
    {"id": "bus", "content": "The bus did not come.", "created_at": "2024-03-04T08:00Z"},
    {"id": "old", "content": "The dentist is dear.", "created_at": "2024-01-10T10:00Z"},
]  # fmt: skip
MARKUP = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    '"><svg/onload=alert(1)>',
    "<a href=javascript:alert(1)>dentist</a>",
    "<style>*{display:none}</style>",
    "{{7*7}} ${7*7} &lt;b&gt;",
    "\u202edentist",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as started:
        yield started


@pytest.fixture
def store() -> Iterator[RecallStore]:
    with RecallStore(embedding=WordsEmbedding()) as opened:
        opened.add([{"user_id": "ann", **each} for each in MEMORIES])
        yield opened


@pytest.fixture
def page(browser: Any, store: RecallStore) -> Iterator[Any]:
    with shown(browser, store) as opened:
        yield opened


def cards(page: Any) -> list[str]:
    return page.locator(".card .text").all_text_contents()


def test_a_question_is_explained_by_the_numbers_of_explain(page: Any, store: RecallStore) -> None:
    retriever = MemoryRetriever(store=store, timestamp="2024-03-08T12:00Z", timezone="UTC")
    recall = retriever.recall_without_model(QUESTION)
    printed = explain(recall.memories).to_text(200)

    assert len(cards(page)) == len(MEMORIES)  # before a question: all of them
    ask(page, QUESTION)
    assert cards(page) == [memory.content for memory in recall.memories]
    steps = page.locator(".why li").all_text_contents()
    assert len(steps) > 10
    assert [step for step in steps if step not in printed] == []
    assert page.locator(".why b").first.text_content() == f"{recall.memories[0].score:.3f}"
    parts = page.locator(".bar").evaluate_all(ENDS)
    scores = [100 * (memory.score or 0) for memory in recall.memories]
    assert parts == pytest.approx(scores, abs=0.5)  # percent of the best, whose score is 1
    page.get_by_text("Left out: 2 cut at k").click()
    assert "cut at k" in page.locator(".left-out li").first.inner_text()
    assert page.locator(".timeline .result").count() == 5
    assert page.locator(".timeline .tells").count() == 1  # from 1 March to the 20th
    assert page.locator(".timeline .in-time").count() == 1

    assert "last Tuesday is 2024-03-05 (Tuesday)" in page.locator(".understood").inner_text()
    other = page.get_by_role("button", name="2024-02-27")
    assert sent(page, other.click)["since"].startswith("2024-02-27T00:00")
    page.get_by_text("The time you chose is 2024-02-27").wait_for()
    assert (cards(page)[0], len(cards(page))) == ("The dentist moved to Elm St.", 5)


def test_the_band_is_dragged_and_days_are_typed(page: Any) -> None:
    ask(page, QUESTION)

    def drag(part: Any, by: int) -> Any:
        box = part.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 5)
        page.mouse.down()
        asked = sent(page, lambda: page.mouse.move(box["x"] + by, box["y"] + 20))
        page.mouse.up()
        page.get_by_text(f"The time you chose is {asked['since']}").wait_for()
        return [date.fromisoformat(asked[name]) for name in ("since", "until")]

    since, until = drag(page.locator("[data-end=start] rect").last, -300)
    assert since < date(2024, 2, 27)
    assert until == date(2024, 3, 5)
    assert page.get_by_label("First day").input_value() == str(since)
    longer = drag(page.locator("[data-end=end] rect").last, 60)
    assert longer[0] == since
    assert longer[1] > until
    moved = drag(page.locator(".band"), 20)
    assert moved[0] - longer[0] == moved[1] - longer[1] < timedelta(0)

    sent(page, lambda: page.get_by_label("Last day").fill("2024-03-28"))
    asked = sent(page, lambda: page.get_by_label("First day").fill("2024-02-20"))
    assert (asked["since"], asked["until"]) == ("2024-02-20", "2024-03-28")
    page.get_by_text("The time you chose is 2024-02-20").wait_for()
    widths = [page.locator(".band").bounding_box()["width"]]
    for zoom in ("Zoom out", "Zoom in", "Zoom in"):
        page.get_by_role("button", name=zoom).click()
        widths.append(page.locator(".band").bounding_box()["width"])
    assert widths[1] < 0.7 * widths[0]
    assert widths[3] > 1.5 * widths[0]
    assert "since" not in sent(page, page.get_by_role("button", name="Clear").click)
    page.get_by_text("is 2024-03-05 (Tuesday)").wait_for()


def test_every_setting_moves_the_answer_and_is_copied_as_python(
    page: Any, store: RecallStore
) -> None:
    ask(page, QUESTION)
    sliders = {"(k)": "2", "of meaning": "0.25", "single words": "0.1", "of the time": "3.5"}
    for label, value in [("(k)", "4"), ("(k)", "5"), *sliders.items()]:
        sent(page, lambda: page.get_by_label(label).fill(value))  # noqa: B023 - called at once
        page.locator("pre").filter(has_not_text="k=5").wait_for()  # the default is not written
    assert len(cards(page)) == 2
    sent(page, lambda: page.get_by_label("Search by").select_option("words"))
    sent(page, lambda: page.get_by_label("The time asked for").select_option("is required"))
    page.get_by_role("status").filter(has_text="1 memory").wait_for()
    assert cards(page) == ["The dentist filled a tooth."]

    page.get_by_role("button", name="Copy as Python").click()
    names = {"RecallRetriever": MemoryRetriever, "FuseRerank": FuseRerank, "store": store}
    made = eval(page.evaluate("navigator.clipboard.readText()"), names)  # as a reader would
    assert (made.k, made.semantic_weight, made.token_weight) == (2, 0.25, 0.1)
    assert (made.method, made.time_mode) == ("keyword", "require")
    assert made.stages[-1].fuse_time_ratio == 3.5
    sent(page, page.get_by_role("button", name="Reset").click)
    page.get_by_text("RecallRetriever(store=store)", exact=True).wait_for()


def test_thumbs_are_questions_for_recall_eval(page: Any, tmp_path: Path) -> None:
    ask(page, QUESTION)
    thumbs = page.get_by_role("button", name="This answers the question")
    for number in (0, 1, 1):  # the second one is taken back
        thumbs.nth(number).click()
    assert thumbs.nth(1).evaluate(f"thumb => thumb === {FOCUSED}")
    page.get_by_text("Left out").click()
    thumbs.last.click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save questions.jsonl").click()
    saved.value.save_as(tmp_path / "questions.jsonl")

    [question] = read_questions(tmp_path / "questions.jsonl")
    assert (question.question, len(question.relevant)) == (QUESTION, 2)
    assert question.relevant > {"tooth"}
    assert str(question.timestamp).startswith("2024-03-08")


def test_changes_are_sent_after_ten_seconds_unless_they_are_undone(
    page: Any, store: RecallStore
) -> None:
    page.clock.install()
    page.reload()

    def press(text: str, name: str, label: str = "", value: str = "") -> None:
        card = page.locator(".card").filter(has_text=text)
        card.get_by_role("button", name=name).click()
        if label:
            page.get_by_label(label).fill(value)
            page.get_by_role("button", name="Save").click()

    press("Tea", "Delete")
    page.clock.run_for(9_000)
    page.get_by_role("button", name="Undo").click()
    page.clock.run_for(60_000)
    assert store.get(["tea"])
    press("Tea", "Delete")
    press("cake", "Edit", "The text", "There is no cake.")
    press("bus", "Supersede", "What is true now", "The bus came.")
    press("dear", "Expire", "Forget it on", "2024-02-01")
    texts = {memory.content for memory in store.memories()}
    assert texts == {each["content"] for each in MEMORIES}
    page.clock.run_for(10_100)
    for text in ("The bus came.", "There is no cake."):
        page.locator(".card").filter(has_text=text).wait_for()
    for text in ("Tea", "dear"):
        page.locator(".card").filter(has_text=text).wait_for(state="detached")

    left = {memory.content for memory in store.memories()}
    assert left - texts == {"There is no cake.", "The bus came."}
    assert len(texts - left) == 4


def test_a_token_shows_its_own_memories_and_is_kept_nowhere(
    browser: Any, store: RecallStore
) -> None:
    store.add([{"content": "The dentist of Bob.", "user_id": "bob"}])
    with shown(browser, store, tokens=TOKENS) as page:
        for token in ("wrong", ANN):
            page.get_by_label("oken").fill(token)
            page.get_by_role("button", name="Open").click()
        page.locator(".card").first.wait_for()
        assert len(cards(page)) == len(MEMORIES)
        ask(page, "dentist")
        assert "Bob" not in page.locator("main").inner_text()
        page.get_by_label("Memories of the user").fill("bob")
        page.keyboard.press("Enter")
        page.get_by_text("cannot be changed to 'bob'").wait_for()
        kept = page.evaluate("[document.cookie, localStorage.length, sessionStorage.length]")
        assert kept == ["", 0, 0]
    with shown(browser, store, ALL, tokens=TOKENS) as page:  # as `recall look` opens it
        page.locator(".card").filter(has_text="Bob").wait_for()
        assert "#" not in page.url


def test_hostile_memories_are_text_and_nothing_of_them_runs(browser: Any) -> None:
    sly = [{"content": each.content.replace("\ud800", "?")} for each in HOSTILE.values()]
    sly += [{"content": f"{x} dentist", "author": x, "memory_type": x, "id": x} for x in MARKUP]
    assert len(sly) > 40
    with RecallStore(embedding=WordsEmbedding()) as store:
        store.add(sly)
        with shown(browser, store) as page:
            page.get_by_label("Memories (k)").fill("50")
            ask(page, f"dentist {MARKUP[0]}")
            page.get_by_role("button", name="This answers the question").first.click()
            page.get_by_role("button", name="Edit").first.click()
            page.get_by_role("button", name="Delete").last.click()
            page.get_by_text("Left out").click()
            texts = page.locator(".text").all_text_contents()
            every = "[...document.querySelectorAll('main *')]"
            tags = page.evaluate(f"{every}.map(each => each.localName)")
            names = page.evaluate(f"{every}.flatMap(each => each.getAttributeNames())")

    assert {f"{x} dentist" for x in MARKUP} <= {*texts}
    assert {*tags}.isdisjoint({"script", "img", "iframe", "style", "a", "object", "embed"})
    assert [each for each in names if each in ("href", "src", "style") or each[:2] == "on"] == []


def test_ten_thousand_memories_are_drawn_and_asked(browser: Any) -> None:
    began = 1_600_000_000
    many = [{"content": f"Dentist, {n}.", "created_at": began + 9_000 * n} for n in range(10_000)]
    with RecallStore(embedding=WordsEmbedding(16)) as store:
        store.add(many)
        with shown(browser, store) as page:
            page.locator(".timeline .known").first.wait_for(state="attached")
            first = page.evaluate("performance.now()")
            page.get_by_role("img", name="10,000").wait_for()
            assert page.locator(".timeline *").count() < 3_000  # piles, not a shape for each
            page.get_by_role("button", name="Show more").click()
            page.locator(".card").nth(39).wait_for()
            page.get_by_label("Question", exact=True).fill("What of the dentist, 77?")
            took = page.evaluate(
                """async () => {
                  const began = performance.now();
                  document.querySelector("form").requestSubmit();
                  while (!document.querySelector(".why")) await new Promise(requestAnimationFrame);
                  return performance.now() - began;
                }"""
            )
            assert page.locator(".timeline .result").count() == 5
    # Shown by -rP. There is no limit: what else runs on the machine would decide about it.
    sys.stdout.write(f"first picture after {first:.0f} ms, a question {took:.0f} ms\n")


def test_the_keyboard_alone_is_enough(page: Any) -> None:
    page.keyboard.press("Tab")
    page.keyboard.type(QUESTION)
    sent(page, lambda: page.keyboard.press("Enter"))
    page.locator(".why").first.wait_for()
    seen: dict[str, str] = {}
    while "Delete" not in seen:
        assert len(seen) < 40
        page.keyboard.press("Tab")
        name = page.evaluate(f"(e => e.ariaLabel || e.title || e.innerText)({FOCUSED})")
        seen[name] = page.evaluate(f"getComputedStyle({FOCUSED}).outlineStyle")
    page.keyboard.press("Enter")
    assert page.evaluate(f"{FOCUSED}.innerText") == "Undo"
    page.keyboard.press("Enter")
    page.locator(".undo li").wait_for(state="detached")

    wanted = ["Ask", "First day", "Last day", "Zoom in", "This answers the question", "Edit"]
    assert [each for each in seen if each in wanted] == wanted
    assert [name for name, outline in seen.items() if outline == "none"] == []


@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_cut_off(
    browser: Any, store: RecallStore, width: int, scheme: str
) -> None:
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    with shown(browser, store, width=width, color_scheme=scheme) as page:
        page.evaluate(axe)
        for state in ("listed", "asked", "everything open"):
            if state == "asked":
                ask(page, QUESTION)
            if state == "everything open":
                page.get_by_text("Left out").click()
                page.get_by_role("button", name="This answers the question").first.click()
                page.get_by_role("button", name="Edit").first.click()
                page.locator("aside summary").click()
            found = page.evaluate("axe.run()")["violations"]
            assert [(each["id"], each["nodes"][0]["html"]) for each in found] == [], state
            assert page.evaluate("document.documentElement.scrollWidth") <= width
