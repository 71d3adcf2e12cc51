"""Replies with scores: the odd ones, and those that are none."""

from stages.reply_kit import LEFT_OUT, RANK, RANKS, RERANK, SCORES, bad, good

SCORED = [
    good(
        "scores as strings",
        lambda kit: kit.json([kit.entry(1, 1, score="0.8")]),
        *RANKS,
        order="abcd",
        note=LEFT_OUT.format(3),
    ),
    good(
        "all the same",
        lambda kit: kit.json([{"memory": n, "score": 1} for n in (1, 2)]),
        *RANKS,
        order="abcd",
        note=LEFT_OUT.format(2),
    ),
    *[
        good(
            f"all {score}",
            lambda kit, score=score: kit.json(
                [{"memory": n, "score": score} for n in (1, 2, 3, 4)]
            ),
            RANK,
            RERANK,
            order="abcd",
        )
        for score in (0, 0.5, 1)
    ],
    good(
        "one of 0.05",
        lambda kit: kit.json([[4, 0.05]]),
        *RANKS,
        order="abcd",
        note=LEFT_OUT.format(3),
    ),
    good(
        "scored twice, and the last counts",
        lambda kit: kit.json([kit.entry(1, 1, score=1.0), *kit.entries()]),
        *RANKS,
        note="of several scores, the last one counts",
    ),
    good("one score of none", lambda kit: kit.json([{"memory": 3}, *kit.entries()]), *RANKS),
    good(
        "one score below zero",
        lambda kit: kit.json([*kit.entries()[:3], kit.entry(4, 4, score=-1)]),
        RANK,
        order="bdac",
        note=LEFT_OUT.format(1),
    ),
    *[
        good(
            f"scores up to {scale}",
            lambda kit, scale=scale: kit.json([[n, s * scale] for n, s in kit.pairs()]),
            RANK,
            RERANK,
            note=f"scores on a scale of {scale}",
        )
        for scale in (5, 10, 100)
    ],
    good(
        "scores in percent", lambda kit: kit.json([[n, f"{s:.0%}"] for n, s in kit.pairs()]), RANK
    ),
    good(
        "scores as fractions",
        lambda kit: kit.json([[n, f"{s * 5}/5"] for n, s in kit.pairs()]),
        RANK,
    ),
    good("a list of scores", lambda kit: f'{{"scores": {SCORES}}}', RANK, note="without numbers"),
    good("a bare list of scores", lambda kit: f"{SCORES}", RANK, note="without numbers"),
    good(
        "a list of scores as text",
        lambda kit: kit.json([str(each) for each in SCORES]),
        RANK,
        note="without numbers",
    ),
    good(
        "numbers and scores in one list",
        lambda kit: kit.json([each for pair in kit.pairs() for each in pair]),
        *RANKS,
    ),
    good(
        "some numbers and scores in one list",
        lambda kit: kit.json([1, 0.6, 2, 0.8, 3, 0.1]),
        RERANK,
        order="badc",
        note=LEFT_OUT.format(1),
    ),
    bad("scores and no numbers in a ranking", lambda kit: f'{{"ranking": {SCORES}}}', RERANK),
    bad("a ranking with one number too many", lambda kit: kit.json([1, 0.6, 2, 0.8, 3]), RERANK),
    good("numbers alone", lambda kit: '{"ranking": [2, 4, 1, 3]}', RERANK),
    good(
        "numbers alone, from 0",
        lambda kit: '{"ranking": [1, 3, 0, 2]}',
        RERANK,
        note="numbers from 0",
    ),
    good(
        "numbers alone, some twice",
        lambda kit: '{"ranking": [2, 2, 2, 2]}',
        RERANK,
        order="bacd",
        note=LEFT_OUT.format(3),
    ),
    good(
        "numbers alone, some unknown",
        lambda kit: '{"ranking": [9, 2, 0, -1, "1"]}',
        RERANK,
        order="bacd",
        note=LEFT_OUT.format(2),
    ),
    good(
        "objects for scores, from 0",
        lambda kit: kit.json([{"memory": n - 1, "score": s} for n, s in kit.pairs()]),
        *RANKS,
        note="numbers from 0",
    ),
    good(
        "pairs, from 0",
        lambda kit: kit.json([[n - 1, s] for n, s in kit.pairs()]),
        *RANKS,
        note="numbers from 0",
    ),
    bad("scores on two scales", lambda kit: kit.json([[1, 0.9], [2, 0.7], [3, 8]]), *RANKS),
    bad("scores of thousands", lambda kit: kit.json([[1, 9000], [2, 700]]), *RANKS),
    bad("negative scores", lambda kit: kit.json([kit.entry(1, 1, score=-0.5)]), RANK),
    bad("scores in words", lambda kit: kit.json([kit.entry(1, 1, score="high")]), RANK),
    bad("scores of null", lambda kit: kit.json([kit.entry(1, 1, score=None)]), RANK),
    bad("NaN", lambda kit: '{"scores": [{"memory": 1, "score": NaN}]}', RANK),
    bad("infinity", lambda kit: '{"scores": [{"memory": 1, "score": Infinity}]}', RANK),
    bad("too few scores in a list", lambda kit: '{"scores": [0.2, 0.9, 0.1]}', RANK),
    bad("a division by zero", lambda kit: kit.json([[1, "3/0"]]), RANK),
    bad("integers in prose", lambda kit: "Of the 4 memories 2 is the best, then 1 and 3.", *RANKS),
]
