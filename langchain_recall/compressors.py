"""The stages as LangChain document compressors.

Each is a stage of `recall_retrievers` with LangChain's base beside it, nothing more. It works in a
`DocumentCompressorPipeline`, under a `ContextualCompressionRetriever`, as a Runnable on
``{"query": ..., "documents": [...]}``, and in the ``stages`` of a `RecallRetriever`.
`RecallCompressor` is several in one; see `langchain_recall.document_compressor`.
"""

from langchain_recall.document_compressor import MemoryCompressor, ModelCompressor, TextCompressor
from recall_retrievers.stages import catalogue as _stages


class BuildQuery(ModelCompressor, _stages.BuildQuery):
    """Build the query from the conversation if there is no question."""


class ExtractTime(ModelCompressor, _stages.ExtractTime):
    """Understand the time that a question names, so that search and ranking can prefer it."""


class SearchGate(ModelCompressor, _stages.SearchGate):
    """Decide whether a question needs memories, so that small talk and facts cost no search."""


class SemanticRank(ModelCompressor, _stages.SemanticRank):
    """Let a language model or a cross-encoder judge how well each candidate answers."""


class RerankMemory(ModelCompressor, _stages.RerankMemory):
    """Put memories of tasks in the order in which they help with the one at hand."""


class FuseRerank(_stages.FuseRerank, MemoryCompressor):
    """Rank memories by relevance x type x author x session x time."""


class RelevanceThreshold(_stages.RelevanceThreshold, MemoryCompressor):
    """Keep the memories that are relevant enough."""


class Deduplicate(_stages.Deduplicate, MemoryCompressor):
    """Keep one of several memories that say nearly the same."""


class TimeDecay(_stages.TimeDecay, MemoryCompressor):
    """Lower the scores of old memories: 2^(-age / half-life)."""


class RelevanceRank(_stages.RelevanceRank, MemoryCompressor):
    """The most relevant first."""


class RecencyRank(_stages.RecencyRank, MemoryCompressor):
    """The newest first; scores stay as they are."""


class HybridRank(_stages.HybridRank, MemoryCompressor):
    """Relevance and recency in one score."""


class StaleReflections(_stages.StaleReflections, MemoryCompressor):
    """Lower the score of stored reflections whose sources have changed."""


class ReadMessage(_stages.ReadMessage, MemoryCompressor):
    """Add recent messages that are no memories yet."""


class TokenBudget(_stages.TokenBudget, MemoryCompressor):
    """Keep the best memories that fit into a number of tokens, in their order."""


class PrintMemory(_stages.PrintMemory, TextCompressor):
    """Write the memories as text: number, when to use, content, time and metadata."""


class MergeMemory(_stages.MergeMemory, TextCompressor):
    """Put the memories into one text, for a model that answers with their help."""


class RewriteMemory(ModelCompressor, _stages.RewriteMemory, TextCompressor):
    """Write one text for the question from the memories; each sentence cites its sources."""


class Reflect(ModelCompressor, _stages.Reflect, TextCompressor):
    """Write a summary or key points of the memories, in sentences that cite them."""
