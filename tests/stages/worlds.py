"""A world that a test scripts: functions answer what a stage asks for."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from recall_retrievers.core.requests import Prompt, Reply
from recall_retrievers.core.world import World


class Scripted(World):
    """A function answers prompts, a list of them at once, with a `Reply` or a text for each.

    The others are a store's methods.
    """

    def __init__(
        self,
        ask: Callable[..., Any] | None = None,
        *,
        asynchronous: bool = False,
        **store: Callable[..., Any],
    ) -> None:
        super().__init__(_store(store), asynchronous=asynchronous)
        self._ask = ask

    async def reply(self, prompts: Sequence[Prompt]) -> Any:
        if self._ask is None:
            return await super().reply(prompts)
        replies = self._ask(prompts)
        return [each if isinstance(each, Reply) else Reply(each) for each in replies]


def _store(methods: dict[str, Callable[..., Any]]) -> Any:
    return SimpleNamespace(**methods) if methods else None
