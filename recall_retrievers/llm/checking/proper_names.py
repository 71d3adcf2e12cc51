"""Names in a sentence that no memory has: people, places, titles.

English names have capitals. Chinese has none, so there only titles in 《》 or quotation marks are
seen.
"""

import re
from collections.abc import Iterable

from recall_retrievers.llm.checking.numbers import is_number
from recall_retrievers.text.words import STOP_WORDS

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
_NEAR = 20  # characters before a word that show whether it opens a sentence
_LEAST = 4  # letters that two forms of a name share: France, French

_TITLE = re.compile(r"《([^《》]{1,60})》|[“「『]([^“”「」『』]{1,30})[”」』]")


def unknown_names(sentence: str, known: str) -> frozenset[str]:
    """The names of a sentence that a text does not have."""
    lower = {_bare(word) for word in _WORD.findall(known)}
    names = (name for name in _capitals(sentence) if not _has(lower, _bare(name)))
    titles = (title or quoted for title, quoted in _TITLE.findall(sentence))
    return frozenset([*names, *(title for title in titles if title not in known)])


def _capitals(sentence: str) -> Iterable[str]:
    for match in _WORD.finditer("" if sentence.isupper() else sentence):
        word, bare = match[0], _bare(match[0])
        if not word[0].isupper() or not word.isascii() or bare in _NO_NAMES or len(word) < 2:
            continue
        at = match.start()
        before = sentence[:at] if at <= _NEAR else f"x{sentence[at - _NEAR : at]}"
        if not _OPENS.search(before) or _is_subject(bare, sentence[match.end() :]):
            yield word


def _is_subject(bare: str, behind: str) -> bool:
    """Whether a word at the start of a sentence is a name; other nouns have an article."""
    ordinary = bare in STOP_WORDS or is_number(bare) or _NO_PERSON.search(bare)
    return not ordinary and _FINITE.match(behind) is not None


def _has(known: set[str], bare: str) -> bool:
    if bare in STOP_WORDS or bare in known:
        return True
    # Two forms of a name differ in their endings alone: three letters or fewer.
    shared = ((each, max(_LEAST, len(each) - 3, len(bare) - 3)) for each in known)
    return any(each[:letters] == bare[:letters] for each, letters in shared)


def _bare(word: str) -> str:
    return re.sub(r"['’]s?$", "", word).lower().replace("’", "'")
