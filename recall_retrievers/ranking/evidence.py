"""Evidence: a sign of whether any memory is about a question, out of what its search has found.

A search knows whether the topic is there, not whether the answer is. So this is a sign and no
probability; `benchmarks.evidence` measures what it catches. In doubt it is "some".
"""

from collections.abc import Collection, Iterable, Sized
from difflib import SequenceMatcher
from math import inf
from statistics import fmean

import numpy as np

from recall_retrievers.core.pool import Arm, Facts, Keys, Scores, WordsInScope
from recall_retrievers.core.query import Evidence, EvidenceSign
from recall_retrievers.text.questions import (
    asks_about,
    asks_for_advice,
    asks_something,
    person,
    telling,
)
from recall_retrievers.text.words import language_of, printable, split_words

# Round numbers, chosen by hand over fourteen sets. For the default model: cosines of others have
# other scales.
_LITTLE = 0.48  # a question whose topic comes to less has none
_LEAST, _SMALL, _ENOUGH = 0.2, 5, 45  # the same for up to 5 memories; it rises for 45 more
_NOTHING = 0.3  # the same for a few key words, if no memory has any of them
_LONG = 12  # telling words; a longer text is a remark
_MUCH = 0.9  # from here on it is strong
_MANY = 0.6  # of the words of a question, weighed by rarity, where similarities say nothing
_OWN = 1.5  # what BM25 gives a turn that has a word itself, as a multiple of the word's rarity
_PRESENT, _MISSING_NAME = 0.1, 0.2
_FIT, _MOST_FIT = 4.0, 0.1
_MISFIT = -0.05  # the turns of the person named are so much farther than those of others
_BEST = 3  # turns of a person
_TOKENS = "token_similarity"
_ALIKE = 0.7  # two spellings of a name
_MOST_WORDS = 3  # that a sentence names
_LONGEST_NAME = 40  # characters


def evidence_for(  # noqa: PLR0913 - two arms, and what is known of their memories
    question: str,
    text: str,
    semantic: Arm | None,
    keyword: Arm | None,
    facts: Facts,
    *,
    comparable: bool,
) -> Evidence:
    """Whether memories are about a question: "strong", "some" or "none", with a sentence.

    The number is the best similarity of all, and the best product of similarity, likeness of words
    and share of words in one memory. A share of the telling words that any memory has is added.
    Where people speak, a name that no memory has takes off. If one author is named, the turns of
    that author are compared with those of others.

    ``text`` was searched for; None = nothing was, by meaning or by words. ``facts`` may be of more
    memories. The similarities are ``comparable`` on the scale of the default model.
    """
    arms = [arm for arm in (semantic, keyword) if arm is not None]
    if not any(map(len, arms)):
        return Evidence("none")
    keys = np.unique(np.concatenate([arm.keys for arm in arms]))
    least = 0.0 if semantic is None else semantic.scores.min(initial=1)
    cosines = _column(keys, semantic, missing=least)
    near = np.fmax(*(_column(keys, arm, _TOKENS, missing=np.nan) for arm in (semantic, keyword)))
    measured = not np.isnan(near).all()
    near = np.where(np.isnan(near), 0.0 if measured else cosines, near)
    words = None if keyword is None else keyword.words
    words = words or WordsInScope(frozenset(), inf)
    cover = np.minimum(1.0, _column(keys, keyword) / (_OWN * words.rarity or inf))
    people = {author for author in {*facts.authors} if person(author)}
    told = telling(text, people)
    lacking = [word for word, stems in told.items() if stems <= words.lacking]
    english = language_of(split_words(text.lower())) == "english"
    names = [word for word in lacking if english and people and _is_name(word, text, people)]
    share = 1 - len(lacking) / len(told) if told else 1.0
    best = cosines * near * (0.2 + cover)
    topic = float(cosines.max() + best.max() + _PRESENT * share - _MISSING_NAME * bool(names))
    fit, whose = _fit(question, facts, keys, near, people)
    number = topic + _FIT * float(np.clip(fit, -_MOST_FIT, _MOST_FIT))
    about = [whose] if fit < _MISFIT else []
    # The best of a few memories is less near by chance.
    few = _LEAST + (_LITTLE - _LEAST) * max(0, len(keys) - _SMALL) / _ENOUGH
    sign: EvidenceSign = "some"
    if not (comparable and measured and english):
        about.append("how near they come is not known for this embedding or language")
        number = float(cover.max()) * _MUCH / _MANY  # so the words they share have to say it
        if cover.max() >= _MANY and len(told) > 1 and not lacking:
            sign = "strong"
    elif not told:
        about.append("the question names no topic")
    elif max(topic, number) < min(few, _bound(question, told, lacking)):
        sign = "none"
    elif number >= _MUCH and not names and fit >= _MISFIT:
        sign = "strong"
    if lacking and sign != "strong":
        shown = [*names, *(word for word in lacking if word not in names)][:_MOST_WORDS]
        about.insert(0, "no memory has " + ", ".join(f'"{word}"' for word in shown))
    return Evidence(sign, "; ".join(about), number)


def _bound(question: str, told: Sized, lacking: Sized) -> float:
    """The number below which a question has no evidence.

    What was said bears on advice, or on a remark, though it has another topic.
    """
    if asks_for_advice(question) or len(told) > _LONG:
        return -inf
    if asks_something(question):
        return _LITTLE
    key_words = not question.rstrip().endswith((".", "!")) and len(lacking) == len(told) > 1
    return _NOTHING if key_words else -inf


def _column(keys: Keys, arm: Arm | None, measure: str = "", *, missing: float = 0.0) -> Scores:
    column = np.full(len(keys), missing)
    if arm is not None:
        values = arm.measures.get(measure, np.nan) if measure else arm.scores
        column[np.searchsorted(keys, arm.keys)] = values
    return column


def _is_name(word: str, text: str, people: Iterable[str]) -> bool:
    """Whether a word is a name, and not another spelling of that of an author."""
    place = text.find(word)
    if not word[0].isupper() or not text[:place].strip(" \"'“‘"):
        return False
    alike = (
        part[0] == word[0] and SequenceMatcher(None, word, part).ratio() >= _ALIKE
        for name in people
        for part in name.split()
    )
    return not any(alike)


def _fit(
    question: str, facts: Facts, keys: Keys, near: Scores, people: Collection[str]
) -> tuple[float, str]:
    """How much nearer the turns of the one author named come than those of others, and who says so.

    0 where none or several are named, or only one of both speaks.
    """
    named = [name for name in people if asks_about(question, name)]
    if len(named) != 1:
        return 0.0, ""
    at = np.minimum(np.searchsorted(keys, facts.keys), len(keys) - 1)
    values = np.where(keys[at] == facts.keys, near[at], -1.0)  # some are of the time alone
    own, others = list[float](), list[float]()
    nearest = ""
    for place in np.argsort(-values).tolist():
        author = facts.authors[place]
        mine = own if author == named[0] else others
        if values[place] < 0 or author not in people or len(mine) == _BEST:
            continue
        nearest = nearest or ("" if mine is own else author)
        mine.append(float(values[place]))
        if len(own) == len(others) == _BEST:
            break
    if not own or not others:
        return 0.0, ""
    said = [printable(name)[:_LONGEST_NAME] for name in (nearest, named[0])]
    return fmean(own) - fmean(others), "said by {}, not by {}".format(*said)
