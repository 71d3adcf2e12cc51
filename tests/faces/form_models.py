"""Models that take the form of a reply apart from the prompt."""

from collections.abc import Sequence
from typing import Any

from faces.adapters import ScriptedChat
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.llms.mock import MockFunctionCallingLLM


class FormChat(ScriptedChat):
    """A LangChain model that calls tools: ``filled`` is what it tells them, or says, or raises."""

    filled: Any = None
    forms: list[Any] = []  # noqa: RUF012 - pydantic copies it

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, Any]:
        return self.bind(tools=tools)

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        tools = kwargs.get("tools")
        if tools is None:
            return super()._generate(messages, *args)
        self.forms.append(tools[0].model_json_schema())
        said = self._said("\n\n".join(str(each.content) for each in messages))
        calls = [{"name": tools[0].__name__, "args": said, "id": "1"}]
        message = AIMessage(said) if isinstance(said, str) else AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _said(self, prompt: str) -> Any:
        self.prompts.append(prompt)
        said = self.filled(prompt) if callable(self.filled) else self.filled
        if isinstance(said, Exception):
            raise said
        return said


class FormLLM(MockFunctionCallingLLM):
    """The same for LlamaIndex."""

    def __init__(self, replies: list[Any], filled: Any, **settings: Any) -> None:
        asked, forms = [], []

        def generate(messages: Sequence[ChatMessage], **kwargs: Any) -> ChatMessage:
            asked.append("\n\n".join(str(each.content) for each in messages))
            said: Any = replies[0]
            if kwargs.get("tools"):
                forms.append(kwargs["tools"][0].metadata.fn_schema.model_json_schema())
                said = filled
            said = said(asked[-1]) if callable(said) else said
            if isinstance(said, Exception):
                raise said
            if isinstance(said, str):
                return ChatMessage(role=MessageRole.ASSISTANT, content=said)
            name = kwargs["tools"][0].metadata.name
            block = ToolCallBlock(tool_name=name, tool_kwargs=said)
            return ChatMessage(role=MessageRole.ASSISTANT, blocks=[block])

        super().__init__(response_generator=generate, is_chat_model=True, **settings)
        self._prompts, self._forms = asked, forms

    @property
    def prompts(self) -> list[str]:
        return self._prompts

    @property
    def forms(self) -> list[Any]:
        return self._forms


class ObjectChat(FormChat):
    """One whose filled form is whatever object ``filled`` is."""

    def with_structured_output(self, *_: Any, **__: Any) -> Runnable[Any, Any]:
        return RunnableLambda(lambda _: self.filled)


class ObjectLLM(FormLLM):
    """The same for LlamaIndex."""

    def __init__(self, replies: list[Any], filled: Any) -> None:
        super().__init__(replies, filled)
        self._filled = filled

    def structured_predict(self, *_: Any, **__: Any) -> Any:
        return self._filled

    async def astructured_predict(self, *_: Any, **__: Any) -> Any:
        return self._filled
