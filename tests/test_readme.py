"""What the README shows is run, and what it claims holds."""

import email
import json
import re
import zipfile
from pathlib import Path

import pytest
from pages import ROOT, run_page

from recall_retrievers import __version__

PAGE = ROOT / "README.md"
README = PAGE.read_text(encoding="utf-8")
_LINK = re.compile(r"(!?)\[[^]]*\]\(([^)]+)\)")


@pytest.mark.usefixtures("readers_place")
def test_it_does_what_it_shows() -> None:
    names: dict[str, object] = {"__name__": "page"}

    shown = run_page(PAGE, names)

    assert shown.screens == shown.promised
    why, langchain, llamaindex, agent = shown.printed
    assert "recorded in time" in why
    assert langchain == "The dentist moved to Elm St."
    assert llamaindex == "The dentist filled a tooth."
    assert "My sister's birthday is on 3 May." in agent


def test_it_is_one_page() -> None:
    assert len(README.splitlines()) <= 130


def test_a_package_index_shows_it_with_links_that_lead_to_the_repository(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        [name] = [each for each in files.namelist() if each.endswith("/METADATA")]
        metadata = email.message_from_bytes(files.read(name))
    shown = metadata.get_payload(decode=True).decode()
    source = dict(each.split(", ") for each in metadata.get_all("Project-URL"))["Source"]
    raw = source.replace("//github.com", "//raw.githubusercontent.com")
    roots = {"": f"{source}/blob/v{__version__}/", "!": f"{raw}/v{__version__}/"}

    links = _LINK.findall(README)
    assert {kind for kind, _ in links} == {"", "!"}  # links and pictures
    assert _LINK.findall(shown) == [(kind, roots[kind] + link) for kind, link in links]
    assert _LINK.sub("", shown) == _LINK.sub("", README)


def test_the_claim_at_the_top_is_what_was_measured() -> None:
    first_screen = README.split("\n## ")[0]
    claimed = [int(share) / 100 for share in re.findall(r"(\d+) %", first_screen)]

    ours, stock, fused = claimed
    assert ours == round(_measured("ours")[0], 2)
    assert stock == round(_measured("langchain-chroma")[0], 2)
    assert fused == round(_measured("dense + BM25 (RRF)")[0], 2)


def test_the_costs_at_the_top_are_what_was_measured() -> None:
    kept = (ROOT / "benchmarks" / "measured" / "figures.json").read_text(encoding="utf-8")
    by_rows = json.loads(kept)["latency"]["by_rows"]
    every, user, added = (
        {rows: float(f"{cases[case]['recall']['ratio']:.2g}") for rows, cases in by_rows.items()}
        for case in ("all", "one_user", "add")
    )
    [told] = [each for each in README.split("\n\n") if "processor time" in each]

    assert [float(ratio) for ratio in re.findall(r"\d\.\d+", told)] == [
        *(user[rows] for rows in ("10000", "100000", "1000")),
        *(min(every.values()), max(every.values())),
        *(min(added.values()), max(added.values())),
    ]


def test_the_commands_it_names_are_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for target in set(re.findall(r"make ([a-z-]+)", README + contributing)):
        assert f"\n{target}:" in makefile, target


def _measured(column: str) -> tuple[float, float]:
    """Recall@5 and recall@10 of a column of docs/measured.md, on LoCoMo's turns."""
    heading: list[str] = []
    for line in (ROOT / "docs" / "measured.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| set"):
            heading = cells
        elif line.startswith("| LoCoMo, turn level") and column in heading:
            five, ten = cells[heading.index(column)].split(" / ")
            return float(five), float(ten)
    raise AssertionError(f"docs/measured.md has no column {column!r}")
