"""The benchmark of latency compares what it says, and draws it."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from benchmarks import latency, rivals


@pytest.mark.usefixtures("embeds_once")
def test_latency_compares_the_systems(measured, tmp_path):
    picture = tmp_path / "picture.svg"
    asked = ("--rows", "200,1100", "--questions", 2, "--picture", picture)
    cases = measured(latency.main, *asked)["by_rows"]["1100"]
    assert cases.keys() == {"all", "one_user", "a_time"}
    for case, systems in cases.items():
        installed = {*rivals.NEEDED} - {*rivals.missing()}
        others = installed if case == "all" else installed - rivals.WITHOUT_CONDITIONS
        by_meaning = {"recall_meaning", "langchain_chroma", "langchain_chroma_on_ours"}
        assert systems.keys() == {"recall", *by_meaning, *others}
        assert all(each["cpu_ms"] > 0 < each["wall_ms"] for each in systems.values())
        assert systems["langchain_chroma"]["cpu_ratio"] == 1
        found = {name for name, each in systems.items() if each["found"] is not None}
        assert found == by_meaning
        assert all(systems[name]["found"] > 0.8 for name in by_meaning)
    drawn = ET.fromstring(picture.read_text(encoding="utf-8"))
    lines = [each for each in drawn.iter() if each.tag.endswith("polyline")]
    assert len(lines) == 6
    assert all(len(line.attrib["points"].split()) == 2 for line in lines)
