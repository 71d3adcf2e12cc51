"""Names in a sentence that no memory has: people, places, titles. English and Chinese.

English names have capitals. Chinese has none, so there only titles in 《》, places with their kind
(…公园), people at the start of a sentence, and members of a list are seen.
"""

import re
from collections.abc import Iterable

from recall_retrievers.llm.checking.number_words import is_number
from recall_retrievers.text.words import CJK, STOP_CHARACTERS, STOP_WORDS

_WORD = re.compile(r"[^\W\d_][\w'’&-]*")
_OPENS = re.compile(r"(?:^|[.!?…:]\s+|^[-*•]\s+)[\"“”'‘(\[]*$")
_CAPITAL_WORDS = """
    i i'm i've i'd i'll ai ok tv monday tuesday wednesday thursday friday saturday sunday january
    february march april may june july august september october november december mr mrs ms dr
    english internet user
"""
_NO_NAMES = frozenset(_CAPITAL_WORDS.split())
_FINITE = re.compile(
    r"\s+(?:is|was|has|had|does|did|will|would|can|could|must|may|made|saw|took|got|went|said|told"
    r"|ate|found|bought|gave|came|met|knew|thought|wrote|left|felt|kept|ran|read|[a-z]{2,}(?:ed|[^s]s))\b"
)
_NO_PERSON = re.compile(r"(?:ly|ing|ed|tion|ness|ment|ity|[^s]s)$")
_FIRST_WORDS = """
    all another any anyone both each either every everyone everything he it its much neither no
    nobody none nothing one others she some someone something such that the there these they this
    those what which who you your yesterday today tomorrow tonight music water work life love art
    time food nature travel cinema sport reading weather
"""
_FUNCTION = frozenset(_FIRST_WORDS.split())
_QUOTED = re.compile(r"[\"“]([A-Z][^\"“”]{1,80})[\"”]")
_NEAR = 20  # characters before a word that show whether it opens a sentence
_LEAST = 4  # letters that two forms of a name share: France, French

_HAN = f"[{CJK}]"
_TITLE = re.compile(r"《([^《》]{1,60})》|[“「『]([^“”「」『』]{1,30})[”」』]")
_PLACE = re.compile(
    rf"(?=({_HAN}{{2}})(公园|大学|医院|博物馆|图书馆|餐厅|饭店|酒店|公司|中学|小学|车站|机场|广场|商场"
    "|剧院|电影院|山|湖|寺|省|市|县|路|街|镇))"
)
_SURNAMES = (
    "王李张刘陈杨赵吴徐孙朱郭罗郑梁谢宋唐韩冯邓曹彭萧蔡潘袁董魏吕"
    "丁沈姚卢姜崔谭陆汪范廖贾韦傅邹秦阎薛侯贺郝龚邵"
)
_PERSON = re.compile(rf"(?:^|[，。！？、和跟与]|[:：]\s*)([{_SURNAMES}]{_HAN}{{1,2}})")
_AND = re.compile("、|以及|和|与|及")
_RUN = f"{_HAN}{{1,40}}"  # bounded, as a sentence has any length
_ITEMS = re.compile(rf"{_RUN}(?:、{_RUN}){{0,20}}(?:、|和|与|及|以及){_RUN}")


def unknown_names(sentence: str, known: str) -> frozenset[str]:
    """The names of a sentence that a text does not have."""
    lower = {_bare(word) for word in _WORD.findall(known)}
    capitals = dict.fromkeys(_capitals(sentence))
    names = [name for name in capitals if not _has(lower, name, known)]
    return frozenset([*names, *_titles(sentence, known), *_chinese(sentence, known)])


def _titles(sentence: str, known: str) -> Iterable[str]:
    """English titles in quotation marks: every longer word has a capital."""
    text = " ".join(known.lower().split())
    for title in _QUOTED.findall(sentence):
        small = [w for w in _WORD.findall(title) if len(w) >= _LEAST and not w[0].isupper()]
        if not small and title.lower().strip(" .,;:!?") not in text:
            yield title


def _capitals(sentence: str) -> Iterable[str]:
    for match in _WORD.finditer("" if sentence.isupper() else sentence):
        word = match[0]
        if not word[0].isupper() or not word.isascii() or _bare(word) in _NO_NAMES or len(word) < 2:
            continue
        at = match.start()
        before = sentence[:at] if at <= _NEAR else f"x{sentence[at - _NEAR : at]}"
        if _OPENS.search(before):
            # Other nouns in singular have an article.
            subject = not _NO_PERSON.search(_bare(word)) and _FINITE.match(sentence, match.end())
            bare = _bare(word)
            no_name = bare in STOP_WORDS | _FUNCTION or is_number(bare)
            if no_name or not (subject or word.endswith("'s")):
                continue
        yield word


def _has(known: set[str], name: str, text: str) -> bool:
    bare = _bare(name)
    if bare in STOP_WORDS or bare in known:
        return True
    if name.isupper() and len(name) <= 5:  # the initials of words that are there
        initials = "".join(word[0] for word in _WORD.findall(text) if word[0].isupper())
        if name in initials:
            return True
    parts = bare.split("-")
    if len(parts) > 1 and all(part in known for part in parts):
        return True
    # Two forms of a name differ in their endings alone: three letters or fewer.
    shared = ((each, max(_LEAST, len(each) - 3, len(bare) - 3)) for each in known)
    return any(each[:letters] == bare[:letters] for each, letters in shared)


def _bare(word: str) -> str:
    return re.sub(r"['’]s?$", "", word).lower().replace("’", "'")


def _chinese(sentence: str, known: str) -> Iterable[str]:
    old = STOP_CHARACTERS.union(known)
    titles = [title or quoted for title, quoted in _TITLE.findall(sentence)]
    yield from (title for title in titles if title not in known)
    for name, kind in _PLACE.findall(sentence):
        if kind in known and old.isdisjoint(name):
            yield name + kind
    for name in _PERSON.findall(sentence):
        if name[:2] not in known and name[1] not in known:
            yield name[:2]
    for listed in _ITEMS.findall(sentence):
        first, *others, last = _AND.split(listed)
        # Nothing shows where the first begins and where the last ends: two characters stand for it.
        items = [item for item in (first[-2:], *others, last[:2]) if len(item) > 1]
        if any(item in known for item in items):  # a list that the text has, too
            yield from (item for item in items if old.isdisjoint(item))
