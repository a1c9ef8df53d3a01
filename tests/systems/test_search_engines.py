"""What search engines share: words, rounding, documents, requests; on SQLite, which every Python has."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.systems.search_engines import (
    ALL_DEPARTMENTS,
    MAX_QUERY_WORDS,
    PRICE_DOWN,
    PRICE_UP,
    round_hits,
    split_words,
)
from support.cases import in_one_test

DOCUMENTS = pd.DataFrame(
    {
        "title": ["Men's wool sweater", "Wool sweaters for men", "Sweater", "Women's café sweaters"],
        "description": ["nice", "", "for everyone", None],
        "department": ["Men", "Men", "Women", "Women"],
        "price": [30, 10, 20, 25.5],
        "id": ["a", "b", "c", "d"],
    }
)


@pytest.fixture(scope="module")
def engine():
    with dm.systems.SqliteSearch(DOCUMENTS) as engine:
        yield engine


def test_rounding_never_raises_a_number_and_keeps_the_order():
    numbers = [0, 1, 999, 1000, 1001, 1999, 2000, 9999, 10_000, 19_999, 123_456, 999_999, 1_000_000]
    rounded = [round_hits(number) for number in numbers]
    assert rounded == [0, 1, 999, 1000, 1000, 1000, 2000, 9000, 10_000, 10_000, 100_000, 900_000, 1_000_000]
    assert rounded == sorted(rounded)


@in_one_test(
    ("text", "words"),
    [
        ("", []),
        ("!?*\"'()[]{}:^-", []),
        ("under_score", ["under", "score"]),
        ("男士毛衣", ["男士", "士毛", "毛衣"]),
        ("男", ["男"]),
        ("iPhone手机壳Pro", ["iPhone", "手机", "机壳", "Pro"]),
        ("羊毛 毛衣", ["羊毛", "毛衣"]),
    ],
)
def test_words_of_chinese_texts(text, words):
    assert split_words(text, "zh") == words


def test_filters_and_sorting_rules(engine):
    assert engine.search("sweaters", "Women") == {"hits": 2, "items": ["c", "d"]}
    assert engine.search("sweaters", sort=PRICE_UP)["items"] == ["b", "c", "d", "a"]
    assert engine.search("sweaters", sort=PRICE_DOWN)["items"] == ["a", "d", "c", "b"]
    assert engine.departments == (ALL_DEPARTMENTS, "Men", "Women")


def test_a_case_needs_only_a_query(engine):
    answers = engine.execute(pd.DataFrame({"query": ["sweaters", "nothing"]})).values.tolist()
    assert [answer["hits"] for answer in answers] == [4, 0]
    with pytest.raises(dm.errors.ModelError, match="need a column 'query'"):
        engine.execute(pd.DataFrame({"text": ["sweaters"]}))


def test_all_words_or_any_word():
    with dm.systems.SqliteSearch(DOCUMENTS, match="any") as engine:
        assert engine.search("wool cafés")["hits"] == 3
        assert engine.search("wool hats")["hits"] == 2
    with dm.systems.SqliteSearch(DOCUMENTS) as engine:
        assert engine.search("wool cafés")["hits"] == 0


def test_stop_words_make_both_wordings_the_same():
    with dm.systems.SqliteSearch(DOCUMENTS, stop_words=True) as engine:
        assert engine.search("men's sweaters") == engine.search("sweaters for men")
        assert engine.search("for the") == {"hits": 0, "items": []}


def test_pages_and_rounded_counts():
    many = pd.DataFrame({"title": ["hat"] * 2345})
    with dm.systems.SqliteSearch(many, rounded=True, page_size=3) as engine:
        assert engine.search("hats") == {"hits": 2000, "items": [0, 1, 2]}


def test_words_beyond_the_limit_are_ignored(engine):
    words = " ".join(["sweaters", *(f"wool{'' if i % 2 else ' '}" for i in range(500))])
    assert engine.search(words)["hits"] == 2  # repeated words count once
    many = " ".join(["sweater"] + ["sweaters" + "é" * i for i in range(1, 100)])
    assert len(engine._read_request(many, ALL_DEPARTMENTS, "Featured").words) == MAX_QUERY_WORDS


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ({"query": None}, "must be a text. Got None"),
        ({"query": 3}, "must be a text. Got 3"),
        ({"query": "x", "department": "Mn"}, "no department 'Mn'. Did you mean 'Men'"),
        ({"query": "x", "sort": "cheapest"}, "no sorting rule 'cheapest'"),
    ],
)
def test_wrong_cases_are_rejected_in_one_line(engine, case, message):
    with pytest.raises(dm.errors.DatamorphicError, match=message) as error:
        engine.search(**case)
    assert "\n" not in str(error.value)


def test_a_wrong_case_spoils_no_other(engine):
    outputs = dm.wrap(engine, guarded=True).execute(pd.DataFrame({"query": ["sweaters", 3, "wool"]}))
    assert outputs.ok.tolist() == [True, False, True]
    assert "must be a text" in outputs.messages[1]


@in_one_test(
    ("documents", "message"),
    [
        (pd.DataFrame({"name": ["x"]}), "need a column 'title'"),
        (pd.DataFrame({"title": []}), "no rows"),
        (pd.DataFrame({"title": ["x", 3]}), "must have texts. Got 3"),
        (pd.DataFrame({"title": ["x", "y"], "id": [1, 1]}), "repeated values"),
        (pd.DataFrame({"title": ["x"], "price": [np.nan]}), "finite numbers"),
        (pd.DataFrame({"title": ["x"], "price": ["3"]}), "finite numbers"),
        (pd.DataFrame({"title": ["x"], "department": [ALL_DEPARTMENTS]}), "no filter is set"),
        (["x"], "Expected a DataFrame"),
    ],
)
def test_wrong_documents_are_rejected_in_one_line(documents, message):
    with pytest.raises(dm.errors.DataError, match=message) as error:
        dm.systems.SqliteSearch(documents)
    assert "\n" not in str(error.value)


@in_one_test(
    "options",
    [{"language": "de"}, {"match": "some"}, {"tokens": "words"}, {"page_size": 0}, {"rounded": 1}, {"stop_words": "x"}],
)
def test_wrong_options_are_rejected(options):
    with pytest.raises(dm.errors.ArgumentError, match=next(iter(options))):
        dm.systems.SqliteSearch(DOCUMENTS, **options)


def test_sorting_by_price_needs_prices():
    with (
        dm.systems.SqliteSearch(DOCUMENTS[["title"]]) as engine,
        pytest.raises(dm.errors.ModelError, match="no column 'price'"),
    ):
        engine.search("wool", sort=PRICE_UP)


def test_copies_share_the_index_and_pickled_twins_build_their_own(engine):
    index = engine.start()
    assert copy.copy(engine).start() is index
    twin = pickle.loads(pickle.dumps(engine))
    assert twin.search("wool sweaters") == engine.search("wool sweaters")
    assert twin.start() is not index


def test_a_closed_engine_starts_again():
    engine = dm.systems.SqliteSearch(DOCUMENTS)
    first = engine.start()
    engine.close()
    engine.close()
    assert engine.search("wool")["hits"] == 2
    assert engine.start() is not first
    engine.close()


def test_threads_get_the_answers_of_one_thread(engine):
    queries = ["men's sweaters", "wool", "sweaters", "café"] * 25
    expected, answers = [engine.search(query) for query in queries], {}

    def run(name):
        answers[name] = [engine.search(query) for query in queries]

    threads = [threading.Thread(target=run, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answers[name] for name in range(4)] == [expected] * 4
