"""What the README shows is run, and what it claims of the code holds."""

import re
from pathlib import Path

import chromadb
import pytest
from pages import ROOT, blocks, run_page

import langchain_recall
from recall_stages.retriever import CallOptions

PAGE = ROOT / "README.md"
README = PAGE.read_text(encoding="utf-8")


@pytest.fixture
def my_app(readers_place: Path) -> None:
    """A collection of the reader's own."""
    client = chromadb.PersistentClient("./my_app")
    vectors = langchain_recall.RecallStore()._embedding.embed_documents(["Ann sees the dentist."])
    client.create_collection("notes", embedding_function=None).add(
        ids=["1"],
        embeddings=vectors,
        documents=["Ann sees the dentist."],
        metadatas=[{"date": "2024-03-05T10:00:00+00:00", "owner": "ann"}],
    )


@pytest.mark.usefixtures("my_app")
def test_it_does_what_it_shows() -> None:
    names: dict[str, object] = {"__name__": "page"}

    shown = run_page(PAGE, names)

    assert shown.screens == shown.promised
    langchain, llamaindex, _, model, agent, block, _ = shown.printed
    assert langchain == llamaindex
    assert "recorded in time" in langchain
    assert "1 call" in model
    assert "My sister's birthday is on 3 May." in agent
    assert "My sister's birthday is on 3 May." in block


@pytest.mark.usefixtures("my_app")
def test_a_collection_that_you_have() -> None:
    names: dict[str, object] = {}
    exec([each.text for each in blocks(PAGE) if each.language == "python"][2], names)

    found = names["retriever"].invoke("the dentist last Tuesday", timestamp="2024-03-08T12:00:00Z")

    assert found[0].page_content == "Ann sees the dentist."
    assert found[0].metadata["recall_time_match"] == "recorded"
    names["store"].close()


def test_the_ten_lines_are_ten() -> None:
    for block in blocks(PAGE)[:2]:
        assert len([line for line in block.text.splitlines() if line.strip()]) <= 12


def _table(after: str) -> list[list[str]]:
    """The cells of each row of a table, by how its heading begins."""
    rows = README.split(f"| {after}")[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def test_what_a_call_may_set_stands_first() -> None:
    rows = _table("setting |")[:10]

    assert {name for row in rows for name in _names(row[0])} == set(CallOptions.__annotations__)


def test_the_settings_it_lists_are_those_of_the_retriever() -> None:
    named = {name for row in _table("setting |") for name in _names(row[0])}
    framework = {"name", "tags", "metadata"}

    assert named == set(langchain_recall.RecallRetriever.model_fields) - framework


def test_the_stages_it_lists_have_the_parameters_it_names() -> None:
    listed = set()
    for row in _table("stage (seed operation)"):
        stages = re.findall(r"`([A-Z]\w+)`", row[0])
        listed |= set(stages)
        fields = [getattr(langchain_recall, stage).model_fields for stage in stages]
        for name, default in re.findall(r"`([a-z_]+)`(?: \(([^)]*)\))?", row[2]):
            owners = [each[name] for each in fields if name in each]
            assert owners, f"{stages} have no {name}"
            if default:
                assert _told(owners[0].default) == default, f"{stages} {name}"
    assert listed == {
        name
        for name in langchain_recall.__all__
        if name in _stages() and name not in {"MemoryCompressor", "RecallCompressor"}
    }


def test_its_figures_are_those_that_were_measured() -> None:
    measured = (ROOT / "docs" / "measured.md").read_text(encoding="utf-8").splitlines()
    section = README.split("## Measured")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]

    assert len(rows) >= 5
    assert [row for row in rows if row not in measured] == []


def test_the_commands_it_names_are_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in set(
        re.findall(r"make ([a-z-]+)", README + (ROOT / "CONTRIBUTING.md").read_text())
    ):
        assert f"\n{target}:" in makefile, target


def _names(cell: str) -> list[str]:
    return re.findall(r"`([a-z_]+)`", cell)


def _stages() -> set[str]:
    from recall_stages.stage import Stage

    faces = {name: getattr(langchain_recall, name) for name in langchain_recall.__all__}
    return {
        name for name, each in faces.items() if isinstance(each, type) and issubclass(each, Stage)
    }


def _told(default: object) -> str:
    if default is None:
        return "none"
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return " to ".join(f"{each:g}" for each in default)
    return f"{default:,g}" if isinstance(default, int | float) else str(default)
