"""The German words of time, and orders that only German has."""

import re

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.neighbours import NO_TIME, Place
from recall_retrievers.timeline.grammar.patterns import Spaced
from recall_retrievers.timeline.grammar.tense import Cues
from recall_retrievers.timeline.grammar.vocabulary import Kinds, Vocabulary, words_of
from recall_retrievers.timeline.meanings import combine, relative


def _forms(*stems: str) -> str:
    """Letzte, letzten, letzter ..."""
    return " ".join(stem + end for stem in stems for end in ("e", "en", "er", "es", "em"))


# "Was weißt du über Weihnachten?" is about it.
_ABOUT = re.compile(r"\b(?:ge)?(?:sag|spr[aeo]ch|red|wei[ßs]|denk|dach|(?:er)?zähl)", re.IGNORECASE)
_BEFORE_A_NAME = (
    "im in seit bis stand ab von vom zum und zwischen nach vor anfang mitte ende am an den dem des "
    "monat gegen um bis zu uber wahrend - "
) + _forms("letzt", "vergangen", "vorig", "dies", "nachst", "kommend", "vorletzt", "jed", "ganz")
_PRONOUNS = " ich wir er sie es du ihr man ist sind war habe haben hat "
_ONES = ["ein", "zwei", "drei", "vier", "funf", "sechs", "sieben", "acht", "neun"]
_TEENS = ["zehn", "elf", "zwolf"]
_TEENS += [f"{stem}zehn" for stem in ("drei", "vier", "funf", "sech", "sieb", "acht", "neun")]
_TENS = ["zwanzig", "dreissig", "vierzig", "funfzig", "sechzig", "siebzig", "achtzig", "neunzig"]
_NUMBERS: dict[object, str] = {
    **dict(enumerate(_ONES + _TEENS, 1)),
    **{
        10 * ten + one: (f"{_ONES[one - 1]}und{tens}" if one else tens)
        for ten, tens in enumerate(_TENS, 2)
        for one in range(10)
    },
}
_ORDINALS = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}

_KINDS: dict[str, dict[object, str]] = {
    "DAYWORD": {
        0: "heute", -1: "gestern", -2: "vorgestern", -3: "vorvorgestern", 1: "morgen",
        2: "ubermorgen",
    },
    "WEEKDAY": {
        0: "montag", 1: "dienstag", 2: "mittwoch", 3: "donnerstag", 4: "freitag",
        5: "samstag sonnabend", 6: "sonntag",
    },
    "WEEKDAYS": {
        0: "montags", 1: "dienstags", 2: "mittwochs", 3: "donnerstags", 4: "freitags",
        5: "samstags sonnabends", 6: "sonntags",
    },
    "MONTH": {
        1: "januar januars janner jan", 2: "februar februars feb", 3: "marz maerz", 4: "april apr",
        5: "mai", 6: "juni jun", 7: "juli jul", 8: "august aug", 9: "september sept sep",
        10: "oktober okt", 11: "november nov", 12: "dezember dez",
    },
    "UNITS": {
        "day": "tagen tage", "week": "wochen", "month": "monaten monate", "year": "jahren jahre",
    },
    "UNIT": {
        "minute": "minute minuten", "hour": "stunde stunden", "day": "tag tage tagen tages",
        "week": "woche wochen", "weekend": "wochenende wochenenden wochenendes",
        "month": "monat monate monaten monats", "quarter": "quartal quartale quartals",
        "year": "jahr jahre jahren jahres", "decade": "jahrzehnt jahrzehnte jahrzehnten",
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
    "COUNT": {**_NUMBERS, 1: "ein eine einem einen einer eins", 30: "dreissig dreißig"},
    "ORD": {
        n: _forms(_ORDINALS.get(n) or _NUMBERS[n] + ("t" if n < 20 else "st"))
        for n in range(1, 32)
    },
    "EDGE": {1: "mitte"},
    "END": {0: "anfang beginn", 2: "ende"},
    "QUARTER": {15: "viertel", 45: "dreiviertel"},
    "DECADE": {
        10 * n: f"{tens}er {tens}ern" for n, tens in enumerate(_TENS, 2)
    },
    "HOLIDAY": {
        cal.yearly(12, 25): "weihnachten weihnachtstag",
        cal.yearly(12, 24): "heiligabend",
        cal.yearly(12, 31): "silvester",
        cal.yearly(1, 1): "neujahr",
        cal.yearly(2, 14): "valentinstag",
        cal.yearly(12, 6): "nikolaus", cal.easter: "ostern ostersonntag",
        cal.from_easter(1): "ostermontag",
        cal.from_easter(-2): "karfreitag",
        cal.from_easter(49): "pfingsten",
    },
    "HOLIDAYS": {
        cal.OVER_CHRISTMAS: "weihnachtstage weihnachtstagen wahrend|uber_weihnachten",
    },
    "SOFT": {30: "kurzlich neulich letztens unlangst"},
    "HINT": {1: "kw kalenderwoche"},
}  # fmt: skip
_CUES = Cues(
    ahead="""werde werden werdet wird wirst muss musst muessen müssen müsst soll sollen sollst
    sollt will wollen möchte* kann können darf dürfen würde* (?:ist|sind)_ge*t ist_angesetzt
    vorgesehen eingeplant""",
    arranged="""geplant gebucht* reserviert* vereinbart* bestellt* ausgemacht angemeldet anmelden
    eingeladen einladung verabredet karten tickets eingetragen gekündigt beantragt zugesagt
    abgemacht""",
    back="""unser*_(?:chat|gespräch|unterhaltung)
    ge*t ge*en *ge*t *ge*en *iert ver*t ver*en be*t be*en er*t er*en ent*en ent*t zer*t
    über*en unter*en war waren warst hatte hatten wurde* ging* kam* fuhr* flog* fand* traf* zog*
    lief* gab* sah* nahm* begann* verlor* brach* blieb* lag* stand* fiel* schrieb* sprach* aß*
    schlief* hielt* ließ* rief* starb* sang* stieg* trank* schloss* *te *ten *test *tet""",
    present="""treffen abholen besuchen anrufen zahlen einreichen kündigen *termin* frist
    fällig abgabe lieferung abholung letzter_tag letzter_arbeitstag gültig gilt gelten läuft
    reservierung buchung arbeite* verlängert* ist sind bin seid hat habe haben fällt findet
    fängt fährt tritt trifft zieht ziehen beginnt beginnen startet starten endet enden öffnet
    öffnen schließt verlängert* erneuert kommt kommen geht gehen fliege fliegt fliegen treffe
    heirate heiratet reise reist arbeite arbeitet feiere feiert feiern fahre fahren mache macht
    machen spiele spielt spielen besuche besucht wechsle wechselt kehrt kehre eröffnet zahle
    zahlt bringe bringt nehme nehmen bekomme bekommt hole holt steht stehen bleibe bleibt helfe
    hilft gebe gibt kaufe kauft sehe sieht schreibe schreibt lerne lernt wohne wohnt operiert
    trete läuft_ab findet_statt los""",
    asking=r"""geplant gebucht fällig *termin* frist steht_an ansteht an(?=\?) vor(?=\?) vor_habe
    im_kalender frei was_mache_ich was_machen_wir was_tun_wir treffe_ich treffen_wir""",
    leading="für für_den für_das",
    put_off="verschoben verlegt",
    onward="ab",
    never="""heute bitte letzte* nächste* erste* beste* größte* höchste* neueste* älteste* dritte*
    vierte* alte* gute* gegen gehen geben gern gerne genau weite* nette* späte* harte* rechte*
    könnte* müsste* dürfte* möchte* seite* karte hütte mitte kette bereits erst berg* gestern
    verein* beim benutzen besuchen bekommen bezahlen bestehen besten betten erhalten erzählen
    verkaufen verlassen""",
)


def _decide(here: Place) -> Kinds | None:
    """What is said about a feast names no time."""
    about = "HOLIDAY" in here.token.kinds and here.before[:1] == ["uber"]
    return NO_TIME if about and _ABOUT.search(here.text) else None


GERMAN = Spaced(
    Vocabulary(
        kinds=_KINDS,
        cues=_CUES,
        roles={
            "art": "der die das den dem des",
            "in": "in im am an um zu zum zur fur uber wahrend gegen",
            "at": "um",
            "about": "gegen ungefahr etwa circa",
            "of": "von vom des der",
            "inside": "von vom des der im in",
            "from": "von vom ab fur",
            "to": "bis bis_zum|zur",
            "since": "seit",
            "until": "bis bis_zum|zur",
            "as_of": "stand mit_stand stand_von|vom mit_stand_von|vom",
            "before": "vor",
            "after": "nach",
            "between": "zwischen",
            "and": "und",
            "or": "oder",
            "ago": "vor",
            "will": "in",
            "every": _forms("jed"),
            "few": "paar einigen einige wenigen",
            "half": _forms("halb"),
            "half_of": "halfte",
            "half_before": "halb",
            "one_and_a_half": "anderthalb eineinhalb",
            "past": "nach",
            "to_hour": "vor",
            "oclock": "uhr",
            "week_number": "kw kalenderwoche",
            "year": "jahr",
            "morning": "morgen",
            "now": "heute jetzt",
            "to_the_day": "genau",
            "more_than": "mehr|langer_als",
            "at_least": "mindestens",
            "less_than": "weniger_als hochstens",
            "so_far": "bisher bislang",
            "rest": "rest",
            "whole": "ganze ganzen ganzes",
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
            _PRONOUNS + "jahr jahre in seit bis stand ab von vor nach zwischen und ende anfang "
            "mitte fruhling fruhjahr sommer herbst winter bin war habe"
        ),
        before_day=words_of("am zum vom bis seit nach vor"),
        days_are_numbers=".",
        decade="er|ern",
        compounds=True,
        decide=_decide,
        phrases={"CYCLES": combine.every},
        dates={
            "DAYWORD <morning>|fruh": lambda now, offset: combine.part_of_day(now, offset, (5, 12)),
            "guten <morning>|PART|UNIT": lambda *_: {},
            "am <morning>": lambda _: {},
            "in REL zeit": lambda now, _: relative.soft(now, 30),
            "um REL zeit": lambda _now, _rel: {"<same_time>": None},
            "REL nacht": relative.night,
        },
    )
)
