"""The pieces of LlamaIndex that ask a model, for `benchmarks.model_cost`: what they send and get.

They are handed what our search finds, as nodes with the bare text.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.postprocessor import LLMRerank
from llama_index.core.postprocessor.rankGPT_rerank import RankGPTRerank
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import Field, PrivateAttr

from benchmarks.scripted_model import first_sentence
from recall_retrievers.text.tokens import token_counter

Find = Callable[[str], Sequence[str]]
_SOURCE = re.compile(r"Source (\d+):\n(.*?)(?=\n+Source \d+:|\n-{6}|\Z)", re.DOTALL)
_PASSAGE = re.compile(r"Received passage \[(\d+)\]")
_DOCUMENT = re.compile(r"^Document (\d+):$", re.MULTILINE)


class ScriptedLLM(CustomLLM):
    """Answers as these pieces ask: the first are the best, and each text is one sentence of each.

    Args:
        latency_s: Seconds that each call takes.
    """

    latency_s: float = 0.0
    prompts: list[str] = Field(default_factory=list, exclude=True)
    _counts: list[int] = PrivateAttr(default_factory=lambda: [0, 0, 0])

    @property
    def metadata(self) -> LLMMetadata:
        """A context long enough for one prompt."""
        return LLMMetadata(context_window=100_000, num_output=2_000)

    def reset(self) -> None:
        """Count from nothing again."""
        self._counts = [0, 0, 0]
        self.prompts.clear()

    @property
    def counted(self) -> tuple[int, ...]:
        """How many calls there were, and the tokens in and out of all."""
        return tuple(self._counts)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ARG002 - the framework's
        """The answer to a prompt."""
        time.sleep(self.latency_s)
        self.prompts.append(prompt)
        said = _answer(prompt)
        count = token_counter()
        for place, more in enumerate((1, count(prompt), count(said))):
            self._counts[place] += more
        return CompletionResponse(text=said)

    def stream_complete(
        self,
        prompt: str,
        formatted: bool = False,
        **kwargs: Any,
    ) -> CompletionResponseGen:
        """The same in one piece."""
        yield self.complete(prompt, formatted, **kwargs)


def index_systems(
    find: Find, model: ScriptedLLM, k: int
) -> dict[str, dict[str, Callable[[str], object]]]:
    """What is asked, by what it does and by its name.

    Args:
        find: Finds the texts for a question, best first.
        model: The model.
        k: How many are returned or cited.
    """

    def nodes(question: str) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=text), score=1.0) for text in find(question)]

    class Found(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return nodes(query_bundle.query_str)[:k]

    rerank = LLMRerank(llm=model, top_n=k, choice_batch_size=1_000)
    rank_gpt = RankGPTRerank(llm=model, top_n=k)
    engine = CitationQueryEngine.from_args(None, llm=model, retriever=Found())
    return {
        "rank": {
            "LLMRerank": lambda text: rerank.postprocess_nodes(nodes(text), QueryBundle(text)),
            "RankGPTRerank": lambda text: rank_gpt.postprocess_nodes(
                nodes(text), QueryBundle(text)
            ),
        },
        "rewrite": {"CitationQueryEngine": engine.query},
    }


def _answer(prompt: str) -> str:
    if passages := _PASSAGE.findall(prompt) or re.findall(
        r"^user: \[(\d+)\]", prompt, re.MULTILINE
    ):
        return " > ".join(f"[{number}]" for number in dict.fromkeys(passages))
    real = prompt.rpartition("Let's try this now:")[2]
    if documents := _DOCUMENT.findall(real):
        return "\n".join(f"Doc: {number}, Relevance: {9 - int(number)}" for number in documents[:5])
    sources = _SOURCE.findall(prompt.rpartition("Below are several numbered sources")[2])
    return " ".join(f"{first_sentence(text)} [{number}]" for number, text in sources)
