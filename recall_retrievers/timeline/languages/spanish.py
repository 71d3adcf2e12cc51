"""The Spanish words of time, and orders that only Spanish has."""

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.patterns import Spaced, spoken_hours
from recall_retrievers.timeline.grammar.tense import Cues
from recall_retrievers.timeline.grammar.vocabulary import Vocabulary, words_of
from recall_retrievers.timeline.meanings import combine, cycles, relative

_BEFORE_A_NAME = (
    "en de desde hasta entre pasado pasada este esta proximo proxima ultimo mes a al y antes "
    "durante despues cada principios mediados finales fines inicios comienzos"
)
_NUMBERS = (
    "un,dos,tres,cuatro,cinco,seis,siete,ocho,nueve,diez,once,doce,trece,catorce,quince,dieciseis,"
    "diecisiete,dieciocho,diecinueve,veinte,veintiuno veintiun,veintidos,veintitres,veinticuatro,"
    "veinticinco,veintiseis,veintisiete,veintiocho,veintinueve,treinta"
)
_TENS = ["treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"]

_KINDS: dict[str, dict[object, str]] = {
    "DAYWORD": {
        0: "hoy", -1: "ayer", -2: "anteayer antier antes_de_ayer", 1: "manana", 2: "pasado_manana",
    },
    "NIGHT": {-1: "anoche", -2: "anteanoche"},
    "WEEKDAY": {
        0: "lunes", 1: "martes", 2: "miercoles", 3: "jueves", 4: "viernes", 5: "sabado",
        6: "domingo",
    },
    "MONTH": {
        1: "enero", 2: "febrero", 3: "marzo", 4: "abril", 5: "mayo", 6: "junio", 7: "julio",
        8: "agosto", 9: "septiembre setiembre", 10: "octubre", 11: "noviembre", 12: "diciembre",
    },
    "UNITS": {"day": "dias", "week": "semanas", "month": "meses", "year": "anos"},
    "UNIT": {
        "minute": "minuto minutos", "hour": "hora horas", "day": "dia dias",
        "week": "semana semanas", "weekend": "fin|fines_de_semana",
        "month": "mes meses", "quarter": "trimestre trimestres",
        "year": "ano anos", "decade": "decada decadas", "century": "siglo siglos",
    },
    "SEASON": {0: "primavera", 1: "verano", 2: "otono", 3: "invierno"},
    "PART": {(0, 6): "madrugada", (12, 14): "mediodia", (12, 20): "tarde", (20, 29): "noche"},
    "REL": {
        -1: "pasado pasada pasados pasadas ultimo ultima ultimos ultimas",
        0: "este esta estos estas", 1: "proximo proxima proximos proximas que_viene",
        -2: "antepasado antepasada penultimo penultima",
    },
    "COUNT": {
        **dict(enumerate(_NUMBERS.split(","), 1)),
        **{10 * n: word for n, word in enumerate(_TENS, 3)},
        1: "un una uno",
    },
    "ORD": {
        1: "primer primero primera", 2: "segundo segunda", 3: "tercer tercero tercera",
        4: "cuarto cuarta", 5: "quinto quinta",
    },
    "EDGE": {1: "mediados"},
    "END": {
        0: "principios comienzos inicios principio comienzo inicio", 2: "finales fines final fin",
    },
    "QUARTER": {15: "cuarto"},
    "DECADE": {10 * n: word for n, word in enumerate(_TENS, 3)},
    "BESIDE": {-1: "vispera", 1: "siguiente"},
    "HOLIDAY": {
        cal.yearly(12, 25): "navidad navidades",
        cal.yearly(12, 24): "nochebuena",
        cal.yearly(12, 31): "nochevieja", cal.easter: "pascua", cal.yearly(1, 1): "ano_nuevo",
    },
    "HOLIDAYS": {cal.OVER_CHRISTMAS: "durante|por_la?_navidad durante|en|por_las?_navidades"},
    "HINT": {1: "quincena"},
    "SOFT": {30: "recientemente ultimamente hace_poco"},
}  # fmt: skip
_CUES = Cues(
    ahead="""voy va van vas vamos debo debe deben debemos *aré *eré *iré *ará *erá *irá *arán *erán
    *irán *aremos *eremos *iremos *drá *drán habrá hará previst* está_*ado está_*ido están_*ados
    están_*idos""",
    arranged="""(?:reserv|program|planific|contrat|agend|apunt|invit|acord|encarg|matricul|anot)(?:é|ó|aron|ad[oa]s?)
    inscrib(?:í|ió) inscrit[oa]s? quedé quedó pedí pidió entradas billetes renuncia""",
    back="""nuestra_(?:charla|conversación)
    *ado *ido *ó *é *í *aron *ieron *yeron *aste *iste *amos *imos *aba *aban *ía *ían
    *íamos fue fui fuimos fueron hizo hice hicimos hicieron dio di vio vi tuvo tuve tuvimos estuv*
    pud* pus* quis* dij* vin* anduv* era eran iba iban""",
    present="""reserva entregar quedar recoger llamar pagar visitar ver_a quier* pued* estren[ao]n?
    coge entreg[ao]n? juega juegan cita* plazo fecha_límite vencimiento entrega recogida último_día
    válid* es son está están estoy estamos hay tengo tiene tienen tenemos empiezan? empieza empiezo
    comienzan? comienza terminan? acaban? vencen? caducan? expiran? renuevan? inician? cumplen?
    abren? cierran? llegan? salen? salgo viaj[ao]n? vuela vuelo vuelven? vienen? quedan? cas[ao]n?
    visit[ao]n? oper[ao]n? cambi[ao]n? mud[ao]n? trabaj[ao]n? celebr[ao]n? juega pag[ao]n? recojo
    toca vemos hacen? hago regres[ao]n? parte corren? dura""",
    asking="""tengo tenemos hay previsto previsto* planead* reservad* libre agenda vence toca veo
    veré""",
    leading="para para_el para_la",
    put_off="aplaz* pospus* prorrog* retras*",
    onward="a_partir",
    never="qué café bebé té josé por* hasta allí aquí así ahí sí mí",
)


SPANISH = Spaced(
    Vocabulary(
        kinds=_KINDS,
        cues=_CUES,
        roles={
            "art": "el la los las lo",
            "in": "en a al durante por sobre para",
            "of": "de del",
            "inside": "de del en",
            "from": "de del desde",
            "to": "a al hasta",
            "since": "desde a_partir_de|del",
            "until": "hasta de_aqui_a|al",
            "as_of": "a|en_fecha_de|del|a|al",
            "before": "antes_de|del",
            "after": "despues_de|del",
            "between": "entre",
            "and": "y e",
            "or": "o",
            "ago": "hace",
            "will": "dentro dentro_de",
            "same_time": "por|en_estas_fechas a_estas_alturas_de|del",
            "every": "cada",
            "few": "unos unas algunos algunas pocos pocas",
            "couple": "par",
            "half": "medio media",
            "half_of": "mitad",
            "less": "menos",
            "thousand": "mil",
            "fortnight": "quincena",
            "year": "ano",
            "now": "hoy ahora",
            "to_the_day": "exactamente",
            "more_than": "mas_de",
            "at_least": "al_menos por_lo_menos",
            "less_than": "menos_de",
            "rest": "resto",
            "morning": "manana",
            "street": "calle plaza avenida paseo estacion colegio",
        },
        common=words_of(
            """que yo mi mis el la los las un una y o de del al en con por para donde cuando
            quien quienes cual cuanto cuanta como hice hizo hicimos fue fui estuve estaba hay
            he ha nos se le lo su sus no es desde hasta entre"""
        ),
        before_month=words_of(_BEFORE_A_NAME),
        before_weekday=words_of(f"el los {_BEFORE_A_NAME} de del hoy ayer o para un"),
        before_year=words_of("en ano anos desde hasta de del entre y durante a antes"),
        before_day=words_of("dia el del al"),
        days_are_numbers=" ",
        things=words_of(
            "mercado mercados mercadillo arbol regalo regalos tarjeta pelicula cancion"
        ),
        nouns_first=True,
        numbers={
            **spoken_hours("a|sobre las|la"),
        },
        phrases={
            "los CYCLE": lambda now, day: combine.every(now, day) if day.unit == "week" else None
        },
        dates={
            "el UNIT": lambda now, unit: relative.unit(now, 0, unit) if unit == "weekend" else None,
            "de|por la <morning>": lambda now: cycles.part_of_day(now, (5, 12)),
            "esta <morning>": lambda now: combine.this(now, cycles.part_of_day(now, (5, 12))),
            "la|una|cada|toda|buenas|las <morning>": lambda _: {},
        },
    )
)
