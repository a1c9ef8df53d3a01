"""Both search engines on the product catalogue: the relations, odd queries, processes, reports, stores, assertions."""

from __future__ import annotations

import gc
import pickle
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.systems.search_engines import PRICE_UP
from datamorphic.testing.conformance import check_executor
from support.cases import LONG, rotate

pytestmark = pytest.mark.integration
GROUPS = 50
ENGINES = {"sqlite": dm.systems.SqliteSearch, "tantivy": dm.systems.TantivySearch}


def make_engine(name, documents, **options):
    if name == "tantivy":
        pytest.importorskip("tantivy", reason="pip install 'datamorphic[search]'")
    return ENGINES[name](documents, **options)


@pytest.fixture(scope="module", params=rotate(["en", "zh"], list(ENGINES)), ids="-".join)
def pair(request):
    return request.param


@pytest.fixture(scope="module")
def language(pair):
    return pair[0]


@pytest.fixture(scope="module")
def documents(language):
    return dm.data.make_products(1500, language)


@pytest.fixture(scope="module")
def engine(pair, documents, language):
    with make_engine(pair[1], documents, language=language) as engine:
        yield engine


@pytest.fixture(scope="module")
def report(engine, language):
    queries = dm.data.make_product_queries(GROUPS, language)
    return dm.check(engine, queries, dm.relations.search_relations(language, rankings=True))


@pytest.mark.slow
def test_the_relations_on_fifty_groups_each(report):
    table = report.table.set_index("relation")
    assert (table["holds"] + table["violated"] == GROUPS).all()
    assert table.loc[["search.MR1", "search.HMR1"], "violated"].tolist() == [0, 0]
    assert table.loc["search.HMR2", "violated"] > 0
    assert table.loc["search.HMR3", "violated"] > GROUPS / 2
    assert report.passed  # hypotheses fail no check


@pytest.mark.slow
def test_violations_are_true(engine, report):
    """What the report says of a violation is what the engine answers."""
    groups = report.examples["search.HMR2"].groups
    source, follow_up = (batch.frame.iloc[0].to_dict() for batch in (groups.source, groups.follow_up))
    answers = engine.search(**source), engine.search(**follow_up)
    assert answers == tuple(
        dict(outputs.values[0], items=list(outputs.values[0]["items"])) for outputs in (groups.before, groups.after)
    )
    assert answers[0]["hits"] != answers[1]["hits"]


def test_violations_by_decade(report):
    frame = report.decades.set_index("relation")
    ranges = list(frame.columns[2:])
    assert ranges[0] == "[1, 10)"
    assert (frame[ranges].sum(axis=1) == frame["violated"]).all()
    assert "the difference of hits between a case and its follow-up" in " ".join(report.describe().split())
    assert "Violations by size" in report.to_html()
    relations = {entry["relation"]: entry for entry in report.document()["relations"]}
    assert sum(relations["search.HMR3"]["violated_by_size"].values()) == relations["search.HMR3"]["violated"]
    assert "violated_by_size" not in relations["search.HMR2 ranking"]


def test_the_contract_of_executors(engine, language):
    cases = dm.data.make_product_queries(12, language)
    check_executor(engine, dm.Space.from_frame(cases).points(cases))


def test_both_engines_find_the_same_documents(documents, language):
    queries = dm.data.make_product_queries(40, language)
    answers = []
    for name in ENGINES:
        with make_engine(name, documents, language=language, page_size=1000) as engine:
            answers.append(engine.execute(queries).values.tolist())
    for first, second in zip(*answers, strict=True):
        assert first["hits"] == second["hits"] == len(first["items"])
        assert set(first["items"]) == set(second["items"])


ODD_QUERIES = {
    "empty": "",
    "spaces": " \t\n",
    "punctuation": "\"'*()[]{}^:;!?-+~\\/",
    "operators": 'title: "wool" AND OR NOT NEAR(men women, 2) * ^ {a} -b',
    "a quote": '"men',
    "an injection": "x'); DROP TABLE texts; --",
    "emoji": "👟🧥",
    "right to left": "سترة رجالية סוודר",
    "a surrogate": "\ud800 men",
    "a null character": "me\x00n",
    "one long word": "x" * 1_000_000,
    "many words": "men sweater " * 80_000,
    "combining marks": "men\u0301 a\u0300",
}


@pytest.mark.parametrize("name", ODD_QUERIES)
def test_odd_queries_are_answered(engine, name):
    answer = engine.search(ODD_QUERIES[name], sort=PRICE_UP)
    assert isinstance(answer["hits"], int)
    assert len(answer["items"]) == min(answer["hits"], engine.page_size)
    if name in ("empty", "spaces", "punctuation", "emoji", "one long word", "right to left"):
        assert answer == {"hits": 0, "items": []}


@pytest.mark.parametrize("name", list(ENGINES))
@pytest.mark.parametrize(
    ("query", "words"),
    [('"wool sweaters"', "wool sweaters"), ("wool*", "wool"), ("(wool)", "wool"), ("title:wool", "title wool")],
)
def test_the_syntax_of_the_engine_means_nothing(name, query, words):
    documents = pd.DataFrame({"title": ["sweaters of wool", "woolen sweater", "title", "wool title", "wools"]})
    with make_engine(name, documents) as engine:
        assert engine.search(query) == engine.search(words)
        assert engine.search("wool AND woolen") == engine.search("wool and woolen") == {"hits": 0, "items": []}


@pytest.mark.parametrize("name", list(ENGINES))
def test_chinese_word_order_matters_for_bigrams_only(name):
    documents, queries = dm.data.make_products(600, "zh"), dm.data.make_product_queries(GROUPS, "zh")
    relation = dm.relations.search_relations("zh")["search.HMR2"]
    with make_engine(name, documents, language="zh", tokens="characters") as engine:
        dm.assert_holds(engine, queries, relation)
    with make_engine(name, documents, language="zh", tokens="bigrams") as engine:
        assert dm.check(engine, queries, relation, shrink=False).table["violated"].item() > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", list(ENGINES))
def test_rounded_counts_of_large_answers(name):
    cases = dm.data.make_product_queries(10)
    with make_engine(name, dm.data.make_products(1500), match="any", rounded=True) as engine:
        answers = engine.execute(cases).values.tolist()
        report = dm.check(engine, cases, dm.relations.search_relations(), shrink=False)
    assert {answer["hits"] for answer in answers if answer["hits"] >= 1000} == {1000}
    assert report.table.set_index("relation")["violated"][["search.MR1", "search.HMR1"]].tolist() == [0, 0]


@pytest.mark.slow
def test_assertions_stores_and_pages(engine, language, tmp_path):
    cases, relations = dm.data.make_product_queries(10, language), dm.relations.search_relations(language)
    dm.assert_holds(engine, cases, [relations["search.MR1"], relations["search.HMR1"]])
    with pytest.raises(AssertionError, match=r"violates 'search.HMR3'"):
        dm.assert_holds(engine, cases, relations["search.HMR3"], store=tmp_path / "failures.sqlite")
    store = tmp_path / "runs.sqlite"
    report = dm.check(engine, cases, relations, store=store)
    with dm.Store.open(store) as opened:
        (run,) = opened.runs()
        assert run.summary["headline"] == report.headline
    page = report.to_html(tmp_path / "report.html")
    assert "search.HMR2" in page
    assert "s Fashion" in page or "女装" in page  # a department of the smallest violation


def test_threads_and_pickled_twins_give_the_same_answers(engine, language):
    cases = dm.data.make_product_queries(20, language)
    expected = engine.execute(cases).values.tolist()
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: engine.execute(cases).values.tolist(), range(4)))
    assert answers == [expected] * 4
    with pickle.loads(pickle.dumps(engine)) as twin:
        assert twin.execute(cases).values.tolist() == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", list(ENGINES) if LONG else ["sqlite"])
def test_workers_build_their_own_index(name):
    cases, relations = dm.data.make_product_queries(10), dm.relations.search_relations()
    with make_engine(name, dm.data.make_products(200)) as engine:
        serial, parallel = (dm.check(engine, cases, relations, engine=workers) for workers in (None, "processes:1"))
    assert serial.table.equals(parallel.table)


def test_nothing_is_left_on_the_disk(monkeypatch, tmp_path, documents, language, engine):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    twin = type(engine)(documents, language=language)
    twin.search("men")
    twin.close()
    del twin
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_the_missing_package_is_named(monkeypatch, documents):
    monkeypatch.setitem(__import__("sys").modules, "tantivy", None)
    with pytest.raises(dm.errors.MissingExtra, match=r"pip install 'datamorphic\[search\]'"):
        dm.systems.TantivySearch(documents)
