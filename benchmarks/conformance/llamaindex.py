"""The stock node postprocessors of LlamaIndex (llama-index-core)."""

from __future__ import annotations

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.postprocessor import (
    AutoPrevNextNodePostprocessor,
    EmbeddingRecencyPostprocessor,
    FixedRecencyPostprocessor,
    KeywordNodePostprocessor,
    LLMRerank,
    LongContextReorder,
    MetadataReplacementPostProcessor,
    PrevNextNodePostprocessor,
    SentenceEmbeddingOptimizer,
    SimilarityPostprocessor,
    StructuredLLMRerank,
    TimeWeightedPostprocessor,
)
from llama_index.core.postprocessor.rankGPT_rerank import RankGPTRerank
from llama_index.core.storage.docstore import SimpleDocumentStore

from benchmarks.conformance.llamaindex_subject import Subject
from benchmarks.conformance.piece import LETS_ERRORS_THROUGH, Piece, scored, word_counts

DATE = "created_at"
WANTS_DATES = {"bare": "it says that every node must have a date"}


class WordsEmbedding(BaseEmbedding):
    """Counts words."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return word_counts(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return word_counts(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return word_counts(query)


def _choices(numbers: object) -> str:
    assert isinstance(numbers, list)  # noqa: S101 - what `Subject` hands over
    return "\n".join(f"Doc: {n}, Relevance: 7" for n in numbers)


def pieces() -> list[Piece]:
    """A row for each."""
    return [
        Piece(
            "LLMRerank",
            lambda: Subject(lambda model: LLMRerank(llm=model), reply=_choices),
            LETS_ERRORS_THROUGH,
        ),
        Piece(
            "StructuredLLMRerank",
            lambda: Subject(
                lambda model: StructuredLLMRerank(llm=model),
                reply=scored("documents", "document_number", "relevance", 7),
            ),
            LETS_ERRORS_THROUGH
            | {"kept": "raise_on_structured_prediction_failure (True) decides: raise, or keep all"},
        ),
        Piece(
            "RankGPTRerank",
            lambda: Subject(
                lambda model: RankGPTRerank(llm=model, top_n=10),
                reply=lambda numbers: " > ".join(f"[{n}]" for n in numbers),
            ),
            LETS_ERRORS_THROUGH,
        ),
        Piece(
            "SimilarityPostprocessor",
            lambda: Subject(lambda _: SimilarityPostprocessor(similarity_cutoff=0.0)),
        ),
        Piece(
            "KeywordNodePostprocessor",
            lambda: Subject(lambda _: KeywordNodePostprocessor(exclude_keywords=["wine"])),
        ),
        Piece(
            "FixedRecencyPostprocessor",
            lambda: Subject(lambda _: FixedRecencyPostprocessor(top_k=10, date_key=DATE)),
            WANTS_DATES,
        ),
        Piece(
            "EmbeddingRecencyPostprocessor",
            lambda: Subject(
                lambda _: EmbeddingRecencyPostprocessor(
                    embed_model=WordsEmbedding(), date_key=DATE, similarity_cutoff=1e6
                )
            ),
            WANTS_DATES,
        ),
        Piece(
            "TimeWeightedPostprocessor",
            lambda: Subject(lambda _: TimeWeightedPostprocessor(top_k=10)),
            {"unaltered": "it writes into each node when it was last used, which it reads again"},
        ),
        Piece(
            "LongContextReorder",
            lambda: Subject(lambda _: LongContextReorder()),
            {"ties": "it puts the best at both ends"},
        ),
        Piece(
            "SentenceEmbeddingOptimizer",
            lambda: Subject(
                lambda _: SentenceEmbeddingOptimizer(
                    embed_model=WordsEmbedding(), percentile_cutoff=1.0
                )
            ),
        ),
        Piece(
            "MetadataReplacementPostProcessor",
            lambda: Subject(lambda _: MetadataReplacementPostProcessor("memory_type")),
            {"subset": "it puts metadata in the place of the text"},
        ),
        Piece(
            "PrevNextNodePostprocessor",
            lambda: Subject(lambda _: PrevNextNodePostprocessor(docstore=SimpleDocumentStore())),
        ),
        Piece(
            "AutoPrevNextNodePostprocessor",
            lambda: Subject(
                lambda model: AutoPrevNextNodePostprocessor(
                    docstore=SimpleDocumentStore(), llm=model
                ),
                reply=lambda _: "none",
            ),
            LETS_ERRORS_THROUGH,
        ),
    ]
