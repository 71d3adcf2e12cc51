"""RewriteMemory: Q x R -> text. The memories rewritten for the question; every sentence cites them.

Without a model, and if no sentence can be verified, the text is the plain memories.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, Literal

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import ModelError, ReplyError
from recall_retrievers.core.query import Query
from recall_retrievers.core.stage import Flow, Prompt, Recall
from recall_retrievers.llm.checking.citation_check import verify
from recall_retrievers.llm.cited_text import finished_claims
from recall_retrievers.llm.citing import Cites, written
from recall_retrievers.llm.fencing import QUOTED_MATERIAL, indented
from recall_retrievers.llm.prompts import (
    CITED_RULES,
    CITED_SENTENCES,
    REPLY_FORMS,
    USER_WITH_MESSAGES,
    abstention,
)
from recall_retrievers.llm.windows import Window

SYSTEM = f"""\
You turn memories into a short text that helps with a question: what bears on it, what can be \
acted on, in a sensible order, and nothing else. {CITED_RULES} Leave out memories that do not \
help. {QUOTED_MATERIAL} So are the question and the messages. Reply with JSON only, \
one entry for each sentence:
{{"sentences": {CITED_SENTENCES}}}"""

_NAME = "sentences"  # of the list in a reply
_MARGIN = " " * 2  # deeper than the name of a field


class RewriteMemory(Cites):
    """Write one text for the question from the memories; each sentence cites its sources.

    Code checks every citation: numbers by value, names, links and images exactly, what is denied,
    and enough words. A citation is mended if another memory that was shown shares clearly more
    words. A sentence in another language than its memories stays and is marked as unchecked. One
    that fails, repeats another, is longer than 500 characters or follows 20 others is removed, and
    the trace counts it. If nothing is left, if the model fails, and without a model, the text is
    the plain memories: ``Memory 1 :``, `` When to use: ...``, `` Content: ...``.

    A model may reply with an empty list of sentences. The text then says that the memories do not
    answer, and nothing has failed.

    The check does not find a wrong common word among right ones, names that changed their places or
    a short addition, and it removes what is said in quite other words. ``check`` sees both.

    Args:
        llm: The framework's model. None = the memories as they are.
        enable_llm_rewrite: Whether to use the model.
        min_support: The share of a sentence's words, but for two, that must stand near each other
            in the memories it cites, 0 to 1; with 0 these need only exist.
        unverified: How to treat sentences that cannot be verified: "remove" them, or "fall_back"
            to the memories as they are.
        check: A second opinion about the sentences that passed, or that only their words speak
            against, which it alone can keep: a function that gets a sentence and the texts of its
            memories, and returns whether they support it; or a chat model, which is asked once for
            all sentences. None = no second opinion.
        token_budget: How many tokens of memories go into the prompt. Long ones are cut there, so
            that five fit. The best are used, and the trace names the others.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_retrievers.core.query import Query
        >>> query = Query(text="Uploads?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> memory = Candidate(content="Catch PermissionError.", when_to_use="When uploads fail")
        >>> from recall_retrievers.core.world import run
        >>> print(run(RewriteMemory().apply(Recall(query, (memory,)))).text)
        Memory 1 :
         When to use: When uploads fail
         Content: Catch PermissionError.
        <BLANKLINE>
    """

    writes_text: ClassVar[bool] = True

    enable_llm_rewrite: bool = True
    unverified: Literal["remove", "fall_back"] = "remove"

    def apply(self, recall: Recall) -> Flow:
        """Write the text, and verify every sentence of it."""
        recall = recall.at_most(recall.query.k)
        memories = recall.memories
        if not memories or self.llm is None or not self.enable_llm_rewrite:
            return replace(recall, text=plain_text(memories))
        [window] = self.windows(memories)
        prompt = self._prompt(recall.query, window)
        try:
            checked, verified = yield from written(self, recall, window, prompt, _NAME)
            if verified.removed and self.unverified == "fall_back":
                raise ReplyError(  # noqa: TRY301 - one place falls back
                    f"{verified.removed} sentence(s) do not rest on what they cite"
                )
        except (ModelError, ReplyError) as error:
            return replace(recall.fell_back(self.stage_name, error), text=plain_text(memories))
        text = " ".join(each.marked() for each in verified.citations)
        text = text or abstention(recall.query.text)
        return replace(checked, text=text, citations=verified.citations)

    def _prompt(self, query: Query, window: Window) -> Prompt:
        form = REPLY_FORMS[_NAME]
        prompt = self.about(query, window, SYSTEM, form, USER_WITH_MESSAGES)
        # What a second opinion or a later sentence may take back is not shown before the end.
        if self.check is not None or self.unverified == "fall_back":
            return prompt
        return replace(prompt, finished=partial(self._finished, window=window))

    def _finished(self, reply: str, window: Window) -> list[str]:
        """The sentences that are complete and checked."""
        claims = finished_claims(reply, _NAME)
        verified = verify(claims, window.memories, self.min_support)
        return [each.marked() for each in verified.citations]


def plain_text(memories: Sequence[Candidate]) -> str:
    """The memories in plain form, numbered from 1.

    Further lines of a text stand behind a margin, so that none looks like the start of a memory.
    """
    blocks = []
    for number, memory in enumerate(memories, 1):
        when = f" When to use: {indented(memory.when_to_use, _MARGIN)}\n"
        content = f" Content: {indented(memory.content, _MARGIN)}\n"
        blocks.append(f"Memory {number} :\n{when if memory.when_to_use else ''}{content}")
    return "\n".join(blocks)
