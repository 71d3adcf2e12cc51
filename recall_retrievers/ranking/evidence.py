"""Evidence: a sign of whether any memory is about a question, out of what its search has found.

A search knows whether the topic is there, not whether the answer is. So this is a sign and no
probability; `benchmarks.evidence` measures what it catches. In doubt it is "some".
"""

from math import inf
from statistics import fmean

import numpy as np

from recall_retrievers.core.pool import Arm, Facts, Keys, Scores, WordsInScope
from recall_retrievers.core.query import Evidence, EvidenceSign
from recall_retrievers.text.questions import asks_about, person, telling
from recall_retrievers.text.words import MOST_FREQUENT, printable

# Of the default model; the cosines of others have other scales. Of the questions that have an
# answer, at most 1 % lie below the first, on each of 19 sets.
_NONE, _STRONG = 0.025, 0.3
_FIT, _MISFIT = 1.2, -0.05  # what the fit adds; below the second another one says it
_BEST = 3  # turns of a person that are compared
_SHOWN = 3  # words that a sentence names
_LONGEST_NAME = 40  # characters
_NO_WORDS = WordsInScope(frozenset(), 0)


def evidence_for(
    text: str, semantic: Arm | None, keyword: Arm | None, facts: Facts, *, comparable: bool
) -> Evidence:
    """Whether memories are about a question: "strong", "some" or "none", with a sentence.

    The number is the best product of similarity and likeness of words in one memory; where words
    are not compared by meaning, the best share of the question's words. If one author is named, it
    is added how much nearer the turns of that author come than those of others.

    The text is the question without its words of time. An arm is None where nothing was searched by
    meaning, or by words. ``facts`` may be of more memories. The similarities are ``comparable`` on
    the scale of the default model in English.
    """
    arms = [arm for arm in (semantic, keyword) if arm is not None]
    if not any(map(len, arms)):
        return Evidence("none")
    keys = np.unique(np.concatenate([arm.keys for arm in arms]))
    near = np.fmax(*(_column(keys, arm, "token_similarity") for arm in (semantic, keyword)))
    measured = not np.isnan(near).all()
    words = _NO_WORDS if keyword is None or keyword.words is None else keyword.words
    share = _column(keys, keyword) / (MOST_FREQUENT * words.rarity or inf)
    product = _column(keys, semantic) * near if measured else share
    best = float(np.nan_to_num(product).max())
    people = {author for author in {*facts.authors} if person(author)}
    named = [name for name in people if asks_about(text, name)]
    # Some of the memories are of the time alone.
    by_key = dict(zip(keys.tolist(), np.nan_to_num(near, nan=-1.0).tolist(), strict=True))
    nearness = [by_key.get(key, -1.0) for key in facts.keys.tolist()]
    turns = [x for x in zip(nearness, facts.authors, strict=True) if x[0] >= 0 and x[1] in people]
    fit, whose = _fit(turns, named)
    number = best + _FIT * fit
    told = telling(text, people)
    lacking = [word for word, stems in told.items() if stems <= words.lacking]
    about = [whose] if fit < _MISFIT else []
    sign: EvidenceSign = "some"
    if not (comparable and measured):
        about.append("how near they come is not known for this embedding or language")
    elif not told:
        about.append("the question names no topic")
    elif best < _NONE:
        sign = "none"
    elif number >= _STRONG and not lacking and fit >= _MISFIT:
        sign = "strong"
    if lacking:
        names_first = sorted(lacking, key=lambda word: not word[0].isupper())
        about.insert(0, "no memory has " + ", ".join(f'"{x}"' for x in names_first[:_SHOWN]))
    return Evidence(sign, "; ".join(about), number)


def _column(keys: Keys, arm: Arm | None, measure: str = "") -> Scores:
    column = np.full(len(keys), np.nan)
    if arm is not None:
        values = arm.measures.get(measure, np.nan) if measure else arm.scores
        column[np.searchsorted(keys, arm.keys)] = values
    return column


def _fit(turns: list[tuple[float, str]], named: list[str]) -> tuple[float, str]:
    """How much nearer the turns of the one author named come than those of others, and who says so.

    0 where none or several are named, or only one of both speaks.
    """
    best = sorted(turns, reverse=True)
    own = [near for near, author in best if author in named][:_BEST]
    others = [near for near, author in best if author not in named][:_BEST]
    if len(named) != 1 or not own or not others:
        return 0.0, ""
    nearest = next(author for _, author in best if author not in named)
    said = [printable(name)[:_LONGEST_NAME] for name in (nearest, named[0])]
    return fmean(own) - fmean(others), "said by {}, not by {}".format(*said)
