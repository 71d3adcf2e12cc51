"""What is new is seen by the order of ids alone."""

from hypothesis import given
from hypothesis import strategies as st

from recall_stages.store.rows.differences import appended, stored_anew

ids = st.lists(st.text("abcdefgh", min_size=1, max_size=2), max_size=12, unique=True)


@given(ids, st.data())
def test_what_was_stored_anew_stands_at_the_end(known: list[str], data: st.DataObject) -> None:
    kept = [each for each in known if data.draw(st.booleans())]
    last = [each for each in data.draw(ids) if each not in kept]
    there = kept + last

    new = list(stored_anew(known, there))

    assert there[len(there) - len(new) :] == new
    passed = there[: len(there) - len(new)]
    # What is passed over stands as it stood; no more than that can be seen by ids.
    assert passed[: len(kept)] == kept
    assert passed == [each for each in known if each in passed]
    assert set(last) - set(known) <= set(new)


@given(ids, st.data())
def test_only_what_is_appended_counts_as_such(known: list[str], data: st.DataObject) -> None:
    new = [each for each in data.draw(ids) if each not in known]
    assert appended(known, known + new) == new
    assert appended(known, []) == (None if known else [])
    for place in range(len(known)):
        assert appended(known, known[:place] + known[place + 1 :] + new) is None
