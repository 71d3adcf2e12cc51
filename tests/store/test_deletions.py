"""Deleted rows are found by reading a small part of a long list."""

from hypothesis import given
from hypothesis import strategies as st

from recall_stages.store.rows.differences import find_gone


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
