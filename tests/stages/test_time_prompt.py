"""Whether the examples are right in what a model is asked about a time."""

import pytest

from recall_retrievers.core.query import Query
from recall_retrievers.llm.time_question import ASKED_AT, EXAMPLES, read_time
from recall_retrievers.timeline import extract_time
from recall_retrievers.timeline.unread_words import find_time_words

# The same stretch of time in words that the calendar reads, or none.
IN_OTHER_WORDS = {
    "What did I say during the Tokyo Olympics?": "from July 23, 2021 to August 8, 2021",
    "Where were we at the turn of the millennium?": None,  # below, by its hours
    "What did we cook the other weekend?": "the weekend before last",
    "北京冬奥会期间我去了哪里？": "from February 4, 2022 to February 20, 2022",
    "Which bands did I like when I was in college?": "",
    "婚礼之后我住在哪里？": "",
}


@pytest.mark.parametrize("question", EXAMPLES)
def test_an_example_is_right(question: str) -> None:
    """Where the calendar can say it in other words, both are the same days."""
    found = read_time(EXAMPLES[question], Query(text=question, reference_time=ASKED_AT))
    words = IN_OTHER_WORDS[question]

    assert find_time_words(question), "an example that no model is asked about"
    if words == "":
        assert found is None
    elif words is not None:
        [known] = extract_time(words, ASKED_AT)
        assert found is not None
        assert (found.start, found.end) == (known.start, known.end)
        assert found.text == question[slice(*(found.span or (0, 0)))]
    else:
        assert found is not None
        assert found.describe() == "1999-12-31 18:00 to 2000-01-01 06:00"
