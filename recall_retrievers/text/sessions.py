"""The sessions that a question names: "our 4th session", "two chats ago", "last time".

"Our last session about the garden" and "the last time I swam" are left to `order`: they mean the
latest that fits, whichever that is.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from recall_retrievers.text.questions import asks_for_time_alone

_LONGEST = 200  # characters: a pasted dialogue names no session

# How ordinals begin, and counts, from 1 on: in English, German, Spanish, French (and without 第).
_ORDINALS: Final = str.split(
    "first|erst|primer|premi[eè]|[首头初]|最初|はじめて second|zweit|segund|deuxi"
    " third|dritt|tercer|troisi fourth|viert|cuart|quatri fifth|fünft|quint|cinqui"
    " sixth|sechst|sext|sixi seventh|siebt|s[eé]ptim|septi eighth|acht|octav|huiti"
    " ninth|neunt|noven|neuvi tenth|zehnt|d[eé]cim|dixi"
)
_COUNTS: Final = str.split(
    "an?|one|eine[mrn]?|une? two|zwei|dos|deux three|drei|tres|trois four|vier|cuatro|quatre"
    " five|fünf|cinco|cinq six|sechs|seis seven|sieben|siete|sept eight|acht|ocho|huit"
    " nine|neun|nueve|neuf ten|zehn|diez|dix"
)
_HAN: Final = "零一二三四五六七八九十"
_LAST = (
    "last(?!ing)|previous|prior|preceding|most recent|latest|letzt|vorig|vorherig|vergangen"
    "|[uú]ltim|pasad|anterior|derni[eè]|précédent|passé|上一?[次回]|(?:前|最[近后])一次|前回|この前|こないだ|最後|直近"
)
_BUT_ONE = (
    "(?:second|next)[ -]to[ -]last|last but one|before (?:the )?last|penultimate|vorletzt"
    "|pen[uú]ltim|avant[ -]derni[eè]|上上一?[次回]|前[々前]回"
)
_BACK = f"(?:{_BUT_ONE}|{_LAST})"
_WHICH = (
    rf"(?P<which>(?:{_BACK}|{'|'.join(_ORDINALS)})[a-zéè]{{0,4}}\b"
    r"|\d{1,4}(?:st|nd|rd|th|\.?[ªº]|\.|[eè](?:re|me)?r?)(?!\w))"
)
_COUNT = rf"\d{{1,4}}|(?:{'|'.join(_COUNTS)})\b"
_NOUN = (
    "(?:session|conversation|chat|talk|discussion|dialogue|convo|sitzung|gespräch|unterhaltung"
    "|sesi[oó]n|conversaci[oó]n|charla|séance|échange)"
)
_ONE, _SOME = rf"{_NOUN}\b", rf"{_NOUN}(?:s|e[sn]?)?\b"
_OUR = (
    r"(?:\b(?:in|during|at|of|from|während|bei|beim|zum|am|aus|en|durante|de|dans|pendant|à|lors de"
    r"|au cours de) )?(?:\b(?:the|our|my|der|die|das|de[mns]|(?:unser|mein)(?:e[nmrs]?)?|el|las?"
    r"|los|nuestr[ao]s?|mis?|les?|notre|nos|ma|mon|mes) |\bl['’])?(?:very )?\b"
)
_TIME = r"(?:time|mal|vez|fois)\b"
_US = "(?: (?:to you|with you|to each other|together|miteinander|zusammen|mit dir|uns|nous))*"
_TALKED = (
    rf"(?: (?:that|when|que|où))?(?: (?:we|you and i|i|nous|on))?{_US} (?:talked|spoke|chatted|met"
    "|gesprochen|geredet|gechattet|unterhalten|sprachen|redeten|hablamos|charlamos|conversamos"
    rf"|(?:sommes |avons |a )(?:parlé|discuté|échangé|bavardé)s?)\b{_US}"
)
_N = rf"(?:\d{{1,4}}|[{_HAN[1:]}两]{{1,3}})"
_CLAUSE = ",? (?:that|when|i|we|he|she|they|my|als|dass|wo|que|où|qu['’])"
_ZH_NOUN = "(?:聊天|[对谈会]话|交[谈流]|谈心|沟通)"
_ZH_TALK = rf"(?:{_ZH_NOUN}|[聊谈](?![到起论过]))(?:的?时候?|[中里])?"
_ZH_SAID = "(?:[我你您咱]们?)?(?:[跟给和对向][我你您]们?)?[聊谈说讲提告建推介答问]"
_JA_TALK = (
    "(?:の(?:会話|対話|チャット|セッション|おしゃべり|やりとり|話(?!題))"
    "|に?(?:お?話[しを]*|会話し|チャットし)(?:た|ました)(?:とき|時|際))(?:[でに]?は?|の(?:中|とき|時)で?)"
)
_PATTERNS: Final = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_OUR}{_WHICH} {_ONE}",
        rf"{_OUR}{_ONE} {_WHICH}",
        rf"\b(?P<ago>{_COUNT}) {_SOME} (?:ago|back|earlier)\b",
        rf"\b(?:vor|hace|il y a) (?P<ago>{_COUNT}) {_SOME}",
        rf"{_OUR}{_ONE} (?:number |no\. ?|nr\. ?|n[°º] ?|#)?(?P<number>\d{{1,4}})\b",
        rf"{_OUR}{_WHICH} {_TIME}{_TALKED}",
        rf"\bwhen we (?P<which>first|last) (?:talked|spoke|chatted)\b{_US}",
        rf"{_OUR}(?P<bare>{_BACK}[a-zéè]{{0,4}}) {_TIME}(?!{_CLAUSE})",
        rf"在?(?:我们|咱们)?的?(?P<which>第{_N}[次回场个]|[首头]一?次|{_BACK})的?{_ZH_TALK}",
        rf"(?P<which>{_BACK})(?={_ZH_SAID})",
        rf"(?P<ago>{_N})[次个场]{_ZH_NOUN}(?:之前|以前|前)",
        rf"(?P<which>第{_N}回|{_N}[回度]目|初回|最初|初めて|はじめて|{_BACK}){_JA_TALK}",
        rf"(?P<ago>{_N})[回つ]前{_JA_TALK}",
        r"(?P<bare>前[々前]?回)(?!の)に?は?",
        rf"(?:会话|对话|セッション)(?P<number>{_N})",
    )
]
_MAY_NAME = re.compile(rf"(?i){_NOUN}|time|mal|vez|fois|when we|[次回场つ话話]|セッ")
_SAID = re.compile(
    r"(?i)\b(?:talk|sp(?:ea|o)k|sa(?:y|id)|t[eo]l[ld]|discuss|mention|chat|suggest|recommend|advi|ask"
    r"|le(?:ave|ft) off|explain|promise|spr[aei]ch|sagt|erzähl|rede|bespr|empf|riet|erwähn|erklär"
    r"|habl|dij|cont[éóa]|coment|aconsej|recomend|mencion|charl|pregunt|parl|dit\b|discut|racont"
    "|conseill|propos|évoqu)|gesprochen|geredet|gesagt|unterhalten|geraten|話|言|教え|勧め|相談|伝え"
)
_WHEN = re.compile(r"\b(?:when|wann|cu[aá]ndo|quand)\b|什么时候|何时|いつ", re.IGNORECASE)
# "Before our last session" is another time, and "his last session" is of somebody else.
_NOT_AFTER = re.compile(
    r"(?i)(?:\b(?:an?|his|her|their|its|every|each|since|before|after|until|by|seit|nach|bis|vor"
    r"|seine[rmn]?|ihre[rmn]?|sus?|desde|hasta|(?:antes|después) de|son|sa|leurs?|depuis|avant"
    r"|après)|['’]s) $|(?:[跟和与](?![我你您])[^，。？！]{1,8}|[^们]的|自从?|[との上])$"
)
_OF_ANOTHER = (
    " (?:of|between|at|for|with (?!you|me)|in|mit (?!dir|mir)|zwischen|von|im|con (?!tigo|migo)"
    "|entre|del?|du|des|avec (?!toi|moi|vous)|en"
)
_TOPIC = "|about|on|regarding|where|when|that|über|zu[rm]?|wegen|wo|sobre|acerca|sur|où|concernant"


@dataclass(frozen=True, slots=True)
class NamedSession:
    """A session that a question names."""

    number: int  # 4 = the fourth of all; -1 = the last one before the present
    span: tuple[int, int]  # where its words stand in the question


def named_sessions(text: str, taken: Iterable[tuple[int, int]] = ()) -> list[NamedSession]:
    """The sessions that a question names.

    A place that is taken has words of time: "our chat last week" is that week.

    Examples:
        >>> named_sessions("What did we discuss in our 4th session?")
        [NamedSession(number=4, span=(20, 38))]
        >>> [each.number for each in named_sessions("我们上上次聊了什么？")]
        [-2]
        >>> named_sessions("When did we have our last session about the garden?")
        []
    """
    named, spans = list[NamedSession](), [*taken]
    patterns = _PATTERNS if len(text) <= _LONGEST and _MAY_NAME.search(text) else ()
    for found in (each for pattern in patterns for each in pattern.finditer(text)):
        [(kind, word)] = found.groupdict().items()
        number = _number(word) * (-1 if kind == "ago" else 1)
        apart = all(found.end() <= a or b <= found.start() for a, b in spans)
        if number and apart and _is_session(text, found, kind, number):
            named.append(NamedSession(number, found.span()))
            spans.append(found.span())
    return named


def _is_session(text: str, found: re.Match[str], kind: str, number: int) -> bool:
    if _NOT_AFTER.search(text[: found.start()]):
        return False
    if kind == "bare":
        said = _SAID.search(text) and not _WHEN.search(text)
        return bool(said) or asks_for_time_alone(text, [found.span()])
    restricts = _OF_ANOTHER + (_TOPIC if kind == "which" and number in (1, -1) else "")
    return not re.match(restricts + r")\b", text[found.end() :], re.IGNORECASE)


def _number(word: str) -> int:
    """The number of an ordinal or a count; -1 for "last"."""
    if digits := re.search(r"\d+", word):
        return int(digits[0])
    counts = enumerate((f"(?:{words})$" for words in _COUNTS), 1)
    for number, words in ((-2, _BUT_ONE), (-1, _LAST), *enumerate(_ORDINALS, 1), *counts):
        if re.match(words, word, re.IGNORECASE):
            return number
    tens, ten, ones = re.sub(f"[^{_HAN}]", "", word.replace("两", "二")).rpartition("十")
    return (_HAN.index(tens or "一") * 10 if ten else 0) + (_HAN.index(ones) if ones else 0)
