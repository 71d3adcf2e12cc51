"""German, Spanish and French text to tokens, in groups that may name a time."""

import re
from collections.abc import Iterator

from recall_retrievers.timeline.engine.grammar import Token
from recall_retrievers.timeline.engine.lexing import NUMERIC, numeric_kinds
from recall_retrievers.timeline.western.vocabulary import FOLDED, Vocabulary, number_kinds, words_of

_TOKEN = re.compile(
    r"""
    (?P<word> [^\W\d_]+ )
  | (?P<quoted> [«"„“] [^«»"„“”\n]{1,80} [»"“”] )
  | (?P<short> (?<![\d.]) \d{1,2} \. \d{1,2} \. (?! \d ) )
  | """
    + NUMERIC
    + r"""
  | (?P<short_year> (?<! \w ) ' \d\d (?! \w ) )
  | (?P<number> \d+ )
  | (?P<mark> [^\w\s'] )
    """,
    re.VERBOSE,
)
_MOST = 1500  # characters to read at both ends of a text; a question has fewer
_MOST_TOKENS = 24  # of a group: a phrase has some ten
_MOST_GROUPS = 10  # of a text: a question has a few
_QUIET = frozenset({"NUM", "DAY", "HOUR", "YEAR", "COUNT", "DOTTED", "SLASHED", "MONTH_YEAR"})
_LAST_CENTURY = 70  # '69 is 2069, '70 is 1970
_LEADING = frozenset({"DAY", "SHORT", "EDGE", "UNIT"})
_NAMES = frozenset({"WEEKDAY", "MONTH", "SEASON", "HOLIDAY"})
_IN_A_YEAR = frozenset({"MONTH", "SEASON", "HOLIDAY"})
_LINKS = frozenset({".", "de", "del", "er", "of"})
# "Un mercado de Navidad" is not a day; "la cena de Navidad" is.
_THINGS = words_of(
    """mercado mercados mercadillo arbol regalo regalos tarjeta pelicula cancion marche marches
    sapin cadeau cadeaux carte film chanson pull"""
)


def tokenize(text: str, vocabulary: Vocabulary, known: frozenset[str]) -> Iterator[list[Token]]:
    """Cut a text into groups of tokens that may name a time, and drop the rest."""
    folded = text.translate(FOLDED)
    ends = [(0, len(text))]
    if len(text) > 2 * _MOST:
        ends = [(0, _MOST), (len(text) - _MOST, len(text))]
    tokens = [
        _token(match, vocabulary, known) for end in ends for match in _TOKEN.finditer(folded, *end)
    ]
    groups = list(_groups(tokens))
    if len(groups) > _MOST_GROUPS:
        groups = groups[: _MOST_GROUPS // 2] + groups[-_MOST_GROUPS // 2 :]
    for first, last in groups:
        group = tokens[first:last]
        for at in range(first, last):
            _decide(tokens, at, text, vocabulary)
        yield group


def _groups(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    first = 0
    for at in range(len(tokens) + 1):
        if at < len(tokens) and tokens[at].kinds and at - first < _MOST_TOKENS:
            continue
        if any(_tells(token) for token in tokens[first:at]):
            yield first, at
        first = at if at < len(tokens) and tokens[at].kinds else at + 1


def _tells(token: Token) -> bool:
    return "YEAR" in token.kinds or not _QUIET.issuperset(
        kind for kind in token.kinds if kind.isupper()
    )


def _token(match: re.Match[str], vocabulary: Vocabulary, known: frozenset[str]) -> Token:
    kind, text = match.lastgroup or "", match[0].lower()
    kinds: dict[str, object] = {}
    if kind in ("word", "mark"):
        kinds = dict(vocabulary.words.get(text, {}))
        if text in known:
            kinds[text] = None
    elif kind == "short":
        kinds = {"SHORT": tuple(int(digits) for digits in text.split(".")[:2])}
    elif kind == "short_year":
        number = int(text[1:])
        kinds = {"YEAR": number + (2000 if number < _LAST_CENTURY else 1900)}
    elif kind == "number":
        kinds = number_kinds(int(text)) if len(text) < 6 else {}
    elif kind != "quoted":
        kinds = numeric_kinds(kind, text)
    return Token(text, *match.span(), kinds)


def _decide(tokens: list[Token], at: int, text: str, vocabulary: Vocabulary) -> None:
    """Take from a word what its neighbours rule out: a month that is a name, a year of a PIN."""
    token = tokens[at]
    before = [one.text for one in reversed(tokens[max(0, at - 3) : at]) if "<art>" not in one.kinds]
    if "YEAR" in token.kinds:
        chained = before[1:2] and "SURE_YEAR" in tokens[max(0, at - 2)].kinds
        if (before and before[0] in vocabulary.before_year) or chained or at == 0:
            token.kinds = {"SURE_YEAR": token.kinds["YEAR"], **token.kinds}
    if "DATE" in token.kinds and not (
        "/" in token.text or any(len(part) == 4 for part in re.split("[.-]", token.text))
    ):
        token.kinds = token.kinds if before and before[0] in vocabulary.before_month else {}
    if not _NAMES.isdisjoint(token.kinds) and _is_compound(tokens, at, text):
        token.kinds = {}
    if "HOLIDAY" in token.kinds and not _THINGS.isdisjoint(before[1:2]):
        token.kinds = {}
    if not _IN_A_YEAR.isdisjoint(token.kinds) and not _is_month(
        tokens, at, before, text, vocabulary
    ):
        # A phrase that has the word itself says enough: "durante la Navidad".
        token.kinds = {kind: None for kind in token.kinds if kind == token.text}
    if "WEEKDAY" in token.kinds and not _is_weekday(tokens, at, text, vocabulary):
        token.kinds = {}


def _is_compound(tokens: list[Token], at: int, text: str) -> bool:
    """Whether it is the first part of a word: the Sommer-Schlussverkauf."""
    end = tokens[at].end
    goes_on = text[end : end + 1] == "-" and text[end + 1 : end + 2].isalpha()
    return goes_on and not any(one.kinds for one in tokens[at + 2 : at + 3])


def _is_month(
    tokens: list[Token], at: int, before: list[str], text: str, vocabulary: Vocabulary
) -> bool:
    if before and before[0] in vocabulary.before_month:
        # "El cumpleaños de Julio" is that of a person.
        person = before[0] == "de" and text[tokens[at].start].isupper()
        if not person or "MONTH" not in tokens[at].kinds:
            return True
    following = [one for one in tokens[at + 1 : at + 3] if one.text not in _LINKS]
    if following and ("YEAR" in following[0].kinds or "REL" in following[0].kinds):
        return True
    behind = [one for one in tokens[max(0, at - 2) : at] if one.text not in _LINKS]
    return bool(behind) and not _LEADING.isdisjoint(behind[-1].kinds)


def _is_weekday(tokens: list[Token], at: int, text: str, vocabulary: Vocabulary) -> bool:
    behind = tokens[at - 1].text if at else ""
    ahead = tokens[at + 1] if at + 1 < len(tokens) else None
    if ahead is not None and "DAY" in ahead.kinds:  # the film "Vendredi 13"
        after = [one for one in tokens[at + 2 : at + 4] if one.text not in _LINKS]
        leads = at > 0 and not {"<art>", "<in>", "<from>"}.isdisjoint(tokens[at - 1].kinds)
        return leads or (bool(after) and "MONTH" in after[0].kinds)
    if vocabulary.before_weekday is None:
        return not at or not text[tokens[at].start].isupper() or behind in vocabulary.before_month
    if ahead is not None and "REL" in ahead.kinds:
        return True
    return not behind or behind in vocabulary.before_weekday
