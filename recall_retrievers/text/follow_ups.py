"""What a question leaves open, and what was said before it: "And Tom?", "since when?"."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from recall_retrievers.text.questions import NO_TOPIC, WORD, any_of, empty_words
from recall_retrievers.text.words import SMALL_WORDS, language_of, stemmed

_DATA = tomllib.loads(Path(__file__).with_name("follow_ups.toml").read_text(encoding="utf-8"))
_ENOUGH = 3  # telling words: a question with so many needs no other
_ENOUGH_CHARACTERS = 7  # of Chinese or Japanese
_A_SENTENCE = 3  # words; fewer are seldom a whole question
_ENDINGS = ("呢", "は")  # "and ...?"
_MOST_MESSAGES = 6
_LONGEST = 200  # characters of a message
_NOT_SAID = frozenset({"system", "developer", "tool", "function"})  # roles
_NAME = re.compile(r"(?<=[\w,;:] )(?!I\b)[A-ZÀ-ÖØ-Þ]\w")  # inside a sentence
_USERS = frozenset({"user", "human"})


def filled(question: str, said: Sequence[tuple[str, str]], *, names_time: bool = False) -> str:
    r"""The question, with the last messages if it leaves open what only they say.

    These are the last exchange. If its question leaves something open too, the one before it as
    well, and so on, six messages at most.

    Args:
        question: The question.
        said: The role and the text of the messages before it.
        names_time: Whether the question names a time, which may be all that it is about.

    Examples:
        >>> said = [("user", "Who fixed the boiler?"), ("assistant", "Mr Fenn did.")]
        >>> filled("And how much did he charge?", said)
        'And how much did he charge?\nWho fixed the boiler?\nMr Fenn did.'
        >>> filled("Where does the choir rehearse?", said)
        'Where does the choir rehearse?'
    """
    last = [(role, x[:_LONGEST]) for role, x in said if role not in _NOT_SAID][-_MOST_MESSAGES:]
    talk = "\n".join(text for _, text in last)
    if not talk or not leaves_open(question, talk, names_time=names_time):
        return question
    stand = [n for n, (role, x) in enumerate(last) if role in _USERS and not leaves_open(x, talk)]
    return "\n".join([question, *(text for _, text in last[stand[-1] if stand else 0 :])])


def leaves_open(question: str, talk: str = "", *, names_time: bool = False) -> bool:
    """Whether a question can be understood only with what was said before it.

    It begins with "and", has a pronoun without a name in front of it, or has no word that
    says what it is about. A question of many words says enough in any case.

    Args:
        question: The question.
        talk: What was said before; it helps to tell the language of a short question.
        names_time: Whether the question names a time, which may be all that it is about.

    Examples:
        >>> leaves_open("And Tom?"), leaves_open("since when?"), leaves_open("What does it cost?")
        (True, True, True)
        >>> leaves_open("What can Tom not eat?"), leaves_open("What did Tom say of his job?")
        (False, False)
        >>> leaves_open("那小汤呢？"), leaves_open("合唱团在哪里排练？")
        (True, False)
    """
    found = [*WORD.finditer(question)]
    lower = [word[0].lower() for word in found]
    if any(word > "\u2e80" for word in lower):
        return _leaves_open_without_spaces("".join(lower), names_time=names_time)
    language = language_of([*lower, *WORD.findall(talk.lower())])
    pronouns, beginnings = _words("pronouns", language), _words("beginnings", language)
    empty = empty_words(language) | pronouns | beginnings | _words("empty", language)
    stems = stemmed(lower, language)
    telling = sum(empty.isdisjoint(each) for each in zip(lower, stems, strict=True))
    if "_".join([*lower, ""]).startswith(tuple(f"{each}_" for each in beginnings)):
        return telling < _ENOUGH
    place = next((n for n in range(len(lower)) if _refers(lower[n : n + 2], language)), None)
    refers = place is not None and _NAME.search(question, 0, found[place].start()) is None
    least = 0 if names_time else 2 if len(lower) < _A_SENTENCE else 1
    return telling < (_ENOUGH if refers else least)


def is_courtesy(text: str, talk: str = "") -> bool:
    """Whether a text is a greeting, thanks, yes or no, and names no topic.

    A question such as "and you?" is one too if what was said before it names no topic either.

    Examples:
        >>> is_courtesy("Vielen Dank!"), is_courtesy("Danke, und der Zahnarzt?")
        (True, False)
        >>> is_courtesy("ありがとう"), is_courtesy("Wann?"), is_courtesy("Gut. Wann?", "Mein Zug")
        (True, False, False)
    """
    return _without_topic(text) and (
        not text.rstrip().endswith(("?", "？")) or _without_topic(talk)
    )


def _without_topic(text: str) -> bool:
    """Whether a text has no words but small ones and at least one of those that are no topic."""
    words = [word[0] for word in WORD.finditer(text.lower())]
    if any(word > "\u2e80" for word in words):
        joined = "".join(words)
        return not _characters("pronouns", "empty").sub("", joined)
    return not words or any(
        SMALL_WORDS[language].union(_words("pronouns", language), empty).issuperset(words)
        and not empty.isdisjoint(words)
        for language in SMALL_WORDS
        for empty in [_words("empty", language)]
    )


def _refers(pair: Sequence[str], language: str) -> bool:
    """Whether a word, with the one behind it, stands for something that was named before."""
    if pair[0] in _words("demonstratives", language):
        return len(pair) == 1 or pair[1] in _words("after", language)
    return pair[0] in _words("pronouns", language)


def _leaves_open_without_spaces(text: str, *, names_time: bool) -> bool:
    telling = len(_characters("pronouns", "empty").sub("", text))
    goes_on = _characters("beginnings").match(text) or text.endswith(_ENDINGS)
    refers = goes_on or _characters("pronouns").search(text)
    return telling < (_ENOUGH_CHARACTERS if refers else 0 if names_time else 1)


@cache
def _words(kind: str, language: str) -> frozenset[str]:
    own = frozenset(_DATA[language][kind].split())
    return own | NO_TOPIC if (kind, language) == ("empty", "cjk") else own


@cache
def _characters(*kinds: str) -> re.Pattern[str]:
    return any_of(frozenset[str]().union(*(_words(kind, "cjk") for kind in kinds)))
