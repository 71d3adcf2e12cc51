"""From where on the words of a sentence are a clause of their own."""

from tables import table

from recall_retrievers.llm.checking.citation_check import adds_a_clause
from recall_retrievers.text.words import words

KNOWN = frozenset(words("Ann bakes fresh bread for her sister on Sunday. 安喜欢绿茶和面包"))


@table(
    ("sentence", "adds"),
    [
        ("Ann bakes cheap rye bread.", False),  # two new words in a row
        ("Ann bakes cheap dark rye bread.", True),  # three
        ("Ann bakes bread, slowly.", False),  # one new word between commas
        ("Ann bakes bread, driving taxis.", True),  # two
        ("Ann bakes bread because guests paid.", True),
        ("Ann bakes bread for guests.", False),
        ("Ann bakes bread, driving her sister.", False),  # one of them is known
        ("安喜欢红烧牛肉饭和面包。", False),  # five new characters in a row
        ("安喜欢红烧牛肉饭店和面包。", True),  # six
        ("安喜欢绿茶，去北京。", False),  # three new characters between commas
        ("安喜欢绿茶，去北京市。", True),  # four
        ("安喜欢绿茶，明喜去北京。", True),  # one of five is known
        ("安喜欢绿茶，明喜去绿城。", False),  # two of six
    ],
)
def test_so_much_is_a_clause(sentence: str, adds: bool) -> None:
    assert adds_a_clause(sentence, KNOWN) is adds
