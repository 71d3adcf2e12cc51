"""Which words of a conversation memories are looked up by."""

from growth import TIMES, growth
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from recall_retrievers.agents.agent_memory import extract_search_terms

CASES = {
    "the last ones first": ("Anna bakes bread. Tom repairs bikes.", [
        "bikes", "repairs", "tom", "bread", "bakes", "anna"]),
    "a term said again has its last place": ("bread and bikes and bread", ["bread", "bikes"]),
    "stop words and short ones are out": ("What is it that we do at home?", ["home"]),
    "German": ("Was hat meine Ärztin über Brötchen gesagt?", ["gesagt", "brötchen", "ärztin"]),
    "Spanish": ("¿Qué dijo Ana sobre el presupuesto?", ["presupuesto", "ana", "dijo"]),
    "French": ("Où est-ce que j'ai garé la voiture ?", ["voiture", "garé"]),
    "Chinese, in pairs": ("我姐姐喜欢绿茶", ["绿茶", "欢绿", "喜欢", "姐喜", "姐姐"]),
    "Russian": ("Где мой паспорт?", ["паспорт", "мой", "где"]),
    "languages with signs": ("I learned C++ today", ["today", "c++", "learned"]),
    "numbers are no terms": ("2026 was 100 good", ["good"]),
    "nothing": ("", []),
    "none at all": (None, []),
    "messages": (
        [{"role": "user", "content": "green tea"}, {"role": "assistant", "content": "Jasmine?"}],
        ["jasmine", "tea", "green"],
    ),
}  # fmt: skip


@table("case", CASES)
def test_terms(case: str) -> None:
    conversation, terms = CASES[case]

    assert extract_search_terms(conversation) == terms


def test_the_system_prompt_comes_after_the_conversation() -> None:
    assert extract_search_terms("green tea", "You are a tea sommelier.") == [
        "tea", "green", "sommelier"
    ]  # fmt: skip


@given(st.text(max_size=300), st.text(max_size=100))
def test_at_most_twenty_and_each_once(conversation: str, prompt: str) -> None:
    terms = extract_search_terms(conversation, prompt)

    assert len(terms) == len(set(terms)) <= 20
    assert all(len(term) >= 2 for term in terms)


def test_a_long_conversation_is_read_in_reasonable_time() -> None:
    for word in ("a ", "tea ", "绿茶", "# ", "x" * 50):

        def read(size: int, word: str = word) -> None:
            extract_search_terms(word * size)

        assert growth(read, 1_000) < 3 * TIMES, word
