"""Questions for the latest, the first or what was so before: which they are, and what they get.

Of what was so before, the second line of each language was read once, when the words were finished.
"""

from typing import Any

import pytest
from tables import table

from benchmarks.order import first_found, read, wanted
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.store import RecallStore
from recall_retrievers.text.order import asked_order
from recall_retrievers.text.questions import asks_what_was_before

NEWEST = """
    When did I last go swimming?
    What was my last call with Peter about?
    Tell me about my last call with Peter.
    the latest book
    What is the last book I finished?
    Which film have we seen most recently?
    Where was I last at the beach?
    Any newest news from Sarah?
    Which film did I watch last?
    my most recent visit to Ann
    What did I pay for the last three repairs?
    When was the last time I saw Ann?
    Wann war ich zuletzt beim Friseur?
    das Neueste von Helga
    Wann habe ich das letzte Mal gespielt?
    Worum ging es in meinem letzten Gespräch?
    Welches ist mein neuester Termin?
    Was war der jüngste Besuch?
    ¿Cuándo fue la última vez que jugué?
    ¿De qué trató mi última reunión?
    ¿Cuándo estuve por última vez allí?
    ¿Qué es lo último que supe de Javier?
    ¿Cuál es la serie más reciente?
    Quand ai-je skié pour la dernière fois ?
    De quoi parlait mon dernier appel ?
    Quel restaurant avons-nous essayé en dernier ?
    Quel est le livre le plus récent ?
    我上一次游泳是什么时候？
    最近一次看牙医是什么时候？
    我跟王老师最后一次通话说了什么？
    小雨最新的消息是什么？
    我最近读完的一本书是哪本？
    上回我们在哪吃饭？
    最後に泳いだのはいつですか？
    前回の電話は何の話でしたか？
    一番最近読んだ本は何ですか？
    由美さんの最新のニュースは？
    直近で見た映画は何でしたか？
"""
OLDEST = """
    When did we first meet Laura?
    What was the first concert of the year?
    What is my oldest note about tea?
    Wann waren wir zum ersten Mal dort?
    Was war mein frühester Lauf?
    ¿Cuándo fuimos por primera vez al mercado?
    ¿Cuál es la nota más antigua?
    Quand avons-nous vu Marc pour la première fois ?
    Quelle est ma plus ancienne note ?
    我第一次见到陈明是什么时候？
    我最早的一条记录是什么？
    健さんに初めて会ったのはいつですか？
    一番古いメモは何ですか？
"""
NEITHER = """
    What did I do last week?
    What did I do last Tuesday?
    What did I eat in the last two weeks?
    What happened at last year's party?
    At last it rained, what did I do?
    What did I do on the first of May?
    Where did I learn first aid?
    What is my last name?
    Who lives in First Street?
    Who is my oldest friend?
    When must I pay at the latest?
    What should I do first?
    When does my first sprint end?
    When did Joanna first watch it?
    My first instinct was to run.
    The doctor came, and the first thing I thought was: why?
    What's the latest news?
    Was ist der letzte Schrei?
    Wo war ich in letzter Zeit?
    Was tat ich am ersten Mai?
    ¿Qué hice la última semana?
    Por último, ¿qué pasó?
    ¿Qué hice el primero de mayo?
    Qu'ai-je fait la semaine dernière ?
    Qu'ai-je fait ces derniers jours ?
    Où ai-je appris les premiers secours ?
    上个月我做了什么？
    最近三天我做了什么？
    第一次世界大战是什么时候？
    先週何をしましたか？
    最近どうですか？
    最後まで見ましたか？
"""
POINTS_BACK = """
    And the first one?
    Tell me more about the last one.
    Do the first two have a pool?
    Is the last one you suggested cheaper?
    Und was kostet das erste?
    Wie weit ist das letzte entfernt?
    ¿Y el primero?
    Et le dernier ?
    第一个怎么样？
    最初のものはいくらですか？
"""
ASKED = {
    text.strip(): order
    for texts, order in ((NEWEST, "newest first"), (OLDEST, "oldest first"), (NEITHER, None))
    for text in texts.strip().splitlines()
}


@table("text", ASKED)
def test_the_order_that_a_question_asks_for(text: str) -> None:
    order = asked_order(text)

    assert (order and order.name) == ASKED[text]


@table("text", [*ASKED, *(line.strip() for line in POINTS_BACK.strip().splitlines())])
def test_in_a_conversation_one_without_a_noun_is_what_was_offered(text: str) -> None:
    order = asked_order(text, in_conversation=True)

    assert (order and order.name) == ASKED.get(text)


def test_the_right_memory_is_first_though_newer_ones_share_words(words: Any) -> None:
    swimming = read()[0]
    concert = next(each for each in read() if "first concert of the year" in each["question"])
    with RecallStore(embedding=words) as store:
        found = first_found(store, [swimming, concert])

    assert found == [wanted(each) for each in (swimming, concert)]


def test_a_newer_memory_about_another_part_of_the_question_is_not_the_latest(words: Any) -> None:
    with RecallStore(embedding=words) as store:
        store.add(
            {"id": kind, "content": f"The dentist appointment was {kind}.", "created_at": day}
            for kind, day in (("short", "2024-01-01"), ("long", "2024-03-01"))
        )
        store.add([{"id": "other", "content": "We met in Leeds.", "created_at": "2024-06-01"}])
        found = MemoryRetriever(store=store, timestamp="2024-06-12T12:00Z").recall_without_model(
            "What was the last dentist appointment in Leeds?"
        )

    assert [each.id for each in found.memories] == ["long", "short", "other"]


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
