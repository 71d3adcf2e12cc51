"""The stages as LlamaIndex node postprocessors.

Each is a stage of `recall_retrievers` with LlamaIndex's base beside it, nothing more. It works in
any ``node_postprocessors=[...]`` list and in the ``stages`` of a `RecallRetriever`.
`RecallPostprocessor` is several in one; see `llamaindex_recall.node_postprocessor`.
"""

from llamaindex_recall.node_postprocessor import (
    MemoryPostprocessor,
    ModelPostprocessor,
    TextPostprocessor,
)
from recall_retrievers.stages import catalogue as _stages


class BuildQuery(ModelPostprocessor, _stages.BuildQuery):
    """Build the query from the conversation if there is no question."""


class ExtractTime(ModelPostprocessor, _stages.ExtractTime):
    """Understand the time that a question names, so that search and ranking can prefer it."""


class SearchGate(ModelPostprocessor, _stages.SearchGate):
    """Decide whether a question needs memories, so that small talk and facts cost no search."""


class SemanticRank(ModelPostprocessor, _stages.SemanticRank):
    """Let a language model or a cross-encoder judge how well each candidate answers."""


class RerankMemory(ModelPostprocessor, _stages.RerankMemory):
    """Put memories of tasks in the order in which they help with the one at hand."""


class FuseRerank(_stages.FuseRerank, MemoryPostprocessor):
    """Rank memories by relevance x type x author x session x time."""


class RelevanceThreshold(_stages.RelevanceThreshold, MemoryPostprocessor):
    """Keep the memories that are relevant enough."""


class Deduplicate(_stages.Deduplicate, MemoryPostprocessor):
    """Keep one of several memories that say nearly the same."""


class TimeDecay(_stages.TimeDecay, MemoryPostprocessor):
    """Lower the scores of old memories: 2^(-age / half-life)."""


class RelevanceRank(_stages.RelevanceRank, MemoryPostprocessor):
    """The most relevant first."""


class RecencyRank(_stages.RecencyRank, MemoryPostprocessor):
    """The newest first; scores stay as they are."""


class HybridRank(_stages.HybridRank, MemoryPostprocessor):
    """Relevance and recency in one score."""


class StaleReflections(_stages.StaleReflections, MemoryPostprocessor):
    """Lower the score of stored reflections whose sources have changed."""


class ReadMessage(_stages.ReadMessage, MemoryPostprocessor):
    """Add recent messages that are no memories yet."""


class TokenBudget(_stages.TokenBudget, MemoryPostprocessor):
    """Keep the best memories that fit into a number of tokens, in their order."""


class PrintMemory(_stages.PrintMemory, TextPostprocessor):
    """Write the memories as text: number, when to use, content, time and metadata."""


class MergeMemory(_stages.MergeMemory, TextPostprocessor):
    """Put the memories into one text, for a model that answers with their help."""


class RewriteMemory(ModelPostprocessor, _stages.RewriteMemory, TextPostprocessor):
    """Write one text for the question from the memories; each sentence cites its sources."""


class Reflect(ModelPostprocessor, _stages.Reflect, TextPostprocessor):
    """Write a summary or key points of the memories, in sentences that cite them."""
