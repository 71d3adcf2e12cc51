"""Whether words look back or ahead: what decides where a date can be past or still to come.

A language lists its words. `*` stands for letters, so that "*ed" is an ending, and `_` for a space.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Kind = Literal["ahead", "arranged", "back", "present"]


@dataclass(frozen=True)
class Cues:
    """The words of a language that tell a direction; of several that match, the first kind counts.

    Attributes:
        ahead: What is to come: "will", "due", "delivery".
        arranged: An act of arranging, in any tense: "signed up", "tickets", "invited".
        back: A past tense.
        present: A present tense or the noun of a coming event; it tells of a plan where no past
            tense is near.
        being: "Is": what is on a day is ahead, and a question with it need not be.
        asking: What makes a question one about what is to come: "what's on", "am I free".
        never: Words that only look like a past tense: "need".
        leading: What is directly before a time to come: "booked for".
        put_off: What is put off is to come.
        onward: Around a time, where no verb says more: "from June on".
    """

    ahead: str
    arranged: str
    back: str
    present: str = ""
    asking: str = ""
    being: str = ""
    never: str = ""
    leading: str = ""
    put_off: str = ""
    onward: str = ""
    spaced: bool = True  # words stand apart

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        groups = [
            f"(?P<{kind}>{self._any(words)})"
            for kind, words in (
                ("never", self.never),
                ("arranged", self.arranged),
                ("ahead", f"{self.ahead} {self.being}"),
                ("present", self.present),
                ("back", self.back),
            )
            if words
        ]
        return re.compile("|".join(groups), re.IGNORECASE)

    @cached_property
    def _asking(self) -> re.Pattern[str]:
        return re.compile(self._any(f"{self.asking} {self.ahead}"), re.IGNORECASE)

    def _any(self, words: str) -> str:
        alternatives = "|".join(words.split())
        if not self.spaced:
            return f"(?:{alternatives})"
        letters = alternatives.replace("*", r"\w*").replace("_", r"[\s-]+").replace("'", "['’]")
        return rf"(?<!\w)(?:{letters})(?!\w)"

    def _is_in(self, words: str, text: str, end: str = "") -> bool:
        return bool(words and re.search(self._any(words) + end, text, re.IGNORECASE))

    def lead_to(self, clause: str, start: int) -> bool:
        """Whether a time has such a word before it, or as its first one."""
        before, time = clause[:start], clause[start : start + 5]
        return self._is_in(self.leading, before, r"\s*$") or self._is_in(self.leading, time)

    def put_off_in(self, clause: str) -> bool:
        """Whether something is put off."""
        return self._is_in(self.put_off, clause)

    def onward_in(self, words: str) -> bool:
        """Whether words tell the beginning of something."""
        return self._is_in(self.onward, words)

    def find(self, text: str) -> Iterator[tuple[Kind, int, int]]:
        for match in self._pattern.finditer(text):
            if match.lastgroup != "never":
                yield match.lastgroup, *match.span()  # type: ignore[misc]  # a name of a group

    def tells_past(self, text: str) -> bool:
        """Whether a verb of a text is in a past tense."""
        return any(kind in ("back", "arranged") for kind, *_ in self.find(text))

    def asks_ahead(self, question: str) -> bool:
        """Whether a question is about what is still to come: "Friday" is then the coming one."""
        if self._asking.search(question) is None:
            return False
        return not any(kind == "back" for kind, *_ in self.find(question))
