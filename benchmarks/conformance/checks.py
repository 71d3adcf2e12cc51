"""The promises: a function for each, which tests sync and async."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmarks.conformance.check import AnySubject, Check, ContractError, NotApplicable, raised
from benchmarks.conformance.material import (
    BARE,
    ERRORS,
    ITEMS,
    MARK,
    NUMBERINGS,
    TIED,
    UNUSABLE,
    WRAPPINGS,
    Item,
)

_PLAIN = (str, int, float, bool, type(None))


def _nothing_in(subject: AnySubject) -> None:
    for found, prompts in _tried(subject, ()):
        _expect(not found, f"{len(found)} came out of nothing")
        _expect(not prompts, f"the model was asked about nothing, {len(prompts)} time(s)")


def _unaltered(subject: AnySubject) -> None:
    for is_async in (False, True):
        things = [subject.write(item) for item in ITEMS]
        before = copy.deepcopy(things)
        subject.tried(things, is_async)
        for was, now in zip(before, things, strict=True):
            _expect(was == now, _altered(subject.read(was), subject.read(now)))


def _ids(subject: AnySubject) -> None:
    for found in _both_ways(subject, ITEMS):
        lost = [item.id for item in found if item.id not in {each.id for each in ITEMS}]
        _expect(not lost, f"ids that are not in the input: {lost}")


def _subset(subject: AnySubject) -> None:
    for found in _both_ways(subject, ITEMS):
        _items_once(found)


def _metadata(subject: AnySubject) -> None:
    for found in _both_ways(subject, ITEMS):
        for item in found:
            left = {name: item.metadata.get(name) for name in (MARK, "stars")}
            _expect(left["stars"] == 3 and left[MARK] is not None, f"of {item.id!r} is left {left}")


def _ties(subject: AnySubject) -> None:
    for found in _both_ways(subject, TIED):
        for score in {item.score for item in found}:  # what it scores apart is not equal to it
            marks = [str(item.metadata.get(MARK)) for item in found if item.score == score]
            _expect(marks == sorted(marks), f"equal items came back as {marks}")


def _sync_is_async(subject: AnySubject) -> None:
    sync, later = _both_ways(subject, ITEMS)
    _expect(
        [(item.id, item.content) for item in sync] == [(item.id, item.content) for item in later],
        f"sync {[item.id for item in sync]}, async {[item.id for item in later]}",
    )
    for one, other in zip(sync, later, strict=True):
        # What looks at the clock sees it twice, so scores may differ in the last digits.
        same = one.score == other.score or math.isclose(
            one.score or 0, other.score or 0, rel_tol=1e-6
        )
        _expect(same, f"the score of {one.id!r} is {one.score} in sync, {other.score} in async")
        _expect(
            set(one.metadata) == set(other.metadata),
            f"the metadata of {one.id!r} is named {set(one.metadata) ^ set(other.metadata)} in one",
        )


def _plain(subject: AnySubject) -> None:
    for found, _ in _tried(subject, ITEMS):
        for item in map(subject.read, found):
            score_is_plain = item.score is None or (
                type(item.score) in (int, float) and math.isfinite(item.score)
            )
            _expect(score_is_plain, f"a score is {item.score!r} of {type(item.score)}")
            odd = [name for name, value in item.metadata.items() if not _is_plain(value)]
            _expect(not odd, f"metadata {odd} are no plain values")


def _bare(subject: AnySubject) -> None:
    for found in _both_ways(subject, BARE):
        _items_once(found)


def _failing(subject: AnySubject) -> None:
    for name, found in _after(subject, ERRORS.items()):
        _nothing_lost(found, name)


def _odd(subject: AnySubject) -> None:
    for name, found in _after(subject, _odd_replies(subject)):
        _items_once(found, f"after {name}, ")


def _kept(subject: AnySubject) -> None:
    for name, found in _after(subject, UNUSABLE.items()):
        _nothing_lost(found, name)


CHECKS: tuple[Check, ...] = (
    Check("empty", "nothing in gives nothing out, and no model is asked", _nothing_in),
    Check("unaltered", "the input is not altered", _unaltered),
    Check("ids", "every result has the id of an item in the input", _ids),
    Check("subset", "every result is an item of the input, once, with its own text", _subset),
    Check("metadata", "the metadata of an item is kept", _metadata),
    Check("ties", "equal items keep their order", _ties),
    Check("async", "sync and async give the same result", _sync_is_async),
    Check("plain", "scores and metadata are plain Python values, which JSON can carry", _plain),
    Check("bare", "items without scores and dates are no error", _bare),
    Check("failing", "a model that fails raises nothing and loses nothing", _failing),
    Check("odd", "an odd reply raises nothing and invents nothing", _odd),
    Check("kept", "a reply that is no answer raises nothing and loses nothing", _kept),
)
"""The promises, in the order in which a table shows them."""


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ContractError(otherwise)


def _tried(subject: AnySubject, items: Sequence[Item]) -> Iterator[tuple[list[Any], list[str]]]:
    """What came back, and what the model was asked: sync, then async."""
    for is_async in (False, True):
        yield subject.tried([subject.write(item) for item in items], is_async)


def _both_ways(subject: AnySubject, items: Sequence[Item]) -> list[list[Item]]:
    return [subject.results(found) for found, _ in _tried(subject, items)]


def _after(
    subject: AnySubject, replies: Iterable[tuple[str, object]]
) -> Iterator[tuple[str, list[Item]]]:
    """The results after each of these replies of the model, with the name of the reply."""
    things = [subject.write(item) for item in ITEMS]
    if subject.reply is None or not subject.tried(things, False)[1]:
        raise NotApplicable("it asks no model")
    for name, reply in replies:
        for is_async in (False, True):
            things = [subject.write(item) for item in ITEMS]
            try:
                found, _ = subject.tried(things, is_async, reply)
            except Exception as error:
                way = "async" if is_async else "sync"
                raise ContractError(f"after {name} ({way}) it {raised(error)}") from error
            yield name, subject.results(found)


def _odd_replies(subject: AnySubject) -> Iterator[tuple[str, object]]:
    reply = subject.reply
    assert reply is not None  # noqa: S101 - `_after` has looked
    for name, numbers in NUMBERINGS.items():
        yield f"numbers {name}", reply(numbers(len(ITEMS)))
    good = reply([*range(1, len(ITEMS) + 1)])
    if isinstance(good, str):
        yield from ((name, wrap(good)) for name, wrap in WRAPPINGS.items())


def _altered(was: Item, now: Item) -> str:
    before, after = was.metadata, now.metadata
    names = {name for name in {**before, **after} if before.get(name) != after.get(name)}
    parts = {
        "its text": was.content != now.content,
        "its score": was.score != now.score,
        f"its metadata {sorted(names)}": bool(names),
    }
    changed = [part for part, is_changed in parts.items() if is_changed]
    return f"{was.id!r} was altered: {', '.join(changed) or 'in its inner parts'}"


def _items_once(found: Sequence[Item], when: str = "") -> None:
    marks = [item.metadata.get(MARK) for item in found]
    _expect(len(marks) == len(set(marks)), f"{when}items came back twice: {marks}")
    contents = {item.id: item.content for item in ITEMS}
    for item, mark in zip(found, marks, strict=True):
        _expect(mark in contents, f"{when}{item.id!r} came back and is no item of the input")
        text = contents[str(mark)]
        own = item.content in text or text in item.content
        _expect(own, f"{when}{item.content!r:.80} came back in the place of {text!r}")


def _nothing_lost(found: Sequence[Item], after: str) -> None:
    _items_once(found, f"after {after}, ")
    lost = {item.id for item in ITEMS} - {item.metadata.get(MARK) for item in found}
    _expect(not lost, f"after {after}, {sorted(lost)} were lost")


def _is_plain(value: object) -> bool:
    if type(value) is list:
        return all(_is_plain(each) for each in value)
    if isinstance(value, Mapping):
        return all(type(k) is str and _is_plain(v) for k, v in value.items())
    if isinstance(value, str):  # a kind of text of its own is one for JSON too, as a trace is
        return True
    return type(value) in _PLAIN and not (type(value) is float and not math.isfinite(value))
