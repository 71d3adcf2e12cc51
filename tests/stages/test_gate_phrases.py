"""The notation in which the languages of the gate are written."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from recall_retrievers.gate.language import load_language
from recall_retrievers.gate.phrases import Phrases, tokens_of

WORDS = {"person": ["sister", "best_friend", "Mom"]}


def _spans(phrase: str, text: str) -> list[str]:
    tokens = ["|", *tokens_of(text.lower().replace(",", " ")), "|"]
    return [" ".join(tokens[m.start : m.end]) for m in Phrases({"x": [phrase]}, WORDS).find(tokens)]


@table(
    ("phrase", "text", "found"),
    [
        ("my usual", "book my usual table", ["my usual"]),
        ("my usual", "my very usual table", []),
        ("book|order it", "then order it", ["order it"]),
        ("?please continue", "please continue", ["please continue", "continue"]),
        ("?now ?please continue |", "continue now", []),
        ("my <person>", "my best friend, my mom, my dog", ["my best friend", "my mom"]),
        ("<person>s", "two sisters", ["sisters"]),
        ("where_is|who_is my", "who is my", ["who is my"]),
        ("what .. again", "what was his name again", ["what was his name again"]),
        ("what .. again", "what was his very long name again", []),
        ("what ... again", "what was his very long name again", [
            "what was his very long name again"
        ]),
        ("| go on |", "go on", ["| go on |"]),
        ("| go on |", "go on now", []),
        ("再 .. 一次", "帮我再订一次", ["再 订 一 次"]),
    ],
)  # fmt: skip
def test_a_phrase(phrase: str, text: str, found: list[str]) -> None:
    assert sorted(_spans(phrase, text)) == sorted(found)


def test_a_gap_does_not_cross_a_boundary() -> None:
    tokens = ["|", "what", "|", "again", "|"]

    assert Phrases({"x": ["what .. again"]}, {}).find(tokens) == []


def test_phrases_that_begin_alike_do_not_mix() -> None:
    known = Phrases({"x": ["a ?b c", "a c d"], "y": ["a b d"]}, {})

    assert {m.kind for m in known.find(["a", "b", "c"])} == {"x"}
    assert {m.kind for m in known.find(["a", "b", "d"])} == {"y"}
    assert known.find(["a", "b", "c", "d"]) == known.find(["a", "b", "c"])


@table("phrase", ["", "?please", "| ..", "!"])
def test_a_phrase_without_a_word_is_refused(phrase: str) -> None:
    with pytest.raises(ValueError, match="holds no word"):
        Phrases({"x": [phrase]}, {})


@given(st.lists(st.sampled_from(["my", "usual", "what", "again", "|", "x"]), max_size=40))
def test_whatever_is_said_matches_lie_in_it(tokens: list[str]) -> None:
    known = Phrases({"x": ["my usual", "what ... again", "| ?my x"]}, {})

    for match in known.find(tokens):
        assert 0 <= match.start < match.end <= len(tokens)


class CountedTokens(list[str]):
    """Tokens that count how many of them were looked at."""

    read = 0

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        self.read += len(found) if isinstance(place, slice) else 1
        return found


@pytest.mark.parametrize("language", ["en", "zh", "de", "es", "fr"])
def test_the_work_grows_with_the_text_only(language: str) -> None:
    known = load_language(language, {}).phrases
    words = sorted(load_language(language, {}).common)

    def read(count: int) -> int:
        tokens = CountedTokens((words * (count // len(words) + 1))[:count])
        known.find(tokens)
        return tokens.read

    assert 0 < read(4000) < 6 * max(read(1000), 100)


@table(
    ("text", "message"),
    [
        ('common = "x"\n', "must have cues, words"),
        ("[words]\n[cues]\n", "must have being, filler, task, things"),
        (
            '[words]\ntask=""\nfiller=""\nbeing=""\nthings=""\n[cues]\nearly=["x"]\n',
            "cues ['early']",
        ),
        ("[words\n", "Expected"),
    ],
)
def test_a_language_file_that_is_wrong(tmp_path, text: str, message: str) -> None:
    file = tmp_path / "it.toml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(ValueError, match=r"(?s).*") as raised:
        load_language(str(file), {})

    assert message in str(raised.value)
