"""The stages, one in each file. They do not import one another.

May import: store, llm, ranking, gate, core, text, timeline.
"""

from recall_stages.stages.build_query import BuildQuery as BuildQuery
from recall_stages.stages.extract_time import ExtractTime as ExtractTime
from recall_stages.stages.filters import Deduplicate as Deduplicate
from recall_stages.stages.filters import RelevanceThreshold as RelevanceThreshold
from recall_stages.stages.filters import TimeDecay as TimeDecay
from recall_stages.stages.filters import TokenBudget as TokenBudget
from recall_stages.stages.fuse_rerank import FuseRerank as FuseRerank
from recall_stages.stages.plain_texts import MergeMemory as MergeMemory
from recall_stages.stages.plain_texts import PrintMemory as PrintMemory
from recall_stages.stages.rank_and_rewrite import RankAndRewrite as RankAndRewrite
from recall_stages.stages.rankers import HybridRank as HybridRank
from recall_stages.stages.rankers import RecencyRank as RecencyRank
from recall_stages.stages.rankers import RelevanceRank as RelevanceRank
from recall_stages.stages.read_message import ReadMessage as ReadMessage
from recall_stages.stages.reflect import Reflect as Reflect
from recall_stages.stages.rerank_memory import RerankMemory as RerankMemory
from recall_stages.stages.rewrite_memory import RewriteMemory as RewriteMemory
from recall_stages.stages.search_gate import SearchGate as SearchGate
from recall_stages.stages.semantic_rank import SemanticRank as SemanticRank
from recall_stages.stages.stale_reflections import StaleReflections as StaleReflections
