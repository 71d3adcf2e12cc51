"""The language of a text, by its small words: English, German, Spanish or French.

The small words are stop words, too. The lists are our own and short: published ones drop "last",
"may" and "year", which a memory may be about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, Literal

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
STOP_WORDS: Final = {code: frozenset(words.split()) for code, words in _LISTS.items()}
"""The small words of each language."""

_OTHERS: Final[tuple[Language, ...]] = ("german", "spanish", "french")
_SHARED: Final = Counter(word for words in STOP_WORDS.values() for word in words)
_SURE: Final = {
    code: frozenset(
        word for word in STOP_WORDS[code] if _SHARED[word] == 1 and word not in _ENGLISH_TOO.split()
    )
    for code in _OTHERS
}
_ANY_SURE: Final = frozenset[str]().union(*_SURE.values())
_ANY_OTHER: Final = frozenset[str]().union(*(STOP_WORDS[code] for code in _OTHERS))
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

    Args:
        words: The words in lower case.

    Examples:
        >>> language_of("wo hat der arzt die füllung gemacht".split())
        'german'
        >>> language_of("we saw die hard in los angeles".split())
        'english'
    """
    found = set(words)
    small = found & _ANY_OTHER
    if not small:
        return "english"
    english = len(found & STOP_WORDS["english"])
    lettered = [word for word in found if not word.isascii()]
    if not lettered and len(small) < _SURELY * english and small.isdisjoint(_ANY_SURE):
        return "english"  # as nearly every English text
    best = max(_OTHERS, key=lambda code: _likely(code, small, lettered))
    is_sure, count = _likely(best, small, lettered)
    enough = count > english if is_sure else count >= max(2, _SURELY * english)
    return best if enough else "english"


def _likely(
    language: Language, small: AbstractSet[str], lettered: Sequence[str]
) -> tuple[bool, int]:
    """Whether a word is of this language alone, and how many words may be."""
    with_letters = sum([not _LETTERS[language].isdisjoint(word) for word in lettered])
    return not _SURE[language].isdisjoint(small), len(small & STOP_WORDS[language]) + with_letters
