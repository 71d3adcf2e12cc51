"""The French words of time."""

from recall_retrievers.timeline.engine import calendar_math as cal
from recall_retrievers.timeline.meanings import clock, cycles, relative
from recall_retrievers.timeline.western.patterns import Western
from recall_retrievers.timeline.western.vocabulary import Vocabulary, words_of

_KINDS: dict[str, dict[object, str]] = {
    "DAYWORD": {-1: "hier", 1: "demain"},
    "WEEKDAY": {
        0: "lundi", 1: "mardi", 2: "mercredi", 3: "jeudi", 4: "vendredi", 5: "samedi",
        6: "dimanche",
    },
    "WEEKDAYS": {
        0: "lundis", 1: "mardis", 2: "mercredis", 3: "jeudis", 4: "vendredis", 5: "samedis",
        6: "dimanches",
    },
    "MONTH": {
        1: "janvier janv", 2: "fevrier fevr", 3: "mars", 4: "avril", 5: "mai", 6: "juin",
        7: "juillet juil", 8: "aout", 9: "septembre sept", 10: "octobre oct", 11: "novembre nov",
        12: "decembre dec",
    },
    "UNIT": {
        "minute": "minute minutes", "hour": "heure heures", "day": "jour jours journee",
        "week": "semaine semaines", "weekend": "weekend weekends", "month": "mois",
        "quarter": "trimestre trimestres", "year": "an ans annee annees",
        "decade": "decennie decennies", "century": "siecle siecles",
    },
    "UNITS": {"day": "jours", "week": "semaines", "month": "mois", "year": "annees ans"},
    "SEASON": {0: "printemps", 1: "ete", 2: "automne", 3: "hiver"},
    "PART": {
        (5, 12): "matin matinee", (12, 14): "midi", (17, 24): "soir soiree", (21, 29): "nuit",
    },
    "REL": {
        -1: "dernier derniere derniers dernieres passe "
            "passee passes passees precedent precedente",
        0: "ce cet cette ces", 1: "prochain prochaine prochains prochaines",
    },
    "COUNT": {
        1: "un une", 2: "deux", 3: "trois", 4: "quatre", 5: "cinq", 6: "six", 7: "sept",
        8: "huit", 9: "neuf", 10: "dix", 11: "onze", 12: "douze", 15: "quinze", 20: "vingt",
        30: "trente",
    },
    "ORD": {1: "premier premiere", 2: "deuxieme second seconde", 3: "troisieme", 4: "quatrieme"},
    "EDGE": {0: "debut", 1: "mi milieu", 2: "fin"},
    "HOLIDAY": {
        cal.yearly(12, 25): "noel",
        cal.yearly(11, 1): "toussaint", cal.easter: "paques",
    },
    "HINT": {1: "quinzaine aujourd"},
    "SOFT": {30: "recemment dernierement"},
}  # fmt: skip

FRENCH = Western(
    Vocabulary(
        kinds=_KINDS,
        roles={
            "art": "le la les l",
            "in": "en a au aux dans pendant durant sur de du vers",
            "from": "de du depuis",
            "to": "a au jusqu jusqua",
            "since": "depuis",
            "until": "jusqua",
            "before": "avant",
            "after": "apres",
            "between": "entre",
            "and": "et",
            "every": "chaque",
            "will": "dans",
            "few": "quelques",
            "half": "demi demie",
            "fortnight": "quinzaine",
            "street": "rue place boulevard avenue quai station lycee pont",
        },
        common=words_of(
            """je j tu il elle nous vous ils que qu quoi qui ou quand quel quelle quels quelles
            combien comment le la les un une des du de et en au aux avec pour dans sur est ai
            as avons avez ont etais etait etions mon ma mes ce cette ces dit fait y"""
        ),
        before_month=words_of(
            """en depuis jusqu entre et au mois de d du debut fin mi milieu avant apres a chaque ce
            pendant - cet ici"""
        ),
        before_weekday=None,
        before_year=words_of(
            """en annee annees fin debut mi milieu depuis an entre et de du jusqu a avant apres ete
            hiver printemps
            automne ici date"""
        ),
        extra={
            "aujourd hui": lambda now: relative.day(now, 0),
            "avant -? hier": lambda now: relative.day(now, -2),
            "apres -? demain": lambda now: relative.day(now, 2),
            "week - end": lambda _: {"UNIT": "weekend"},
            "week - ends": lambda _: {"UNIT": "weekend"},
            "apres -? midi": lambda now: cycles.part_of_day(now, (12, 17)),
            "il y a": lambda _: {"<ago>": None},
            "jusqu a|au|aux|en": lambda _: {"<until>": None, "<to>": None},
            "a partir de|du": lambda _: {"<since>": None},
            "d ici a|au|aux?": lambda _: {"<until>": None},
            "en date de|du": lambda _: {"<as_of>": None},
            "a la date de|du": lambda _: {"<as_of>": None},
            "au cours de|des|du": lambda _: {"<in>": None},
            "REL UNIT - ci": relative.unit,
            "mois de MONTH": cycles.month,
            "a|ai|as|avons|avez|ont|avait ete": lambda *_: {},  # "a été" is no summer
            "la nuit REL": relative.night,
            "cette nuit": lambda now: relative.night(now, -1),
            "tous les WEEKDAYS": lambda _, day: {"WEEKDAYS": day},
            "pendant|durant noel": cycles.christmas,
            "pendant|durant les fetes de noel": cycles.christmas,
            "le nouvel an": cycles.holiday(cal.yearly(1, 1)),
            "avant <art>? -? UNIT": lambda *_: None,
            "avant - REL UNIT": lambda now, _, unit: relative.unit(now, -2, unit),
            "ces REL temps": lambda now, _: relative.soft(30)(now),
            "HOUR h|heures": clock.hour,
        },
        nouns_first=True,
    )
)
