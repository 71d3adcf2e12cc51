"""StaleReflections: R -> R. Lowers reflections whose sources are gone or changed. No model call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.errors import IdLookupError
from recall_retrievers.core.reflection import digest, is_reflection
from recall_retrievers.core.settings import Share
from recall_retrievers.core.stage import Fetch, Flow, Recall, Stage
from recall_retrievers.ranking.relevance import by_score


class StaleReflections(Stage):
    """Lower the score of stored reflections whose sources have changed.

    A reflection is stale if one of its sources was deleted or changed since. Its score is then
    multiplied, and its trace says ``stale``. Put this stage after the stages that score and before
    `FuseRerank`. It costs nothing if no reflection is among the memories. It works only inside a
    retriever.

    Args:
        stale_ratio: The factor of the score of a stale reflection.
    """

    stale_ratio: Share = 0.5

    def apply(self, recall: Recall) -> Flow:
        """Fetch the sources of the reflections, and weigh the stale ones."""
        wanted = dict.fromkeys(source for each in recall.memories for source in _sources(each))
        if not wanted:
            return recall
        try:
            [sources] = yield [Fetch(tuple(wanted))]
        except IdLookupError as error:  # some stores cannot; the reflections keep their weight
            return recall.fell_back(type(self).__name__, str(error))
        now = {memory.id: digest(memory.content) for memory in sources}
        weighed = [self._weigh(each, now) for each in recall.memories]
        return replace(recall, memories=by_score(weighed))

    def _weigh(self, memory: Candidate, now: Mapping[str, str]) -> Candidate:
        is_stale = any(now.get(source) != then for source, then in _sources(memory).items())
        if not is_stale or memory.noted("stale") is not None:  # it is weighed already
            return memory
        score = (memory.score or 0.0) * self.stale_ratio
        about = "as what it rests on has changed"
        step = Step(self.stage_name, "times", self.stale_ratio, score, "stale", about)
        return memory.after(score, step)


def _sources(memory: Candidate) -> dict[str, str]:
    """The digests that the sources of a reflection had, by their ids; other memories have none."""
    ids, digests = map(memory.metadata.get, ("source_ids", "source_digests"))
    if not is_reflection(memory) or not isinstance(ids, list) or not isinstance(digests, list):
        return {}
    return dict(zip(map(str, ids), map(str, digests), strict=False))
