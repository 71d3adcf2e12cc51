"""Near-duplicates: what repeats, what only looks like it, and how the work grows."""

import random
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import product
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.pool import facts_of
from recall_retrievers.ranking import near_duplicates as room
from recall_retrievers.ranking.near_duplicates import copies
from recall_retrievers.text.words import Wording, split_words


def near_duplicates(texts: list[str], threshold: float) -> list[int]:
    return room.near_duplicates([Wording(text) for text in texts], threshold)


LONG = (
    "On the way home we talked about the garden, the old fence, the neighbours and what the roses "
    "will cost when the summer is as dry as the last one was for all of us"
)
CHINESE = "喜欢喝茶，也喜欢和朋友们一起去公园散步聊天看书"


@table(
    ("one", "other", "repeats"),
    [
        ("I like tea.", "i like  TEA", True),
        (LONG, LONG.replace("garden", "yard"), True),
        (LONG, LONG.replace("for all of ", ""), True),  # its three rarest words
        (LONG + ".", "So " + LONG[0].lower() + LONG[1:], True),
        ("我昨天去了博物馆看展览。", "我昨天去了博物馆看展览", True),
        ("I like tea.", "I like coffee.", False),
        (f"{LONG} in 2023", f"{LONG} in 2024", False),
        (f"{LONG} said Ann", f"{LONG} said Bob", False),
        (LONG, LONG.replace("will cost", "will not cost"), False),
        (LONG, LONG.replace("will cost", "won't cost"), False),
        (LONG, f"{LONG} {LONG}", False),
        (" ".join([LONG] * 8), " ".join([LONG] * 16), False),  # their ends agree
        (f"我{CHINESE}", f"我不{CHINESE}", False),
    ],
)
def test_what_repeats_and_what_says_something_else(one: str, other: str, repeats: bool) -> None:
    assert near_duplicates([one, other], 0.95) == [0, int(not repeats)]


@given(st.lists(st.text(max_size=40), max_size=12))
def test_equal_texts_repeat_the_first_of_them(texts: list[str]) -> None:
    firsts = near_duplicates([*texts, *texts], 1.0)

    assert all(first <= place for place, first in enumerate(firsts))
    assert firsts[len(texts) :] == firsts[: len(texts)]
    assert all(firsts[first] == first for first in firsts)


def _edited(edits: list[tuple[int, str]]) -> str:
    words = LONG.split()
    for place, word in edits:
        words[place] = word
    return " ".join(words)


_EDIT = st.tuples(st.integers(0, len(LONG.split()) - 1), st.sampled_from(["", "tea"]))
_TOLD = st.lists(_EDIT, max_size=4).map(_edited)


@given(st.lists(_TOLD, min_size=2, max_size=5), st.sampled_from([0.9, 0.95]))
def test_no_repetition_is_missed(texts: list[str], threshold: float) -> None:
    # A private name, as nothing public says which pairs were passed over.
    with pytest.MonkeyPatch.context() as patch:
        every_word = lambda texts, _: enumerate(each.words for each in texts)  # noqa: E731
        patch.setattr(room, "_rarest", every_word)
        compared_with_all = near_duplicates(texts, threshold)

    assert near_duplicates(texts, threshold) == compared_with_all


def test_a_copy_is_found_among_many_that_look_like_it() -> None:
    texts = [f"{LONG} {number}" for number in range(40)]

    assert near_duplicates([*texts, *texts], 0.95) == 2 * list(range(40))


@given(st.lists(_TOLD, min_size=2, max_size=5), st.sampled_from([0.8, 0.9, 0.95]))
def test_profiles_pass_over_no_repetition(texts: list[str], threshold: float) -> None:
    memories = [Candidate(content=text) for text in [*texts, "I like tea.", "i like tea"]]
    facts = facts_of(memories)
    profiles = np.array([memory.wording.profile for memory in memories], dtype=np.uint8)
    groups: dict[int, list[int]] = {}
    for place, first in enumerate(near_duplicates([each.content for each in memories], threshold)):
        groups.setdefault(first, []).append(place)

    for known in (facts, replace(facts, profiles=profiles)):
        assert sorted(copies(known, threshold)) == [*groups.values()]


def test_words_said_more_often_than_a_profile_counts_hide_no_repetition() -> None:
    words = ["".join(letters) for letters in product("bcdfghjk", repeat=3)]
    [*one], [*other] = ([x for x in words if crc32(x.encode()) % 16 == n][:30] for n in (2, 5))
    texts = [" ".join(["a"] * 270 + ending) for ending in (one, other)]

    assert Wording(texts[0]).profile.count(30) == 1
    assert copies(facts_of([Candidate(content=text) for text in texts]), 0.9) == [[0, 1]]


def test_the_work_grows_with_the_texts_and_not_with_their_square(monkeypatch) -> None:
    compared = 0

    class Counting(SequenceMatcher):
        def ratio(self) -> float:
            nonlocal compared
            compared += 1
            return super().ratio()

    monkeypatch.setattr(room, "SequenceMatcher", Counting)
    # All alike, none a repetition: every pair of them would be worth a look.
    words = LONG.split()
    texts = [" ".join(random.Random(seed).sample(words, len(words))) for seed in range(500)]

    assert near_duplicates(texts, 0.95) == list(range(500))
    assert 500 <= compared <= 24 * 500  # of 124,750 pairs


@given(st.text(st.characters(max_codepoint=127)))
def test_words_are_the_same_whatever_else_is_in_the_text(text) -> None:
    assert split_words(text) == split_words(f"{text} 年")[:-1]
