"""A language of the gate: the words and phrases of one TOML file, and how one is recognised.

A file has three parts: ``common``, the small words by which the language is known; ``[words]``, the
classes of words that phrases name; and ``[cues]``, the phrases of each kind (see `CUES`). A further
language is one more such file. First names, which are the same in many languages, are in names.txt.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from recall_stages.gate.phrases import Phrases, tokens_of

CUES = {
    "earlier": "earlier talk: you said, we discussed, remind me what",
    "resume": "going on: continue, where were we",
    "habit": "as always: the usual, the same again",
    "pointing": "what was not named here: that book, the other one, did she reply",
    "wish": "advice that depends on who asks: what should I wear",
    "own": "what only the asker's memories know: my sister, did I, the landlord",
    "asks": "a fact or an act is asked for: when is, did, cancel",
    "abstract": "an assumption, or a cause in general: if I had, the reason why my",
    "wording": "words are asked about, not what they say: how do you say",
    "told": "something is told, to be kept: remember that I",
}
"""What each kind of cue stands for."""

_MARKS = {
    "named": "a first name, where it stands alone",
    "self": "the asker, in a question",
    "how_to": "a question about how things are done, or a text to be written",
    "statement": "how a sentence begins that tells something",
    "follow_up": "how a message begins that makes sense only after another",
    "back": "a question about what the sentence before it named",
    "nothing": "what looks like a cue and is none: my code, the deadline for taxes",
}
"""What phrases may also say, to tell when a cue counts."""

_NEEDED = ("task", "filler", "being", "things")  # classes of words that the reading asks for
_DATA = Path(__file__).parent
_HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Language:
    """One language's words and phrases.

    Attributes:
        code: Its name, such as "en".
        common: The small words by which it is known.
        words: The words of each class.
        phrases: Its cues.
        written_in_han: Whether it is known by its letters instead.
    """

    code: str
    common: frozenset[str]
    words: Mapping[str, frozenset[str]]
    phrases: Phrases
    written_in_han: bool


def load_language(name: str, extra: Mapping[str, Sequence[str]]) -> Language:
    """A language by its code, or by the path of a TOML file of your own.

    Args:
        name: Such as "de", or "my/it.toml".
        extra: Further phrases for each kind of cue.

    Raises:
        ValueError: When there is no such language, or its file is not as it should be.
    """
    file = Path(name) if name.endswith(".toml") else _DATA / f"{name}.toml"
    if not file.is_file():
        known = ", ".join(sorted(each.stem for each in _DATA.glob("*.toml")))
        raise ValueError(f"no language {name!r}; there are {known}, or the path of a TOML file")
    return _language(file, tuple((kind, tuple(phrases)) for kind, phrases in extra.items()))


@cache
def _language(file: Path, extra: tuple[tuple[str, tuple[str, ...]], ...]) -> Language:
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    missing = {"words", "cues"} - data.keys() or set(_NEEDED) - data["words"].keys()
    if missing:
        raise ValueError(f"{file.name} must have {', '.join(sorted(missing))}, if empty")
    words = {name: entries.split() for name, entries in data["words"].items()}
    words.setdefault("name", (_DATA / "names.txt").read_text(encoding="utf-8").split())
    cues = {kind: list(phrases) for kind, phrases in data["cues"].items()}
    unknown = cues.keys() - CUES.keys() - _MARKS.keys()
    if unknown:
        known = ", ".join([*CUES, *_MARKS])
        raise ValueError(f"{file.name} has cues {sorted(unknown)}; known are {known}")
    for kind, phrases in extra:
        cues.setdefault(kind, []).extend(phrases)
    common = data.get("common", "")
    return Language(
        code=file.stem,
        common=frozenset(common.split()),
        words={name: frozenset(map(str.lower, entries)) for name, entries in words.items()},
        phrases=Phrases(cues, words),
        written_in_han=bool(_HAN.search(common)),
    )


def likely(text: str, languages: Sequence[Language]) -> list[Language]:
    """The languages that a text may be in; several where it has no word that tells.

    Examples:
        >>> both = [load_language(code, {}) for code in ("en", "de")]
        >>> [each.code for each in likely("Wo ist mein Auto?", both)]
        ['de']
        >>> [each.code for each in likely("Pizza!", both)]
        ['en', 'de']
    """
    han = bool(_HAN.search(text))
    same_letters = [each for each in languages if each.written_in_han == han]
    # A letter alone tells nothing: "s" is in "when's" as in "s'il".
    spoken = {token.lower() for token in tokens_of(text) if len(token) > 1}
    counts = [len(spoken & each.common) for each in same_letters]
    most = max(counts, default=0)
    return [each for each, count in zip(same_letters, counts, strict=True) if han or count == most]
