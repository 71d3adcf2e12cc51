"""Whether a text looks back or ahead: what decides where a date can be past or still to come."""

import re

_AHEAD = re.compile(
    r"\b(?:will|shall|won['’]t|have to|must|do (?:i|we) have|going to|gonna|plan(?:s|ned|ning)?|next|coming|upcoming|ahead|future"
    r"|tomorrow|soon|someday|schedul\w*|appointments?|deadlines?|due|expect\w*|hop(?:e|ing)|booked)\b"
    "|['’]ll\\b|将来|将会|打算|计划|预定|即将|未来|改天|明[天年早晚]|后天|下[个次周月]",
    re.IGNORECASE,
)
_BACK = {
    "en": re.compile(
        r"\b(?:did|didn['’]t|was|wasn['’]t|were|weren['’]t|have|haven['’]t|has|hasn['’]t|had|hadn['’]t)\b"
        "|['’]ve\\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(?:hatte|war|wurde|ging|kam)(?:n|st|t|en)?\b|\b(?:hab|hat|bin|sind|ist)\w*\b.*\b\w*ge\w+(?:t|en)\b",
        re.IGNORECASE,
    ),
}
# Questions about what is to come, and no others: "What did we plan in June?" looks back.
_ASKING = re.compile(
    r"\b(?:is|are|what['’]s) (?:\w+ ){0,3}?(?:planned|scheduled|booked|due|coming up)\b"
    r"|^what(?:['’]s| is) on\b"
    r"|^(?:do (?:i|we) have|have (?:i|we) got|what do (?:i|we) have) (?:(?:any )?(?:plans|meetings"
    r"|appointments) |anything )?(?:on|for|planned|scheduled|coming)\b"
    r"|^(?:and |so )?(?:wh\w+|how)\b(?: (?!did|was|were|ha[ds]|have)\w+){0,3}? (?:will|shall)\b"
    r"|^(?:and |so )?(?:wh\w+|how)\b(?: \w+)? (?:am|is|are) (?:\w+ ){0,2}going\b"
    r"|\b(?:ist|sind) .*\b(?:geplant|gebucht|fällig)\b|^habe?n? (?:ich|wir) .*\b(?:etwas|was) vor\b"
    r"|\best(?:á|án) (?:previst|planead|reservad)[oa]s?\b|^¿?qué (?:tengo|hay|tenemos)\b"
    r"|\b(?:est|sont) (?:prévu|réservé|programmé)e?s?\b"
    r"|有(?:什么|哪些)?安排|の予定",
    re.IGNORECASE,
)


def looks_ahead(question: str) -> bool:
    """Whether a question may be about what is still to come."""
    return _AHEAD.search(question) is not None or asks_ahead(question)


def looks_back(text: str, language: str) -> bool:
    """Whether a text is about the past, and about nothing still to come."""
    past = _BACK.get(language)
    return past is not None and past.search(text) is not None and not looks_ahead(text)


def asks_ahead(question: str) -> bool:
    """Whether a question is about what is still to come: "Friday" is then the coming one.

    Examples:
        >>> asks_ahead("What is planned for Friday?"), asks_ahead("What did we plan on Friday?")
        (True, False)
    """
    return _ASKING.search(question) is not None
