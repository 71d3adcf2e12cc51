"""Whether a question asks for the latest or the first: "the latest three about the dentist".

The words are read in questions, not in stories ("the first thing I thought was ..."). They ask for
nothing if they are part of a time ("last week") or of a fixed phrase ("first aid"). "Joanna's first
novel" and "when did Joanna first watch it?" ask for what a text says, not for its place among the
memories. They are left to the search. In a conversation "the first one" is what was just offered.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from recall_retrievers.text.questions import data
from recall_retrievers.text.words import CJK

_LISTS: Final = data("patterns.toml")["order"]
_CHINESE: Final = "零一二三四五六七八九十"
_LONGEST = 200  # characters: a pasted dialogue asks for no order


def _lines(text: str) -> str:
    return "|".join(text.split())


_SMALL: Final = _lines("one two three four five six seven eight nine ten")
_COUNT = rf"(?P<count>{_SMALL}|\d{{1,3}}|few)"
_NOUN = r"(?:memor(?:y|ies)|notes?|messages?|entr(?:y|ies)|mentions?|conversations?|chats?"
_NOUN += r"|records?|tasks?|events?|observations?|insights?|times)"
_NEXT = r"(?= (?:about|on|regarding|concerning|that|when|where|with|from|i|we|you)\b|\W*$)"
_WE = "(?:i|we|you)"
_DID = rf"(?:did|have|had|was|were|am|are) {_WE}"


def _english(word: str, adverb: str, superlatives: str) -> str:
    """The forms of an order in English: of a word with other meanings, and of superlatives."""
    which = f"(?:{word}|{superlatives})"
    return "|".join(
        (
            rf"\b(?:(?:the|my|our|your|their|his|her) )?{which} {_COUNT}(?: {_NOUN})?{_NEXT}",
            rf"\b{_COUNT.replace('count', 'before')} {which} {_NOUN}\b",
            rf"\b(?:the|my|our|your) (?:very )?{word}\b(?! time\b)(?: {_NOUN}\b|(?= \w))",
            rf"(?<!\bfor )\b(?:the|my|our|your) (?:very )?{word} time\b(?= (?:{_WE}|my|our)\b)",
            rf"(?<!\bat the )(?<!\btheir )(?<!\bhis )(?<!\bher )\b(?:{superlatives})\b",
            rf"\b(?:{_DID}|when {_WE}) {adverb}\b(?= \w)",
            rf"\b{_DID} [^?]*\b(?:(?<!at )(?<!on ){adverb}(?=\W*$)|for the (?:very )?{word} time)",
        )
    )


_DER = r"(?:de[rmns]|die|das|zum|beim|vom|als|(?:[mds]ein|unse?r|eu?e?r|ihr)(?:e[nmrs]?)?)"
_EL = r"(?:el|l[ao]s?|mis?|tus?|sus?|por|nuestr[ao]s?)"
_LE = r"(?:les?|la|l['’]|m(?:on|a|es)|t(?:on|a|es)|nos|notre|vos|votre|du|au|en)"
_CLASSIFIER = (
    "(?:[次回条篇则件本部顿场封通趟份首张家](?!合|分)|个(?!月|星期|礼拜|小时|季度|学期|世纪))"
)
_ZH_COUNT = rf"(?:(?:一|(?P<{{}}>[{_CHINESE[2:]}两]|\d{{{{1,3}}}}|几))?{_CLASSIFIER})"
_JA_COUNT = rf"の(?P<{{}}>[{_CHINESE}]|\d{{{{1,3}}}})(?:[回件冊通本]|つ)(?!間)"
_BEST = "(?:一番|いちばん|最も|もっとも)"

_NEWEST: Final = (
    re.compile(
        "|".join(
            (
                _english("last", "last", "latest|newest|most recent(?:ly)?"),
                rf"\b{_DER} (?:letzte|jüngste)[nmrs]?\b|\bzuletzt\b",
                r"\b(?:neue?ste|aktuellste)[nmrs]?\b",
                r"(?<!\bpor )\b[úu]ltim[oa]s?\b|\bpor [úu]ltima vez\b",
                r"\bmás (?:recient|nuev)[aeo]s?\b",
                rf"(?<!\bces )\b{_LE} derni(?:er|ère)s?\b|\bplus récente?s?\b",
            )
        ),
        re.IGNORECASE,
    ),
    re.compile(
        "|".join(
            (
                rf"(?:最新|最近|最后)的?{_ZH_COUNT.format('count')}|[上前]一?[次回]",
                rf"最近[^，。？！]{{1,10}}的[那这]?一?{_CLASSIFIER}",
                r"(?<=\w)(?<!到)最后(?!一?[天周年月刻排名])",
                rf"(?:最後|直近|最新){_JA_COUNT.format('ja')}",
                rf"最後[にの]|前回|この前|こないだ|直近|最新|{_BEST}(?:最近|新しい)",
            )
        )
    ),
)
_OLDEST: Final = (
    re.compile(
        "|".join(
            (
                _english("first", "first", "earliest|oldest"),
                rf"\b{_DER} (?:erste|früheste|älteste)[nmrs]?\b|\b(?:zuerst|erstmals)\b",
                rf"\b{_EL} primer[ao]?s?\b|\bmás (?:antigu|viej|tempran)[ao]s?\b",
                rf"\b{_LE} premi(?:er|ère)s?\b|\bplus ancien(?:ne)?s?\b|\bla première fois\b",
            )
        ),
        re.IGNORECASE,
    ),
    re.compile(
        "|".join(
            (
                rf"(?:最早|最初|最先|第|头|首)的?(?!一次世界){_ZH_COUNT.format('count')}|最早|最先",
                rf"最初{_JA_COUNT.format('ja')}|最初|初めて|はじめて|{_BEST}(?:古い|早い|はじめ)",
            )
        )
    ),
)

_FEW = f"{_lines(_LISTS['few'])}|{_SMALL}"

# What makes another thing of the word before it: a time, a fixed phrase, a person of a family.
_NO_ORDER: Final = re.compile(
    rf"-| (?:(?:(?:\d+|{_FEW}) )?(?:{_lines(_LISTS['times'])})|{_lines(_LISTS['things'])})\b"
    "|の(?:日|週|月|年|晩餐)",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:First|Last) [A-Z]")
_ALONE = rf"(?=\W*$|[,.;:?!]| (?:{_lines(_LISTS['after'])})\b)"
# "The first one", "das erste", "第一个" without a noun: what was offered before.
_POINTS_BACK: Final = re.compile(
    rf"(?:\w+ )?(?:very )?(?:first|last) (?:ones?\b(?! {_NOUN})|{_COUNT}{_ALONE})"
    r"|(?:de[rmns]|die|das) (?:erste|letzte)[nmrs]?(?: beiden)?\b"
    r"(?!(?: \w+)? (?-i:[A-ZÄÖÜ])| mal\b)"
    rf"|(?:el|l[ao]s?) (?:primer[oa]|[úu]ltim[oa])s?{_ALONE}"
    rf"|l(?:es?|a) (?:premi|derni)(?:er|ère)s?{_ALONE}"
    "|(?:第|最后)一[个款种项家](?=[呢的是怎多有在会好吗，。？?！]|$)"
    "|最[初後]の(?:もの|やつ|方|一つ|ひとつ|1つ)",
    re.IGNORECASE,
)
_ORDERS_SOMEBODY = re.compile(
    rf"(?:please |bitte |por favor,? )?(?:{_lines(_LISTS['verbs'])})\b"
    "|.*(?:告诉|列出|说说|想想|教えて|見せて)",
    re.IGNORECASE,
)
# "The doctor said the first thing ...": a story. "The end of my first sprint": one of a series.
_TELLS = re.compile(r"(?:i|we|he|she|they|it|the|my|our)\b.{9}", re.IGNORECASE)
_ADVICE = re.compile(r"\b(?:suggest|recommend)\b", re.IGNORECASE)
_PART_OF = re.compile(
    r"\b(?:end|start|beginning|deadline|part|rest|half|finishing|completing|putting)\b"
    r"(?: of| for)? $|^when (?:do|does|will|is) ",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?。！？]*[.!?。！？]*\s*")
_CJK_QUESTION = re.compile("[？?吗哪谁几]|什么|多少|怎么|何|誰|いつ|どこ|どの|どれ|どんな|か。?$")

_FILLERS: Final = re.compile(
    rf"\b(?:(?:{_FEW}|\d{{1,3}}) )?(?:{_lines(_LISTS['fillers'])})\b"
    rf"(?: (?:{_FEW}|\d{{1,3}})\b)?|什么时候|何时|几次|多久|时候|听?说了?|知道|聊了?|跟"
    "|最新|最近|最后|最早|最初|最先|[上前第首头]?一?次|[上前]回|[一哪][本条件个篇场封]"
    "|最後|直近|前回|この前|こないだ|初めて|はじめて|一番|最も|新しい|古い|早い|いつ|行った|行き",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AskedOrder:
    """The order in which a question wants its memories, by recorded time."""

    newest: bool  # else the oldest come first
    counted: bool  # whether it names a number, or "few"
    span: tuple[int, int]  # where its words stand in the question

    @property
    def name(self) -> str:
        """The order for people."""
        return "newest first" if self.newest else "oldest first"


def asked_order(
    text: str, taken: Iterable[tuple[int, int]] = (), *, in_conversation: bool = False
) -> AskedOrder | None:
    """The order that a question asks for; None if it asks for none.

    A place that is taken has words of time: "the last three days" is a time. In a conversation "the
    first one" asks for none: without a noun it points at what was said before.

    Examples:
        >>> asked_order("the latest three about the dentist")
        AskedOrder(newest=True, counted=True, span=(0, 16))
        >>> asked_order("When did I first see the dentist?").name
        'oldest first'
        >>> asked_order("¿De qué trató mi última reunión con Elena?").name
        'newest first'
        >>> asked_order("And the first one?", in_conversation=True) is None
        True
        >>> asked_order("What did I do last week?") is None
        True
    """
    if len(text) > _LONGEST:
        return None
    spans = [*taken]
    for newest, patterns in ((True, _NEWEST), (False, _OLDEST)):
        for pattern in patterns[: 1 if text.isascii() else 2]:
            for found in pattern.finditer(text):
                inside = any(a < found.end() and found.start() < b for a, b in spans)
                named = [each for each in found.groupdict().values() if each]
                if (
                    not inside
                    and not _NO_ORDER.match(text, found.end())
                    and not _NAME.match(text, found.end() - len("first"))
                    and not (in_conversation and _POINTS_BACK.match(text, found.start()))
                    and (named or _asks(text, found.start()))
                ):
                    return AskedOrder(newest, bool(named), found.span())
    return None


def without_order(text: str) -> str:
    """The words of a question that say what it is about; the text if there are none.

    Examples:
        >>> without_order("When did I last go swimming?").split()
        ['did', 'I', 'swimming?']
        >>> without_order("The last?"), without_order("Last?")
        ('The ?', 'Last?')
    """
    rest = " ".join(_FILLERS.sub(" ", text).split())
    return rest if any(map(str.isalnum, rest)) else text


def _asks(text: str, place: int) -> bool:
    """Whether the sentence at a place asks for something; else it tells."""
    found = next(each for each in _SENTENCE.finditer(text) if each.end() > place)
    sentence, before = found[0].strip(), text[found.start() : place]
    if _TELLS.match(before) or _PART_OF.search(before) or _ADVICE.search(sentence):
        return False
    if _ORDERS_SOMEBODY.match(sentence) or "?" in sentence or "？" in sentence:
        return True
    if re.search(f"[{CJK}]", sentence):
        return bool(_CJK_QUESTION.search(sentence)) or not re.search("[，。！、!]", text)
    return not sentence.endswith((".", "!"))
