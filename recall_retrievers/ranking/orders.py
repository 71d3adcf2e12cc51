"""The order of memories by their times: the latest or the first, and of two values the later."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from heapq import nlargest
from itertools import combinations

from recall_retrievers.core.pool import Facts
from recall_retrievers.text.order import AskedOrder, without_order
from recall_retrievers.text.words import CJK, SMALL_WORDS, words
from recall_retrievers.timeline.extract_time import tells_past

_FITS = 0.75  # the share of the best relevance from which a memory fits the question
_COVERS = 0.5  # the same for one that has all words of the question that the best one has
_COMPARED = 5  # candidates, the best ones: they are read for most answers anyway
_SHORT = 6  # words, or Chinese characters, of a value

# A question about then, and one that several memories answer together.
_THEN_OR_MANY = re.compile(
    r"\b(?:before|earlier|old|former(?:ly)?|previous(?:ly)?|original(?:ly)?|früher\w*|alte[nmrs]?"
    r"|damals|vorher\w*|ehemalig\w*|antes|antigu[oa]s?|anterior\w*|entonces|avant|ancien(?:ne)?s?"
    r"|époque|\w{3,}ai[st]|(?:what|which) (?!is\b|does\b|has\b|\w*[su]s\b)\w+s|wh\w+ are"
    r"|quel(?:le)?s|cuáles|qué \w+s|welche \w+(?:er|en)|(?:like|love|enjoy|hate|need|want|know"
    r"|play)s?|mag|mögen|brauch\w*|kann|kenn\w*|spiel\w*|gust\w+|necesit\w+|sabes?|aim\w+|besoin"
    r"|veu[tx]|jou\w+)\b|以前|之前|原来|那时|当[时時]|古い|元の|昔|だった|でした|ました"
    "|哪些|几[个人]|多少个|喜欢|需要|会(?![议员计场费社])|好き|どんな|必要",
    re.IGNORECASE,
)
_LONG = re.compile(r"[.!?;。！？；]\W+\w|.{120}")  # more than one, or a long one
_NO_STEM = re.compile(f"[ぁ-ん]|[{CJK}]{{2}}")  # Japanese particles and endings, and pairs
_SMALL = {*words(" ".join(frozenset().union(*SMALL_WORDS.values())))}
_NOW = {*words("now new jetzt neu neue neuer noch ahora nuevo maintenant nouveau 现 今 新")}


def fitting(facts: Facts, worth: Sequence[float], question: str) -> list[int]:
    """The places of the memories that are relevant enough to be put in order.

    Less is enough for one that shares as many words with the question as the best one.
    """
    most = max(worth, default=0.0)
    near = [place for place, own in enumerate(worth) if own >= _COVERS * most > 0]
    wanted = {*_stems(without_order(question))}
    found = zip(near, facts.candidates(near), strict=True)
    shared = {n: wanted.intersection(_stems(one.content)) for n, one in found if one}
    best = next((own for place, own in shared.items() if worth[place] == most), wanted)
    return [
        place
        for place, own in shared.items()
        if worth[place] >= (_COVERS if best and own >= best else _FITS) * most
        and not (own and own.isdisjoint(best))
    ]


def order_ratios(
    facts: Facts, scores: Sequence[float], places: Iterable[int], order: AskedOrder
) -> list[float]:
    """The factors that put the dated ones of some memories before all others, in an order."""
    ratios, top = [1.0] * len(facts), max(scores, default=0.0)
    dated = [
        (moment, facts.ids[place], place)
        for place in places
        if (moment := facts.created[place]) is not None and scores[place] > 0
    ]
    dated.sort(reverse=order.newest)
    for number, (_, _, place) in enumerate(dated):
        ratios[place] = top * (2 - number / len(dated)) / scores[place]
    return ratios


def later_first(
    facts: Facts, question: str, worth: Sequence[float], scores: Sequence[float]
) -> list[float]:
    """The factors that put the later of two values before the earlier one.

    Two memories of one author exchange their scores if they say the same in the present tense but
    for one value, and the question asks what it is now: "Ann lives in Leeds", "Ann lives in Bath".
    """
    given, best = [*scores], max(worth, default=0.0)
    first = nlargest(_COMPARED, range(len(facts)), key=scores.__getitem__)
    near = [(at, n) for n in first if worth[n] >= _FITS * best > 0 and (at := facts.created[n])]
    if len(near) > 1 and not (_THEN_OR_MANY.search(question) or tells_past(question)):
        asked = {*_stems(question)}
        dated = [n for _, n in sorted(near)]
        said = [
            (n, [stem for stem in _stems(found.content) if stem not in _NOW])
            for n, found in zip(dated, facts.candidates(dated), strict=True)
            # A short sentence in the present.
            if found and not (_LONG.search(found.content) or tells_past(found.content))
        ]
        for (early, one), (late, other) in combinations(said, 2):
            if (
                facts.created[early] != facts.created[late]
                and facts.authors[early] == facts.authors[late]
                and facts.owners[early] == facts.owners[late]
                and given[early] > given[late]
                and _differ_in_a_value(one, other, asked)
            ):
                given[early], given[late] = given[late], given[early]
    return [new / score if score > 0 else 1.0 for new, score in zip(given, scores, strict=True)]


def _differ_in_a_value(one: list[str], other: list[str], asked: AbstractSet[str]) -> bool:
    same = Counter(one) & Counter(other)
    if 2 * same.total() < min(len(one), len(other)):
        return False
    for side in (one, other):
        value = [n for n, stem in enumerate(side) if side[: n + 1].count(stem) > same[stem]]
        if not value or not value[0] or len(value) > _SHORT:
            return False
        whole = range(value[0], value[-1] + 1)  # a word twice may be in the question as well
        if asked & {side[n] for n in whole if n not in value or side[n] not in same}:
            return False
    return 2 * len(asked & same.keys()) >= max(len(asked), 1)


def _stems(text: str) -> list[str]:
    """The words by which texts are compared, in any language: no small ones, no pairs."""
    return [stem for stem in words(text) if not (stem in _SMALL or _NO_STEM.match(stem))]
