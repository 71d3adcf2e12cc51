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
_QUESTION, _MARK = re.compile("[^?？]+[?？]"), re.compile("[?？]")
USERS = frozenset({"user", "human"})


def search_texts(
    question: str, said: Sequence[tuple[str, str]] = (), *, names_time: bool = False
) -> list[str]:
    r"""The texts to search for, the most important first.

    These are the question, the question with the last exchange, and of two questions in one text
    each for itself. A question that leaves something open is searched for with the exchange alone;
    if the question of that exchange leaves something open too, the one before it is in it as well,
    and so on, six messages at most.

    Args:
        question: The question.
        said: The role and the text of the messages before it.
        names_time: Whether the question names a time, which may be all that it is about.

    Examples:
        >>> said = [("user", "Who fixed the boiler?"), ("assistant", "Mr Fenn did.")]
        >>> search_texts("And how much did he charge?", said)
        ['And how much did he charge?\nWho fixed the boiler?\nMr Fenn did.']
        >>> search_texts("Where does the choir rehearse? And who sings tenor?")[1:]
        ['Where does the choir rehearse?', 'And who sings tenor?']
    """
    last = [(role, x[:_LONGEST]) for role, x in said if role not in _NOT_SAID][-_MOST_MESSAGES:]
    talk = "\n".join(text for _, text in last)
    is_open = talk and leaves_open(question, talk, names_time=names_time)
    users = [n for n, (role, _) in enumerate(last) if role in USERS]
    stand = [n for n in users if not (is_open and leaves_open(last[n][1], talk))]
    joined = "\n".join([question, *(text for _, text in last[stand[-1] if stand else 0 :])])
    if is_open:
        return [joined]
    return [question, *([joined] if talk else []), *_questions_in(question)]


def _questions_in(text: str) -> list[str]:
    """The questions in a text, if there are several that stand alone and it is no dialogue."""
    if len(text) > _LONGEST or "\n" in text or len(_MARK.findall(text)) == 1:
        return []
    parts = [part.strip() for part in _QUESTION.findall(text)]
    alone = [part for part in parts if not leaves_open(part, text, after_another=True)]
    return alone if len(alone) > 1 else []


def leaves_open(
    question: str, talk: str = "", *, names_time: bool = False, after_another: bool = False
) -> bool:
    """Whether a question can be understood only with what was said before it.

    It begins with "and", has a pronoun without a name in front of it, or has no word that
    says what it is about. A question of many words says enough in any case.

    Args:
        question: The question.
        talk: What was said before; it helps to tell the language of a short question.
        names_time: Whether the question names a time, which may be all that it is about.
        after_another: Whether it follows a question in one text, where "and" only joins them.

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
        text = "".join(lower)
        goes_on = _characters("beginnings").match(text) or text.endswith(_ENDINGS)
        return _without_spaces(
            text, goes_on=bool(goes_on) and not after_another, least=not names_time
        )
    language = language_of([*lower, *WORD.findall(talk.lower())])
    pronouns, beginnings = _words("pronouns", language), _words("beginnings", language)
    empty = empty_words(language) | pronouns | beginnings | _words("empty", language)
    empty |= _words("courtesy", language)
    stems = stemmed(lower, language)
    telling = sum(empty.isdisjoint(each) for each in zip(lower, stems, strict=True))
    begins = "_".join([*lower, ""]).startswith(tuple(f"{each}_" for each in beginnings))
    if begins and not after_another:
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
    said = [word.lower() for word in WORD.findall(text)]
    asks = text.rstrip().endswith(("?", "？"))
    if asks and talk and not is_courtesy(talk):
        return False
    if any(word > "\u2e80" for word in said):
        rest, greetings = _characters("courtesy").subn("", "".join(said))
        return greetings > 0 and not _characters("pronouns", "empty").sub("", rest)
    for language in SMALL_WORDS:
        rest, greetings = _greetings(language).subn("", f"_{'_'.join(said)}_")
        small = SMALL_WORDS[language]
        if not asks:
            small = empty_words(language) | _words("empty", language)
        if greetings and small.issuperset(filter(None, rest.split("_"))):
            return True
    return False


def adds_nothing(text: str, before: str = "") -> bool:
    """Whether a message is a courtesy, and no answer to a question that stands before it.

    Examples:
        >>> adds_nothing("Yes."), adds_nothing("Yes.", "Do you have cats?")
        (True, False)
    """
    return not before.rstrip().endswith(("?", "？")) and is_courtesy(text)


def _refers(pair: Sequence[str], language: str) -> bool:
    """Whether a word, with the one behind it, stands for something that was named before."""
    if pair[0] in _words("demonstratives", language):
        return len(pair) == 1 or pair[1] in _words("after", language)
    return pair[0] in _words("pronouns", language)


def _without_spaces(text: str, *, goes_on: bool, least: int) -> bool:
    telling = len(_characters("pronouns", "empty", "courtesy").sub("", text))
    refers = goes_on or _characters("pronouns").search(text)
    return telling < (_ENOUGH_CHARACTERS if refers else least)


@cache
def _words(kind: str, language: str) -> frozenset[str]:
    own = frozenset(_DATA[language][kind].split())
    return own | NO_TOPIC if (kind, language) == ("empty", "cjk") else own


@cache
def _greetings(language: str) -> re.Pattern[str]:
    return re.compile(f"(?<=_)(?:{any_of(_words('courtesy', language)).pattern})(?=_)")


@cache
def _characters(*kinds: str) -> re.Pattern[str]:
    return any_of(frozenset[str]().union(*(_words(kind, "cjk") for kind in kinds)))
