"""The French words of time, and orders that only French has."""

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.patterns import Spaced, spoken_hours
from recall_retrievers.timeline.grammar.tense import Cues
from recall_retrievers.timeline.grammar.vocabulary import Vocabulary, words_of
from recall_retrievers.timeline.meanings import combine, cycles, relative

_NUMBERS = (
    "un une,deux,trois,quatre,cinq,six,sept,huit,neuf,dix,onze,douze,treize,quatorze,quinze,seize,"
    "dix_-?_sept,dix_-?_huit,dix_-?_neuf,vingt"
)
_ORDINALS = "deuxieme second seconde,troisieme,quatrieme,cinquieme"

_KINDS: dict[str, dict[object, str]] = {
    "DAYWORD": {
        0: "aujourd_hui", -1: "hier", -2: "avant_-?_hier", 1: "demain", 2: "apres_-?_demain",
    },
    "NIGHT": {-1: "cette_nuit"},
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
    "UNITS": {"day": "jours", "week": "semaines", "year": "annees ans"},
    "UNIT": {
        "minute": "minute minutes", "hour": "heure heures", "day": "jour jours journee",
        "week": "semaine semaines", "weekend": "weekend weekends week_-_end|ends", "month": "mois",
        "quarter": "trimestre trimestres", "year": "an ans annee annees",
        "decade": "decennie decennies", "century": "siecle siecles",
    },
    "SEASON": {0: "printemps", 1: "ete", 2: "automne", 3: "hiver"},
    "PART": {
        (5, 12): "matin matinee", (12, 14): "midi", (12, 17): "apres_-?_midi",
        (17, 24): "soir soiree", (21, 29): "nuit",
    },
    "REL": {
        -1: "dernier derniere derniers dernieres", 0: "ce cet cette ces",
        1: "prochain prochaine prochains prochaines", -2: "avant_-_dernier|derniere",
    },
    "REL_BEHIND": {-1: "passe passee passes passees precedent precedente"},
    "COUNT": {
        **dict(enumerate(_NUMBERS.split(","), 1)),
        30: "trente", 40: "quarante", 50: "cinquante", 60: "soixante",
    },
    "ORD": {1: "premier premiere", **dict(enumerate(_ORDINALS.split(","), 2))},
    "EDGE": {1: "mi milieu"},
    "END": {0: "debut", 2: "fin"},
    "QUARTER": {15: "quart"},
    "BESIDE": {-1: "veille", 1: "lendemain"},
    "HOLIDAY": {
        cal.yearly(12, 25): "noel",
        cal.yearly(11, 1): "toussaint", cal.easter: "paques",
        cal.yearly(1, 1): "le_nouvel_an", cal.yearly(12, 31): "saint_-?_sylvestre",
        cal.yearly(12, 24): "reveillon_de_noel",
    },
    "HOLIDAYS": {cal.OVER_CHRISTMAS: "pendant|durant_noel pendant|durant_les_fetes_de_noel"},
    "DECADE": {
        70: "soixante_-_dix", 80: "quatre_-_vingt", 90: "quatre_-_vingt_-_dix",
    },
    "HINT": {1: "quinzaine aujourd week sylvestre nouvel"},
    "SOFT": {30: "recemment dernierement"},
}  # fmt: skip
_CUES = Cues(
    ahead="""vais vas va allons allez vont dois doit devons doivent faut *rai *ras *ra *rons *rez
    *ront prévu* attendu* est_confirmée? est_reportée? est_organisée? est_réservée?""",
    arranged="""(?:réserv|planifi|programm|command|fix|invit)ée?s? inscrite?s? convenu places
    démission accept*""",
    back="""notre_(?:conversation|échange)
    été_* *é *ée *és *ées *ait *aient *ions eue?s? pris mis faite?s? dite?s? vue?s? lue?s?
    venu* parti partie* sorti* mort* né née* fini* réussi ouvert* écrit* choisi* dormi apprise?s?
    comprise?s? remplie?s? servie?s? suivie?s? bue?s? pu sue?s? dû crue?s? plu perdu* vendu* rendu*
    reçu* couru* connu*
    descendu* attendu répondu entendu voulu vécu fut furent""",
    present="""retrouver voir appeler payer récupérer rendre billets? réservations? échéance
    date_limite délai livraison retrait dernier_jour à_rendre à_payer valable* rendez-vous rdv est
    sont suis ai as a avons avez ont commence* débute* finit finissent termine* expire* renouvelle*
    ouvre* ferme* arrive* part partent partons vient viennent déménagent? travaillent? rentrent?
    passent? prend prennent jouent? reçoit reçoivent fêtent? court voit marient? font rend rendent
    opèrent? visitent? visitons""",
    asking="""prévu* réservé* agenda libre dois rendez-vous échéance à_rendre à_payer vais_voir
    ai-je qu'est-ce_qu'il_y_a""",
    leading="pour pour_le pour_la",
    put_off="reporté* repouss* décal*",
    onward="à_partir dès",
    never="café vrai bras opéra caméra extra gras draps para marché côté blé clé pré thé",
)


FRENCH = Spaced(
    Vocabulary(
        kinds=_KINDS,
        cues=_CUES,
        roles={
            "art": "le la les l",
            "in": "en a au aux dans pendant durant sur vers pour au_cours_de|des|du",
            "of": "de du des d",
            "inside": "de du des d en",
            "from": "de du depuis",
            "to": "a au jusqu jusqua jusqu_a|au|aux|en",
            "since": "depuis a_partir_de|du",
            "until": "jusqua jusqu_a|au|aux|en d_ici_a|au|aux?",
            "as_of": "en_date_de|du a_la_date_de|du",
            "ago": "il_y_a",
            "same_time": "a_la_meme_epoque",
            "in_a_week": "en_huit",
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
            "more_than": "plus_de|d",
            "at_least": "au_moins",
            "less_than": "moins_de|d",
            "rest": "reste",
            "to_the_day": "exactement jour_pour_jour",
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
        phrases={"tous? les CYCLES": combine.every},
        numbers={
            **spoken_hours("a|vers", "heure|heures"),
        },
        dates={
            "REL UNIT - ci": relative.unit,
            "a|ai|as|avons|avez|ont|avait ete": lambda *_: {},  # "a été" is no summer
            "la nuit REL": relative.night,
            "ces REL temps": lambda now, _: relative.soft(now, 30),
            "ORD semestre": cycles.half_year,
        },
    )
)
