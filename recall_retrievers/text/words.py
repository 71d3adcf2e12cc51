"""A text as the words that keyword search compares: stemmed, without stop words, and weighed.

English, German, Spanish and French are stemmed by PyStemmer (Snowball); Chinese, which writes no
spaces, becomes its characters and the pairs of them.

Words of a dictionary in place of Chinese pairs, or beside them, found less or the same (jieba
0.42.1, measured on three sets in 2026-11).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, cached_property
from math import log
from sys import intern
from typing import TYPE_CHECKING, Final, Literal, TypeVar
from zlib import crc32

import Stemmer

if TYPE_CHECKING:  # the command line starts without it
    import numpy as np
    from numpy.typing import NDArray

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""The Chinese and Japanese characters, for the brackets of a pattern: each counts as a word."""

# Marks that turn the reading direction, halves of characters, and control characters except tab and
# new line.
INVISIBLE = (
    r"\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\x00-\x08\x0b-\x1f\x7f-\x9f"
)
"""Characters that no text needs, for the brackets of a pattern."""

STEERING = re.compile(rf"[{INVISIBLE}\u2028\u2029]")
"""Characters not for a terminal: it obeys some of them, and ends a line at others."""

_PLAIN_WORD = re.compile(rf"[{CJK}]|\w+(?:['\u2019]\w+)?")
_ASCII_WORD = re.compile(r"[0-9A-Za-z_]+(?:'[0-9A-Za-z_]+)?")  # the same, in two thirds of the time

# ASCII is split without a pattern, again in two thirds of the time.
_SPACED = bytes(
    ord(" ") if code > ord("z") or _ASCII_WORD.fullmatch(f"a{chr(code)}a") is None else code
    for code in range(256)
)


def split_words(text: str) -> list[str]:
    """The words of a text as they stand, in order; `words` gives the words for a search.

    Examples:
        >>> split_words("Don't eat 年糕!")
        ["Don't", 'eat', '年', '糕']
    """
    if not text.isascii():
        return _PLAIN_WORD.findall(text)
    words = text.encode().translate(_SPACED).decode().split()
    if "'" in text and not all(map(_ASCII_WORD.fullmatch, [each for each in words if "'" in each])):
        return _ASCII_WORD.findall(text)  # an apostrophe is a quotation mark
    return words


def printable(text: str) -> str:
    r"""A text for a terminal: characters that would steer the terminal are written out.

    Examples:
        >>> print(printable("\x1b[2JTea\r\nat four.\u202e"))
        \x1b[2JTea
        at four.\u202e
    """
    lines = text.replace("\r\n", "\n")
    return STEERING.sub(lambda match: match[0].encode("unicode_escape").decode(), lines)


Language = Literal["english", "german", "spanish", "french"]

_LISTS: Final[dict[Language, str]] = {
    "english": """
        a about an and are as at be been but by can could did do does for from had has have he her
        him his how i if in into is it its me my of on or our she that the their them there these
        they this to was we were what when where which who whom why will with would you your
    """,
    "german": """
        aber als am an auch auf aus bei bin bis da damit dann das dass dein deine deinen deiner dem
        den denn der des dich die dir doch du durch ein eine einem einen einer eines er es für gegen
        hab habe haben hast hat hatte hatten ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ist
        jede jeden jeder jedes kann kein keine keinen können man mein meine meinem meinen meiner
        mich mir mit muss nach nicht noch nun nur ob oder ohne schon sehr sein seine seinem seinen
        seiner seit sich sie sind so soll um und uns unser unsere unserem unseren vom von vor wann
        war waren warum was weil welche welchem welchen welcher welches wem wen wenn wer werde
        werden wessen wie wieder will wir wird wo wofür wogegen woher wohin womit worauf worüber
        wurde wurden während zu zum zur zwischen über
    """,
    "spanish": """
        a al algo alguna algún aquel aquella cada como con contra cual cuando cuál cuáles cuándo
        cuánta cuántas cuánto cuántos cómo de del desde donde dónde e el ella ellas ellos en era
        eran es esa ese eso esta estaba estaban estas este esto estos estoy está están fue fueron ha
        habían había hasta hay he hemos la las le les lo los me mi mis muy más nada ni no nos
        nosotros nuestra nuestras nuestro nuestros otra otro para pero por porque que quien quién
        quiénes qué se ser si sido sin sobre son soy su sus sí también te tengo tenía tiene tienen
        todavía tu tus tuvo tú un una unas uno unos y ya yo él
    """,
    "french": """
        a ai après au aucun aussi aux avaient avais avait avec avez avoir avons ce ceci cela ces cet
        cette chaque chez comment d dans de depuis des donc du elle elles en est et eu eux il ils j
        je l la le les leur leurs lui là m ma mais me mes moi mon même n ne nos notre nous on ont ou
        où par pas pour pourquoi qu quand que quel quelle quelles quels qui quoi sa sans se sera ses
        si son sont sous suis sur t ta te tes toi ton tous tout toute très tu un une vos votre vous
        y à étaient étais était été être
    """,
}
# Small words that English has as well, or a name known in English, or a slip of the fingers.
_ENGLISH_TOO: Final = """
    ai al algo am an as au bin bis chez con contra d da dale das de del dem den des die du e el em
    en er era es est et ha hast hat hay he il im j l la las le les lo los m ma man mi mir mis mon n
    nada no nun on os par pas pour que sa sans se sein ser sie sin so son sous sur t ta te ten ton
    tous tout tu um un una und uno vom von vos war will wo y ya yo zu zum
"""
SMALL_WORDS: Final = {code: frozenset(words.split()) for code, words in _LISTS.items()}
"""The small words of each language."""

_OTHERS: Final[tuple[Language, ...]] = ("german", "spanish", "french")
_SHARED: Final = Counter(word for words in SMALL_WORDS.values() for word in words)
_SURE: Final = {
    code: frozenset(
        word
        for word in SMALL_WORDS[code]
        if _SHARED[word] == 1 and word not in _ENGLISH_TOO.split()
    )
    for code in _OTHERS
}
_ANY_SURE: Final = frozenset[str]().union(*_SURE.values())
_ANY_OTHER: Final = frozenset[str]().union(*(SMALL_WORDS[code] for code in _OTHERS))
_LETTERS: Final = {
    "german": frozenset("äöüß"),
    "spanish": frozenset("áíñóú"),
    "french": frozenset("àâçèêëîïôùûœ"),
}
_SURELY: Final = 3  # times as many small words as English has


def language_of(words: Iterable[str]) -> Language:
    """The language of the words of a text; English if they do not tell.

    It is another one if more of the words are small words of that language than of English, and one
    of them is of that language alone. Without such a word they must be two at least, and three
    times as many. A word with a letter of the language counts like a small one. Each counts once.
    """
    found = set(words)
    small = found & _ANY_OTHER
    if not small:
        return "english"
    english = len(found & SMALL_WORDS["english"])
    lettered = [word for word in found if not word.isascii()]
    if not lettered and len(small) < _SURELY * english and small.isdisjoint(_ANY_SURE):
        return "english"  # as nearly every English text
    best = max(_OTHERS, key=lambda code: _likely(code, small, lettered))
    is_sure, count = _likely(best, small, lettered)
    enough = count > english if is_sure else count >= max(2, _SURELY * english)
    return best if enough else "english"


def in_english(text: str) -> bool:
    """Whether a text is English, or too short to tell."""
    return language_of(split_words(text.lower())) == "english"


def _likely(
    language: Language, small: AbstractSet[str], lettered: Sequence[str]
) -> tuple[bool, int]:
    """Whether a word is of this language alone, and how many words may be."""
    with_letters = sum([not _LETTERS[language].isdisjoint(word) for word in lettered])
    return not _SURE[language].isdisjoint(small), len(small & SMALL_WORDS[language]) + with_letters


_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_INITIALS = re.compile(r"\b(?:[^\W\d_]\.){2,}")  # "U.K.", as people write it in two ways
_CJK = re.compile(f"[{CJK}]")
_WRITTEN_OUT: Final[dict[Language, dict[str, str]]] = {
    "english": {"dr": "doctor", "mr": "mister", "km": "kilometr"},
    "german": {"dr": "doktor", "km": "kilom"},
    "spanish": {"dr": "doctor", "sr": "señor", "km": "kilometr"},
    "french": {"dr": "docteur", "km": "kilometr"},
}
_LONGEST = 40  # letters; anything longer is an encoded blob, not a word

STOP_WORDS = SMALL_WORDS["english"]
STOP_CHARACTERS = frozenset("的了是在我你他她它们这那吗呢吧啊呀哦哈和与就都也很有还不么什个")


_LAST_LATIN = "\u024f"


def share_of_other_scripts(text: str) -> float:
    """The share of the letters of a text that are not Latin.

    Examples:
        >>> share_of_other_scripts("Tee für Anna"), share_of_other_scripts("博物馆 MoMA")
        (0.0, 0.42857142857142855)
    """
    letters = [letter > _LAST_LATIN for letter in text if letter.isalpha()]
    return sum(letters) / len(letters) if letters else 0.0


def words(text: str) -> list[str]:
    """The words of a text, in order; a text of stop words alone keeps them.

    Examples:
        >>> words("What did I say about the dentists?")
        ['say', 'dentist']
        >>> words("Running to 博物馆")
        ['run', '博', '物', '馆', '博物', '物馆']
        >>> words("我的猫呢")
        ['猫', '的猫', '猫呢']
        >>> words("Who is he?"), words("Dr Lee of the U.K.")
        (['who', 'is', 'he'], ['doctor', 'lee', 'uk'])
    """
    return _stemmed(_found(text), "english", plain=text.isascii())


def indexed_words(text: str) -> list[str]:
    """The words by which a text is found, as `words` in the language of the text."""
    found = _found(text)
    return _stemmed(found, language_of(found), plain=text.isascii())


def wanted_words(text: str) -> list[str]:
    """The words of a question as `indexed_words`; not in English, with their English stems too.

    A memory of few words may not tell its language. Then it is indexed like an English one.

    Examples:
        >>> wanted_words("Wo sind die grauen Katzen?")
        ['grau', 'katz', 'grauen', 'katzen']
        >>> wanted_words("Where are the cats?")
        ['cat']
    """
    found = _found(text)
    language = language_of(found)
    plain = text.isascii()
    stems = _stemmed(found, language, plain=plain)
    if language == "english":
        return stems
    telling = [word for word in found if word not in SMALL_WORDS[language]]
    return [*dict.fromkeys([*stems, *_stemmed(telling, "english", plain=plain)])]


def _found(text: str) -> list[str]:
    return _WORD.findall(_INITIALS.sub(lambda found: found[0].replace(".", ""), text.lower()))


def _stemmed(all_words: Sequence[str], language: Language, *, plain: bool) -> list[str]:
    small = SMALL_WORDS[language]
    telling = [word for word in all_words if word not in small]
    if plain:  # ASCII, in two thirds of the time
        parts = [word for word in telling or all_words if len(word) <= _LONGEST]
    else:
        parts = [part for word in telling or all_words for part in _parts(word)]
    return stemmed(parts, language)


def stemmed(words: Sequence[str], language: Language) -> list[str]:
    """The stem of each word; Chinese has none and stays as it is."""
    stems: list[str] = _stemmer(language).stemWords(words)
    written_out = _WRITTEN_OUT[language]
    return [written_out.get(stem, stem) for stem in stems]


def _parts(word: str) -> Iterable[str]:
    if word.isascii() or not _CJK.match(word):
        return (word,) if len(word) <= _LONGEST else ()
    telling = [character not in STOP_CHARACTERS for character in word]
    if not any(telling):
        return [*word]
    places = range(len(word) - 1)
    return [
        *(word[place] for place, tells in enumerate(telling) if tells),
        *(word[place : place + 2] for place in places if telling[place] or telling[place + 1]),
    ]


@cache
def _stemmer(language: Language) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(language)


ENDS = 500  # characters at either end of a long text; what lies between is left out
PROFILE = 16  # numbers in a profile
MOST_IN_PROFILE = 255  # the highest of them


class Wording:
    """A text as the words by which it is compared with others."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words in lower case, in order; of a long text those of both ends."""
        return tuple(map(intern, split_words(ends(self.text).lower())))

    @property
    def profile(self) -> tuple[int, ...]:
        """How many of its words fall on each of sixteen numbers, at most `MOST_IN_PROFILE`.

        A word that one of two texts has alone changes one number by one. So the words of two texts
        differ at least as much as their profiles.
        """
        counts = [0] * PROFILE
        for word in self.words:
            counts[crc32(word.encode("utf-8", "surrogatepass")) % PROFILE] += 1
        return tuple(min(count, MOST_IN_PROFILE) for count in counts)


def ends(text: str) -> str:
    """The beginning and the end of a long text; all of a shorter one."""
    return text if len(text) <= 2 * ENDS else f"{text[:ENDS]} {text[-ENDS:]}"


_K1, _B = 1.2, 0.75  # of BM25: Robertson and Zaragoza 2009
_MOST = 64  # words of a question that are searched for

MOST_FREQUENT = _K1 + 1
"""What `frequency` returns at most."""

Number = TypeVar("Number", float, "NDArray[np.float64]")


def rarity(rows: int, having: int) -> float:
    """The weight of a word by its rarity: of so many texts, so many have it."""
    return log(1 + (max(rows - having, 0) + 0.5) / (having + 0.5))


def frequency(count: Number, length: Number) -> Number:
    """The weight of a word by its number in a text; the mean length of all texts is 1."""
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length))


def telling_words(
    words: Sequence[str], frequencies: Callable[[Sequence[str]], Sequence[int]]
) -> list[str]:
    """The words of a question to search for: all, or of a long question the rarest.

    A pasted dialogue has hundreds of words, and each costs time. Words that no memory has find
    nothing, and words that most memories have order nothing. With the first 64 words in place of
    the rarest, a long Chinese question is cut after some 35 characters.

    Examples:
        >>> telling_words([str(n) for n in range(70)], lambda words: [*map(int, words)])[:2]
        ['1', '2']
    """
    distinct = list(dict.fromkeys(words))
    if len(distinct) <= _MOST:
        return distinct
    counts = dict(zip(distinct, frequencies(distinct), strict=True))
    return sorted([word for word in distinct if counts[word]], key=counts.__getitem__)[:_MOST]
