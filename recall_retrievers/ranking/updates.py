"""Of two values the later one: "Ann lives in Leeds", and a year later "Ann lives in Bath"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from recall_retrievers.core.pool import Facts
from recall_retrievers.text.words import SMALL_STEMS, plain_stems
from recall_retrievers.timeline.direction import tells_past

_NEAR = 0.75  # the share of the best relevance from which a memory may be changed in place
_FIRST = 8  # the best candidates, which alone are compared
_SHORT = 6  # words, or Chinese characters, of a value
_LONGEST = 200  # characters of a memory that states one thing
_SENTENCES = re.compile(r"[.!?;。！？；]\W+\w")

# A question about then, and one that many memories answer together.
_THEN = re.compile(
    r"\b(?:before|earlier|old|former(?:ly)?|previous(?:ly)?|original(?:ly)?|früher\w*|alte[nmrs]?"
    r"|damals|vorher\w*|ehemalig\w*|antes|antigu[oa]s?|anterior\w*|entonces|avant|ancien(?:ne)?s?"
    r"|époque|\w{3,}ai[st])\b|以前|之前|原来|那时|当时|当時|古い|元の|昔|だった|でした|ました",
    re.IGNORECASE,
)
_MANY = re.compile(
    r"\b(?:what|which) (?!is\b|does\b|has\b|\w*[su]s\b)\w+s\b|\b(?:who|what|which) are\b"
    r"|\b(?:quels|quelles|cuáles|qué \w+s)\b|\bwelche \w+(?:er|en)\b"
    r"|\b(?:likes?|loves?|enjoys?|hates?|needs?|wants?|knows?|plays?|mag|magst|mögen|brauch\w*"
    r"|kann|kennt?|spiel\w*|gust\w+|necesit\w+|sabes?|aim\w+|besoin|veu[tx]|jou\w+)\b"
    "|哪些|几个|多少个|几人|喜欢|需要|会(?![议员计场费社])|好き|どんな|必要",
    re.IGNORECASE,
)
_NOW = frozenset(
    plain_stems(
        "now new current today jetzt nun neu neue neuer neues nur noch ahora nuevo nueva ya "
        "maintenant nouveau nouvelle 现 今 新 已"
    )
)


def later_first(
    facts: Facts, question: str, worth: Sequence[float], scores: Sequence[float]
) -> list[float]:
    """The factors that put the later of two values before the earlier one.

    Two memories of one author exchange their scores if they say the same in the present tense but
    for one value, and the question asks what it is now. All others have the factor 1.
    """
    given, best = [*scores], max(worth, default=0.0)
    order = sorted(range(len(facts)), key=[-score for score in scores].__getitem__)
    near = [n for n in order[:_FIRST] if worth[n] >= _NEAR * best > 0 and facts.created[n]]
    if len(near) > 1 and asks_for_one_value(question):
        found = zip(near, facts.candidates(near), strict=True)
        texts = {n: memory.content for n, memory in found if memory and is_state(memory.content)}
        for one, other in combinations(texts, 2):
            first, second = facts.created[one], facts.created[other]
            if (
                facts.authors[one] == facts.authors[other]
                and facts.owners[one] == facts.owners[other]
                and first
                and second
                and (first < second) == (given[one] > given[other])
                and differ_in_a_value(texts[one], texts[other], question)
            ):
                given[one], given[other] = given[other], given[one]
    return [new / score if score > 0 else 1.0 for new, score in zip(given, scores, strict=True)]


def asks_for_one_value(question: str) -> bool:
    """Whether a question asks for what is so now, and has one answer.

    Examples:
        >>> texts = ("Where does Ann live?", "Where did Ann live?", "Which books do I have?")
        >>> [asks_for_one_value(text) for text in texts]
        [True, False, False]
    """
    return not (_THEN.search(question) or _MANY.search(question) or tells_past(question))


def is_state(text: str) -> bool:
    """Whether a text is one short sentence in the present tense."""
    return len(text) < _LONGEST and not _SENTENCES.search(text) and not tells_past(text)


def differ_in_a_value(one: str, other: str, question: str) -> bool:
    """Whether two texts say the same but for a value, which is not in the question.

    Examples:
        >>> question = "Where does Ann live?"
        >>> differ_in_a_value("Ann lives in Leeds.", "Ann lives in Bath now.", question)
        True
        >>> differ_in_a_value("Ann lives in Leeds.", "Tom lives in Bath.", question)
        False
    """
    asked, sides = {*_stems(question)} - SMALL_STEMS, (_stems(one), _stems(other))
    same = Counter(sides[0]) & Counter(sides[1])
    for side in sides:
        value = [n for n, stem in enumerate(side) if side[: n + 1].count(stem) > same[stem]]
        if not value or not value[0] or len(value) > _SHORT:
            return False
        whole = range(value[0], value[-1] + 1)  # a word twice may be in the question as well
        if asked & {side[n] for n in whole if n not in value or side[n] not in same}:
            return False
    known, half = len(asked & same.keys()), min(map(len, sides)) / 2
    enough = min(half, 2) if known == len(asked) else half
    return 2 * known >= max(len(asked), 1) and same.total() >= enough


def _stems(text: str) -> list[str]:
    """The stems of a text in order, without words for now."""
    return [stem for stem in plain_stems(text) if stem not in _NOW]
