"""AgentMemory: the profiles and events of an agent and its users, searched by a conversation.

Memories of the type "profile" are profiles, those of all other types are events. With a ``user_id``
a memory is a user's, without one the agent's own. The scope is fixed when the memory is opened.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypedDict

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.concurrent import awaited
from recall_retrievers.core.errors import ScopeError
from recall_retrievers.core.query import Filter
from recall_retrievers.core.scope import ANYBODY, Scope
from recall_retrievers.core.settings import Settings, check_count
from recall_retrievers.core.settings_messages import got
from recall_retrievers.core.stage import Search
from recall_retrievers.gate.turns import Conversation, read_turns
from recall_retrievers.stages.search_gate import should_search_memory
from recall_retrievers.store.memory_store import OpenStore
from recall_retrievers.text.words import SMALL_WORDS, language_of, words

_MOST = 20
_SHORTEST = 3  # letters; in Chinese, which needs fewer, terms are pairs of characters
_LONGEST_TEXT = 20_000  # characters at the end of the conversation that are read
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_TERM = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+|(?:(?![\u3400-\u4dbf\u4e00-\u9fff])\w)+[+#]*")
_SAY_NOTHING = frozenset("的了是在我你他她它们这那有和与也都就不没吗呢吧啊么什怎哪谁把被给跟对说")


def extract_search_terms(
    conversation: Conversation, system_prompt: str = "", most: int = _MOST
) -> list[str]:
    """The words of a conversation that carry most meaning, the last ones first.

    Stop words of its language (English, Chinese, German, Spanish, French) and terms of less than 3
    letters are left out. Chinese is taken in pairs of characters. The words of the system prompt
    come after the words of the conversation.

    Args:
        conversation: A text or a list of messages; see `should_search_memory`.
        system_prompt: The assistant's instructions.
        most: How many terms at the most.

    Examples:
        >>> extract_search_terms("We learned Python. Which decorators did we discuss?")
        ['discuss', 'decorators', 'python', 'learned']
        >>> extract_search_terms("我姐姐喜欢绿茶")
        ['绿茶', '欢绿', '喜欢', '姐喜', '姐姐']
    """
    conversation_text = "\n".join(turn.text for turn in read_turns(conversation))[-_LONGEST_TEXT:]
    terms: dict[str, None] = {}
    for text in (conversation_text, system_prompt[-_LONGEST_TEXT:]):
        for term in _last_first(text.lower()):
            terms[term] = None
            if len(terms) == most:
                return list(terms)
    return list(terms)


def _last_first(text: str) -> Iterator[str]:
    runs = _TERM.findall(text)
    stop_words = SMALL_WORDS[language_of(runs)]
    for run in reversed(runs):
        if _HAN.match(run):
            for end in range(len(run), 1, -1):
                pair = run[end - 2 : end]
                if _SAY_NOTHING.isdisjoint(pair):
                    yield pair
        elif len(run) >= _SHORTEST and run not in stop_words and not run.isdecimal():
            yield run


_POOL = 200  # candidates of each type by BM25; the best of them by match score are shown


class Match(TypedDict):
    """A memory that was found.

    Attributes:
        content: Its text.
        match_score: How often each term stands in it x the letters of the term, summed.
        matched_terms: The terms that stand in it.
    """

    content: str
    match_score: int
    matched_terms: list[str]


class ContextMatches(TypedDict):
    """The matches of a conversation, with the names of PersonaLab.

    Attributes:
        search_terms: The terms of the search, up to 20, the latest first.
        agent_profile_matches: Matches in the profile of the agent.
        agent_event_matches: Matches in the events of the agent.
        user_profile_matches: Matches in the profiles of its users.
        user_event_matches: Matches in the events of its users.
        total_matches: The number of all matches.
    """

    search_terms: list[str]
    agent_profile_matches: list[Match]
    agent_event_matches: list[Match]
    user_profile_matches: list[Match]
    user_event_matches: list[Match]
    total_matches: int


class AgentMemory(Settings):
    """The memory of an agent: profiles and events of its own and of its users.

    Args:
        store: A collection made by `RecallStore`. Memories of the type "profile" are profiles, and
            those of all other types are events.
        agent_id: The agent, where the collection holds several. Left out = all that is in it.
        user_id: The only user whose memories can be seen. Left out = the agent's and all its
            users'.

    Raises:
        ScopeError: When an id is there and is None, no text, or an empty one.

    Examples:
        >>> from recall_retrievers.store import RecallStore
        >>> store = RecallStore()
        >>> ids = store.add([
        ...     {"content": "Ann is learning Python.", "memory_type": "profile",
        ...      "scope": {"user_id": "ann"}},
        ...     {"content": "Explained Python decorators.", "memory_type": "event"},
        ... ])
        >>> found = AgentMemory(store=store).search_memory_with_context("Python decorators?")
        >>> found["agent_event_matches"][0]["matched_terms"], found["total_matches"]
        (['decorators', 'python'], 2)
        >>> bob = AgentMemory(store=store).get_user_memory("bob")
        >>> bob.search_memory_with_context("Python?", user_id="ann")["total_matches"]
        0
        >>> store.close()
    """

    model_config = ConfigDict(frozen=True)

    store: OpenStore = Field(repr=False, exclude=True)
    agent_id: str | None = None
    user_id: str | None = None

    @field_validator("agent_id", "user_id", mode="before")
    @classmethod
    def _names_somebody(cls, name: object, field: ValidationInfo) -> object:
        Scope.model_validate({field.field_name: name})
        return name

    def get_user_memory(self, user_id: str) -> AgentMemory:
        """The memory of one user. It never sees another user.

        Raises:
            ScopeError: When this is another user's memory, or the id is no text or empty.
        """
        if self.user_id not in (None, user_id):
            raise ScopeError(
                f"this is the memory of {got(self.user_id)} and cannot be opened for "
                f"{got(user_id)}; open that one from the agent's"
            )
        Scope(user_id=user_id)  # refuses what is no id
        return self.model_copy(update={"user_id": user_id})

    def get_agent_memory(self) -> AgentMemory:
        """The memory of the agent and all its users. In a user's memory: of this user alone."""
        return self

    def should_search_memory(self, conversation: Conversation, system_prompt: str = "") -> bool:
        """Whether a conversation needs memories; see the function of the same name."""
        return should_search_memory(conversation, system_prompt)

    def search_memory_with_context(
        self,
        conversation: Conversation,
        system_prompt: str = "",
        user_id: str | Scope = ANYBODY,
        max_results: int = 10,
    ) -> ContextMatches:
        """Look up the words of a conversation among profiles and events, old and new.

        Args:
            conversation: A text or a list of messages; see `should_search_memory`.
            system_prompt: The assistant's instructions; their words are looked up as well.
            user_id: Only this user's memories; an unknown one has none. Left out = all that this
                memory sees. A user's memory sees that user only, whatever is passed here.
            max_results: How many matches of each kind, 1 to 10,000.

        Raises:
            QueryError: When ``max_results`` is out of range.
            ScopeError: When ``user_id`` is no text, or an empty one.
        """
        check_count("max_results", max_results)
        scope = self._scope(user_id)
        terms = extract_search_terms(conversation, system_prompt)
        limit = max(_POOL, max_results)
        kinds: list[Filter] = [{"memory_type": {sign: "profile"}} for sign in ("$eq", "$ne")]
        text = " ".join(terms)
        searches = [Search(text, limit, scope, kind, method="keyword") for kind in kinds if terms]
        return _matches(terms, self.store.find(searches) if searches else [], max_results)

    asearch_memory_with_context = awaited(search_memory_with_context)  # type: ignore[pydantic-field]  # a method
    """Look up words as `search_memory_with_context` does, without blocking the event loop."""

    def _scope(self, user_id: str | Scope) -> Scope:
        """Whose memories a call sees: its user's, unless this is the memory of another."""
        call = Scope.model_validate({} if user_id is ANYBODY else {"user_id": user_id})
        bound = {"agent_id": self.agent_id, "user_id": self.user_id}
        own = {name: value for name, value in bound.items() if value is not None}
        return Scope.model_validate({**call.fields(), **own})


def _matches(
    terms: Sequence[str], found: Iterable[Sequence[Hit]], max_results: int
) -> ContextMatches:
    profiles, events = [[hit.memory for hit in hits] for hits in found or ([], [])]
    agents, users = (
        [
            _best(terms, [x for x in kind if (x.scope.user_id is not None) is whose], max_results)
            for kind in (profiles, events)
        ]
        for whose in (False, True)
    )
    return ContextMatches(
        search_terms=list(terms),
        agent_profile_matches=agents[0],
        agent_event_matches=agents[1],
        user_profile_matches=users[0],
        user_event_matches=users[1],
        total_matches=sum(map(len, [*agents, *users])),
    )


def _best(terms: Sequence[str], memories: Iterable[Candidate], max_results: int) -> list[Match]:
    """The memories with the highest match score; among equals, those that BM25 puts first."""
    # Keyword search knows a stem, or a pair of Chinese characters.
    stems = {term: (words(term) or [term])[-1] for term in terms}
    matches = []
    for memory in memories:
        counts = Counter(words(memory.content))
        often = {term: counts[stem] for term, stem in stems.items() if counts[stem]}
        if often:
            score = sum(count * len(term) for term, count in often.items())
            matches.append(Match(content=memory.content, match_score=score, matched_terms=[*often]))
    matches.sort(key=lambda match: -match["match_score"])
    return matches[:max_results]
