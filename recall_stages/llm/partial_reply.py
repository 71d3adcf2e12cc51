"""The sentences in the beginning of a reply that is still being written."""

from __future__ import annotations

import json
import re

from recall_stages.core.citation import Claim
from recall_stages.core.errors import ReplyError
from recall_stages.llm.claims import claims_of

_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[\s,]*")


def finished_claims(text: str, name: str) -> list[Claim]:
    """The sentences that are complete, if the reply begins as it was asked for.

    A reply that begins with anything else, such as thoughts, has none before it ends.

    Examples:
        >>> finished_claims('{"said": [{"text": "Tea.", "memories": [1]}, {"text": "Ja', "said")
        [Claim(sentence='Tea.', numbers=(1,))]
        >>> finished_claims('<think>{"said": [{"text": "Tea.", "memories": [1]}', "said")
        []
    """
    opening = re.match(rf'\s*(?:```(?:json)?\s*)?\{{\s*"{re.escape(name)}"\s*:\s*\[', text)
    claims: list[Claim] = []
    at = opening.end() if opening else len(text)
    while at < len(text):
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # it may match nothing
        if not text.startswith("{", at):
            break
        try:
            entry, at = _DECODER.raw_decode(text, at)
            claims += claims_of([entry])
        except (ValueError, RecursionError, ReplyError):
            break
    return claims
