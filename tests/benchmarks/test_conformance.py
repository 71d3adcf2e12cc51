"""The table of who keeps which promise says what was seen, and accuses nobody falsely."""

import pytest

from benchmarks.conformance import langchain, llamaindex, ours
from benchmarks.conformance.__main__ import judged, table, together
from benchmarks.conformance.check import Verdict
from benchmarks.conformance.checks import CHECKS
from benchmarks.conformance.piece import Piece

STOCK = {piece.name: piece for piece in (*langchain.pieces(), *llamaindex.pieces())}


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("LLMListwiseRerank", {"empty", "failing", "odd", "kept"}),
        ("LLMRerank", {"failing", "odd", "kept"}),
        ("CrossEncoderReranker", set()),
        ("SimilarityPostprocessor", set()),
        ("DocumentCompressorPipeline (of our FuseRerank)", set()),
    ],
)
def test_stock_pieces_are_judged(name: str, broken: set[str]) -> None:
    row = judged(STOCK[name])

    assert not isinstance(row, str), row
    assert {check for check, verdict in row.items() if verdict.holds is False} == broken


def test_what_is_meant_so_is_said_to_be_so() -> None:
    piece = STOCK["LongContextReorder"]

    told = table("stock", {piece: judged(piece)})

    assert told[0].startswith("| stock | empty | unaltered | ids |")
    assert told[2].count("by design") == 1
    assert "- LongContextReorder, ties: it puts the best at both ends" in told


def test_what_cannot_be_tried_is_said() -> None:
    def needs_more() -> None:
        raise ImportError("pandas is required")

    piece = Piece("Needy", needs_more)

    assert table("stock", {piece: judged(piece)})[-1] == (
        "- Needy was not tried: pandas is required"
    )


def test_many_keep_a_promise_where_each_does() -> None:
    good = {check.name: Verdict(True) for check in CHECKS}
    bad = {**good, "ties": Verdict(False, "upside down")}
    pieces = ours.pieces("langchain_recall")[:2]

    told = table("ours", together(dict(zip(pieces, (good, bad), strict=True))))

    assert told[2].startswith("| each of 2 stages of both faces | yes | yes |")
    assert told[2].count("| no |") == 1
    assert told[3].startswith(f"| {pieces[1].name} |")
    assert f"- {pieces[1].name}, ties: upside down" in told
