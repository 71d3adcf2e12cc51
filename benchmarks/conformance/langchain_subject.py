"""Document compressors as the checks use them, and a model with scripted replies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from benchmarks.conformance import subject
from benchmarks.conformance.material import Item, next_reply
from recall_retrievers.core.memory import SCORE_KEY


class ScriptedModel(BaseChatModel):
    """A chat model with scripted replies, which keeps its prompts.

    Args:
        replies: The reply to each call; the last one for ever. Each is a text, a function of the
            prompt, or an exception, which is raised.
        prompts: The prompts.

    Examples:
        >>> model = ScriptedModel(replies=["Yes.", str.upper])
        >>> [model.invoke(text).content for text in ("Tea?", "Milk?")], model.prompts
        (['Yes.', 'MILK?'], ['Tea?', 'Milk?'])
    """

    replies: list[Any]
    prompts: list[str] = Field(default_factory=list)

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
        self.prompts.append(prompt)
        reply: Any = next_reply(self.replies, prompt, len(self.prompts))
        message = reply if isinstance(reply, AIMessage) else AIMessage(reply)
        return ChatResult(generations=[ChatGeneration(message=message)])


class Subject(subject.Subject[Document, BaseDocumentCompressor, ScriptedModel]):
    def model(self, reply: object) -> ScriptedModel:
        return ScriptedModel(replies=[reply])

    def write(self, item: Item) -> Document:
        score = {} if item.score is None else {SCORE_KEY: item.score}
        metadata = {**item.metadata, **score}
        return Document(id=item.id, page_content=item.content, metadata=metadata)

    def read(self, thing: Document) -> Item:
        rest = {name: value for name, value in thing.metadata.items() if name != SCORE_KEY}
        return Item(thing.id or "", thing.page_content, thing.metadata.get(SCORE_KEY), rest)

    def apply(
        self, piece: BaseDocumentCompressor, things: Sequence[Document], query: str
    ) -> Sequence[Document]:
        return piece.compress_documents(things, query)

    async def aapply(
        self, piece: BaseDocumentCompressor, things: Sequence[Document], query: str
    ) -> Sequence[Document]:
        return await piece.acompress_documents(things, query)
