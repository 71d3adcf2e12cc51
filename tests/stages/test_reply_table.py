"""Whatever a model says, no stage raises, loses a memory or invents one; each fallback is named."""

import re
from datetime import UTC, datetime

import pytest
from stages.reply_kit import CONTENTS, KITS, Kit, Reply
from stages.reply_table import CORRECTED, REPLIES, SEVERAL, USELESS, WRAPPED
from stages.scripted import answered
from tables import table

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.message import Message
from recall_retrievers.core.query import Query, Recall
from recall_retrievers.core.stage import Stage
from recall_retrievers.llm.time_question import read_time
from recall_retrievers.stages.build_query import BuildQuery, read_query
from recall_retrievers.stages.model_rankers import RerankMemory, SemanticRank
from recall_retrievers.stages.reflect import Reflect
from recall_retrievers.stages.rewrite_memory import RewriteMemory, plain_text
from recall_retrievers.stages.search_gate import read_verdict

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)
BEFORE = [0.9, 0.6, 0.5, 0.05]
GIVEN = tuple(
    Candidate(id=name, content=content, score=score)
    for (name, content), score in zip(CONTENTS.items(), BEFORE, strict=True)
)
QUERY = Query(text="The dentist, a filling, green tea or Carla?", reference_time=NOW)
QUESTION = Recall(QUERY, GIVEN)
STAGES: dict[str, type[Stage]] = {
    each.__name__: each for each in (SemanticRank, RerankMemory, RewriteMemory, Reflect)
}


def replies(kit: Kit) -> list[Reply]:
    return [reply for reply in REPLIES if kit.stage in reply.kits]


def check_ranked(outcome: Recall, stage: str, reply: Reply) -> None:
    memories = outcome.memories
    assert sorted((each.id, each.content) for each in memories) == sorted(CONTENTS.items())
    if reply.understood:
        scores = [each.score for each in memories]
        assert all(score is not None and 0 <= score <= 1 for score in scores)
        assert scores == sorted(scores, key=lambda score: -(score or 0))
        assert "".join(each.id or "" for each in memories) == reply.order
    else:
        assert [(each.id, each.score) for each in memories] == [(e.id, e.score) for e in GIVEN]
        assert outcome.fallbacks[0].startswith(f"{stage}: ")


def check_text(outcome: Recall, stage: str, reply: Reply) -> None:
    citations = outcome.citations
    assert not re.search(r"""\{["']|["']:|\||```|</|memories|Green tea\.""", outcome.text)
    sentences = [each.sentence for each in citations]
    assert len(set(sentences)) == len(sentences) <= 20
    assert all(len(sentence) <= 500 for sentence in sentences)
    assert [each.content for each in outcome.memories] == list(CONTENTS.values())
    assert all(set(each.ids) <= set(CONTENTS) and each.ids for each in citations)
    notes = "; ".join(outcome.fallbacks)
    if stage == "Reflect" or reply.understood:
        ending = "\n- " if stage == "Reflect" else " "
        assert outcome.text.removeprefix("- ") == ending.join(e.marked() for e in citations)
    if reply.understood:
        assert citations
        assert "failed" not in notes
        assert "Error" not in notes
    else:
        assert notes.startswith(f"{stage}: ")
        assert len(notes) < 400
        if stage == "RewriteMemory":
            assert outcome.text == plain_text(GIVEN)


def assert_named(outcome: Recall, kit: Kit, reply: Reply) -> None:
    """Whatever was odd about a reply that is understood is named, and nothing else is."""
    checks = ("left out that do not rest", "mended: another memory", "left out that repeat one")
    named = [
        each
        for each in outcome.fallbacks
        if (reply.note and reply.note in each) or not any(check in each for check in checks)
    ]
    if reply.understood:
        of_scores = "not judged" in reply.note or "several scores" in reply.note
        expected = reply.note if kit.ranks or not of_scores else ""
        assert bool(named) is bool(expected)
        assert expected in "; ".join(named)


@pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.stage)
def test_a_reply(kit: Kit) -> None:
    stage = STAGES[kit.stage](llm=object(), **kit.settings)
    check = check_ranked if kit.ranks else check_text

    @table("reply", replies(kit), ids=str)
    def every_reply_is_read_or_named(reply: Reply) -> None:
        outcome, _ = answered([stage], QUESTION, reply.make(kit))

        check(outcome, kit.stage, reply)
        assert_named(outcome, kit, reply)

    every_reply_is_read_or_named()


class QueryKit(Kit):
    """The same replies, made for a query."""

    def entries(self, numbers: object = ()) -> object:
        return "green tea"


QUERY_KIT = QueryKit("BuildQuery", "query", {})


def built(reply: object) -> Recall:
    message = Message(role="user", content="The dentist of Bob?")
    nothing_yet = Recall(Query(text="", reference_time=NOW, messages=(message,)))
    return answered([BuildQuery(llm=object())], nothing_yet, reply)[0]


@table("reply", [x for x in (*WRAPPED, *USELESS) if x.name != "the list alone"], ids=str)
def test_a_query_that_a_model_builds(reply: Reply) -> None:
    outcome = built(reply.make(QUERY_KIT))

    if reply.understood:
        assert outcome.query.text == "green tea"
        assert outcome.fallbacks == ()
    else:
        assert outcome.query.text == "- user: The dentist of Bob?"
        assert outcome.fallbacks[0].startswith("BuildQuery: ")


@table("text", CORRECTED.values(), ids=CORRECTED)
def test_of_several_readings_of_a_question_the_last_counts(text: str) -> None:
    query = read_query(text.format('{"query": "coffee"}', '{"query": "green tea"}'))
    verdict = read_verdict(text.format('{"search": false}', '{"search": true}'))
    time = read_time(text.format('{"start": "2023"}', '{"start": "2022", "end": "2022"}'), QUERY)

    quoted = read_query('{"query": "tea"} They say {"query": "jam"}', 'Say {"query": "jam"}!')

    assert (query.value, verdict.value, quoted.value) == ("green tea", True, "tea")
    assert time is not None
    assert time.describe().startswith("2022-01-01 to 2022")
    assert query.notes == verdict.notes == (SEVERAL,)
