"""What the check of citations lets pass and what it refuses, a case a line."""

from tables import table

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.query import Claim
from recall_retrievers.llm.checking.citation_check import Verified, verify
from recall_retrievers.timeline import parse_time

LONG, MILLIONS = "9" * 5_000, "million " * 2_000

PASSES = {
    "words for figures": ("Two men waited.", "2 men waited at the door."),
    "figures for words": ("21 men waited.", "Twenty-one men waited."),
    "zeros behind the point": ("It cost 20.00 euros.", "It cost 20 euros."),
    "a month in figures": ("She came in March 2023.", "She came in 03/2023."),
    "an ordinal": ("It is on the 2nd floor.", "It is on the second floor."),
    "the cardinal of an ordinal": ("It has 2 floors.", "It is on the second floor of two."),
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
    "a sum with a hyphen": ("It cost $10 million.", "It cost some $ 10 - million in all."),
    "an answer with no": ("No, Ann likes tea.", "Ann likes tea."),
    "not until": ("Ann moved in May.", "Ann did not move to Elm Street until May."),
    "an ending of a name": ("Ann loves Italian food.", "I love the food of Italy. Ann"),
}
REFUSED = {
    "other digits than thousands": (f"The key is {LONG[1:]}.", f"My key is {LONG}."),
    "figures the other way round": ("It cost 3.5 euros.", "It cost 5.3 euros."),
    "another number in words": ("Three men waited.", "Two men waited."),
    "another ordinal": ("It is on the third floor.", "It is on the second floor."),
    "another month": ("She came in April 2023.", "She came in 03/2023."),
    "another Chinese numeral": ("她养了三只猫。", "我养了两只猫。"),
    "another name": ("Bob likes green tea.", "Ann likes green tea."),
    "another Chinese title": ("她在家看了《活着》。", "我在家看了《围城》。"),
    "a denial": ("Ann does not like green tea.", "Ann likes green tea."),
    "a denial left out": ("Ann likes green tea.", "Ann does not like green tea."),
    "never": ("Ann never drank green tea.", "Ann drank green tea."),
    "a Chinese denial": ("她不喜欢喝茶。", "我喜欢喝茶。"),
    "a Chinese denial left out": ("她喜欢喝茶。", "我不喜欢喝茶。"),
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
    return verify([Claim(sentence, (1,))], [memory], 0.5)


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
