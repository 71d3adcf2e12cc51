"""The German words of time."""

import re

from recall_retrievers.timeline.engine import calendar_math as cal
from recall_retrievers.timeline.engine.reading import Duration, Now, Reading
from recall_retrievers.timeline.meanings import clock, combine, cycles, relative
from recall_retrievers.timeline.western.patterns import Western
from recall_retrievers.timeline.western.vocabulary import Vocabulary, words_of


def _forms(*stems: str) -> str:
    """Letzte, letzten, letzter ..."""
    return " ".join(stem + end for stem in stems for end in ("e", "en", "er", "es", "em"))


def _to_come(now: Now, amount: Duration) -> Reading | None:
    """Was tun wir in zwei Wochen? But not "das habe ich in zwei Wochen gelernt"."""
    return None if _PAST.search(now.text) else relative.ago(now, amount, 1)


# "Was weißt du über Weihnachten?" is about it.
_ABOUT = re.compile(r"\b(?:ge)?(?:sag|spr[aeo]ch|red|wei[ßs]|denk|dach|(?:er)?zähl)", re.IGNORECASE)
_PAST = re.compile(r"\b(?:hab|hat|war|wurd|ging|kam)", re.IGNORECASE)
_BEFORE_A_NAME = (
    "im in seit bis stand ab von vom zum und zwischen nach vor anfang mitte ende am an den dem des "
    "monat gegen um bis - "
) + _forms("letzt", "vergangen", "vorig", "dies", "nachst", "kommend", "vorletzt", "jed")
_PRONOUNS = "ich wir er sie es du ihr man "

_KINDS: dict[str, dict[object, str]] = {
    "DAYWORD": {0: "heute", -1: "gestern", -2: "vorgestern", 1: "morgen", 2: "ubermorgen"},
    "WEEKDAY": {
        0: "montag", 1: "dienstag", 2: "mittwoch", 3: "donnerstag", 4: "freitag",
        5: "samstag sonnabend", 6: "sonntag",
    },
    "WEEKDAYS": {
        0: "montags", 1: "dienstags", 2: "mittwochs", 3: "donnerstags", 4: "freitags",
        5: "samstags sonnabends", 6: "sonntags",
    },
    "MONTH": {
        1: "januar janner jan", 2: "februar feb", 3: "marz maerz", 4: "april apr", 5: "mai",
        6: "juni jun", 7: "juli jul", 8: "august aug", 9: "september sept sep", 10: "oktober okt",
        11: "november nov", 12: "dezember dez",
    },
    "UNIT": {
        "minute": "minute minuten", "hour": "stunde stunden", "day": "tag tage tagen tages",
        "week": "woche wochen", "weekend": "wochenende wochenenden wochenendes",
        "month": "monat monate monaten monats", "quarter": "quartal quartale quartals",
        "year": "jahr jahre jahren jahres", "decade": "jahrzehnt jahrzehnte jahrzehnten",
    },
    "UNITS": {
        "day": "tagen tage", "week": "wochen", "month": "monaten monate", "year": "jahren jahre",
    },
    "SEASON": {0: "fruhling fruhjahr", 1: "sommer", 2: "herbst", 3: "winter"},
    "PART": {
        (5, 12): "fruh vormittag", (11, 14): "mittag", (12, 17): "nachmittag", (17, 21): "abend",
        (21, 29): "nacht",
    },
    "REL": {
        -1: _forms("letzt", "vergangen", "vorig"), 0: _forms("dies"),
        1: _forms("nachst", "kommend"), -2: _forms("vorletzt"), 2: _forms("ubernachst"),
    },
    "COUNT": {
        1: "ein eine einem einen einer", 2: "zwei", 3: "drei", 4: "vier", 5: "funf", 6: "sechs",
        7: "sieben", 8: "acht", 9: "neun", 10: "zehn", 11: "elf", 12: "zwolf", 14: "vierzehn",
        15: "funfzehn", 20: "zwanzig", 30: "dreissig dreißig",
    },
    "ORD": {1: _forms("erst"), 2: _forms("zweit"), 3: _forms("dritt"), 4: _forms("viert")},
    "EDGE": {0: "anfang beginn", 1: "mitte", 2: "ende"},
    "HOLIDAY": {
        cal.yearly(12, 25): "weihnachten weihnachtstag",
        cal.yearly(12, 24): "heiligabend weihnachtstage weihnachtstagen",
        cal.yearly(12, 31): "silvester",
        cal.yearly(1, 1): "neujahr",
        cal.yearly(2, 14): "valentinstag",
        cal.yearly(12, 6): "nikolaus", cal.easter: "ostern ostersonntag",
        cal.from_easter(1): "ostermontag",
        cal.from_easter(-2): "karfreitag",
        cal.from_easter(49): "pfingsten",
    },
    "SOFT": {30: "kurzlich neulich letztens unlangst"},
}  # fmt: skip

GERMAN = Western(
    Vocabulary(
        kinds=_KINDS,
        roles={
            "art": "der die das den dem des",
            "in": "in im am an um zu zum fur uber wahrend gegen",
            "from": "von vom ab fur",
            "to": "bis",
            "since": "seit",
            "until": "bis",
            "as_of": "stand",
            "before": "vor",
            "after": "nach",
            "between": "zwischen",
            "and": "und",
            "ago": "vor",
            "every": _forms("jed"),
            "few": "paar einigen einige wenigen",
            "half": _forms("halb"),
            "one_and_a_half": "anderthalb eineinhalb",
            "morning": "morgen",
            "street": "strasse straße platz allee weg",
        },
        common=words_of(
            """ich wir du er sie mir mich uns mein meine meinen meiner habe haben hatte hatten
            hast waren wurde wo wer wen wem wie wann warum welche welcher welches welchen und
            oder nicht der das den dem des ein eine einen einem einer im vom zum zur mit bei
            nach seit bis fur auf aus auch noch ist sind uber was am an in die war hat bin von
            worum woruber wohin"""
        ),
        before_month=words_of(_BEFORE_A_NAME),
        before_weekday=words_of(_BEFORE_A_NAME + _PRONOUNS) - {"im", "in"},
        before_year=words_of(
            _PRONOUNS + "jahr jahre in seit bis stand ab von vor nach zwischen und ende anfang"
        ),
        extra={
            "DAYWORD <morning>": lambda now, offset: combine.part_of_day(now, offset, (5, 12)),
            "guten <morning>|PART|UNIT": lambda *_: {},
            "am <morning>": lambda _: {},
            "in REL zeit": lambda now, _: relative.soft(30)(now),
            "HOUR uhr": clock.hour,
            "HM uhr?": clock.figures,
            "in DURATION": _to_come,
            "REL nacht": relative.night,
            "wahrend|uber weihnachten": lambda now: (
                None if _ABOUT.search(now.text) else cycles.christmas(now)
            ),
            "<in> <art>? weihnachtstage|weihnachtstagen": cycles.christmas,
            "bis zum|zur": lambda _: {"<to>": None, "<until>": None},
            "mit? stand von|vom?": lambda _: {"<as_of>": None},
        },
    )
)
