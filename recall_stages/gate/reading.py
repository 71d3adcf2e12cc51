"""What a message says of whether memories are needed: the cues that count, sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from recall_stages.gate.language import CUES, Language
from recall_stages.gate.phrases import BOUNDARY, Match, tokens_of
from recall_stages.gate.sentences import Sentence, sentences_of, without_material
from recall_stages.gate.turns import USER, Turn

_BACK = 4  # turns in which what "that book" points to is looked for
_SHORT = 8  # tokens of a message that only goes on with the one before it, boundaries included
_REQUEST = 14  # tokens of a request, boundaries included; people tell at length, and ask in brief
_FOLLOWED = 5  # such messages in a row


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that count, and as what: one of `CUES`."""

    kind: str
    words: str


Cues = tuple[Cue, ...]
"""The cues of one sentence, each kind once."""


def read_cues(turns: Sequence[Turn], language: Language, people: frozenset[str]) -> list[Cues]:
    """The cues in each sentence of what the user said last, seen in the light of what came before.

    Args:
        turns: The conversation.
        language: The language in which it is read.
        people: Names, in lower case, of whom the memories are.
    """
    for _ in range(_FOLLOWED):
        last = max((n for n, turn in enumerate(turns) if turn.role == USER), default=None)
        if last is None:
            return []
        message, turns = turns[last].text, turns[:last]
        said = without_material(_asked(message, language))
        sentences = [
            (sentence, language.phrases.find(sentence.tokens)) for sentence in sentences_of(said)
        ]
        if not _only_goes_on(sentences) or not _has_subject(turns, language):
            break
    reader = _Reader(language, people, turns)
    read = [reader.read(sentence, found) for sentence, found in sentences]
    if _only_goes_on(sentences) and not any(read) and sentences[0][0].is_question:
        read = [(Cue("pointing", message.strip()),)]
    return [cues for cues in read if cues]


def _asked(message: str, language: Language) -> str:
    """A message without the text that it hands over: "Translate this: As I told you ..."."""
    before, _, after = message.partition("：" if "：" in message else ":")
    if not after.strip():
        return message
    task = language.words["task"]
    tokens = [token.lower() for token in tokens_of(before[-200:])]
    joined = "".join(tokens) if language.written_in_han else ""
    named = any(token in task for token in tokens) or any(each in joined for each in task if joined)
    return before if named else message


def _only_goes_on(sentences: Sequence[tuple[Sentence, Sequence[Match]]]) -> bool:
    """Whether a message makes sense only after another: "And when?"."""
    if len(sentences) != 1 or len(sentences[0][0].tokens) > _SHORT:
        return False
    kinds = {match.kind for match in sentences[0][1]}
    return "follow_up" in kinds and kinds.isdisjoint({"earlier", "resume", "habit", "nothing"})


def _has_subject(turns: Iterable[Turn], language: Language) -> bool:
    """Whether the user said anything before but a greeting."""
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
    """Reads the sentences of one message in order: what one names, a later one may point to."""

    def __init__(self, language: Language, people: frozenset[str], before: Sequence[Turn]) -> None:
        self._language = language
        self._people = people
        self._own: Cue | None = None  # of the sentence before
        self._before = before
        self._read: list[Sentence] = []

    def read(self, sentence: Sentence, matches: Sequence[Match]) -> Cues:
        """The cues of the next sentence, of all that matches in it."""
        lookalikes = [match for match in matches if match.kind == "nothing"]
        found: dict[str, Cue] = {}
        for match in matches:
            if any(_within(match, each, sentence) for each in lookalikes):
                continue
            kind = self._counts_as(match, sentence)
            if kind in CUES and kind not in found:
                found[kind] = Cue(kind, _words(match, sentence, self._language))
        if self._own and any(match.kind == "back" for match in matches):
            found.setdefault("own", self._own)
        if people := self._people.intersection(sentence.tokens):
            found.setdefault("own", Cue("own", min(people)))
        kinds = {match.kind for match in matches}
        if "how_to" not in kinds:
            if sentence.is_question:
                self._ask_of_oneself(found, matches, lookalikes, sentence)
            elif "own" in kinds & found.keys() and not self._tells(matches, sentence):
                found.setdefault("asks", Cue("asks", sentence.spoken[1]))
        self._own = found.get("own")
        self._read.append(sentence)
        return tuple(found.values())

    def _ask_of_oneself(
        self,
        found: dict[str, Cue],
        matches: Sequence[Match],
        lookalikes: Sequence[Match],
        sentence: Sentence,
    ) -> None:
        """A question with the asker in it asks for what the asker's memories know."""
        for match in matches:
            if (
                match.kind == "self"
                and not self._opens(match, sentence)
                and not any(_within(match, each, sentence) for each in lookalikes)
            ):
                found.setdefault("own", Cue("own", _words(match, sentence, self._language)))
        if "own" in found:
            found.setdefault("asks", Cue("asks", "?"))

    def _tells(self, matches: Sequence[Match], sentence: Sentence) -> bool:
        """Whether a sentence is long or begins as statements do; else it asks for something."""
        return len(sentence.tokens) > _REQUEST or any(
            match.kind == "statement" and self._opens(match, sentence) for match in matches
        )

    def _counts_as(self, match: Match, sentence: Sentence) -> str:
        if match.kind == "named":
            return "own" if _first_name(match, sentence, self._language) else ""
        if match.kind == "asks" and not (sentence.is_question or self._opens(match, sentence)):
            return ""
        if match.kind == "own" and _only_introduces(match, sentence):
            return ""
        if match.kind == "pointing" and self._has_antecedent(match, sentence):
            return ""
        return match.kind

    def _opens(self, match: Match, sentence: Sentence) -> bool:
        """Whether a match begins its sentence, but for "so", "please", and whom it greets."""
        words = self._language.words
        before = sentence.tokens[: match.start]
        return all(
            token == BOUNDARY or token in words["filler"] or token in words["name"]
            for token in before
        )

    def _has_antecedent(self, match: Match, sentence: Sentence) -> bool:
        """Whether what is pointed to was named: "that book" by its title, "it" by any talk."""
        if _names_something(sentence, match.start, self._language):
            return True
        recent = [each for turn in self._before[-_BACK:] for each in sentences_of(turn.text[:400])]
        recent += self._read
        if any(_names_something(each, len(each.tokens), self._language) for each in recent):
            return True
        last = sentence.tokens[match.end - 1]
        if last in self._language.words["things"]:
            return any(last in each.tokens for each in recent)
        return _has_subject(self._before, self._language)


def _only_introduces(match: Match, sentence: Sentence) -> bool:
    """Whether a question only begins with it: "My car is loud, what could it be?"."""
    begins = match.start < 2 and match.end <= 3
    return begins and sentence.is_question and sentence.tokens.count(BOUNDARY) > 2


def _within(match: Match, other: Match, sentence: Sentence) -> bool:
    """Whether a match lies in another, but for the boundary before it."""
    start = match.start + (sentence.tokens[match.start] == BOUNDARY)
    return match is not other and other.start <= start and match.end <= other.end


def _words(match: Match, sentence: Sentence, language: Language) -> str:
    spoken = (each for each in sentence.spoken[match.start : match.end] if each != BOUNDARY)
    return ("" if language.written_in_han else " ").join(spoken)


def _first_name(match: Match, sentence: Sentence, language: Language) -> bool:
    """Whether a name stands alone, as one speaks of people one knows; "Tom Hanks" is the world's.

    The word before may be capitalised where it begins the sentence, and in a language that
    capitalises its nouns.
    """
    if language.written_in_han:
        return True
    name = sentence.spoken[match.start]
    if not name[0].isupper():
        return False
    following = sentence.spoken[match.end] if match.end < len(sentence.spoken) else BOUNDARY
    before = sentence.spoken[match.start - 1]
    opens = match.start < 2 or sentence.spoken[match.start - 2] == BOUNDARY
    nouns = "capitalised" in language.words
    return not following[0].isupper() and (
        opens or nouns or not before[0].isupper() or before == "I"
    )


def _names_something(sentence: Sentence, end: int, language: Language) -> bool:
    """Whether somebody or something is named before a place, that a pronoun may stand for."""
    beings = language.words["being"]
    pairs = zip(sentence.spoken[1:end], sentence.spoken, strict=False)
    return any(
        word.lower() in beings or (len(word) > 1 and word[0].isupper() and before != BOUNDARY)
        for word, before in pairs
    )


def names_served(system_prompt: str) -> frozenset[str]:
    """The names that a system prompt puts in the possessive: "You are John's assistant".

    Examples:
        >>> sorted(names_served("You are John's assistant. Use Acme's tone."))
        ['acme', 'john']
    """
    tokens = tokens_of(system_prompt[:4_000])
    return frozenset(
        a.lower() for a, b in pairwise(tokens) if b == "s" and a[0].isupper() and len(a) > 1
    )
