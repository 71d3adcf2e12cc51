"""What is new or deleted is seen by the order of ids; of a long list a small part is read."""

from hypothesis import given
from hypothesis import strategies as st

from recall_retrievers.store.rows.differences import find_gone, stored_anew

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


class Rows:
    """What is there, and how much of it was read."""

    def __init__(self, rows):
        self.rows, self.read = rows, 0

    def __call__(self, start, most):
        part = self.rows[start : start + most]
        self.read += len(part)
        return part


@given(st.integers(1, 3000), st.data())
def test_exactly_the_deleted_rows_are_found(length, data):
    gone = sorted(data.draw(st.sets(st.integers(0, length - 1), max_size=6)))
    there = Rows([row for row in range(length) if row not in gone])

    assert find_gone(range(length), len(gone), there) == gone
    assert there.read <= len(gone) * 150


def test_a_list_that_changed_otherwise_is_read_as_a_whole():
    there = Rows(list(range(1000)))
    there.rows[300], there.rows[301] = there.rows[301], there.rows[300]

    assert find_gone(range(1000), 1, there) is None
