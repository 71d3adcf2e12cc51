from tables import table
from timeline.cases import NOW, calls, read, short
from timeline.chinese_cases import ONE_RANGE, RECURRING, SEVERAL, TWO_READINGS, WORDS

from recall_retrievers.timeline import extract_time


@table(("text", "start", "end"), ONE_RANGE)
def test_one_range(text: str, start: str, end: str) -> None:
    assert read(text) == [(start, end)]


@table(("text", "starts"), SEVERAL)
def test_each_time_of_several_is_found(text: str, starts: list[str]) -> None:
    assert [start for start, _ in read(text)] == starts


@table(("text", "first", "other"), TWO_READINGS)
def test_a_common_second_reading_is_kept(
    text: str, first: tuple[str, str], other: tuple[str, str]
) -> None:
    assert read(text) == [first]
    assert other in other_readings(text)
    assert first not in other_readings(text)


def other_readings(text: str) -> list[tuple[str, str]]:
    (found,) = extract_time(text, NOW)
    return [(short(one.start), short(one.end)) for one in found.alternatives]


@table(("text", "words"), WORDS)
def test_the_words_that_named_the_time_are_told(text: str, words: str) -> None:
    (found,) = extract_time(text, NOW)
    assert found.text == words


def test_a_mixed_text_is_read_as_both_languages() -> None:
    assert read("昨天 and last week") == [
        ("2024-06-11", "2024-06-12"),
        ("2024-06-03", "2024-06-10"),
    ]


@table(("text", "words"), RECURRING)
def test_what_comes_back(text: str, words: str) -> None:
    (found,) = extract_time(text, NOW)
    assert found.describe() == words


def test_what_comes_back_by_the_moon_is_no_single_time() -> None:
    assert read("每年春节都做什么") == []


VAGUE = ["最近", "近来", "刚才", "不久前", "前阵子", "前段时间", "近年来", "很久以前"]


@table("word", VAGUE)
def test_vague_words_are_soft(word: str) -> None:
    assert [one.soft for one in extract_time(word, NOW)] == [True]


@table(
    ("simplified", "traditional"),
    [
        ("这个礼拜", "這個禮拜"),
        ("三个钟头前", "三個鐘頭前"),
        ("从去年国庆节到现在", "從去年國慶節到現在"),
        ("农历腊月二十三", "農曆臘月二十三"),
        ("前阵子", "前陣子"),
        ("上个周末和两周前", "上個週末和兩週前"),
        ("昨天凌晨两点", "昨天淩晨兩點"),
        ("5月7号", "５月７號"),
    ],
)
def test_other_characters_read_alike(simplified: str, traditional: str) -> None:
    assert read(traditional) == read(simplified) != []


PROSE = (
    "小明是一个喜欢读书的孩子，每天放学以后他都会在图书馆里待上两个小时，直到天黑才回家。"
    "老师说他的作文写得很好，内容丰富。有一次他走在路上，看见前面有一只小猫，就停下来和它玩了一会儿。"
)


@table("place", [0, 30, 60, 120])
def test_one_time_in_a_long_text_is_found(place: int) -> None:
    assert read(PROSE * place + "我上周二去了医院。" + PROSE * (120 - place)) == [
        ("2024-06-04", "2024-06-05")
    ]


PIECES = ["三月", "上周", "一", "年", "从到", "月初", "两天前", "天"]


@table("piece", PIECES)
def test_of_a_very_repetitive_text_a_bounded_part_is_read(piece: str) -> None:
    short_text, long_text = piece * 1000, piece * 5000
    assert calls(extract_time, long_text, NOW) <= 1.2 * calls(extract_time, short_text, NOW) + 50
