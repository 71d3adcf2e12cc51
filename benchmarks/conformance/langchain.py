"""The stock document compressors of LangChain (langchain-classic)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_classic.retrievers.document_compressors import (
    CrossEncoderReranker,
    DocumentCompressorPipeline,
    EmbeddingsFilter,
    LLMChainExtractor,
    LLMChainFilter,
    LLMListwiseRerank,
)
from langchain_classic.retrievers.document_compressors.cross_encoder import BaseCrossEncoder
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage

from benchmarks.conformance.langchain_subject import ScriptedModel, Subject
from benchmarks.conformance.piece import LETS_ERRORS_THROUGH, Piece, word_counts
from langchain_recall import FuseRerank


class ToolCaller(ScriptedModel):
    """A model with native structured output: a mapping that it says is a tool call."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:  # noqa: ARG002 - the base's
        """Nothing to bind: it says what it was told to."""
        return self

    def _generate(self, messages: Any, *given: Any, **named: Any) -> Any:
        result = super()._generate(messages, *given, **named)
        said = result.generations[0].message.content
        if isinstance(said, list) and said:
            call = {"name": "RankDocuments", "args": said[0], "id": "1"}
            result.generations[0].message = AIMessage("", tool_calls=[call])
        return result


class ToolCallingSubject(Subject):
    """A subject whose model calls tools."""

    def model(self, reply: object) -> ToolCaller:
        """A model that always says, or calls, this."""
        return ToolCaller(replies=[[reply] if isinstance(reply, Mapping) else reply])


class WordsEmbedding(Embeddings):
    """Counts words."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The words of each text."""
        return [word_counts(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The words of a text."""
        return word_counts(text)


class WordsEncoder(BaseCrossEncoder):
    """A cross encoder that counts the words that two texts share."""

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        """The words that each pair shares."""
        counted = [(word_counts(one), word_counts(other)) for one, other in text_pairs]
        return [sum(min(both) for both in zip(*pair, strict=True)) for pair in counted]


def _all_of_it(prompt: str) -> str:
    """What a model says that finds the whole context relevant."""
    return prompt.split(">>>")[-2].strip()


def pieces() -> list[Piece]:
    """A row for each."""
    return [
        Piece(
            "LLMListwiseRerank",
            lambda: ToolCallingSubject(
                lambda model: LLMListwiseRerank.from_llm(model, top_n=10),
                reply=lambda numbers: {"ranked_document_ids": [n - 1 for n in numbers]},
            ),
            LETS_ERRORS_THROUGH,
        ),
        Piece(
            "LLMChainFilter",
            lambda: Subject(LLMChainFilter.from_llm, reply=lambda _: "YES"),
            LETS_ERRORS_THROUGH,
        ),
        Piece(
            "LLMChainExtractor",
            lambda: Subject(LLMChainExtractor.from_llm, reply=lambda _: _all_of_it),
            LETS_ERRORS_THROUGH,
        ),
        Piece(
            "EmbeddingsFilter",
            lambda: Subject(lambda _: EmbeddingsFilter(embeddings=WordsEmbedding(), k=10)),
        ),
        Piece(
            "CrossEncoderReranker",
            lambda: Subject(lambda _: CrossEncoderReranker(model=WordsEncoder(), top_n=10)),
        ),
        Piece(
            "DocumentCompressorPipeline (of our FuseRerank)",
            lambda: Subject(lambda _: DocumentCompressorPipeline(transformers=[FuseRerank()])),
        ),
    ]
