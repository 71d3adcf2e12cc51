"""What is on trial: how to make one, give it items, and read what comes back."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from recall_stages.testing.items import Item

Thing = TypeVar("Thing")  # the framework's document or node
Piece = TypeVar("Piece")  # its compressor or postprocessor
Model = TypeVar("Model")  # its language model, scripted

Reply = Callable[[Sequence[int]], object]
"""What a model that works says: of items numbered from 1, those with these numbers."""

QUERY = "Where is the dentist?"


class Subject(ABC, Generic[Thing, Piece, Model]):
    """A compressor or postprocessor on trial, made afresh for each trial.

    Args:
        make: Makes it; is given a scripted model, which it may ignore. It should keep all of four
            items (top_n=4 or more, no threshold), or there is little to see. Where it compares
            texts, give it an embedding for which texts of the same words are equal.
        reply: What a model that works says, in the form that it wants; the checks on odd replies
            are made of it. None = it asks no model.
        originals: Where it makes one text of many items: reads these out of the text's result.
        query: The question that it is given.
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
        """A model that always says, or raises, this."""

    @abstractmethod
    def asked(self, model: Model) -> int:
        """How many times the model was asked."""

    @abstractmethod
    def write(self, item: Item) -> Thing:
        """An item as the framework has it."""

    @abstractmethod
    def read(self, thing: Thing) -> Item:
        """The item that the framework's object is."""

    @abstractmethod
    def apply(self, piece: Piece, things: Sequence[Thing], query: str) -> Sequence[Thing]:
        """Use it as the framework does."""

    @abstractmethod
    async def aapply(self, piece: Piece, things: Sequence[Thing], query: str) -> Sequence[Thing]:
        """Use it as the framework does in an event loop."""

    def results(self, found: Sequence[Thing]) -> list[Item]:
        """The items that came back; of a text, those it was made of."""
        if self.originals is not None:
            found = [each for thing in found for each in self.originals(thing)]
        return [self.read(thing) for thing in found]

    def trial(self, is_async: bool, reply: object = None, count: int = 4) -> Trial[Thing]:
        """A fresh one, with a model that says this; None = what a model that works says."""
        if reply is None:
            reply = "" if self.reply is None else self.reply([*range(1, count + 1)])
        model = self.model(reply)
        piece = self.make(model)

        def use(things: Sequence[Thing]) -> list[Thing]:
            if is_async:
                return list(asyncio.run(self.aapply(piece, things, self.query)))
            return list(self.apply(piece, things, self.query))

        return Trial(use, lambda: self.asked(model))


class Trial(Generic[Thing]):
    """One use of what is on trial, and how often it asked its model."""

    def __init__(
        self, use: Callable[[Sequence[Thing]], list[Thing]], asked: Callable[[], int]
    ) -> None:
        self.use = use
        self._asked = asked

    @property
    def asked(self) -> int:
        """How many times the model was asked."""
        return self._asked()
