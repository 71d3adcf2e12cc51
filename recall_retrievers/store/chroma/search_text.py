"""The text of a memory as it is embedded and as keyword search reads it; and BM25 among a few."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import islice

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.memory import Memory
from recall_retrievers.text.questions import person
from recall_retrievers.text.words import CJK, frequency, indexed_words, rarity, wanted_words

# Characters of a memory that are embedded, indexed by words, and read for times: 8,000 English
# words. The words of a million Chinese characters took 2.9 s and the tokens 4.8 s at every opening;
# those of 50,000 take 0.2 s. Most embedding models read 256 to 8,192 tokens.
READ_CHARACTERS = 50_000

# Words of a turn that its neighbours are found by, too. Measured on LoCoMo and BEAM together: with
# 10 words fewer turns are found, and with the whole turn as well, if it is a long reply.
_MOST_WORDS = 20
_WORD = re.compile(rf"[{CJK}]{{1,2}}|[^\s{CJK}]+")  # two Chinese characters count as a word


def index_text(memory: Memory | Candidate) -> str:
    """The text to embed: when the memory helps, who said it, and the content.

    Questions about people name them: with the author's name, plain similarity finds 0.37 of
    LoCoMo's evidence in the first five, without it 0.15. A chat role is not a name. A long text is
    cut to `READ_CHARACTERS`.

    Examples:
        >>> index_text(Memory(content="The dentist called.", author="Ann"))
        'Ann: The dentist called.'
    """
    name = person(memory.author)
    said_already = not name or memory.content.startswith(name)
    spoken = memory.content if said_already else f"{name}: {memory.content}"
    text = f"{memory.when_to_use}\n{spoken}" if memory.when_to_use else spoken
    return text[:READ_CHARACTERS]


def ending(text: str) -> str:
    words = list(_WORD.finditer(text))
    return text[words[-_MOST_WORDS].start() :] if len(words) > _MOST_WORDS else text


def opening(text: str) -> str:
    ends = [word.end() for word in islice(_WORD.finditer(text), _MOST_WORDS)]
    return text[: ends[-1]] if ends else text


def by_words(text: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits that share a word with a question, best first.

    A turn is found by the words of the turn that it answers, too. A row index knows more turns; see
    `counted`.

    The score is BM25, with words counted among these hits alone.

    Examples:
        >>> texts = ("Tea at four.", "No milk.", "Tea")
        >>> hits = [Hit(Candidate(content=text), 0.5) for text in texts]
        >>> [hit.memory.content for hit in by_words("When is tea?", hits)]
        ['Tea', 'Tea at four.']
    """
    terms = dict.fromkeys(wanted_words(text))
    spoken = [f"{hit.memory.said_before}\n{index_text(hit.memory)}" for hit in hits]
    counts = [Counter(indexed_words(each)) for each in spoken]
    lengths = [count.total() for count in counts]
    mean = sum(lengths) / (len(lengths) or 1) or 1.0
    rare = {word: rarity(len(counts), sum(word in count for count in counts)) for word in terms}
    scored = []
    for hit, count, length in zip(hits, counts, lengths, strict=True):
        score = sum(rare[word] * frequency(count[word], length / mean) for word in terms)
        if score > 0:
            measured = {"keyword": score, "keyword_pool": float(len(hits))}
            scored.append(Hit(hit.memory, score, {**hit.measures, **measured}))
    return sorted(scored, key=lambda hit: -hit.score)


# -- turns of a conversation ----------------------------------------------------------------------

# "Yes, three of them" is found by the words of the question that it answers, "Any pets?" by those
# of its answer. So a turn is indexed as if its own words were said several times, and those around
# it less often: BM25 then weighs them as fields of one text (BM25F, Robertson et al. 2004).
# `benchmarks/README.md` has the numbers of times that were measured, over twelve sets.

OWN = 3  # times its own words count; those of a memory without turns around it count once
BEFORE = (2, 1)  # of the turn before it, and of the turn before that
AFTER = (1,)


class Spoken:
    """The words of a memory, of its ends and of the turn that it answers; read when needed."""

    def __init__(self, memory: Candidate) -> None:
        self._text = index_text(memory)
        self._said_before = memory.said_before

    @cached_property
    def own(self) -> list[str]:
        return indexed_words(self._text)

    @cached_property
    def before(self) -> list[str]:
        return indexed_words(self._said_before)

    @cached_property
    def opening(self) -> list[str]:
        return self._of(opening(self._text))

    @cached_property
    def ending(self) -> list[str]:
        return self._of(ending(self._text))

    def _of(self, part: str) -> list[str]:
        return self.own if len(part) == len(self._text) else indexed_words(part)


def counted(
    own: Sequence[str], before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]
) -> Counter[str]:
    """How often each word counts for a turn, with those of the turns around it, the nearest first.

    Examples:
        >>> counted(["three"], [["pet"]], [["nice"]])
        Counter({'three': 3, 'pet': 2, 'nice': 1})
        >>> counted(["tea"], [[]], [[]])
        Counter({'tea': 1})
    """
    around = [word for times, said in zip(BEFORE, before, strict=False) for word in [*said] * times]
    around += [word for times, said in zip(AFTER, after, strict=False) for word in [*said] * times]
    return Counter([*own] * (OWN if around else 1) + around)
