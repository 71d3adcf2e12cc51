"""The words of a conversation by which memories are looked up, in any script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recall_retrievers.gate.language import Language, likely, load_language
from recall_retrievers.gate.turns import Conversation, read_turns
from recall_retrievers.stages.search_gate import LANGUAGES

_MOST = 20
_SHORTEST = 3  # letters; in Chinese, which needs fewer, terms are pairs of characters
_LONGEST_TEXT = 20_000  # characters at the end of the conversation that are read
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_TERM = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+|(?:(?![\u3400-\u4dbf\u4e00-\u9fff])\w)+[+#]*")
_SAY_NOTHING = frozenset("的了是在我你他她它们这那有和与也都就不没吗呢吧啊么什怎哪谁把被给跟对说")


def extract_search_terms(
    conversation: Conversation, system_prompt: str = "", most: int = _MOST
) -> list[str]:
    """The words of a conversation that carry most meaning, the last ones first.

    Stop words of its language (English, Chinese, German, Spanish, French) and terms of less than 3
    letters are left out. Chinese is taken in pairs of characters. The words of the system prompt
    come after the words of the conversation.

    Args:
        conversation: A text or a list of messages; see `should_search_memory`.
        system_prompt: The assistant's instructions.
        most: How many terms at the most.

    Examples:
        >>> extract_search_terms("We learned Python. Which decorators did we discuss?")
        ['discuss', 'decorators', 'python', 'learned']
        >>> extract_search_terms("我姐姐喜欢绿茶")
        ['绿茶', '欢绿', '喜欢', '姐喜', '姐姐']
    """
    conversation_text = "\n".join(turn.text for turn in read_turns(conversation))[-_LONGEST_TEXT:]
    languages = [load_language(code, {}) for code in LANGUAGES]
    terms: dict[str, None] = {}
    for text in (conversation_text, system_prompt[-_LONGEST_TEXT:]):
        for term in _last_first(text, likely(text, languages)):
            terms[term] = None
            if len(terms) == most:
                return list(terms)
    return list(terms)


def _last_first(text: str, spoken: Sequence[Language]) -> Iterator[str]:
    stop_words = frozenset().union(*(language.common for language in spoken))
    for run in reversed(_TERM.findall(text.lower())):
        if _HAN.match(run):
            for end in range(len(run), 1, -1):
                pair = run[end - 2 : end]
                if _SAY_NOTHING.isdisjoint(pair):
                    yield pair
        elif len(run) >= _SHORTEST and run not in stop_words and not run.isdecimal():
            yield run
