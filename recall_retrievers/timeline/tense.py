"""Whether a text looks back or ahead: what decides where a date can be past or still to come."""

from __future__ import annotations

import re

_AHEAD = re.compile(
    r"\b(?:will|shall|won['’]t|going to|gonna|plan(?:s|ned|ning)?|next|coming|upcoming|ahead|future"
    r"|tomorrow|soon|someday|schedul\w*|appointments?|deadlines?|due|expect\w*|hop(?:e|ing)|booked)\b"
    "|['’]ll\\b|将来|将会|打算|计划|预定|即将|未来|改天|明[天年早晚]|后天|下[个次周月]",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:did|didn['’]t|was|wasn['’]t|were|weren['’]t|have|haven['’]t|has|hasn['’]t|had|hadn['’]t)\b"
    "|['’]ve\\b",
    re.IGNORECASE,
)


def looks_ahead(question: str) -> bool:
    """Whether a question may be about what is still to come."""
    return _AHEAD.search(question) is not None


def looks_back(text: str) -> bool:
    """Whether an English text is about the past, and about nothing still to come."""
    return _BACK.search(text) is not None and not looks_ahead(text)
