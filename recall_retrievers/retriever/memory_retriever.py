"""MemoryRetriever: the base of both retrievers; a question in, a `Recall` out."""

import logging
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Annotated, Any, ClassVar, Self, Unpack

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from recall_retrievers.core.errors import QueryError, ScopeError
from recall_retrievers.core.query import Query, query_text
from recall_retrievers.core.scope import WITH_SCOPE, Scope, ScopeName, required_names
from recall_retrievers.core.stage import Flow, RankStage, Recall, Stage, pipeline
from recall_retrievers.core.world import ListingStore, World, arun, completed
from recall_retrievers.llm.model_stage import ModelStage
from recall_retrievers.ranking.fusion import Fusion
from recall_retrievers.retriever.call_options import OTHER_NAMES, CallOptions, RecallOptions
from recall_retrievers.retriever.stage_list import Stages, TakesStages, default_stages, replaced
from recall_retrievers.stages.build_query import BuildQuery
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.stages.fuse_rerank import FuseRerank
from recall_retrievers.stages.retrieve import Retrieve, SearchMethod, SearchSettings
from recall_retrievers.stages.rewrite_memory import RewriteMemory
from recall_retrievers.stages.search_gate import SearchGate
from recall_retrievers.store import ScopedStore
from recall_retrievers.store.memory_store import NarrowedStore, OpenStore
from recall_retrievers.text.words import CJK, share_of_other_scripts
from recall_retrievers.timeline.parse_time import end_of_day

_log = logging.getLogger(__name__)

_UNREAD_TIME = (
    "the stages prefer the time that a question names (FuseRerank), and none of them reads it: put "
    "ExtractTime() in front, as in stages=[ExtractTime(), ..., FuseRerank()]. To change one stage "
    "of the default list, write replace=[FuseRerank(...)]. To ignore time, set "
    'time_mode="ignore" or FuseRerank(fuse_time_ratio=1)'
)


class RetrieverOptions(CallOptions, total=False):
    """The settings of a retriever, apart from its store and its stages."""

    require_scope: Sequence[ScopeName]
    fetch_k: int
    fusion: Fusion
    semantic_weight: float
    token_weight: float
    similarity_floor: float
    duplicate_threshold: float | None
    mmr_lambda: float
    gate: SearchGate | None
    recall_key: str
    replace: Sequence[Stage]


class MemoryRetriever(TakesStages, RecallOptions, SearchSettings):
    """Find the memories that answer a question in plain words, dated and explained.

    An empty question with a ``time_range`` or a ``filter`` lists the memories of that time or with
    that metadata, the newest first. Stages that rank or ask a model are then left out. An empty
    question with neither is an error.

    Args:
        store: The collection; see `RecallStore`. With a view (`RecallStore.for_scope`) its scope is
            that of the retriever. A vector store or a retriever of the framework is
            searched too; see `AnyStore`.
        k: How many memories to return.
        method: How to search: by meaning ("semantic"), by words ("keyword") or both ("hybrid").
        threshold_score: The lowest similarity that a candidate may have, 0 to 1. A memory that only
            its words found has none, so it is dropped. None = any.
        only_with_evidence: Whether nothing is returned if no memory is about the question: if its
            ``recall_evidence`` is "none". The trace says what was nearest.
        timestamp: The reference time, from which "last Tuesday" is read: epoch seconds,
            ISO 8601 or datetime. None = the clock.
        timezone: The asker's time zone, such as "Europe/Berlin". None = the timestamp's own, else
            the machine's.
        scope: Whose memories: user_id, agent_id, session_id, workspace. A call can narrow it. A
            field that is there and empty is a `ScopeError`; None and ``{}`` set no limit.
        everyone: Whether the memories of all users are meant where the scope names no ``user_id``.
            If not, and the store holds memories of more than one user, a question inside a chain,
            an agent or another retriever is a `ScopeError`. A direct one logs a warning once.
        require_scope: The fields that the scope of every call must name, such as ``("user_id",)``:
            here, in the call or in both. A call without them is a `ScopeError`.
        filter: Conditions on metadata, as Chroma writes them: ``{"topic": {"$in": ["a", "b"]}}``.
            The filter of a call holds too.
        time_range: The time to look in: (start, end) with None for open, or words such as "last
            Tuesday"; the question's own words of time are then not read. It weighs as they would.
        time_mode: What a time named in the question does. "prefer" searches and favours it,
            "require" returns nothing else, "ignore" does not read it.
        messages: The conversation before the question: a list of messages with a role and a
            content. The search is for the question with the last exchange, too; if the question
            leaves something open ("And Tom?", "since when?"), for that alone. `BuildQuery` and
            `RewriteMemory` look at the last three.
        deadline_s: Seconds for the whole question. After that no model is asked, and you get what
            is found and ranked by then; the trace says so. A search that has begun is finished.
        as_of: Answer as the collection stood at this moment: with memories that were recorded by
            then, and neither expired nor superseded by then. A date without a time is the end of
            that day. "Last week" is still read from ``timestamp``. None = superseded memories are
            not found, unless a question asks for them: "What was it before?"
        include_superseded: Find superseded memories, too; see `RecallStore.supersede`.
        fetch_k: The size of the candidate pool; never less than four times k. If the question names
            a time, the pool has as many again from that time.
        fusion: How a hybrid search makes one score of two: "scores" weighs the similarity and the
            BM25 score, "ranks" only how they rank (reciprocal rank fusion).
        semantic_weight: The share of meaning in that score, 0 to 1. The rest belongs to the words.
            If it is not set, it is 0.65 with an embedding that has vectors of tokens, as the
            default has, and 0.6 with others. It grows up to 0.9 if no memory has much of the
            question's words: a question may only ask, and name nothing. A question in another
            script has 0.4 if the model knows only English.
        token_weight: The share of single words in the share of meaning, 0 to 1: each word of the
            question is compared with the words of a memory, by their meaning in context (MaxSim).
            A question of more than eight telling words has less: a long one shares something with
            every memory. It needs an embedding that has vectors of tokens, as the default has. If
            it is not set, a question in a script that the model does not know has 0.
        similarity_floor: The similarity of texts that have nothing to do with each other, 0 to 1.
            It is subtracted before a hybrid search fuses. If it is not set, it is 0.7 for E5
            models, whose similarities are all high, and 0 for others.
        duplicate_threshold: The share of words, in order, from which two memories count as one,
            above 0 to 1; None = all are kept, equal texts too.
        mmr_lambda: Below 1, memories that repeat better ones lose score (maximal marginal
            relevance): 1 = relevance alone, 0 = difference alone.
        gate: Decides from the question's words whether memories are needed. If not, nothing is
            searched and the result is empty. None = every question is searched.
        recall_key: The key of the question, if a chain passes a dict.
        stages: The stages, in order. A stage that works on the question comes before the search.
            A stage that writes a text comes last: the text is then the only result. A function
            ``(memories, query) -> memories`` is a stage too.
        replace: Stages that take the place of the stage of their class in ``stages``, so that the
            list need not be written again: ``replace=[FuseRerank(fuse_time_ratio=3)]``. One without
            an ``llm`` keeps that of the stage it replaces. Afterwards ``stages`` is the new list.
    """

    public_name: ClassVar[str] = "RecallRetriever"
    elsewhere: ClassVar[Mapping[str, str]] = {
        **OTHER_NAMES,
        **dict.fromkeys(("vectorstore", "vector_store", "index"), "here it is store"),
        "lambda_mult": "here it is mmr_lambda",
        "alpha": "here it is semantic_weight",
        **dict.fromkeys(
            ("embedding", "embed_model"),
            "it belongs to the store: RecallStore(path, embedding=...)",
        ),
        "llm": "stages that use a model take it, as in "
        "stages=[ExtractTime(), SemanticRank(llm=...), FuseRerank()]",
    }
    world_type: ClassVar[type[World]] = World
    naming: ClassVar[str] = WITH_SCOPE  # how to name the user; of a face, as its framework does

    store: OpenStore = Field(repr=False, exclude=True)
    require_scope: Annotated[tuple[ScopeName, ...], BeforeValidator(required_names)] = ()
    gate: SearchGate | None = None
    recall_key: str = "query"
    stages: Stages = Field(default_factory=default_stages)
    replace: list[Stage] = Field(default_factory=list, exclude=True, repr=False)
    _warned: bool = PrivateAttr(default=False)

    @model_validator(mode="after")
    def _with_replacements(self) -> Self:
        self.stages, self.replace = replaced(self.stages, self.replace), []
        return self

    @model_validator(mode="after")
    def _within_the_view(self) -> Self:
        if isinstance(self.store, ScopedStore):
            self.scope = self.store.scope.narrow(self.scope)
        return self

    @model_validator(mode="after")
    def _reads_the_time(self) -> Self:
        reads_none = self.time_mode == "ignore" or self.time_range is not None
        reads = any(isinstance(stage, ExtractTime) for stage in self.stages)
        fuses = [stage for stage in self.stages if isinstance(stage, FuseRerank)]
        if not (reads or reads_none) and any(stage.fuse_time_ratio != 1 for stage in fuses):
            warnings.warn(_UNREAD_TIME, stacklevel=_stack_level(type(self)))
        return self

    @property
    def shows_sentences(self) -> bool:
        return bool(self.stages) and isinstance(self.stages[-1], RewriteMemory)

    def steps_for(self, asked: object, now: datetime, given: CallOptions) -> Flow:
        """The steps that answer a question, or a mapping that has it under ``recall_key``."""
        if isinstance(asked, Mapping) and "messages" in asked:
            given = {"messages": asked["messages"], **given}
        call = self.for_call(given)
        call.scope.require(self._required, self.naming)
        # The flows for tasks have a filter and build questions: there an empty one is a mistake.
        condition = call.filter and (given.get("filter") if self._builds else call.filter)
        lists = call.time_range is not None or bool(condition)
        query = self._query(self._question(asked, call, lists=lists), call, now)
        stages = self._in_order(call, query)
        recall = yield from pipeline(stages, Recall(query), call.deadline_s, call.k)
        if recall.skipped:
            _log.debug("nothing was searched; %s", recall.skipped)
        return recall

    def recall_without_model(self, question: str, **options: Unpack[CallOptions]) -> Recall:
        """Answer a question with stages that ask no model, and return all that was understood."""
        return completed(self.recalled(question, options, World))

    async def recalled(
        self,
        asked: object,
        options: CallOptions,
        world: Callable[[ListingStore], World],
        now: datetime | None = None,
        *,
        inside: bool = False,
    ) -> Recall:
        """Answer a question in a world that is made over the store within the call's scope.

        The arguments are those of `steps_for`; without ``now`` the machine's clock counts.
        ``inside``: whether another run asks, such as a chain, an agent or another retriever.
        """
        steps = self.steps_for(asked, now or datetime.now(UTC), options)
        return await arun(steps, world(self.scoped(options, inside=inside)))

    def world(self, store: ListingStore) -> World:
        """The world of a question that comes from no framework: with its models all the same."""
        return self.world_type(store=store)

    def scoped(self, options: CallOptions, *, inside: bool = False) -> NarrowedStore:
        """The store within the scope of a call: its steps find, read and write only there."""
        call = options.get("scope")
        scope = self.scope if call is None else self.scope.narrow(Scope.model_validate(call))
        one = scope.user_id is not None or options.get("everyone", self.everyone)
        unnamed = None if one else partial(self._unnamed, inside=inside)
        return NarrowedStore(self.store, scope, self._required, unnamed)

    def _unnamed(self, *, inside: bool) -> None:
        problem = (
            f"memories of several users would answer, and no user is named. {self.naming}. A "
            "wrapper that does not pass this on needs a RecallRetriever(scope=...) for each user. "
            "If all users are meant, set everyone=True"
        )
        if inside:
            raise ScopeError(problem)
        if not self._warned:
            self._warned = True
            _log.warning("%s", problem)

    @property
    def _required(self) -> tuple[ScopeName, ...]:
        # By isinstance it takes 20 microseconds, and every question asks.
        of_store = getattr(self.store, "require_scope", ())
        return tuple(dict.fromkeys([*self.require_scope, *of_store]))

    def _calendar(self) -> ExtractTime:
        own = (stage for stage in self.stages if isinstance(stage, ExtractTime))
        return next(own, ExtractTime())

    def _query(self, text: str, call: RecallOptions, now: datetime) -> Query:
        moment = call.moment(now)
        return Query(
            text=text,
            reference_time=moment,
            scope=call.scope,
            filter=call.filter,
            time_ranges=call.bounds(moment, self._calendar),
            k=call.k,
            messages=call.messages,
            as_of=None if call.as_of is None else end_of_day(call.as_of, moment.tzinfo),
            include_superseded=call.include_superseded,
        )

    def _in_order(self, call: RecallOptions, query: Query) -> list[Stage]:
        retrieve = self.search_for(call, query.text)
        reads_time = call.time_mode != "ignore"
        stages = [x for x in self.stages if reads_time or not isinstance(x, ExtractTime)]
        after = [stage for stage in stages if not stage.before_search]
        if not query.text and not (self._builds and call.messages):
            return [retrieve, *(x for x in after if not isinstance(x, RankStage | ModelStage))]
        gate = [] if self.gate is None else [self.gate]
        return [*gate, *(stage for stage in stages if stage.before_search), retrieve, *after]

    def search_for(self, call: RecallOptions, text: str) -> Retrieve:
        model = getattr(self.store, "embedding_model", "")
        embeds_words = getattr(self.store, "embeds_words", False)
        share = meaning_share(text, model, embeds_words=embeds_words)
        by_model = {
            "semantic_weight": share,
            "token_weight": self.token_weight if share >= _KNOWN else 0.0,
            "similarity_floor": _HIGH_FLOOR if _HIGH.search(model) else 0.0,
        }
        settings = {name: getattr(self, name) for name in SearchSettings.model_fields}
        settings |= {k: by_model[k] for k in by_model.keys() - self.model_fields_set}
        if "semantic_weight" not in self.model_fields_set and share >= _KNOWN:
            settings["unmatched_weight"] = None if _NO_SPACES.search(text) else _UNMATCHED
        settings |= {name: getattr(call, name) for name in SearchMethod.model_fields}
        return _retrieve(**settings, require_time=call.time_mode == "require")

    @property
    def _builds(self) -> bool:
        return any(isinstance(stage, BuildQuery) for stage in self.stages)

    def _question(self, asked: object, call: RecallOptions, *, lists: bool) -> str:
        """The question; empty if one is built, or memories are listed without one."""
        question = asked
        if isinstance(asked, Mapping):
            question = asked.get(self.recall_key)
            if question is None and "messages" not in asked:
                raise QueryError(
                    f"expected the question under {self.recall_key!r}; got a mapping with "
                    f"{', '.join(map(repr, asked))}; set recall_key to the one that holds it"
                )
        if call.messages and self._builds and (question is None or question == ""):
            return ""
        if lists and isinstance(question, str) and not question.strip():
            return ""
        return query_text(question)


def _stack_level(retriever: type) -> int:
    """How far up the stack the line of the user is: above ours and what ours are made of."""
    inner = {base.__module__.partition(".")[0] for base in retriever.__mro__}
    level, frame = 0, sys._getframe()  # noqa: SLF001 - 3.11 has no skip_file_prefixes
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in inner:
        level, frame = level + 1, frame.f_back
    return level


@lru_cache(maxsize=64)
def _retrieve(**settings: Any) -> Retrieve:
    """The search with these settings; questions with equal ones share it, as it never changes."""
    return Retrieve(**settings)


# The share of meaning where the model knows the script of a question, where it does not, and where
# single words are compared by meaning, too. Measured on nine English sets and three Chinese ones,
# with all-MiniLM-L6-v2. In Chinese it still sees common characters, so it is not worthless.
_KNOWN, _UNKNOWN, _WITH_WORDS = 0.6, 0.4, 0.65
# The share where no memory has much of the question's words. Of Chinese, pairs of characters are
# compared, and a memory has few of them anyway.
_UNMATCHED = 0.9
_NO_SPACES = re.compile(f"[{CJK}]")

# Models for English alone say so in their name, or are known for it.
_ENGLISH = re.compile(
    r"(?i)all-(?:minilm|mpnet|distilroberta)|(?:^|[-_/])en(?:[-_.]|$)|english|multi-qa-(?:mini|mpnet)"
)
# Trained so that unrelated texts have a cosine of 0.7 to 0.8.
_HIGH = re.compile(r"(?i)(?:^|[-_/])e5-(?:small|base|large)")
_HIGH_FLOOR = 0.7


def meaning_share(text: str, embedding_model: str, *, embeds_words: bool = False) -> float:
    """The share of meaning for a question; less if an English model meets another script."""
    unknown = share_of_other_scripts(text)
    if not unknown or not _ENGLISH.search(embedding_model):
        return _WITH_WORDS if embeds_words else _KNOWN
    # Rounded, so that few settings of a search are kept.
    return round(_KNOWN - (_KNOWN - _UNKNOWN) * unknown, 1)
