"""Whether a clause of a memory looks back or ahead: "booked for 5 June", "the course starts".

A language has one pattern. Its groups are kinds of words; of a place where two match, the first
one counts. A clause has the direction of the verb that is nearest to the time.
"""

import re
from typing import Literal

from recall_retrievers.timeline.extract_time import language_of
from recall_retrievers.timeline.unread_words import PAST

Direction = Literal["ahead", "back"]

_REACH = 12  # characters before a time that may lead to it
_WINDOW = 200  # characters on either side that are looked at


def _cues(flags: re.RegexFlag = re.IGNORECASE, **groups: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{words})" for name, words in groups.items()), flags)


_PLANNED = r"""(?:book|reserv|schedul|plann|arrang|organi[sz]|confirm|expect|postpon|cancell)ed"""
_DE_HAVE = r"(?:hab(?:e|en|t)|hast|hat|bin|bist|ist|sind|seid)"
_DE_DONE = (
    r"(?:[a-zäöüß]*ge(?!gen\b|hen\b|ben\b|ht\b)[a-zäöüß]{2,}(?:t|en)|[a-zäöüß]{2,}iert"
    r"|[a-zäöüß]*(?:ver|be|er|ent|zer|miss|über|unter)[a-zäöüß]{3,}(?:t|en))\b"
)
_DE_ACT = r"(?:gebucht|reserviert|vereinbart|bestellt|ausgemacht)"
_ES_ACT = r"(?:reserv|program|planific|orden|contrat|agend)"
_FR_ACT = r"(?:réserv|planifi|programm|command|fix)é(?:e?s?)"
_FR_HAVE = r"(?:ai|as|a|avons|avez|ont|suis|es|est|sommes|êtes|sont)"
_FR_DONE = (
    r"(?:\w+ée?s?|pris|mis|faite?s?|dit|vue?s?|lue?s?|eu|\w*(?:ven|ten|perd|vend|rend|reç|cour|conn"
    r"|descend|attend|répond|entend|voul|vec|véc)ue?s?|partie?s?|sortie?s?|finie?s?|morte?s?"
    r"|\w*ouverte?s?|\w*écrite?s?|choisie?s?|réussi|dormi|appris|compris|rempli|servi|suivi|bu|pu|su"
    r"|dû|cru|plu)\b"
)
_CUES = {
    "en": _cues(
        ahead=r"\b(?:will|shall|won['’]t|gonna|would|should|must|needs?|wants?|hopes?"
        r"|intends?|plans?|ha(?:s|ve) (?:to|an?|my|our|the|his|her|their)|until further"
        r"|be \w+|(?:is|are|am|be)(?: \w+ly| already| now)?(?: \w+(?:ed|ing))?"
        r"|(?:start|end|finish|expire|renew|lapse|run|open|close|return|leave|arrive|depart|come|move"
        r"|meet|visit|turn|get|take|play|work|celebrate|travel|stay|launch|retire|graduate|begin|go"
        r"|become|pay|host|see|resume|land|fall|switch|change|join|fl[iy]e?|marr[iy]e?|appl[iy]e?)e?s)\b"
        r"|\b(?:agreed|promised|decided|wanted|offered|hoped) to\b"
        r"|['’]ll\b|\b\w+['’](?:s|re|m) (?:\w+ing|going|due|on)\b",
        act=rf"\b{_PLANNED}\b",
        back=rf"\b(?:(?:ha[sd]|have|['’]ve) )?(?:been|brought|stood|threw|drank|sang|swam|rode"
        r"|wore|hid|fought|stole|tore|rang|drew|shut|hit|fed|dug|lent|swept"
        rf"|(?!(?:do|does|wo|ca|is|are|sha)n['’]t){PAST})\b"
        r"|\b(?!need|indeed|speed|feed|seed)"
        r"\w{2,}ed\b",
        weak=r"\b(?:appointments?|deadlines?|due|reservations?|bookings?|tickets?|interviews?|checkup"
        r"|reminder|remember|don['’]t forget|valid|closing date|expir\w+|upcoming|meet|see|pick up"
        r"|call|visit|pay|submit|hand in|bring|collect|take|send|buy|start\w*|begin\w*|fly|go|leave"
        r"|work|get|stay|move|come|join|attend|turn|finish|end|celebrate|host|travel"
        r"|return|(?:fly|leav|mov|go|com|meet|start|visit|travel|arriv|return)ing)\b",
    ),
    "de": _cues(
        re.NOFLAG,
        act=rf"\b(?:haben?|hat|hast|habt)\b[^,]*\b{_DE_ACT}\b|\b{_DE_ACT} (?:haben?|hat)\b",
        ahead=rf"\b(?:ist|sind)\b[^,]*\b(?:{_DE_ACT}|(?:ein)?geplant|vorgesehen|angesetzt|angemeldet)\b"
        r"|\b(?:[Ww]erd(?:e|en|et)|[Ww]i(?:rd|rst)|m[uü]ss(?:en|t)?|soll(?:en|st|t)?|will|wollen"
        r"|möchten?|kann|können|darf|dürfen|[a-z]*würden?|sollten?)\b",
        back=rf"\b{_DE_HAVE}\b[^,]*\b{_DE_DONE}|\b{_DE_DONE} {_DE_HAVE}\b"
        r"|\b[a-zäöü]*(?:war(?:en|st)?|hatten?|wurden?|ging(?:en)?|kam(?:en)?|fuhr(?:en)?|flog(?:en)?"
        r"|fand(?:en)?|traf(?:en)?|zog(?:en)?|lief(?:en)?|gab(?:en)?|sah(?:en)?|nahm(?:en)?"
        r"|begann(?:en)?|verlor(?:en)?|brach(?:en)?|blieb(?:en)?|lag(?:en)?|stand(?:en)?|fiel(?:en)?"
        r"|schrieb(?:en)?|sprach(?:en)?|aß(?:en)?|schlief(?:en)?|hielt(?:en)?|ließ(?:en)?|rief(?:en)?"
        r"|starb(?:en)?|sang(?:en)?|stieg(?:en)?|trank(?:en)?|schloss(?:en)?)\b"
        r"|\b(?!heute|bitte|letzte|nächste|erste|beste|größte|höchste|neueste|jüngste|älteste|dritte|vierte|könnte|müsste|dürfte|möchte|alte|gute"
        r"|rote|weite|nette|späte|leichte|harte|feste|rechte|warte|arbeite|heirate\b|miete|starte\b"
        r"|erwarte\b)[a-zäöüß]{2,}te\b|\b[a-zäöüß]+(?:[aeiouäöü]te|[bdfgklmnprsz]t)(?:est|et)\b"
        r"|\b[a-zäöüß]+(?:et|er|el|[mnk]|[cs]h|lg|rk|gn|[ks]s|uf)ten\b",
        present=r"\b(?:ist|sind|bin|seid|hat|habe|haben|gilt|gelten|läuft|fällt|findet|fängt|fährt"
        r"|tritt|trifft|zieht|ziehen|(?:beginn|start|end|öffn|schließ|verlänger|erneuer|komm|geh|flieg"
        r"|treff|heirat|reis|arbeit|feier|fahr|mach|spiel|besuch|wechsel|kehr|eröffn|zahl|bring|nehm"
        r"|bekomm|hol|fang|steh|bleib|helf|geb|kauf|seh|schreib|lern|wohn|operier|tret)(?:e?t|en|e|n))\b",
        weak=r"[Tt]ermin|[Ff]rist|fällig|[Aa]bg(?:abe|eben)|[Gg]ültig|gültig|läuft ab"
        r"|[Rr]eservierung|[Bb]uchung|treffen|abholen|besuchen|anrufen|zahlen|einreichen|kündigen",
    ),
    "es": _cues(
        act=rf"\b(?:he|has|ha|hemos|han) (?:ya )?{_ES_ACT}ado\b|\b{_ES_ACT}(?:é|ó|amos|aron)\b",
        ahead=r"\best(?:á|án|amos|oy)\b|\b(?!mir|tir|gir|retir|prepar|esper|par|separ|repar|compar"
        r"|super|oper|recuper|consider|alter)\w*[aei]ré\b|\b\w*[aei]r(?:ás|á|emos|án)\b"
        r"|\b\w*(?:dr|habr|podr|querr|sabr|har)(?:é|á|án|emos)\b|\b(?:va|van|vas|vamos|voy|debe\w*"
        r"|deben|hay|tien\w+|teng\w+|tenemos|quier\w+|pued\w+|es|son|empiez\w+|comienz\w+|termina|"
        r"terminan|acaban?|vencen?|caducan?|expiran?|renuevan?|inician?|cumpl(?:e|en|o)|abren?"
        r"|cierr\w+|lleg[ao]n?|sal(?:e|en|go|imos)|viaj[ao]n?|vuel(?:a|an|o|ve|ven|vo)|vien(?:e|en)"
        r"|qued[ao]n?|(?:cas|visit|oper|cambi|estren)[ao]n?|mud[ao]n?|trabaj[ao]n?|celebr[ao]n?|jueg\w+|pag[ao]n?|entreg[ao]n?"
        r"|recojo|toca|vemos|hac(?:e|en)|hago|coge|regres[ao]n?|part(?:e|en)|corr(?:e|en|o)|dura)\b",
        back=r"\b(?:he|has|ha|hemos|han) (?:\w+ )?\w+(?:ado|ido|to|cho)\b|\bfu(?:e|i|imos|eron)\b"
        r"|\b(?:estuv|tuv|hic|vin|pud|pus|quis|dij|anduv)(?:e|o|imos|ieron|eron)\b|\bhizo\b"
        r"|\b(?:dio|di|vio|vi|dimos|vimos|era|eran|iba|iban)\b|\b(?:hab|ten|hac|viv|quer|pod|sab)ía(?:n|mos)?\b"
        r"|\b(?!qué\b|café\b|bebé\b|té\b|josé\b|por)\w+(?:ó|é|aron|ieron|yeron|aste|iste|aba|aban|í)\b",
        weak=r"\b(?:cita|reserva|plazo|fecha límite|vencimiento|entrega|entregar|válid\w+|billetes?"
        r"|entradas|quedar|recoger|llamar|pagar|visitar|ver a)\b",
    ),
    "fr": _cues(
        act=rf"\b(?:ai|as|a|avons|avez|ont) (?:\w+ )?{_FR_ACT}\b",
        ahead=rf"\b(?:est|sont) (?:déjà |bien )?(?:{_FR_ACT}|prévue?s?|attendue?s?|confirmée?s?"
        r"|reportée?s?|organisée?s?|valables?|à)\b|\b(?!vrai|bras|opéra|caméra|extra|gras|draps|para)"
        r"\w+r(?:ai|as|a|ons|ez|ont)\b|\b(?:vais|vas|va|allons|allez|vont|doi[ts]|devons|doivent|faut)\b",
        back=rf"\b{_FR_HAVE} (?:(?:déjà|bien|enfin|tous|pas|été|beaucoup|tout|mal) )*{_FR_DONE}"
        r"|\b(?:ét|av|all|fais|hab|viv|ven|pren)\w*(?:ait|aient|ais|ions)\b|\bfu(?:t|rent)\b"
        r"|\b\w{3,}(?<!f)(?<!souh)(?<!portr)aient\b",
        present=rf"\b(?:{_FR_HAVE}|commencen?t?|commence|débuten?t?|débute|fini(?:t|ssent)|termine\w*"
        r"|expire\w*|renouvelle\w*|ouvr\w+|ferme\w*|arriv(?:e|es|ent|ons)|par(?:t|s|tent|tons)"
        r"|(?:re|de)?vien\w+|déménag\w+|travaill\w+|rentr\w+|pass(?:e|ent|ons)|pren\w+|jou(?:e|ent)"
        r"|reçoi\w+|fêt(?:e|ent|ons)|cour[st]|voi[st]|voyons|mari(?:e|ent)|échoit|fai[ts]|font|rend\w*|opèr\w+|visit(?:e|ons|ent))\b",
        weak=r"\b(?:rendez-vous|rdv|échéance|date limite|délai|à rendre|à payer|prévue?s?|valables?"
        r"|réservations?|billets?|retrouver|voir|appeler|payer|récupérer|rendre)\b",
    ),
    "zh": _cues(
        re.NOFLAG,
        ahead="(?:已经?|都)?(?:安排|预约|约|计划|预定|定|排)(?:好了?|了|在|于)|[订买]在|将|打算|准备|计划"
        "|预[计定约]|(?<![音乐聚晚开机大社宴年集展茶商协学拍约])会(?![议员场计展])|(?<!重)要(?!求)|必须|需要"
        "|应该|截止(?!日期的)|(?:到期|过期)(?!了)|有效|续[费约订签]|(?:开始|举行|结束)(?!了)|起(?![床来])|得[在去]",
        act="(?:预?订|报名?|买)(?:好|完)?了",
        back="了|过(?!期|程|年|节|生)|错过|已经?|曾|当时|刚",
        weak="截止|期限|约|订",
    ),
    "ja": _cues(
        re.NOFLAG,
        act="(?:(?:予約|手配|注文|購入)し|取っ|取りまし|買っ|買いまし|予約しまし)た(?=$)",
        ahead="予定|つもり|(?:はず|だろう|でしょう|[うくぐすつぬぶむ]|(?<!てい)る|です|ます|ない|まで)"
        "(?:だ|です|よ|ね|が|ので|から|けど)*(?=$)",
        back="(?:た|んだ|いだ)(?:の|ん|だ|です|よ|ね|が|ので|から|けど|ら)*(?=$)",
        weak="締め?切り?|期限",
    ),
}
_SENTENCE = re.compile(r"(?<!\b\d)(?<!\b\d\d)\.(?=\s|$)|[!?;\n。！？；]")
_CLAUSE = re.compile("[,，、:：]")
# "booked for 5 June" is ahead, "booked on Sunday" is the day of the booking.
_FOR = re.compile(
    r"\b(?:(?:for|für|para|pour)(?: (?:the|den|das|el|la|le))?"
    r"|(?:mov|postpon|reschedul|push|delay|extend)ed\b.*\b(?:to|until)(?: the)?|put off\b.*) *$",
    re.IGNORECASE,
)
_LEADS_TO = re.compile("(?:for|für|para|pour)\\b", re.IGNORECASE)
_PUT_OFF = re.compile(
    r"\bverschoben\b|\bverlegt\b|\b(?:aplaz|pospus|prorrog|retras)\w+"
    r"|\b(?:reporté|repouss|décal)\w*|改[到在期]|推迟|延期|変更",
    re.IGNORECASE,
)
# "From June on I work less": without a past tense, it is ahead.
_FROM = re.compile(
    r"\b(?:from\b.*\bon(?:wards?)?|starting|as of|ab|a partir|à partir|dès)\b|起", re.IGNORECASE
)


def direction(
    text: str, span: tuple[int, int], language: str, *, several_days: bool
) -> Direction | None:
    """The direction of the clause around a time; None where it has none, or where both may be.

    Args:
        text: The memory.
        span: The place of the time in it.
        language: The code of its language.
        several_days: Whether the time is several days; no act of booking takes so long.

    Examples:
        >>> direction("I booked it on Friday.", (12, 21), "en", several_days=False)
        'back'
        >>> direction("It is booked for Friday.", (13, 23), "en", several_days=False)
        'ahead'
    """
    for border in (_CLAUSE, _SENTENCE):
        first, last = _around(text, span, border)
        found = _of_clause(
            text[first:last], span[0] - first, span[1] - first, language, several_days=several_days
        )
        if found is not None:
            return found
    return None


def tells_past(text: str) -> bool:
    """Whether a verb of a text is in a past tense."""
    return any(c.lastgroup in {"back", "act"} for c in _CUES[language_of(text)].finditer(text))


def _of_clause(
    clause: str, start: int, end: int, language: str, *, several_days: bool
) -> Direction | None:
    if _FOR.search(clause[:start]) or _LEADS_TO.match(clause[start:end]) or _PUT_OFF.search(clause):
        return "ahead"
    if language == "zh" and set("是在").intersection(clause[max(start - 1, 0) : start + 1]):
        if not clause[end:]:
            return "ahead"  # 考试在6月6日
        if "的" in clause[end : end + 4]:
            return "back"  # 是6月6日结的婚
    near: dict[str, int] = {}
    for cue in _CUES[language].finditer(clause):
        # A date stands before its verb or behind it, never inside another word.
        distance = max(cue.start() - end, start - cue.end(), 0)
        kind = cue.lastgroup or ""
        if kind == "act":
            behind = language == "zh" and cue.end() <= start
            of_it = language == "ja" and clause[end : end + 1] == "の"
            if several_days or behind or of_it:
                return "ahead"
            if cue[0].startswith("予約"):
                return None
            kind = "back"
        near[kind] = min(distance, near.get(kind, distance))
    ahead = min((near[kind] for kind in ("ahead", "present") if kind in near), default=None)
    if "back" in near:
        return "back" if ahead is None or near["back"] <= ahead else "ahead"
    weak = "weak" in near or _FROM.search(clause[max(start - _REACH, 0) : end])
    return "ahead" if weak or ahead is not None else None


def _around(text: str, span: tuple[int, int], border: re.Pattern[str]) -> tuple[int, int]:
    """The clause, or the sentence, that holds a time."""
    begin, stop = max(span[0] - _WINDOW, 0), span[1] + _WINDOW
    first, last = begin, min(stop, len(text))
    marks = [*_SENTENCE.finditer(text, begin, stop)]
    if border is _CLAUSE:
        marks += _CLAUSE.finditer(text, begin, stop)
    for mark in marks:
        if mark.end() <= span[0]:
            first = max(first, mark.end())
        elif mark.start() >= span[1]:
            last = min(last, mark.start())
    return first, last
