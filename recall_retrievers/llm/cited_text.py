"""The sentences that a model wrote, each with the memory numbers that it cites.

A reply may be prose in place of JSON, an honest "nothing", or still being written.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from recall_retrievers.core.errors import ReplyError
from recall_retrievers.core.query import Claim
from recall_retrievers.llm.fencing import visible
from recall_retrievers.llm.prompts import MOST_SENTENCES
from recall_retrievers.llm.replies import (
    Answer,
    read_answer,
    whole_entries,
    whole_number,
    without_thoughts,
)

_MARK = re.compile(
    r"\s*[\[【][^\d\[\]【】]{0,24}(\d+(?:\s*[,，;]\s*\d+)*)\s*(?:†[^\]】]{0,80})?[\]】]"
)
_MARKS_BEHIND = re.compile(rf"([.!?。！？…]+)((?:{_MARK.pattern})+)")
_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+")
_END = re.compile(r"(?<=[.!?…])\s+(?=[^a-z\s])|(?<=[。！？])\s*")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[A-HJ-Z]|Dr|Mrs?|Ms|Prof|St|Jr|Sr|No|vs|etc|approx|ca|bzw|e\.g|i\.e|z\. ?B)\.$"
)
_LONGEST = 500  # characters of a sentence
_DEBRIS = re.compile(  # of JSON, Python, YAML and tables
    r"""[\[{]\s*["']|^\s*\||^\W*(?:text|sentences?|points|memories)["']?\s*:""", re.MULTILINE
)


def read_sentences(reply: str, name: str) -> Answer[tuple[Claim, ...]]:
    """The sentences of a reply, with the memory numbers they cite. Nobody has checked them yet.

    An empty list under the name is an answer: the memories do not help. Left out, and counted in
    the notes, are sentences that repeat one, remains of JSON, those longer than 500 characters, and
    what comes after 20 sentences.
    """
    try:
        answer = read_answer(reply, name)
        if answer.value == []:
            return Answer((), answer.notes)
        claims, notes = [*_claims(answer.value)], answer.notes
    except ReplyError:
        text = without_thoughts(reply)
        claims, notes = [*_claims(text)], ("it is prose with marks, and no JSON",)
        if "{" in text or not any(claim.numbers for claim in claims):
            raise
    shown = _readable(claims)
    if not shown:
        raise ReplyError(f"expected sentences; got {reply[:80]!r}")
    count = len(claims) - len(shown)
    left_out = [f"{count} sentence(s) left out that repeat one, are too long or no prose"]
    return Answer(tuple(shown), (*notes, *left_out[: count > 0]))


def finished_claims(text: str, name: str) -> list[Claim]:
    """The sentences that are complete, if the reply begins as it was asked for.

    A reply that begins with anything else, such as thoughts, has none before it ends.
    """
    opening = re.match(rf'\s*(?:```(?:json)?\s*)?\{{\s*"{re.escape(name)}"\s*:\s*\[', text)
    entries, _ = whole_entries(text, opening.end()) if opening else ([], False)
    return _readable([*_claims(entries)])


def _readable(claims: Sequence[Claim]) -> list[Claim]:
    """The sentences that a reader can use, each once, with all the numbers that it cites."""
    once: dict[str, list[int]] = {}
    for each in claims:
        if len(each.sentence) <= _LONGEST and not _DEBRIS.search(each.sentence):
            once.setdefault(each.sentence, []).extend(each.numbers)
    merged = [Claim(sentence, tuple(dict.fromkeys(cited))) for sentence, cited in once.items()]
    return merged[:MOST_SENTENCES]


def sentences_in(text: str) -> list[str]:
    """The sentences of a text, each on one line; a stop after "Dr" or an initial ends none."""
    sentences: list[str] = []
    for line in visible(text).splitlines():
        for part in _END.split(_BULLET.sub("", line)):
            sentence = " ".join(part.split())
            if sentences and _ABBREVIATED.search(sentences[-1]):
                sentences[-1] = f"{sentences[-1]} {sentence}"
            elif sentence:
                sentences.append(sentence)
    return sentences


def _claims(value: object) -> Iterator[Claim]:
    """The sentences in the value of a reply, each with the numbers it cites; none is checked yet.

    The value is a list of ``{"text": ..., "memories": [1, 2]}``; or texts, with marks like [1] in
    them. Marks within a text count for their sentence and are taken out of it.
    """
    for item in value if isinstance(value, list) else [value]:
        fields = item if isinstance(item, Mapping) else {"text": item}
        text, numbers = fields.get("text"), _numbers(fields.get("memories"))
        if not isinstance(text, str):
            continue
        if _DEBRIS.search(text):  # and so are its parts
            yield Claim(text, tuple(numbers))
            continue
        # "Tea is at four. [1]": the mark stands behind the stop of the sentence it belongs to.
        for sentence in sentences_in(_MARKS_BEHIND.sub(r"\2\1 ", text)):
            marked = [number for mark in _MARK.finditer(sentence) for number in _numbers(mark[1])]
            bare = _MARK.sub("", sentence).strip()
            if bare:
                yield Claim(bare, tuple(dict.fromkeys([*numbers, *marked])))


def _numbers(cited: object) -> list[int]:
    parts = re.split(r"[,，;\s]+", cited) if isinstance(cited, str) else cited
    numbers = map(whole_number, parts if isinstance(parts, list) else [parts])
    return [number for number in numbers if number is not None]
