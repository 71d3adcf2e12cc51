"""What a question asks about: a time alone, a person, what the assistant said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from recall_retrievers.text.words import CJK, STOP_WORDS

# Words by which one asks for memories, whatever they are about.
_ASKING = """
    activities activity again all am any anything been being between briefly bring brought came
    chat chats chatted chatting check come comes coming conversation conversations convo cover
    covered day days details diaries diary discuss discussed discussing discussion discussions
    doing done during each else entries entry event events every everything exactly find get give
    go goes going gone had happen happened happening happens having highlight highlights important
    interesting journal just key know let like list log logs look made main make memorable
    memories memory mention mentioned mentioning more most much new news notable note notes
    occasion occur occurred only order other our ourselves over overview please point points quick
    quickly recall recap recapitulate recollect record recorded records remember remembered remind
    review said say saying says see share shared show significant so some something speak special
    spend spent spoke spoken stuff subject subjects summaries summarise summarize summary take
    talk talked talking talks tell telling than then thing things time times together told too
    took topic topics touch touched up us very way went were write written wrote d ll m re s t ve
"""
_WORDS = STOP_WORDS | frozenset(_ASKING.split())
_PHRASES = """
    什么 哪些 哪 啥 怎么样 怎么 怎样 如何 多少 几 吗 呢 吧 啊 呀 么 的 了 过 着
    地 得 在 有 是 都 和 跟 与 同 把 被 对 关于 我们 咱们 你们 他们 她们 咱 我
    你 您 他 她 自己 大家 这 那 些 个 里 中 内 间 上 下 时候 时间 时 天 日 当
    一 一下 所有 全部 各 发生 进行 经历 度过 过得 做 干 忙 搞 聊天 聊 谈论 谈 说
    讲 讨论 交流 提到 提及 提 告诉 记得 记录 记 回忆 回顾 想起 知道 列出 列 总结
    概括 说明 请 帮 给 看看 看一下 事情 事件 事 话题 内容 活动 情况 对话 主要 重要
    还 又 也 就 会 能 可以 去 到 起 来 想 让
"""
_CHINESE_WORDS = re.compile("|".join(sorted(_PHRASES.split(), key=lambda each: -len(each))))
_WORD = re.compile(rf"[{CJK}]+|[^\W{CJK}]+")


def asks_for_time_alone(
    text: str, spans: Sequence[tuple[int, int]], names: Iterable[str] = ()
) -> bool:
    """Whether nothing is left of a question but its time, its people, and the words of asking.

    The spans are the places of its words of time. The names are those of authors: they say nothing
    about a topic.

    Examples:
        >>> asks_for_time_alone("What did I do last Tuesday?", [(14, 26)])
        True
        >>> asks_for_time_alone("What did I eat last Tuesday?", [(15, 27)])
        False
        >>> asks_for_time_alone("昨天发生了什么？", [(0, 2)])
        True
    """
    if not spans:
        return False
    rest = text
    for start, end in sorted(spans, reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    named = {part for name in names for part in _WORD.findall(name.lower())}
    return all(
        word in _WORDS or word in named or not _CHINESE_WORDS.sub("", _without(word, named))
        for word in _WORD.findall(rest.lower())
    )


def _without(word: str, names: Iterable[str]) -> str:
    """A Chinese run of characters without the names in it; Latin words have no such parts."""
    if not word.isascii():
        for name in names:
            word = word.replace(name, "")
    return word


# Roles: a question does not call a person by them.
_ROLES = frozenset({"user", "assistant", "system", "tool", "human", "ai"})
_CJK = re.compile(f"[{CJK}]")
_PART_OF_A_NAME = re.compile(r"[^\W_]+")
# Names that are words too: they name a person only in capitals.
_ALSO_WORDS = """
    al art bill chase chip dawn don drew faith frank gene grace guy hope hunter jack jean joy june
    mark may miles pat pearl penny ray rich rob rose ruby sue will
"""
_CAPITALS_ONLY = frozenset(_ALSO_WORDS.split())
_SAID = """
    recommend(?:ed)? suggest(?:ed)? advised? proposed? said say told tell mention(?:ed)?
    explain(?:ed)? list(?:ed)? offer(?:ed)? outlined? described? gave give warn(?:ed)? point(?:ed)?
    promised? sent send showed show wrote write answer(?:ed)? replied reply quoted? called call
"""
_PAST = """
    recommended suggested advised proposed told mentioned explained listed offered outlined
    described gave warned promised sent showed wrote answered replied quoted
"""
_ASKS_THE_ASSISTANT = re.compile(
    r"\b(?:did|have|had|were) you(?: (?!i\b|we\b)\w+)? "
    rf"(?:{'|'.join(_SAID.split())})\b"
    rf"|\byou(?:'d|'ve| had| have| just| once| also| already)* (?:{'|'.join(_PAST.split())})\b"
    r"|\byour (?:recommendation|suggestion|advice|proposal|explanation|answer|reply|replies)"
    r"|\b(?:the|my) (?:assistant|ai|bot|chatbot)\b"
    "|[你您](?:之前|以前|当时|上次|曾经|曾|都|还|已经)*(?:给我|向我|跟我|对我|为我)?"
    "(?:推荐|建议|告诉|提到|介绍|提议|说)(?:了|过|的|给)|[你您]的(?:建议|推荐|回答|答复|解释)",
    re.IGNORECASE,
)


def person(author: str) -> str:
    """The name of an author; empty for a role of a chat."""
    return "" if author.lower() in _ROLES else author


def asks_about(text: str, author: str) -> bool:
    """Whether a question names the author of a memory, by any part of the name.

    Examples:
        >>> asks_about("What did Ann's sister buy?", "Ann Lee")
        True
        >>> asks_about("How many user roles are there?", "user")
        False
        >>> asks_about("What will he say?", "Will"), asks_about("What did Will say?", "Will")
        (False, True)
        >>> asks_about("张曼婷喜欢什么书？", "张曼婷")
        True
    """
    name = person(author)
    if _CJK.search(name):  # written without spaces, so there are no words to compare
        return name in text
    words = set(_PART_OF_A_NAME.findall(text))
    lower = {word.lower() for word in words}
    return any(
        part.capitalize() in words if part.lower() in _CAPITALS_ONLY else part.lower() in lower
        for part in _PART_OF_A_NAME.findall(name)
        if len(part) > 1
    )


def asks_the_assistant(text: str) -> bool:
    """Whether a question is about something that the assistant said before.

    Advice that is wanted now ("what would you suggest?") was not said before.

    Examples:
        >>> asks_the_assistant("Which hotel did you suggest?")
        True
        >>> asks_the_assistant("你推荐了哪本书？")
        True
        >>> asks_the_assistant("Which hotel would you suggest?")
        False
    """
    return _ASKS_THE_ASSISTANT.search(text) is not None


# "Before" with a time or a thing is a time: "before Friday", "三天以前", "旅行の前は".
_BEFORE = re.compile(
    r"\b(?:did\b.* use to|used to|previously|formerly|früher(?!.* als)|vorher|antes(?! de)"
    r"|anteriormente|sol[ií]a[ns]?|auparavant)\b"
    r"|\b(?:before(?: that| then)?|avant)\W*$"
    r"|(?<![年月周天日号点間時分])以前|(?<![年月週日時分間の以])前は|(?:^|[我你您他她它们码])之前|之前是",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"[?？]|^\W*(?:what|where|which|who|when|how|was|wo|wer|wie|welche[rsnm]?|dónde|qué|cuál|quién"
    r"|où|quel(?:le)?s?|qui|que)\b|什么|哪|谁|多少|吗|何|どこ|どの|誰|か$",
    re.IGNORECASE,
)


def asks_what_was_before(text: str) -> bool:
    """Whether a question asks for what was so before, and need not be so any more.

    Examples:
        >>> asks_what_was_before("Where did I use to live?"), asks_what_was_before("以前是什么？")
        (True, True)
        >>> asks_what_was_before("Who called before Friday?")
        False
    """
    return _ASKS.search(text) is not None and _BEFORE.search(text) is not None
