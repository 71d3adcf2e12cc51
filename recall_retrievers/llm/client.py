"""Prompts answered by models: with a schema if the model takes one, and sent again if rejected.

What a model has refused once, a schema or a system message, it is not sent again. A reply that is
empty, cut off or filtered refuses nothing: the schema is sent again, until three in a row fail.
"""

import re
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import monotonic

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    wait_exponential,
    wait_random,
)

from recall_retrievers.core.errors import ModelError, ReplyError
from recall_retrievers.core.requests import Prompt, Reply, Tokens
from recall_retrievers.core.streamed import Show
from recall_retrievers.core.transient_errors import http_status, is_transient, retry_after
from recall_retrievers.core.usage import estimate
from recall_retrievers.core.world import World
from recall_retrievers.llm.model_output import Spent

ATTEMPTS = 3
"""How often a prompt is sent at most, if no setting says so and the model does not retry."""

LONGEST_PAUSE = 60.0
"""Seconds; a server that asks for a longer pause is not waited for."""

_BACK_OFF = wait_exponential(multiplier=0.5, max=8) + wait_random(0, 0.5)

_FAILURES = 3
"""How often the replies to a form may fail in a row before it is not sent again."""

_NO_ACCESS = (401, 402, 403, 429)  # no key, no money
_NO_FORM = re.compile(r"(?i)schema|tool|function|(?:response|output).?(?:format|config)|structured")
_NO_FAULT = re.compile(r"(?i)context.(?:length|window|size)|too long|\d tokens|content.filter")
_NO_SYSTEM = re.compile(r"\b(?:system|developer)\b|roles must alternate", re.IGNORECASE)

Send = Callable[[Spent], Awaitable[str]]
"""Sends a prompt to its model, and writes down what it cost; what the model says."""


@dataclass(frozen=True, slots=True)
class Client:
    """How a face calls the model of a prompt."""

    plain: Callable[[Prompt], Send]
    formed: Callable[[Prompt], Send | None]  # with the schema of its reply, if the model takes one
    retries: Callable[[Prompt], bool]  # whether the model tries again by itself
    streamed: Callable[[Prompt, Spent], AsyncIterator[str]]


async def ask_models(world: World, client: Client, prompts: Sequence[Prompt]) -> list[Reply]:
    """Ask the model of each prompt, several at once; a model's error is a reply too."""
    timeout = prompts[0].timeout_s
    limit = None if timeout is None else monotonic() + timeout
    calls = [_Call(prompt, client, world, limit) for prompt in prompts]
    outcomes = await world.call_all(_Call.text, calls, timeout)
    return [call.reply(outcome) for call, outcome in zip(calls, outcomes, strict=True)]


_REFUSED: dict[int, Counter[str]] = {}  # by model; those of pydantic have no hash


def _refused(model: object) -> Counter[str]:
    """What a model has refused, "form" or "system", and how often a form has failed in a row."""
    if id(model) not in _REFUSED:
        try:
            weakref.finalize(model, _REFUSED.pop, id(model), None).atexit = False
        except TypeError:  # nobody would hear of its end, and its id may be another's then
            return Counter()
    return _REFUSED.setdefault(id(model), Counter())


@dataclass(slots=True)
class _Call:
    """One prompt on its way: how often it was sent, and what each attempt cost that was taken."""

    prompt: Prompt
    client: Client
    world: World
    limit: float | None
    sent: int = 0
    taken: list[Spent] = field(default_factory=list)
    note: str = ""
    form: str = field(init=False)
    refused: Counter[str] = field(init=False)
    failures: int = field(init=False)  # before this question, which may have several prompts
    blamed: str = ""  # what has failed, if plain JSON does better

    def __post_init__(self) -> None:
        self.form = getattr(self.prompt.form, "__name__", "")
        self.refused = _refused(self.prompt.llm)
        self.failures = self.refused[self.form] + _FAILURES * self.refused["form"]
        if self.refused["system"]:
            self.prompt = _all_by_user(self.prompt)

    @property
    def ended(self) -> str:
        """Why the last reply ended, unless as usual."""
        return self.taken[-1].ended if self.taken else ""

    def reply(self, outcome: str | Exception) -> Reply:
        """The reply, or the error in its place; one that is empty or broken off says why."""
        why = f" ({self.ended})" if self.ended else ""
        if isinstance(outcome, ModelError):
            outcome = outcome.cause
        elif isinstance(outcome, Exception) and not isinstance(outcome, TimeoutError):
            raise outcome  # a bug of ours: a model's error is a ModelError
        elif isinstance(outcome, str) and not outcome.strip():
            outcome = ReplyError(f"the model said nothing{why}")
        elif why:
            self.note = self.note or f"the reply ended early{why}"
        return Reply(outcome, self.sent, self.note, self.tokens(outcome))

    def late(self, pause: float = 0) -> bool:
        """Whether its time is over after a pause: nobody waits for it any more."""
        return self.limit is not None and monotonic() + pause >= self.limit

    def begun(self) -> Spent:
        """What an attempt will cost that begins now."""
        self.sent += 1
        self.taken.append(Spent())
        return self.taken[-1]

    def tokens(self, outcome: object) -> Tokens:
        """What all attempts cost; what a model has not counted is an estimate."""
        guess = estimate(self.prompt, outcome)
        costs = [each.tokens or (guess.sent, guess.received) for each in self.taken]
        unknown = any(each.tokens is None for each in self.taken)
        return Tokens(sum(x for x, _ in costs), sum(x for _, x in costs), estimated=unknown)

    async def text(self) -> str:
        """What the model says: with the schema, if it takes one, else without."""
        prompt = self.prompt
        if self.world.show and prompt.finished and not prompt.structured:
            shown = await self._streamed(self.world.show, prompt.finished)
            if shown:
                return shown
        takes_form = self.failures < _FAILURES if prompt.structured is None else prompt.structured
        said = await self._formed() if self.form and takes_form else ""
        if not said.strip():
            said = await self._understood(self.client.plain) or ""
            if self.blamed:
                before = min(self.failures, self.refused[self.blamed])
                self.refused[self.blamed] = before + 1
        return said

    async def _formed(self) -> str:
        """What the model says with the schema; empty if it takes none, or fails with it."""
        why = "it said nothing"
        try:
            said = await self._understood(self.client.formed)
        except ModelError as error:
            if is_transient(error) or http_status(error) in _NO_ACCESS:  # so would plain JSON be
                raise
            said, why = "", str(error)
            self.blamed = "form" if _refuses_form(error) else self.form
        if said is None:
            forced = self.prompt.structured
            self.note = "the model takes no form; it was asked for plain JSON" if forced else ""
        elif said.strip():
            self.refused[self.form] = 0
        else:
            self.blamed = self.blamed or self.form
            self.note = f"asked again for plain JSON, as the form failed ({self.ended or why})"
        return said or ""

    async def _understood(self, sender: Callable[[Prompt], Send | None]) -> str | None:
        """What the model says; to one that takes no system message, the user says it all."""
        try:
            return await self._sent(sender, self.prompt)
        except ModelError as error:
            if not self.prompt.system or is_transient(error) or not _NO_SYSTEM.search(str(error)):
                raise
            try:
                text = await self._sent(sender, _all_by_user(self.prompt))
            except ModelError:
                raise error from None
            self.prompt = _all_by_user(self.prompt)
            self.refused["system"] = 1
            return text

    async def _sent(self, sender: Callable[[Prompt], Send | None], prompt: Prompt) -> str | None:
        """What the model says, after as many attempts as it needs; None if it takes no form."""
        with _of_a_model():
            send = sender(prompt)
        if send is None:
            return None
        most = prompt.attempts or (1 if self.client.retries(prompt) else ATTEMPTS)
        patient = AsyncRetrying(
            sleep=self.world.sleep,
            retry=retry_if_exception(is_transient),
            stop=lambda state: state.attempt_number >= most or self._too_late(state),
            wait=_pause,
            reraise=True,
        )
        return await patient(self._once, send)

    async def _once(self, send: Send) -> str:
        spent = self.begun()
        try:
            with _of_a_model():
                return await send(spent)
        except ModelError as error:
            if is_transient(error) and spent.tokens is None:
                self.taken.pop()  # it was turned away, and cost nothing
            raise

    async def _streamed(self, show: Show, finished: Callable[[str], Sequence[str]]) -> str:
        """What the model says, while its finished sentences are shown; empty if it failed.

        A reply that breaks off after something was shown ends there: it is not asked for again.
        """
        text, shown = "", 0
        try:
            with _of_a_model():
                async for part in self.client.streamed(self.prompt, self.begun()):
                    text += part
                    if "}" not in part or self.late():  # no sentence has come to its end
                        continue
                    sentences = finished(text)
                    for place, sentence in enumerate(sentences[shown:], shown):
                        show(f" {sentence}" if place else sentence)
                    shown = max(shown, len(sentences))
                    await self.world.sleep(0)  # whoever reads along has a turn
        except ModelError as error:
            self.note = f"the reply broke off ({error})" if shown else ""
            return text if shown else ""
        return text

    def _too_late(self, state: RetryCallState) -> bool:
        return self.late(state.upcoming_sleep) or state.upcoming_sleep > LONGEST_PAUSE


def _all_by_user(prompt: Prompt) -> Prompt:
    return replace(prompt, system="", user=f"{prompt.system}\n\n{prompt.user}")


def _refuses_form(error: ModelError) -> bool:
    """Whether the schema itself is refused: a prompt may also be too long for it, or filtered."""
    if isinstance(error.cause, NotImplementedError):
        return True
    said = str(error)
    refused = http_status(error) in (400, 404, 422) and _NO_FORM.search(said)
    return bool(refused) and not _NO_FAULT.search(said)


def _pause(state: RetryCallState) -> float:
    """The seconds before the next attempt: as many as the server names, or more every time."""
    error = state.outcome.exception() if state.outcome else None
    seconds = None if error is None else retry_after(error)
    return _BACK_OFF(state) if seconds is None else seconds


@contextmanager
def _of_a_model() -> Iterator[None]:
    """Whatever is raised here is the error of a user's model, and no bug of ours."""
    try:
        yield
    except Exception as error:
        raise ModelError(error) from error
