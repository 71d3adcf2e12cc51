"""What the check of citations lets pass and what it refuses, a case a line."""

from tables import table

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.query import Claim
from recall_retrievers.llm.checking.citation_check import (
    Sources,
    Verified,
    adds_a_clause,
    judge,
    shown_of,
    verify,
)
from recall_retrievers.text.words import words
from recall_retrievers.timeline import parse_time

LONG, MILLIONS = "9" * 5_000, "million " * 2_000

PASSES = {
    "words for figures": ("Two men waited.", "2 men waited at the door."),
    "figures for words": ("21 men waited.", "Twenty-one men waited."),
    "zeros behind the point": ("It cost 20.00 euros.", "It cost 20 euros."),
    "a month in figures": ("She came in March 2023.", "She came in 03/2023."),
    "an ordinal": ("It is on the 2nd floor.", "It is on the second floor."),
    "the cardinal of an ordinal": ("It has 2 floors.", "It is on the second floor of two."),
    "half an hour": ("Draw for 30 minutes.", "I draw for half an hour."),
    "weeks as days": ("A stay of 14 days.", "A stay of two weeks."),
    "a time of day": ("The train leaves at 17:00.", "The train leaves at 5 pm."),
    "thousands": ("It cost 3,000 euros.", "It cost 3k euros."),
    "the recorded day": ("Ann moved on 5 March.", "Ann moved today."),
    "Chinese numerals": ("她养了两只猫。", "我养了2只猫。"),
    "a Chinese length of time": ("鱼要蒸十五分钟。", "鱼蒸15分钟就好。"),
    "a denial in other words": ("Ann has no ideas.", "Ann: I lack ideas."),
    "a denied part beside another": ("Ann likes tea.", "Ann: I like tea, but not coffee."),
    "not only": ("Ann likes tea and coffee.", "Ann: I like not only tea, but also coffee."),
    "a Chinese denial": ("她不喜欢喝茶。", "我不喜欢喝茶。"),
    "no denial at all, in Chinese": ("她的茶很不错。", "我的茶很好。"),
    "more digits than Python counts": (f"The key is {LONG}.", f"My key is {LONG}."),
    "more millions than Python counts": (f"It cost {MILLIONS}.", f"It cost {MILLIONS}, I said."),
    "as many other words": ("Ann draws rather quick rough sketches.", "Ann: I draw."),
    "marks": ("Ann likes tea [1][2], or [3, 4].", "Ann likes tea."),
    "a sum with a hyphen": ("It cost $10 million.", "It cost some $ 10 - million in all."),
    "an answer with no": ("No, Ann likes tea.", "Ann likes tea."),
    "not until": ("Ann moved in May.", "Ann did not move to Elm Street until May."),
    "a length of a list": (
        "Two teas were named: Assam and Oolong.",
        "Ann named Assam and Oolong teas.",
    ),
    "a list with a title": ("Two books: Emma and Pride and Joy.", "Books: Emma. Pride and Joy."),
    "an ending of a name": ("Ann loves Italian food.", "I love the food of Italy. Ann"),
}
REFUSED = {
    "other digits than thousands": (f"The key is {LONG[1:]}.", f"My key is {LONG}."),
    "figures the other way round": ("It cost 3.5 euros.", "It cost 5.3 euros."),
    "a day for an hour": ("Meet on 3 May at 5.", "Meet on 5 May at 3."),
    "another number in words": ("Three men waited.", "Two men waited."),
    "another ordinal": ("It is on the third floor.", "It is on the second floor."),
    "another unit": ("A stay of two months.", "A stay of two weeks."),
    "morning for evening": ("The train leaves at 5 am.", "The train leaves at 5 pm."),
    "another month": ("She came in April 2023.", "She came in 03/2023."),
    "a month of two": ("She came in April 2023.", "She came on 04/03/2023."),
    "another Chinese numeral": ("她养了三只猫。", "我养了两只猫。"),
    "another name": ("Bob likes green tea.", "Ann likes green tea."),
    "another title": ('Ann read "The Plague" at home.', 'Ann read "The Stranger" at home.'),
    "another Chinese title": ("她在家看了《活着》。", "我在家看了《围城》。"),
    "another park": ("她去了翠湖公园散步。", "我去了绿禾公园散步。"),
    "a denial": ("Ann does not like green tea.", "Ann likes green tea."),
    "a denial left out": ("Ann likes green tea.", "Ann does not like green tea."),
    "never": ("Ann never drank green tea.", "Ann drank green tea."),
    "a Chinese denial": ("她不喜欢喝茶。", "我喜欢喝茶。"),
    "a Chinese denial left out": ("她喜欢喝茶。", "我不喜欢喝茶。"),
    "a clause that nobody said": (
        "Ann bought green tea at the market and spilled red wine over trousers.",
        "Ann bought green tea at the market.",
    ),
    "a Chinese clause that nobody said": ("她买了绿茶，因为医生严肃要求。", "我在市场买了绿茶。"),
    "another length of a list": (
        "Two teas: Assam, Oolong and Sencha.",
        "Assam, Oolong, Sencha teas.",
    ),
    "the name of the speaker alone": ("Ann bought a car.", "Ann: I drink green tea."),
    "a clause with the name of the speaker": (
        "Ann drinks green tea, and Ann won lottery money twice.",
        "Ann: I drink green tea.",
    ),
    "words far from each other": (
        "Ann plays quiet chess with Otto in Rome every long winter.",
        "Ann bakes. It rains. We sat in Rome. Nobody came. It snows. Otto sings. He drives.",
    ),
    "an address": ("Ann likes green tea: www.evil.example.", "Ann likes green tea."),
    "an e-mail": ("Ann likes tea, ann@evil.example.", "Ann likes tea, ann@good.example."),
    "an image": ("![tea](https://evil.example) Ann likes tea.", "Ann likes tea."),
    "an address, in another language": ("安喜欢茶 www.evil.example", "Ann likes green tea."),
    "a number, in another language": ("安买了3公斤茶。", "Ann bought two kilos of green tea."),
}


def checked(sentence: str, content: str) -> Verified:
    memory = Candidate(content=content, created_at=parse_time("2024-03-05"))
    return verify([Claim(sentence, (1,))], [memory], 0.4)


@table(("sentence", "memory"), PASSES.values(), ids=PASSES)
def test_passes(sentence: str, memory: str) -> None:
    assert checked(sentence, memory).citations


@table(("sentence", "memory"), REFUSED.values(), ids=REFUSED)
def test_is_refused(sentence: str, memory: str) -> None:
    assert checked(sentence, memory).removed == 1


MARKET = "Ann paid for tea at the market."
ADDING = {
    "the same": (["Ann drinks tea.", "Ann drinks tea daily."], "Ann drinks tea.", (1, 2)),
    "a part": ([MARKET, "Ann paid.", "Ann."], MARKET, (1,)),
    "parts": (["Ann paid for tea.", "A market."], MARKET, (1, 2)),
    "the number": ([MARKET, "Ann paid 80."], "Ann paid 80 for tea at the market.", (1, 2)),
}


@table(("contents", "sentence", "cited"), ADDING.values(), ids=ADDING)
def test_a_citation_that_adds_nothing_is_left_out(
    contents: list[str], sentence: str, cited: tuple[int, ...]
) -> None:
    claim = Claim(sentence, tuple(range(1, len(contents) + 1)))

    outcome = verify([claim], [Candidate(content=each) for each in contents], 0.4)

    assert [each.numbers for each in outcome.citations] == [cited]
    assert outcome.spare == len(contents) - len(cited)


def test_every_sentence_of_a_memory_rests_on_it() -> None:
    text = (
        "Emily: I don't have any plans yet, but I'll be going soon. The museum is called the "
        '"Things" Museum. First I cut 3 scallions, then I steamed it for about 10 minutes.'
    )
    for sentence in text.split(". "):
        assert checked(sentence, text).citations


KNOWN = frozenset(words("Ann bakes fresh bread for her sister on Sunday. 安喜欢绿茶和面包"))


@table(
    ("sentence", "adds"),
    [
        ("Ann bakes cheap dark rye bread.", False),  # new words, but no clause
        ("Ann bakes bread, driving taxis.", False),  # two new words between commas
        ("Ann bakes bread, driving old taxis.", True),  # three
        ("Ann bakes bread because two guests paid.", True),
        ("Ann bakes bread, driving her old sister.", False),  # one of them is known
        ("安喜欢绿茶，去北京开会。", False),  # five new characters between commas
        ("安喜欢绿茶，去北京开大会。", True),  # six
        ("安喜欢绿茶，明喜去北京开会。", True),  # one of seven is known
        ("安喜欢绿茶，明喜去绿城开会。", False),  # two
    ],
)
def test_so_much_is_a_clause(sentence: str, adds: bool) -> None:
    assert adds_a_clause(sentence, KNOWN) is adds


CHAT = """Ann: I love Thai food. Do you?
AI: I prefer pizza. You could try a curry. Green or red? Ann sings well."""
TOLD = {
    "one's own words": ("Ann loves Thai food.", False),
    "the words of the other": ("Ann prefers pizza.", True),
    "of the possessions of the other": ("Ann's preference is pizza.", True),
    "in a later part": ("Ann loves Thai food, but the AI loves Thai food, too.", True),
    "by the other": ("Ann was told to prefer pizza.", False),
    "to the first": ("Ann could try a curry.", False),
    "asked by the other": ("Ann eats green or red.", False),
    "with the name of the first": ("Ann sings well.", False),
    "heard by the first": ("Ann heard that she prefers pizza.", False),
    "of both": ("Ann knows that the AI prefers pizza.", False),
    "a word of the other among many": ("Ann rarely eats old, cheap, local pizza.", False),
    "of nobody who speaks": ("She prefers pizza.", False),
}


@table(("sentence", "refused"), TOLD.values(), ids=TOLD)
def test_what_one_says_is_not_told_of_another(sentence: str, refused: bool) -> None:
    broken = judge(Claim(sentence, (1,)), shown_of([Candidate(content=CHAT)]), 1, 0.4).broken

    assert ("speaker" in broken) is refused


def test_memories_of_two_authors_are_a_talk_and_a_list_is_none() -> None:
    two = [Candidate(content=text, author=text[-3:]) for text in ("I ski. Ann", "I fish. Bob")]
    recipe = Candidate(content="Bread by Ann\nFlour: two cups\nSalt: a spoon", author="Ann")

    assert "speaker" in judge(Claim("Ann fishes.", (1, 2)), shown_of(two), 2, 0.4).broken
    for one in (recipe, Candidate(content="Preference: window seats", author="Ann")):
        assert Sources((one,)).turns == [("Ann", one.content)]
