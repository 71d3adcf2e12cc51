"""The memory that a row index takes for vectors is bounded, and is given back."""

from __future__ import annotations

from recall_retrievers.store.rows.vectors import Cache


def test_an_owner_that_goes_gives_its_room_back() -> None:
    ann, bob = object(), object()
    cache = Cache(1500)
    assert cache.take(ann, 1000)
    assert not cache.take(bob, 1000)
    cache.clear(ann)
    assert cache.take(bob, 1000)
