"""The French words of time, and orders that only French has."""

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.patterns import Language, spoken_hours
from recall_retrievers.timeline.grammar.tense import Cues
from recall_retrievers.timeline.grammar.vocabulary import Vocabulary, words_of
from recall_retrievers.timeline.meanings import combine, cycles, relative

_ORDINALS = "deuxieme second seconde,troisieme,quatrieme,cinquieme"

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
    "UNITS": {"day": "jours", "week": "semaines", "month": "mois", "year": "annees ans"},
    "UNIT": {
        "minute": "minute minutes", "hour": "heure heures", "day": "jour jours journee",
        "week": "semaine semaines", "weekend": "weekend weekends", "month": "mois",
        "quarter": "trimestre trimestres", "year": "an ans annee annees",
        "decade": "decennie decennies", "century": "siecle siecles",
    },
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
        8: "huit", 9: "neuf", 10: "dix", 11: "onze", 12: "douze", 13: "treize", 14: "quatorze",
        15: "quinze", 16: "seize", 20: "vingt", 30: "trente", 40: "quarante", 50: "cinquante",
        60: "soixante",
    },
    "ORD": {1: "premier premiere", **dict(enumerate(_ORDINALS.split(","), 2))},
    "EDGE": {1: "mi milieu"},
    "END": {0: "debut", 2: "fin"},
    "QUARTER": {15: "quart"},
    "BESIDE": {-1: "veille", 1: "lendemain"},
    "HOLIDAY": {
        cal.yearly(12, 25): "noel",
        cal.yearly(11, 1): "toussaint", cal.easter: "paques",
    },
    "HINT": {1: "quinzaine aujourd week sylvestre nouvel"},
    "SOFT": {30: "recemment dernierement"},
}  # fmt: skip
_CUES = Cues(
    ahead="""vais vas va allons allez vont dois doit devons doivent faut *rai *ras *ra *rons *rez
    *ront prévu* attendu* est_confirmée? est_reportée? est_organisée? est_réservée?""",
    arranged="""(?:réserv|planifi|programm|command|fix|invit)ée?s? inscrite?s? convenu places
    démission accept*""",
    back="""été_* *é *ée *és *ées *ait *aient *ions eu pris mis fait faite* dit vu vue* lu lue* venu*
    parti partie* sorti* mort* né née* fini* réussi ouvert* écrit* choisi* dormi appris compris
    rempli servi suivi bu pu su dû cru plu perdu* vendu* rendu* reçu* couru* connu* descendu*
    attendu répondu entendu voulu vécu fut furent""",
    present="""retrouver voir appeler payer récupérer rendre billets? réservations? échéance date_limite délai livraison retrait dernier_jour à_rendre à_payer valable*
    rendez-vous rdv est sont suis ai as a avons avez ont commence* débute* finit finissent termine*
    expire* renouvelle* ouvre* ferme* arrive* part partent partons vient viennent
    déménagent? travaillent? rentrent? passent? prend prennent jouent? reçoit reçoivent fêtent? court
    voit marient? font rend rendent opèrent? visitent? visitons""",
    asking="""prévu* réservé* agenda libre dois ai-je_rendez-vous rendez-vous vais_voir""",
    never="café vrai bras opéra caméra extra gras draps para marché côté blé clé pré thé",
)


FRENCH = Language(
    Vocabulary(
        kinds=_KINDS,
        cues=_CUES,
        roles={
            "art": "le la les l",
            "in": "en a au aux dans pendant durant sur vers pour",
            "of": "de du des d",
            "inside": "de du des d en",
            "from": "de du depuis",
            "to": "a au jusqu jusqua",
            "since": "depuis",
            "until": "jusqua",
            "before": "avant",
            "after": "apres",
            "between": "entre",
            "and": "et",
            "or": "ou",
            "every": "chaque",
            "will": "dans",
            "few": "quelques",
            "half": "demi demie",
            "half_of": "moitie",
            "less": "moins",
            "thousand": "mille",
            "oclock": "h",
            "fortnight": "quinzaine",
            "year": "an annee",
            "to_the_day": "exactement",
            "street": "rue place boulevard avenue quai station lycee pont",
        },
        common=words_of(
            """je j tu il elle nous vous ils que qu quoi qui ou quand quel quelle quels quelles
            combien comment le la les un une des du de et en au aux avec pour dans sur est ai
            as avons avez ont etais etait etions mon ma mes ce cette ces dit fait y on"""
        ),
        before_month=words_of(
            """en depuis jusqu entre et au mois de d du debut fin mi milieu avant apres a chaque ce
            pendant - cet ici"""
        ),
        before_weekday=None,
        before_year=words_of(
            """en annee annees fin debut mi milieu depuis an entre et de du jusqu a avant apres ete
            hiver printemps
            automne ici date semestre"""
        ),
        before_day=words_of("le du au"),
        days_are_numbers=" ",
        things=words_of("marche marches sapin cadeau cadeaux carte film chanson pull"),
        ordinal="er",
        nouns_first=True,
        phrases={"tous? les WEEKDAYS": combine.every_weekday},
        numbers={
            "il y a": lambda _: {"<ago>": None},
            **spoken_hours("a|vers", "heure|heures"),
            "week - end|ends": lambda _: {"UNIT": "weekend"},
            "dix -? ONES": lambda _, one: {"NUM": 10 + one, "DAY": 10 + one, "HOUR": 10 + one},
        },
        dates={
            "aujourd hui": lambda now: relative.day(now, 0),
            "avant -? hier": lambda now: relative.day(now, -2),
            "apres -? demain": lambda now: relative.day(now, 2),
            "apres -? midi": lambda now: cycles.part_of_day(now, (12, 17)),
            "jusqu a|au|aux|en": lambda _: {"<until>": None, "<to>": None},
            "a partir de|du": lambda _: {"<since>": None},
            "d ici a|au|aux?": lambda _: {"<until>": None},
            "en date de|du": lambda _: {"<as_of>": None},
            "a la date de|du": lambda _: {"<as_of>": None},
            "au cours de|des|du": lambda _: {"<in>": None},
            "a la meme epoque": lambda _: {"<same_time>": None},
            "jour pour jour": lambda _: {"<to_the_day>": None},
            "en huit": lambda _: {"<in_a_week>": None},
            "REL UNIT - ci": relative.unit,
            "mois de MONTH": cycles.month,
            "a|ai|as|avons|avez|ont|avait ete": lambda *_: {},  # "a été" is no summer
            "la nuit REL": relative.night,
            "cette nuit": lambda now: relative.night(now, -1),
            "pendant|durant noel": cycles.christmas,
            "pendant|durant les fetes de noel": cycles.christmas,
            "le nouvel an": cycles.holiday(cal.yearly(1, 1)),
            "saint -? sylvestre": cycles.holiday(cal.yearly(12, 31)),
            "reveillon de noel": cycles.holiday(cal.yearly(12, 24)),
            "avant <art>? -? UNIT": lambda *_: None,
            "avant - REL UNIT": lambda now, _, unit: relative.unit(now, -2, unit),
            "avant - REL": lambda *_: {"REL": -2},
            "ces REL temps": lambda now, _: relative.soft(30)(now),
            "annees quatre - vingt": lambda now: cycles.decade(now, 80),
            "annees quatre - vingt - dix": lambda now: cycles.decade(now, 90),
            "annees soixante - dix": lambda now: cycles.decade(now, 70),
            "ORD semestre": cycles.half_year,
        },
    )
)
