"""The base of the stages whose outcome is one text."""

from __future__ import annotations

from recall_stages.core.stage import Recall, Stage


class TextStage(Stage):
    """A stage that makes one text of the memories; these stay beside it, as its sources."""

    @staticmethod
    def asked_for(recall: Recall) -> Recall:
        """The recall with no more memories than the asker wants: the text tells of no other."""
        return recall.at_most(recall.query.k)
