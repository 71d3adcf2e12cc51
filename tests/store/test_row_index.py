"""The mirror follows the collection: whoever writes to it, and whatever a call may return."""

from pathlib import Path

import numpy as np
import pytest

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.scope import Scope
from recall_retrievers.store.embedding.token_vectors import Embedded, unit
from recall_retrievers.store.rows import words
from recall_retrievers.store.rows.columns import Wanted
from recall_retrievers.store.rows.table import Table


def test_a_change_that_fails_in_the_middle_leaves_no_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Table(lambda _: Candidate(content="tea"), tmp_path)
    rows.put([("a", "tea", {})], [Candidate(content="tea")])
    monkeypatch.setattr(words, "put", lambda *_: (_ for _ in ()).throw(OSError("no room")))
    for change in (lambda: rows.put([("b", "tea", {})], [None]), lambda: rows.drop(["a"])):
        with pytest.raises(OSError, match="no room"):
            change()
    monkeypatch.undo()
    rows.close()
    again = Table(lambda _: Candidate(content="tea"), tmp_path)
    assert again.ids() == ["a"]
    assert len(again.by_words("tea", 5, *again.select([(Wanted(Scope()), None)]))[0]) == 1


def test_the_nearest_by_sketches_are_those_of_plain_cosines() -> None:
    """However near to each other all are, and however many came since sketches were made."""
    rng = np.random.default_rng(7)
    topics = 2 * rng.standard_normal((300, 64))[rng.integers(0, 300, 6_000)]
    rows = unit((rng.standard_normal((6_000, 64)) + topics + 4).astype(np.float32))
    questions = unit(rows[::100] + unit(rng.standard_normal((60, 64), dtype=np.float32)) / 8)
    table, there, found, wanted = Table(lambda _: None), 0, 0, 0
    for end in (2_000, 3_500, 6_000):
        new = [(str(n), None, None) for n in range(there, end)]
        table.put(new, [None] * len(new), Embedded(rows[there:end]))
        there, asked = end, questions[: end // 100]
        for question, cosines in zip(asked, asked @ rows[:end].T, strict=True):
            best, similarities = table.nearest(table.living(), question, 10, 400)
            assert similarities == pytest.approx(cosines[best], abs=1e-5)
            found += np.isin(np.argsort(-cosines)[:10], best).sum()
            wanted += 10
    assert found >= 0.99 * wanted
