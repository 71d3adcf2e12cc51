"""What is checked: how to make it, use it, and read what comes back."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from benchmarks.conformance.material import ITEMS, Item


class Scripted(Protocol):
    """A language model with scripted replies, which keeps its prompts."""

    prompts: list[str]


Thing = TypeVar("Thing")  # the framework's document or node
Piece = TypeVar("Piece")  # its compressor or postprocessor
Model = TypeVar("Model", bound=Scripted)

Reply = Callable[[Sequence[int]], object]
"""The reply of a model that works: it names the items with these numbers, counted from 1."""

QUERY = "Where is the dentist?"


class Subject(ABC, Generic[Thing, Piece, Model]):
    """A compressor or postprocessor to check. It is made anew for each trial.

    Args:
        make: Makes it from a scripted model, which it may ignore. It should keep all of four items
            (top_n=4 or more, no threshold). If it compares texts, give it an embedding for which
            texts with the same words are equal.
        reply: The reply of a model that works, in the form that the subject expects. The checks on
            odd replies are made of it. None = it asks no model.
        originals: Reads the items out of a result, if it makes one text of many items.
        query: The question.
    """

    def __init__(
        self,
        make: Callable[[Model], Piece],
        *,
        reply: Reply | None = None,
        originals: Callable[[Thing], Sequence[Thing]] | None = None,
        query: str = QUERY,
    ) -> None:
        self.make = make
        self.reply = reply
        self.originals = originals
        self.query = query

    @abstractmethod
    def model(self, reply: object) -> Model:
        """A model that always gives, or raises, this reply."""

    @abstractmethod
    def write(self, item: Item) -> Thing:
        """An item as the framework's object."""

    @abstractmethod
    def read(self, thing: Thing) -> Item:
        """The framework's object as an item."""

    @abstractmethod
    def apply(self, piece: Piece, things: Sequence[Thing], query: str) -> Sequence[Thing]:
        """Use the subject as the framework does."""

    @abstractmethod
    async def aapply(self, piece: Piece, things: Sequence[Thing], query: str) -> Sequence[Thing]:
        """Use the subject as the framework does in an event loop."""

    def results(self, found: Sequence[Thing]) -> list[Item]:
        """The items that came back; of a text, the items that it was made of."""
        if self.originals is not None:
            found = [original for thing in found for original in self.originals(thing)]
        return [self.read(thing) for thing in found]

    def tried(
        self, things: Sequence[Thing], is_async: bool, reply: object = None
    ) -> tuple[list[Thing], list[str]]:
        """What a new subject makes of documents or nodes, and the prompts that its model got.

        Args:
            things: The documents or nodes.
            is_async: Whether it is used in an event loop.
            reply: What its model replies. None = as a model that works.
        """
        if reply is None:
            reply = "" if self.reply is None else self.reply([*range(1, len(ITEMS) + 1)])
        model = self.model(reply)
        piece = self.make(model)
        if is_async:
            found = asyncio.run(self.aapply(piece, things, self.query))
        else:
            found = self.apply(piece, things, self.query)
        return list(found), model.prompts
