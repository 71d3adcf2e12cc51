"""Counting tokens without a network, and prompts that keep to their budget."""

import os
from pathlib import Path

import llama_index.core
import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st
from tables import table

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.llm.windows import fit_budget, windows
from recall_retrievers.text import tokens
from recall_retrievers.text.tokens import CUT_MARK, cut, estimate_tokens, token_counter

SHIPPED = Path(llama_index.core.__file__).parent / "_static" / "tiktoken_cache"
O200K = "fb374d419588a4632f3f557e76b4b70aebbca790"
CL100K = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"

TEXTS = st.text(min_size=1).filter(str.strip)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tiktoken's cache, still empty, on a machine without LlamaIndex."""
    monkeypatch.setattr(tokens, "find_spec", lambda _: None)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    token_counter.cache_clear()
    yield tmp_path
    token_counter.cache_clear()


@pytest.fixture
def filled(cache: Path) -> Path:
    """The same with the file of the newest encoding."""
    (cache / O200K).write_bytes((SHIPPED / O200K).read_bytes())
    return cache


def test_without_a_file_tokens_are_estimated(cache: Path) -> None:
    assert token_counter() is estimate_tokens
    assert list(cache.iterdir()) == []


def test_the_files_that_llama_index_brings_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    token_counter.cache_clear()

    assert token_counter()("The dentist moved to Elm Street.") == 7
    assert list(tmp_path.iterdir()) == []
    assert os.environ["TIKTOKEN_CACHE_DIR"] == str(tmp_path)


@pytest.mark.parametrize(("name", "file"), [("o200k_base", O200K), ("cl100k_base", CL100K)])
def test_with_the_file_of_an_encoding_it_counts_as_tiktoken_does(
    cache: Path, name: str, file: str
) -> None:
    (cache / file).write_bytes((SHIPPED / file).read_bytes())
    theirs = tiktoken.get_encoding(name)
    ours = token_counter()

    @given(st.text())
    @example("I'VE seen it's 1234567 's\n\n  x  \r\n/ <|endoftext|> 昨天 é😀")
    def same(text: str) -> None:
        whole = text.encode("utf-8", "replace").decode()
        assert ours(whole) == len(theirs.encode(whole, disallowed_special=()))

    same()


@table("run", [" ", "a", "\n", "=", "é"])
def test_a_model_gone_astray_is_counted_too(filled: Path, run: str) -> None:
    """Tiktoken itself ends in a panic of its engine, which is no Exception."""
    assert 0 < token_counter()(run * 1_000_000) <= 1_000_000


def test_a_damaged_file_is_passed_over_and_left_alone(cache: Path) -> None:
    """Tiktoken itself would delete it and download another."""
    (cache / O200K).write_bytes(b"half a download")

    assert token_counter() is estimate_tokens
    assert (cache / O200K).read_bytes() == b"half a download"


def test_a_cache_that_is_switched_off_is_not_looked_into(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(filled)  # an empty name is not this folder either
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")

    assert token_counter() is estimate_tokens


@table(
    "text",
    [
        "Yesterday I saw the dentist on Elm Street; she filled two teeth, for 120 euros.",
        "def upload(path: str) -> None:\n    with open(path, 'rb') as file:\n        send(file)",
        "我昨天去看了牙医，她给我补了两颗牙，花了一百二十欧元。",
        "The quick brown fox jumps over the lazy dog. " * 20,
    ],
)
def test_an_estimate_is_near_the_truth(filled: Path, text: str) -> None:
    truth = token_counter()(text)

    assert 0.8 * truth <= estimate_tokens(text) <= 1.6 * truth


@given(TEXTS, st.integers(4, 40), st.sampled_from([len, estimate_tokens]))
def test_what_is_cut_fits_begins_the_same_and_says_so(text, budget, count) -> None:
    shown = cut(text, budget, count)

    assert count(shown) <= budget
    if shown != text:
        assert count(text) > budget
        assert shown.endswith(CUT_MARK)
        assert text.startswith(shown.removesuffix(CUT_MARK))


@given(st.lists(TEXTS, min_size=1, max_size=12), st.integers(60, 400), st.booleans())
@example(["0" * 115], 60, True)  # by a token too long, where its fence is measured empty
def test_a_window_has_the_first_memories_that_fit(texts, budget, estimated):
    count = estimate_tokens if estimated else len
    memories = [Candidate(content=text, id=f"{n}") for n, text in enumerate(texts)]

    window, turned = windows(memories, budget=budget, count=count, orders=2)

    assert window.memories[0] == memories[0]
    assert [each for each in memories if each in window.memories] == [*window.memories]
    assert window.text.count("<memory number=") == len(window.memories)
    assert count(window.text) <= budget
    assert sorted(each.content for each in turned.memories) == sorted(
        each.content for each in window.memories
    )


def test_a_memory_longer_than_a_window_is_cut_with_a_mark_and_stays_whole() -> None:
    long = Candidate(content="tooth " * 3000)

    [window] = windows([long], budget=100, count=estimate_tokens)

    assert window.text.endswith("tooth […]\n</memory>")
    assert estimate_tokens(window.text) <= 100
    assert window.memories == (long,)


@given(st.lists(TEXTS, max_size=8), st.integers(8, 100))
def test_what_fits_is_kept_and_the_rest_is_named(texts, budget) -> None:
    memories = [Candidate(content=text, id=str(n)) for n, text in enumerate(texts)]

    kept = fit_budget(memories, budget, len)

    assert bool(kept) is bool(memories)
    assert sum(len(each.content) for each in kept) <= budget
    named = str(kept[0].trace.get("left_out", "")) if kept else ""
    assert [each.id for each in kept] + [n for n in named.split(", ") if n] == sorted(
        [each.id for each in memories], key=lambda n: (n in named.split(", "), int(n))
    )


def test_a_condition_longer_than_the_budget_is_cut_too() -> None:
    memory = Candidate(content="word " * 500, when_to_use="when " * 500)

    [kept] = fit_budget([memory], 100, estimate_tokens)

    assert estimate_tokens(f"When to use: {kept.when_to_use}\n{kept.content}") <= 100
    assert kept.content.startswith("word word")
    assert kept.when_to_use.startswith("when when")
