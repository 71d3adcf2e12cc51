"""The contract of document compressors, as checks for yours: see `recall_stages.testing`.

A test of pytest's, for instance:

    import pytest
    from langchain_recall.testing import CHECKS, Subject

    @pytest.mark.parametrize("check", CHECKS, ids=str)
    def test_my_reranker(check):
        check(Subject(lambda model: MyReranker(llm=model), reply=lambda numbers: str(numbers)))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from recall_stages import testing
from recall_stages.core.memory import SCORE_KEY
from recall_stages.testing import CHECKS, Check, ContractError, Item, Verdict, next_reply

__all__ = ["CHECKS", "Check", "ContractError", "Item", "ScriptedModel", "Subject", "Verdict"]


class ScriptedModel(BaseChatModel):
    """A chat model with scripted replies, which keeps the prompts that it gets.

    Args:
        replies: What it says, call by call, the last one for ever: texts, functions of the prompt,
            or exceptions, which are raised.
        asked: The prompts that it was given.

    Examples:
        >>> model = ScriptedModel(replies=["Yes.", str.upper])
        >>> [model.invoke(text).content for text in ("Tea?", "Milk?")], model.asked
        (['Yes.', 'MILK?'], ['Tea?', 'Milk?'])
    """

    replies: list[Any]
    asked: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        prompt = "\n\n".join(str(message.content) for message in messages)
        self.asked.append(prompt)
        return _result(next_reply(self.replies, prompt, len(self.asked)))


class Subject(testing.Subject[Document, BaseDocumentCompressor, ScriptedModel]):
    __doc__ = (
        (testing.Subject.__doc__ or "")
        + """
    Examples:
        >>> from langchain_recall import FuseRerank
        >>> subject = Subject(lambda model: FuseRerank())
        >>> [check.name for check in CHECKS if check.judge(subject).holds is False]
        []
    """
    )

    def model(self, reply: object) -> ScriptedModel:
        """A model that always says, or raises, this."""
        return ScriptedModel(replies=[reply])

    def asked(self, model: ScriptedModel) -> int:
        """How many times the model was asked."""
        return len(model.asked)

    def write(self, item: Item) -> Document:
        """An item as a document; its score in ``relevance_score``."""
        score = {} if item.score is None else {SCORE_KEY: item.score}
        metadata = {**item.metadata, **score}
        return Document(id=item.id, page_content=item.content, metadata=metadata)

    def read(self, thing: Document) -> Item:
        """The item that a document is."""
        rest = {name: value for name, value in thing.metadata.items() if name != SCORE_KEY}
        return Item(thing.id or "", thing.page_content, thing.metadata.get(SCORE_KEY), rest)

    def apply(
        self, piece: BaseDocumentCompressor, things: Sequence[Document], query: str
    ) -> Sequence[Document]:
        """Compress documents."""
        return piece.compress_documents(things, query)

    async def aapply(
        self, piece: BaseDocumentCompressor, things: Sequence[Document], query: str
    ) -> Sequence[Document]:
        """Compress documents in an event loop."""
        return await piece.acompress_documents(things, query)


def _result(said: Any) -> ChatResult:  # anything: what no model may say is said on purpose
    message = said if isinstance(said, AIMessage) else AIMessage(said)
    return ChatResult(generations=[ChatGeneration(message=message)])
