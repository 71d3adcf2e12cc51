"""Whether a question asks for nothing but a time: "what did we talk about on 26 April?"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from recall_retrievers.text.split_words import CJK
from recall_retrievers.text.stems import STOP_WORDS

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
_CHINESE = re.compile("|".join(sorted(_PHRASES.split(), key=lambda each: -len(each))))
_WORD = re.compile(rf"[{CJK}]+|[^\W{CJK}]+")


def asks_for_time_alone(
    text: str, spans: Sequence[tuple[int, int]], names: Iterable[str] = ()
) -> bool:
    """Whether nothing is left of a question but its time, its people, and the words of asking.

    Args:
        text: The question.
        spans: The places of its words of time.
        names: The names of people that say nothing about a topic: the authors of memories.

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
        word in _WORDS or word in named or not _CHINESE.sub("", _without(word, named))
        for word in _WORD.findall(rest.lower())
    )


def _without(word: str, names: Iterable[str]) -> str:
    """A Chinese run of characters without the names in it; Latin words have no such parts."""
    if not word.isascii():
        for name in names:
            word = word.replace(name, "")
    return word
