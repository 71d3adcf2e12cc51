"""The Spanish words of time."""

from recall_retrievers.timeline.engine import calendar_math as cal
from recall_retrievers.timeline.meanings import clock, combine, cycles, relative
from recall_retrievers.timeline.western.patterns import Western
from recall_retrievers.timeline.western.vocabulary import Vocabulary, words_of

_BEFORE_A_NAME = (
    "en de desde hasta entre pasado pasada este esta proximo proxima ultimo mes a al y antes "
    "despues cada principios mediados finales fines inicios comienzos"
)


_KINDS: dict[str, dict[object, str]] = {
    "DAYWORD": {0: "hoy", -1: "ayer", -2: "anteayer antier", 1: "manana"},
    "NIGHT": {-1: "anoche"},
    "WEEKDAY": {
        0: "lunes", 1: "martes", 2: "miercoles", 3: "jueves", 4: "viernes", 5: "sabado",
        6: "domingo",
    },
    "MONTH": {
        1: "enero", 2: "febrero", 3: "marzo", 4: "abril", 5: "mayo", 6: "junio", 7: "julio",
        8: "agosto", 9: "septiembre setiembre", 10: "octubre", 11: "noviembre", 12: "diciembre",
    },
    "UNIT": {
        "minute": "minuto minutos", "hour": "hora horas", "day": "dia dias",
        "week": "semana semanas", "month": "mes meses", "quarter": "trimestre trimestres",
        "year": "ano anos", "decade": "decada decadas", "century": "siglo siglos",
    },
    "UNITS": {"day": "dias", "week": "semanas", "month": "meses", "year": "anos"},
    "SEASON": {0: "primavera", 1: "verano", 2: "otono", 3: "invierno"},
    "PART": {(0, 6): "madrugada", (12, 14): "mediodia", (12, 20): "tarde", (20, 29): "noche"},
    "REL": {
        -1: "pasado pasada pasados pasadas ultimo ultima ultimos ultimas",
        0: "este esta estos estas", 1: "proximo proxima proximos proximas",
        -2: "antepasado antepasada",
    },
    "COUNT": {
        1: "un una uno", 2: "dos", 3: "tres", 4: "cuatro", 5: "cinco", 6: "seis", 7: "siete",
        8: "ocho", 9: "nueve", 10: "diez", 11: "once", 12: "doce", 15: "quince", 20: "veinte",
        30: "treinta",
    },
    "ORD": {
        1: "primer primero primera", 2: "segundo segunda", 3: "tercer tercero tercera",
        4: "cuarto cuarta",
    },
    "EDGE": {
        0: "principios comienzos inicios principio comienzo inicio", 1: "mediados",
        2: "finales fines",
    },
    "HOLIDAY": {
        cal.yearly(12, 25): "navidad navidades",
        cal.yearly(12, 24): "nochebuena",
        cal.yearly(12, 31): "nochevieja", cal.easter: "pascua",
    },
    "HINT": {1: "quincena"},
    "SOFT": {30: "recientemente ultimamente"},
}  # fmt: skip

SPANISH = Western(
    Vocabulary(
        kinds=_KINDS,
        roles={
            "art": "el la los las lo",
            "in": "en a al durante por sobre de del",
            "from": "de del desde",
            "to": "a al hasta",
            "since": "desde",
            "until": "hasta",
            "between": "entre",
            "and": "y e",
            "ago": "hace",
            "will": "dentro",
            "every": "cada",
            "few": "unos unas algunos algunas pocos pocas",
            "half": "medio media",
            "fortnight": "quincena",
            "morning": "manana",
            "street": "calle plaza avenida paseo estacion colegio",
        },
        common=words_of(
            """que yo mi mis el la los las un una y o de del al en con por para donde cuando
            quien quienes cual cuanto cuanta como hice hizo hicimos fue fui estuve estaba hay
            he ha nos se le lo su sus no es desde hasta entre"""
        ),
        before_month=words_of(_BEFORE_A_NAME),
        before_weekday=words_of(f"el los {_BEFORE_A_NAME} de del hoy ayer o"),
        before_year=words_of("en ano anos desde hasta de del entre y durante a"),
        extra={
            "antes de ayer": lambda now: relative.day(now, -2),
            "pasado manana": lambda now: relative.day(now, 2),
            "fin|fines de semana": lambda _: {"UNIT": "weekend"},
            "antes de|del": lambda _: {"<before>": None},
            "despues de|del": lambda _: {"<after>": None},
            "a partir de|del": lambda _: {"<since>": None},
            "de aqui a|al": lambda _: {"<until>": None},
            "a|en fecha de|del|a|al": lambda _: {"<as_of>": None},
            "de|por la <morning>": lambda now: cycles.part_of_day(now, (5, 12)),
            "esta <morning>": lambda now: combine.this(now, cycles.part_of_day(now, (5, 12))),
            "la|una|cada|toda|buenas|las <morning>": lambda _: {},
            "durante <art>? navidad|navidades": cycles.christmas,
            "en|por <art>? navidades": cycles.christmas,
            "ano nuevo": cycles.holiday(cal.yearly(1, 1)),
            "hace poco": relative.soft(30),
            "dentro de": lambda _: {"<will>": None},
            "que viene": lambda _: {"REL": 1},
            "DAY de MONTH de|del ano YEAR": lambda now, day, month, year: cycles.numeric_date(
                now, (year, month, day)
            ),
            "a las HOUR": clock.hour,
            "a las HM": clock.figures,
        },
        nouns_first=True,
    )
)
