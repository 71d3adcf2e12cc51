"""Which questions ask for what was so before: these find superseded memories, too.

The second line of each language was read once, when the words were finished.
"""

import pytest

from recall_retrievers.text.questions import asks_what_was_before

ASKS = """
What was it before? | Where did I use to live? | What did Anna previously work as?
Which doctor did I formerly see? | where did we used to meet | And what was her number before that?
Was war es vorher? | Wo habe ich früher gewohnt? | Welche Nummer hatte sie vorher?
Wie hieß die Firma früher? | wo hat Anna früher gearbeitet | Was habe ich vorher getrunken?
¿Qué era antes? | ¿Dónde vivía antes? | ¿Qué médico tenía anteriormente?
¿Qué solía beber? | dónde trabajaba Anna antes | ¿Cuál era antes mi número?
Qu'est-ce que c'était avant ? | Où habitais-je auparavant ? | Quel était son numéro avant ?
Où travaillait Anna avant ? | quel médecin avais-je auparavant | C'était quoi avant ?
以前是什么？ | 我之前住在哪里？ | 之前是多少？
她以前在哪里工作？ | 我以前喝什么 | 密码之前是什么？
以前はどこに住んでいましたか？ | 前は何でしたか？ | 以前の番号は何ですか？
アンナは以前どこで働いていましたか？ | 前はどの医者でしたか | パスワードは前は何でしたか？
"""
ASKS_NOT = """
What did I eat before the trip? | What did I do the day before yesterday? | I used to live in Bonn.
Who called before Friday? | What do I use to cook rice? | He previously worked at the bank.
Was habe ich vor der Reise gegessen? | Wer kam früher als Anna? | Früher wohnte ich in Bonn.
Was war vorgestern? | Wer ist heute früher gegangen als sonst? | Vorher war alles anders.
¿Qué comí antes del viaje? | ¿Qué hice anteayer? | Antes vivía en Bonn.
¿Quién llamó antes de las tres? | ¿Qué hice antes de ayer? | Antes todo era mejor.
Qu'ai-je mangé avant le voyage ? | Qu'ai-je fait avant-hier ? | Avant, j'habitais à Bonn.
Qui a appelé avant vendredi ? | Qui est venu avant moi ? | Auparavant tout allait bien.
三天以前我做了什么？ | 会议之前我吃了什么？ | 我以前住在波恩。
五月以前谁来过？ | 旅行之前谁打了电话？ | 以前一切都好。
三日前は何をしましたか？ | 旅行の前は何を食べましたか？ | 以前はボンに住んでいました。
二年以前は誰がいましたか？ | 会議の前は誰と話しましたか？ | 前はよかった。
"""


def lines(table: str) -> list[str]:
    return table.strip().splitlines()


@pytest.mark.parametrize(("table", "asks"), [(ASKS, True), (ASKS_NOT, False)], ids=["yes", "no"])
def test_what_was_so_before(table: str, asks: bool) -> None:
    wrong = [
        (each, line)
        for line in lines(table)
        for each in line.split(" | ")
        if asks_what_was_before(each) is not asks
    ]
    assert not wrong
