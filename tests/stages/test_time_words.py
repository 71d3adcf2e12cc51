"""Which questions are worth a model call: precision and recall on two lists of our own.

A question that fails stays in its list, and counts.
"""

from growth import TIMES, growth
from tables import table

from recall_retrievers.timeline.extract_time import asks_ahead
from recall_retrievers.timeline.unread_words import find_time_words

UNREAD = """\
Which bands did I like when I was in college?
What did we talk about around the time of the launch?
What did I cook during the lockdown?
Where did we go the other spring?
What was my salary back then?
Which sports did I do in my teens?
What did Anna say after the wedding?
Who lived next door when we lived in Berlin?
What was I afraid of as a child?
Which car did I drive before I moved?
What did I plan for the week of the marathon?
Where did I work before the pandemic?
What did the doctor say after my surgery?
Who came over on our anniversary?
What did we eat over Easter last time?
Did I read anything good during Ramadan?
What was I reading the night before the exam?
Which books did we read that summer?
What did my boss say the day after the merger?
What did I dream that night?
Where was I living at the time?
Who was my best friend growing up?
Which languages did I learn in my early twenties?
What did I promise before getting married?
What did she send me ages ago?
How did I sleep while Tom was away?
What did we do at the turn of the millennium?
Which topics came up last semester?
What did I weigh before my pregnancy?
Which apartment did we rent since then?
What did I believe at the age of ten?
Where did we stay the summer we went to Italy?
What was my nickname back in school?
What was the plan two weeks before the election?
Who gave a speech the day of the funeral?
What did I order previously?
What did I say earlier?
What happened to us during the Paris Olympics?
Which job did I want in my student days?
How much did rent cost in the good old days?
What is coming up soon?
Which songs did we sing on the eve of the festival?
我小时候最怕什么？
我上大学的时候喜欢听什么歌？
疫情期间我在家做了什么？
结婚之前我住在哪里？
那年夏天我们去了哪里？
当时医生怎么说的？
我以前养过什么狗？
毕业以后我在哪里工作？
上学期我选了哪些课？
我年轻的时候想当什么？
生日那天谁来了？
高考前后我瘦了多少？
我在北京住的那几年认识了谁？
What was I working on before the baby came?
Which shows did we binge in quarantine?
Where did I keep my bike in those days?
What did Tom tell me the time we got stuck in the lift?
What was my routine before kids?
Who did I hang out with in high school?
What did I eat for breakfast as a teenager?
Which phone did I have when the iPhone came out?
What did I write in my diary during my exchange year?
How was my mood through the divorce?
What did we agree on right after the kickoff?
Which plants died in the heat wave?
Where did we celebrate when Germany won the World Cup?
What were my goals at the start of the project?
What did I say about Lisa on our first date?
What did Grandma cook at Passover?
How did I feel on my wedding day?
What was I listening to around my thirtieth birthday?
Which gym did I go to pre-covid?
What did I learn in my first weeks at the company?
我刚工作那会儿住哪里？
我怀孕的时候吃了什么？
爸爸住院那几天谁来过？
我们刚认识的时候聊了什么？
我辞职之前的老板是谁？
封控那阵子我每天做什么？
刚到上海时我租了哪间房？
小学时我最好的朋友是谁？
What was I stressed about while the kitchen was being redone?
Which tune did my dad hum when I couldn't sleep?
What did I tell you right after Oskar's christening?
What did the landlord promise before we signed?
Which medication was I on following the transplant?
What did Nina think of me back when we worked together?
Where did I buy bread as a student?
What was the weather like on the day of our move?
What were we arguing about that weekend in Prague?
Who helped me once I broke my leg?
What did we do the night Obama won?
What was my favourite toy in preschool?
Which podcast did I follow during parental leave?
What was I paid at my first job?
How did I spend the long winter evenings then?
What did you recommend the previous time?
What was I eating mid-pregnancy?
In the weeks leading up to the launch, what slipped?
From which shop did I order ever since the pandemic?
What did the vet say shortly before Rex died?
我住院期间谁照顾猫？
上次旅行之前我买了什么？
孩子出生那年我们住哪？
我失业那段时间靠什么生活？
外婆去世前说了什么？
刚来公司的时候谁带我？
""".splitlines()

NO_TIME = """\
When did I move to Berlin?
When was the last time I saw the dentist?
How long does the flight to Rome take?
May I have a second opinion?
Which version, 5.3.0 or 5.4.1?
How many days are there in a year?
Who wrote Monday Mornings?
Who is employee of the month?
What is a 90 day trial?
Do I like Friday Night Lights?
Tell me when I moved to Hamburg.
Do you know when Anna graduated?
What do I do when I am stressed?
What should I cook when guests come?
Who looks after the kids?
Who was the street named after?
Is my sister in college?
What does this term mean?
Which medicine three times a day, before meals?
Is one week enough for Japan?
What time is it?
Do I get there in time?
Why do I cry all the time?
Please answer as soon as possible.
Since you asked, what is my blood type?
What is between Anna and me?
What did Anna say about the sun?
What is the plot of 1984?
How old is my brother?
When is my anniversary?
What is my wedding dress made of?
Who performed at the concert?
Which conference did I like best?
How many days passed between when I called and when they answered?
What is the recipe for the birthday cake?
What is my Easter bread recipe?
Which war novels do I own?
What is our pandemic plan?
Does the fire insurance cover water?
Do you remember my address?
Should I take the early or the late train?
Which of the two is the following step?
What is the moving company called?
我什么时候搬家的？
天气怎么样？
我有时候会头疼，吃什么药？
附近有没有日本菜？
月饼怎么做？
我的电话号码是多少？
三号线怎么走？
Which wine goes with fish?
What do I usually eat before a run?
What is the timeline of the project?
Which day of the week is the gym closed?
How long was the meeting?
What did I say about the budget?
When does the semester start?
What time does the store open?
Who fixed the roof after all?
What is my old address?
Which holiday destinations do I like?
Who won the election bet?
What is the best time to call Tom?
How do I behave during interviews?
会议多长时间？
我平时喜欢做什么？
我家的狗几岁了？
Which bus goes to the harbour?
How much sugar goes into the cake?
Where can I buy good bread?
What was the title of that book about bees?
When will the parcel arrive?
What is a good present for a colleague?
Is the summer house insured?
When Akib went to the shop, what did he buy?
那个年龄的孩子喜欢什么？
我的银行卡号是多少？
""".splitlines()


def test_the_gate_is_measured() -> None:
    missed = [question for question in UNREAD if not find_time_words(question)]
    mistaken = [question for question in NO_TIME if find_time_words(question)]
    found = len(UNREAD) - len(missed)

    assert len(UNREAD) >= 40
    assert len(NO_TIME) >= 40
    assert found / len(UNREAD) >= 0.92, missed
    assert found / (found + len(mistaken)) >= 0.95, mistaken


@table(
    ("question", "words"),
    [
        ("Where did we go the other spring?", "the other spring"),
        ("What did I cook during the lockdown?", "during the lockdown"),
        ("Tell me when I moved, not what I said back then.", "back then"),
        ("疫情期间我在家做了什么？", "疫情期间"),
    ],
)
def test_it_says_where_the_words_stand(question: str, words: str) -> None:
    start, end = find_time_words(question) or (0, 0)

    assert question[start:end] == words


@table("question", ["What will we do at Easter?", "What'll we eat?", "下周吃什么？"])
def test_a_question_may_look_ahead(question: str) -> None:
    assert asks_ahead(question)


@table("question", ["What did we do at Easter?", "Who is my dentist?", "婚礼之后呢？"])
def test_most_look_back(question: str) -> None:
    assert not asks_ahead(question)


def test_a_pasted_text_is_read_in_reasonable_time() -> None:
    for words in ("when ", "the day ", "before the a ", "在", "a"):

        def read(size: int, words: str = words) -> None:
            find_time_words((words * size)[:size])

        assert growth(read, 1_250) < 3 * TIMES, words
