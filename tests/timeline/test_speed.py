"""Long texts: the work is bounded, nothing raises, and a time is found wherever it stands.

Work is counted in calls, so the tests say the same on a busy machine.
"""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tables import table
from timeline.cases import NOW, calls, read

from recall_retrievers.timeline import extract_time
from recall_retrievers.timeline.languages.chinese import CHINESE
from recall_retrievers.timeline.languages.english import ENGLISH

LONG = 10_000
FRAGMENTS = [
    "in May ", "last ", "1 ", "and ", "the ", "from to ", "2020-", "1", "2023 ", "a ", "q1 ",
    "two hundred thousand ", '"', '"may ', "“may ", "(", "1/1/", "5:30 ", "- ", "* ", "' ", "\n",
    "before ", "the end of ", "the last week of ", "the week before the week after ", "yesterday ",
    "on Monday and ", "since May until ", "2023-05-07 ", "the 3rd ", "at 5 pm ", "two weeks ago ",
    "day ", "between May and ", "every Monday and ", "90s ", "May!!!!!!!!!!!!!", "half an hour ",
    "2023 to the a and of in to from by the a of ", "twenty three hundred and five ", "é", "🌞 ",
    "a month and a half and ", "first of the first of ", "Monday The ", "’s ", "5.3.0 ", "1,000,",
]  # fmt: skip
PLAIN = (
    "We went to the market and it may rain a second time, as the day had been nice for a while. "
    "A week is long, one night is short; the first of them sat in the sun and had a good morning. "
)


@table("fragment", FRAGMENTS)
def test_the_work_for_a_long_text_is_bounded(fragment):
    text = (fragment * LONG)[:LONG]
    whole, half = calls(extract_time, text, NOW), calls(extract_time, text[: LONG // 2], NOW)
    assert whole < 8_000
    assert whole <= 1.2 * half + 50  # the bound is reached before, so more text costs no more


def test_a_text_without_a_hint_is_not_cut_at_all():
    text = "How are the dogs and the cats of my sister? " * 200
    assert extract_time(text, NOW) == []
    assert calls(extract_time, text, NOW) < 99


@table("place", [0, 1, 10, 26, 51, 52])
@table(
    ("words", "start", "end"),
    [
        ("on 3 March 2021", "2021-03-03", "2021-03-04"),
        ("last Tuesday", "2024-06-11", "2024-06-12"),
        ("the day before yesterday", "2024-06-10", "2024-06-11"),
        ("2019-05-07", "2019-05-07", "2019-05-08"),
    ],
)
def test_one_time_in_a_long_plain_text_is_found_anywhere(place, words, start, end):
    before, after = PLAIN * place, PLAIN * (52 - place)
    text = f"{before}So it was {words}. {after}"
    assert len(text) > 9_500
    assert read(text) == [(start, end)]


def test_of_very_many_times_the_first_and_the_last_are_read():
    calendar = " ".join(f"in {year} it rained;" for year in range(1600, 2000))
    found = read(f"On 3 May 2021 we said: {calendar} what did we plan last Tuesday?")
    assert found[0] == ("2021-05-03", "2021-05-04")
    assert found[-1] == ("2024-06-11", "2024-06-12")


def test_a_quotation_hides_its_words_in_a_long_text_too():
    text = PLAIN * 20 + 'We heard "Last Friday Night" on the radio. ' + PLAIN * 20
    assert read(text) == []
    assert read(text.replace('"', "")) != []


VOCABULARY = sorted({*ENGLISH.vocabulary.words, *ENGLISH.vocabulary.common, "last", "every"})
CHINESE_WORDS = " ".join(n for kind in CHINESE.script.kinds.values() for n in kind.values()).split()
CHINESE_PIECES = sorted({*CHINESE_WORDS, *"年月日号天周点半前后从到和个第每上下"})
PIECES = st.one_of(
    st.sampled_from(VOCABULARY),
    st.sampled_from(CHINESE_PIECES),
    st.sampled_from(FRAGMENTS),
    st.sampled_from([".", ",", "-", "/", ":", '"', "“", "”", "'", "’s", "(", ")", "\n", "\x00"]),
    st.integers(0, 10**9).map(str),
    st.text(max_size=5),
)


@settings(max_examples=150)
@given(st.lists(PIECES, min_size=1, max_size=8), st.sampled_from(["", " "]), st.integers(1, 300))
@example(["the week before the week after"], " ", 300)
@example(["“a"], " ", 300)
def test_whatever_is_repeated_is_survived(pieces, between, count):
    text = between.join(pieces * count)[:LONG]
    for one in extract_time(text, NOW):
        assert one.span is not None
        assert text[slice(*one.span)] == one.text
        assert len(one.alternatives) <= 5
        assert (one.start, one.end) not in {(o.start, o.end) for o in one.alternatives}
