"""All stages, for the faces; who imports one stage loads no other."""

# ruff: noqa: PLC0414 - the names are for others

from recall_retrievers.stages.build_query import BuildQuery as BuildQuery
from recall_retrievers.stages.extract_time import ExtractTime as ExtractTime
from recall_retrievers.stages.filters import Deduplicate as Deduplicate
from recall_retrievers.stages.filters import RelevanceThreshold as RelevanceThreshold
from recall_retrievers.stages.filters import StaleReflections as StaleReflections
from recall_retrievers.stages.filters import TimeDecay as TimeDecay
from recall_retrievers.stages.filters import TokenBudget as TokenBudget
from recall_retrievers.stages.fuse_rerank import FuseRerank as FuseRerank
from recall_retrievers.stages.model_rankers import RerankMemory as RerankMemory
from recall_retrievers.stages.model_rankers import SemanticRank as SemanticRank
from recall_retrievers.stages.plain_texts import MergeMemory as MergeMemory
from recall_retrievers.stages.plain_texts import PrintMemory as PrintMemory
from recall_retrievers.stages.rankers import HybridRank as HybridRank
from recall_retrievers.stages.rankers import RecencyRank as RecencyRank
from recall_retrievers.stages.rankers import RelevanceRank as RelevanceRank
from recall_retrievers.stages.read_message import ReadMessage as ReadMessage
from recall_retrievers.stages.reflect import Reflect as Reflect
from recall_retrievers.stages.rewrite_memory import RewriteMemory as RewriteMemory
from recall_retrievers.stages.search_gate import SearchGate as SearchGate
