"""The benchmark of latency compares what it says, and draws it."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

from benchmarks import latency


def test_latency_compares_the_systems(tmp_path):
    out, picture = tmp_path / "out.json", tmp_path / "picture.svg"
    latency.main(
        ["--rows", "60,300", "--queries", "3", "--json", str(out), "--picture", str(picture)]
    )
    measured = json.loads(out.read_text(encoding="utf-8"))["by_rows"]["300"]
    assert measured["first_question_ms"] > 0
    cases = measured["cases"]
    ranges = {"range_1_percent", "range_10_percent", "range_50_percent"}
    assert cases.keys() == {"unfiltered", *ranges, "filter_10_percent"}
    systems = {"raw", "langchain_chroma", "recall_store"}
    for case, figures in cases.items():
        ours = {"recall_require", "recall_prefer"} if case in ranges else {"recall"}
        ours |= {"recall_unfiltered"} if case == "filter_10_percent" else set()
        timed = ("median_ms", "ratio_to_raw", "ratio_to_langchain_chroma")
        assert figures.keys() == {*timed, "found_of_exact"}
        assert all(figures[each].keys() == systems | ours for each in timed)
        assert figures["ratio_to_raw"]["raw"] == 1
        assert figures["found_of_exact"] == {"raw": 1, "recall_store": 1}
    drawn = ET.fromstring(picture.read_text(encoding="utf-8"))
    lines = [each for each in drawn.iter() if each.tag.endswith("polyline")]
    assert len(lines) == 6
    assert all(len(line.attrib["points"].split()) == 2 for line in lines)


@pytest.mark.parametrize(
    "argv",
    [["--rows", "5"], ["--rows", "many"], ["--queries", "0"], ["--json", "nowhere/out.json"]],
)
def test_latency_refuses_what_it_cannot_do(argv, capsys):
    with pytest.raises(SystemExit) as stopped:
        latency.main(argv)
    assert stopped.value.code == 2
    assert argv[0] in capsys.readouterr().err
