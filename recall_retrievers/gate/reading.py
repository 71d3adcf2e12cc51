"""Whether a message needs memories: the cues that count, sentence by sentence."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from recall_retrievers.gate.language import CUES, Language
from recall_retrievers.gate.phrases import (
    BOUNDARY,
    Match,
    Sentence,
    sentences_of,
    tokens_of,
    without_material,
)
from recall_retrievers.gate.turns import USER, Turn

_BACK = 4  # turns in which the book of "that book" may stand
_SHORT = 8  # tokens of a message that only continues the one before it, boundaries included
_REQUEST = 14  # tokens of a request, boundaries included; statements are longer than questions
_FOLLOWED = 5  # such messages in a row

LEARNED = "learned"
"""The kind of the cue that a message is as a whole; see `recall_retrievers.gate.language`."""


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that count, their kind (of `CUES`, or `LEARNED`), and how often its weight counts."""

    kind: str
    words: str
    strength: float = 1.0


Cues = tuple[Cue, ...]
"""The cues of one sentence, every kind once."""


def read_cues(turns: Sequence[Turn], language: Language, people: frozenset[str]) -> list[Cues]:
    """The cues in every sentence of the user's last message, in view of the turns before it."""
    for _ in range(_FOLLOWED):
        last = max((n for n, turn in enumerate(turns) if turn.role == USER), default=None)
        if last is None:
            return []
        message, turns = turns[last].text, turns[:last]
        sentences = [
            (sentence, language.phrases.find(sentence.tokens))
            for sentence in sentences_in(message, language)
        ]
        if not _only_continues(sentences) or not _has_subject(turns, language):
            break
    reader = _Reader(language, people, turns)
    read = [reader.read(sentence, matches) for sentence, matches in sentences]
    if _only_continues(sentences) and not any(read) and sentences[0][0].is_question:
        read = [(Cue("pointing", message.strip()),)]
    learned = language.learned.weights and not reader.points_back
    if learned and sentences:
        cue = Cue(LEARNED, *language.learned.read([sentence for sentence, _ in sentences]))
        read = [(*cues, cue) for cues in read]
    return [cues for cues in read if cues]


def sentences_in(message: str, language: Language) -> list[Sentence]:
    """The sentences of a message that are the user's own: no quotation, no text of a task."""
    return [*sentences_of(without_material(_without_task_text(message, language)))]


def _without_task_text(message: str, language: Language) -> str:
    """A message without the text of its task: "Translate this: As I told you ..."."""
    before, _, after = message.partition("：" if "：" in message else ":")
    if not after.strip():
        return message
    task = language.words["task"]
    tokens = [token.lower() for token in tokens_of(before[-200:])]
    joined = "".join(tokens) if language.written_in_han else ""
    named = any(token in task for token in tokens) or any(word in joined for word in task if joined)
    return before if named else message


def _only_continues(sentences: Sequence[tuple[Sentence, Sequence[Match]]]) -> bool:
    """Whether a message makes sense only after another: "And when?"."""
    if len(sentences) != 1 or len(sentences[0][0].tokens) > _SHORT:
        return False
    kinds = {match.kind for match in sentences[0][1]}
    return "follow_up" in kinds and kinds.isdisjoint({"earlier", "resume", "habit", "lookalike"})


def _has_subject(turns: Iterable[Turn], language: Language) -> bool:
    """Whether an earlier message of the user is more than a greeting."""
    fillers = language.words["filler"]
    return any(
        turn.role == USER
        and (
            len(turn.text) > 3 * _SHORT
            or any(token.lower() not in fillers for token in tokens_of(turn.text))
        )
        for turn in turns
    )


class _Reader:
    """Reads the sentences of one message in order: a later one may point to an earlier one."""

    def __init__(self, language: Language, people: frozenset[str], before: Sequence[Turn]) -> None:
        self._language = language
        self._people = people
        self._own: Cue | None = None  # of the sentence before
        self._before = before
        self.points_back = False  # to what this conversation says
        self._read: list[Sentence] = []

    def read(self, sentence: Sentence, matches: Sequence[Match]) -> Cues:
        """The cues of the next sentence, from its matches."""
        kinds = {match.kind for match in matches}
        lookalikes = [match for match in matches if match.kind == "lookalike"]
        real = [m for m in matches if not any(_within(m, each, sentence) for each in lookalikes)]
        cues: dict[str, Cue] = {}
        for match in real:
            kind = self._counts_as(match, sentence)
            if kind in CUES and kind not in cues:
                cues[kind] = Cue(kind, _words(match, sentence, self._language))
        if self._own and "back" in kinds:
            cues.setdefault("own", self._own)
        if people := self._people.intersection(sentence.tokens):
            cues.setdefault("own", Cue("own", min(people)))
        if "how_to" not in kinds:
            if sentence.is_question:
                self._ask_of_oneself(cues, real, sentence)
            elif "own" in kinds & cues.keys() and not self._tells(matches, sentence):
                cues.setdefault("asks", Cue("asks", sentence.words[1]))
        self._own = cues.get("own")
        self._read.append(sentence)
        return tuple(cues.values())

    def _ask_of_oneself(
        self, cues: dict[str, Cue], matches: Sequence[Match], sentence: Sentence
    ) -> None:
        """Add the cues of a question with the asker in it: it is about the asker's memories."""
        for match in matches:
            if match.kind == "self" and not self._opens(match, sentence):
                cues.setdefault("own", Cue("own", _words(match, sentence, self._language)))
        if "own" in cues:
            cues.setdefault("asks", Cue("asks", "?"))

    def _tells(self, matches: Sequence[Match], sentence: Sentence) -> bool:
        """Whether a sentence is a statement, by its length or its beginning, and no request."""
        return len(sentence.tokens) > _REQUEST or any(
            match.kind == "statement" and self._opens(match, sentence) for match in matches
        )

    def _counts_as(self, match: Match, sentence: Sentence) -> str:
        if match.kind == "first_name":
            return "own" if _first_name(match, sentence, self._language) else ""
        if match.kind == "asks" and not (
            sentence.is_question
            or self._language.written_in_han  # asks without a question mark
            or self._opens(match, sentence)
        ):
            return ""
        if match.kind == "own" and _only_introduces(match, sentence):
            return ""
        if match.kind == "pointing" and self._has_antecedent(match, sentence):
            self.points_back = bool(self._before)
            return ""
        return match.kind

    def _opens(self, match: Match, sentence: Sentence) -> bool:
        """Whether a match begins its sentence, apart from "so", "please" and a greeting."""
        words = self._language.words
        before = sentence.tokens[: match.start]
        return all(
            token == BOUNDARY or token in words["filler"] or token in words["name"]
            for token in before
        )

    def _has_antecedent(self, match: Match, sentence: Sentence) -> bool:
        """Whether the thing was named before: "that book" by its title, "it" by any message."""
        if _names_something(sentence, match.start, self._language):
            return True
        recent = [one for turn in self._before[-_BACK:] for one in sentences_of(turn.text[:400])]
        recent += self._read
        if any(_names_something(one, len(one.tokens), self._language) for one in recent):
            return True
        last = sentence.tokens[match.end - 1]
        if last in self._language.words["things"]:
            return any(last in one.tokens for one in recent)
        return _has_subject(self._before, self._language)


def _only_introduces(match: Match, sentence: Sentence) -> bool:
    """Whether a question only begins with the match: "My car is loud, what could it be?"."""
    begins = match.start < 2 and match.end <= 3
    return begins and sentence.is_question and sentence.tokens.count(BOUNDARY) > 2


def _within(match: Match, other: Match, sentence: Sentence) -> bool:
    """Whether a match lies in another, apart from the boundary before it."""
    start = match.start + (sentence.tokens[match.start] == BOUNDARY)
    return match is not other and other.start <= start and match.end <= other.end


def _words(match: Match, sentence: Sentence, language: Language) -> str:
    words = (word for word in sentence.words[match.start : match.end] if word != BOUNDARY)
    return ("" if language.written_in_han else " ").join(words)


def _first_name(match: Match, sentence: Sentence, language: Language) -> bool:
    """Whether a name stands alone, as that of a person one knows; "Tom Hanks" does not.

    The word before may be capitalised where it begins the sentence, and in a language that
    capitalises its nouns.
    """
    if language.written_in_han:
        return True
    name = sentence.words[match.start]
    if not name[0].isupper():
        return False
    following = sentence.words[match.end] if match.end < len(sentence.words) else BOUNDARY
    before = sentence.words[match.start - 1]
    opens = match.start < 2 or sentence.words[match.start - 2] == BOUNDARY
    nouns = "capitalised" in language.words
    return not following[0].isupper() and (
        opens or nouns or not before[0].isupper() or before == "I"
    )


def _names_something(sentence: Sentence, end: int, language: Language) -> bool:
    """Whether a person or a thing that a pronoun may mean is named before a place."""
    beings = language.words["being"]
    pairs = zip(sentence.words[1:end], sentence.words, strict=False)
    return any(
        word.lower() in beings or (len(word) > 1 and word[0].isupper() and before != BOUNDARY)
        for word, before in pairs
    )


def names_served(system_prompt: str) -> frozenset[str]:
    """The names in the possessive in a system prompt: "You are John's assistant"."""
    tokens = tokens_of(system_prompt[:4_000])
    return frozenset(
        a.lower() for a, b in pairwise(tokens) if b == "s" and a[0].isupper() and len(a) > 1
    )
