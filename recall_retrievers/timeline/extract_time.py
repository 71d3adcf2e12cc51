"""From a question to its time ranges, in the asker's time zone."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from typing import Literal

from recall_retrievers.timeline.grammar.engine import Expression
from recall_retrievers.timeline.grammar.patterns import Spaced
from recall_retrievers.timeline.grammar.reading import Now, Reading
from recall_retrievers.timeline.grammar.tense import Cues
from recall_retrievers.timeline.grammar.unspaced import Unspaced
from recall_retrievers.timeline.grammar.vocabulary import FOLDED, words_of
from recall_retrievers.timeline.languages.chinese import CHINESE
from recall_retrievers.timeline.languages.english import ENGLISH
from recall_retrievers.timeline.languages.french import FRENCH
from recall_retrievers.timeline.languages.german import GERMAN
from recall_retrievers.timeline.languages.japanese import JAPANESE
from recall_retrievers.timeline.languages.spanish import SPANISH
from recall_retrievers.timeline.parse_time import parse_time, resolve_timezone
from recall_retrievers.timeline.time_range import TimeRange

Language = Literal["auto", "en", "zh", "de", "es", "fr", "ja"]
WeekStart = Literal["monday", "sunday"]
Hemisphere = Literal["north", "south"]


WESTERN = {"de": GERMAN, "es": SPANISH, "fr": FRENCH}
LANGUAGES: Mapping[str, Spaced | Unspaced] = {
    "en": ENGLISH, "zh": CHINESE, "ja": JAPANESE, **WESTERN,
}  # fmt: skip
"""A new language is one line here."""

_LETTERS = re.compile(r"[^\W\d_]+")
_MOST_LETTERS = 2000  # no language is clearer after so many
_SURE = 3  # English words that a foreign word of time does not outweigh
_ENGLISH = (ENGLISH.vocabulary.common - {"a"}) | words_of(
    "say said tell told get got go went come came ago"
)
_SMALL = {code: one.vocabulary.common for code, one in WESTERN.items()}
_TELLING = {
    code: one.vocabulary.telling - ENGLISH.vocabulary.words.keys() - _ENGLISH
    for code, one in WESTERN.items()
}
_FOREIGN = frozenset().union(*_SMALL.values(), *_TELLING.values()) - _ENGLISH
_MOST_RANGES = 64  # a pasted calendar names hundreds of days; a question names a few
_HAN_OR_KANA = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
_ONLY_CHINESE = re.compile("[你您们們吗嗎呢吧么麼这這哪谁誰什没說说在了的过過我他她它]")
_OPENS_A_TIME = re.compile(  # "when did I ...?" asks for a time, and names none
    r"(?<=\w)(?<!me)(?<!know),?\s"
    r"(?:when|while|before|after|since|until|till|during|around|through|back then"
    r"|als|bevor|nachdem|seit|während|damals|cuando|antes|después|desde|durante|mientras"
    r"|quand|lorsque|avant|après|depuis|pendant)\b[^,.?!]*"
    r"|[^，。？什么]{0,12}(?<!什么)(?:时候|期间|以前|以后|之前|之后|那[天年晚])"
    r"|[^、。？]{0,12}(?:の時|の頃|の間|前に|後に)",
    re.IGNORECASE,
)
_LATIN_WORD = re.compile(r"[A-Za-z]{3}")
_BEFORE_A_STOP = re.compile(r"\s+([,.;:?!，。？！])")


def extract_time(  # noqa: PLR0913  the settings of the question, each by name
    text: str,
    reference_time: float | str | datetime,
    *,
    language: Language = "auto",
    timezone: tzinfo | str | None = None,
    week_start: WeekStart = "monday",
    day_first: bool | None = None,
    hemisphere: Hemisphere = "north",
) -> list[TimeRange]:
    """Find the times that a question names: "what did we plan last Tuesday?".

    A question about memories looks back: "in March" is the latest March that has begun. Words such
    as "tomorrow" and questions such as "what is planned for March?" look ahead. "between May and
    July" is one range, "in June and in August" are two.

    Args:
        text: The question, in any length; it is never an error.
        reference_time: The moment of the question, in any form that `parse_time` reads.
        language: "en", "zh", "de", "es", "fr", "ja", or "auto" to choose by the script and
            the small words; a text in two scripts is read as both.
        timezone: The asker's time zone or its IANA name; None takes that of `reference_time`.
        week_start: The first day of a week, "monday" or "sunday".
        day_first: Whether 5/7/2023 is the fifth of July; None takes the habit of the language.
        hemisphere: "south" puts summer in December to February.

    Returns:
        One range for each time expression, best first; other readings of the same words are in
        its `alternatives`. Empty when the question names no time.

    Raises:
        TypeError: If `text` is not a string, or `reference_time` no moment.
        ValueError: If `reference_time` or a setting is not understood.

    Examples:
        >>> (found,) = extract_time("What did we plan last Tuesday?", "2024-06-12T15:30:00Z")
        >>> found.describe(), found.text
        ('2024-06-11 (Tuesday)', 'last Tuesday')
        >>> extract_time("May I have a second opinion?", "2024-06-12T15:30:00Z")
        []
        >>> (found,) = extract_time("我去年三月做了什么？", "2024-06-12T15:30:00Z")
        >>> found.describe()
        '2023-03-01 to 2023-03-31'
    """
    if not isinstance(text, str):
        msg = f"text must be a string; got {text!r:.60}"
        raise TypeError(msg)
    for name, value, allowed in (
        ("language", language, ("auto", *LANGUAGES)),
        ("week_start", week_start, ("monday", "sunday")),
        ("hemisphere", hemisphere, ("north", "south")),
    ):
        if value not in allowed:
            msg = f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r:.60}"
            raise ValueError(msg)
    moment = parse_time(reference_time, timezone, name="reference_time")
    if timezone is not None:
        moment = moment.astimezone(resolve_timezone(timezone))
    now = Now(
        moment.replace(tzinfo=None),
        week_start=0 if week_start == "monday" else 6,
        day_first=day_first,
        southern=hemisphere == "south",
        text=text,
        elapsed=partial(_elapsed, moment),
    )
    return _ranges(text, now, moment.tzinfo or UTC, language)


def extract_told(text: str, moment: datetime, *, ahead: bool) -> list[TimeRange]:
    """The times of a memory; in one that looks ahead "Friday" is the coming one."""
    clock = partial(_elapsed, moment)
    now = Now(moment.replace(tzinfo=None), text=text, ahead=ahead, elapsed=clock)
    return _ranges(text, now, moment.tzinfo or UTC, "auto")


def _ranges(text: str, now: Now, zone: tzinfo, language: str) -> list[TimeRange]:
    ranges = [
        one
        for reading, start, end in _read(text, now, language)[:_MOST_RANGES]
        if (one := _range(reading, zone, text, start, end)) is not None
    ]
    # A vague word only prefers, so exact times come first.
    return sorted(ranges, key=lambda one: one.soft)


def without_time_words(text: str, ranges: list[TimeRange]) -> str:
    """The question without its time expressions; the whole text if nothing else would be left."""
    rest = text
    for start, end in sorted((each.span for each in ranges if each.span), reverse=True):
        rest = f"{rest[:start].rstrip()} {rest[end:].lstrip()}"
    rest = _BEFORE_A_STOP.sub(r"\1", rest).strip(" ,;:-，：")
    return rest if any(letter.isalnum() for letter in rest) else text


def unread_time(question: str) -> tuple[int, int] | None:
    """The place of words that open a time, such as "when I was in college", up to the next stop.

    A calendar cannot read them. So a caller looks here only where `extract_time` reads nothing, and
    may then ask a language model.
    """
    match = _OPENS_A_TIME.search(question)
    return match.span() if match else None


def language_of(text: str) -> str:
    """The code of the language that a text is read in; of two scripts, that of the East."""
    if _HAN_OR_KANA.search(text):
        return "ja" if _is_japanese(text) else "zh"
    return _code_of(text)


def cues_of(language: str) -> Cues:
    """The words of a language that tell whether a text looks back or ahead."""
    return LANGUAGES[language].cues


def tells_past(text: str) -> bool:
    """Whether a verb of a text is in a past tense."""
    return cues_of(language_of(text)).tells_past(text)


def asks_ahead(question: str) -> bool:
    """Whether a question is about what is still to come: "Friday" is then the coming one.

    Examples:
        >>> asks_ahead("What is planned for Friday?"), asks_ahead("What did we plan on Friday?")
        (True, False)
    """
    return cues_of(language_of(question)).asks_ahead(question)


def _read(text: str, now: Now, language: str) -> list[Expression]:
    if language != "auto":
        return LANGUAGES[language].read(text, _with_habits(now, language))
    if not _HAN_OR_KANA.search(text):
        spoken = _code_of(text)
        expressions = LANGUAGES[spoken].read(text, _with_habits(now, spoken))
        if expressions or spoken == "en":
            return expressions
        return LANGUAGES["en"].read(text, _with_habits(now, "en"))
    spoken = language_of(text)
    expressions = LANGUAGES[spoken].read(text, _with_habits(now, spoken))
    if _LATIN_WORD.search(text):
        taken = [(start, end) for _, start, end in expressions]
        expressions += [
            (reading, start, end)
            for reading, start, end in LANGUAGES["en"].read(text, _with_habits(now, "en"))
            if all(end <= first or last <= start for first, last in taken)
        ]
        expressions.sort(key=lambda one: one[1])
    return expressions


def _code_of(text: str) -> str:
    """The language of a text in Latin script; "en" where no other has more of its words in it."""
    words = set(_LETTERS.findall(text[:_MOST_LETTERS].lower().translate(FOLDED)))
    if words.isdisjoint(_FOREIGN):
        return "en"
    counts = {"en": len(words & _ENGLISH)}
    for code, small in _SMALL.items():
        sure = len(words & _ENGLISH - small) >= _SURE  # "was", "am" and "an" are German as well
        telling = 0 if sure else len(words & _TELLING[code])
        counts[code] = 2 * telling + len(words & small)
    return max(counts, key=counts.__getitem__)


def _is_japanese(text: str) -> bool:
    """Whether a text is Japanese, and not Chinese that quotes a word of it."""
    kana = len(_KANA.findall(text))
    return kana > 0 and kana > len(_ONLY_CHINESE.findall(text))


def _with_habits(now: Now, language: str) -> Now:
    """5/7/2023 is the fifth of July on the continent, unless the asker says otherwise."""
    cues = cues_of(language)
    asks = cues.asks_ahead(now.text)
    return replace(
        now,
        day_first=True if now.day_first is None and language in WESTERN else now.day_first,
        cues=cues,
        asks=asks,
        ahead=asks if now.ahead is None else now.ahead,
    )


def _range(reading: Reading, zone: tzinfo, text: str, start: int, end: int) -> TimeRange | None:
    words, span = text[start:end], (start, end)

    def attached(one: Reading, others: tuple[TimeRange, ...]) -> TimeRange | None:
        try:
            ends = _attach(one.start, one.end, zone)
            recurrence = one.recurrence and replace(one.recurrence, timezone=zone)
            return TimeRange(*ends, one.grain, words, span, others, recurrence, one.soft)
        except (ValueError, OverflowError):  # at the very edge of the calendar
            return None

    others = [other for one in reading.others if (other := attached(one, ())) is not None]
    return attached(reading, tuple(dict.fromkeys(others)))


def _attach(
    start: datetime | None, end: datetime | None, zone: tzinfo
) -> tuple[datetime | None, datetime | None]:
    """Put the wall clock into its zone; an hour that a clock change skips keeps its length."""
    begin = start and start.replace(tzinfo=zone)
    close = end and end.replace(tzinfo=zone)
    if begin and close and start and end and not begin.astimezone(UTC) < close.astimezone(UTC):
        close = (begin.astimezone(UTC) + (end - start)).astimezone(zone)
    return begin, close


def _elapsed(moment: datetime, by: timedelta) -> datetime:
    """The wall clock after so much time has passed, with clock changes counted."""
    there = (moment.astimezone(UTC) + by).astimezone(moment.tzinfo)
    return there.replace(tzinfo=None)
