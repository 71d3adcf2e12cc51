"""A world that a test scripts: functions answer what a stage asks for."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from recall_stages.core.requests import Prompt
from recall_stages.core.world import World


class Scripted(World):
    """A function answers prompts, a list of them at once; the others are a store's methods.

    A stage in a pipeline gets a `Reply` for each prompt, a stage alone the text of one.
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
        return await super().reply(prompts) if self._ask is None else self._ask(prompts)


def _store(methods: dict[str, Callable[..., Any]]) -> Any:
    return SimpleNamespace(**methods) if methods else None
