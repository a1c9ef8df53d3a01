"""Relations of search engines: the cases they make, the answers they accept, and how far rankings overlap."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.relations.catalogue.search import (
    NotMoreHits,
    SameHits,
    SimilarHits,
    SimilarRanking,
    compute_rank_overlap,
    search_relations,
)
from support.cases import in_one_test


def make_case(query, department="All Departments", sort="Featured"):
    return pd.DataFrame({"query": [query], "department": [department], "sort": [sort]})


def list_follow_ups(name, case, language="en"):
    relation = search_relations(language)[name]
    if not relation.applies(case).all():
        return None
    return [frame.iloc[0].tolist() for frame in relation.input.follow_ups(case)]


@in_one_test(
    ("language", "name", "case", "follow_ups"),
    [
        ("en", "search.MR1", ["hats"], [["hats", "All Departments", "Price: Low to High"]]),
        ("en", "search.MR1", ["hats", "x", "Price: High to Low"], None),
        (
            "en",
            "search.HMR1",
            ["hats"],
            [["hats", "Women's Fashion", "Featured"], ["hats", "Men's Fashion", "Featured"]],
        ),
        ("en", "search.HMR1", ["hats", "Men's Fashion"], None),
        ("en", "search.HMR2", ["men's hats"], [["hats for men", "All Departments", "Featured"]]),
        ("en", "search.HMR2", ["sun hats for women"], [["women's sun hats", "All Departments", "Featured"]]),
        ("en", "search.HMR2", ["hats"], None),
        ("en", "search.HMR3", ["women's hats"], [["hats", "Women's Fashion", "Featured"]]),
        ("en", "search.HMR3", ["hats for men"], [["hats", "Men's Fashion", "Featured"]]),
        ("en", "search.HMR3", ["menswear"], None),
        ("zh", "search.HMR2", ["男士毛衣"], [["毛衣男士", "All Departments", "Featured"]]),
        ("zh", "search.HMR2", ["羊毛毛衣女士"], [["女士羊毛毛衣", "All Departments", "Featured"]]),
        ("zh", "search.HMR2", ["男士"], None),
        ("zh", "search.HMR3", ["毛衣男士"], [["毛衣", "男装", "Featured"]]),
        ("zh", "search.HMR3", ["毛衣"], None),
    ],
)
def test_follow_ups(language, name, case, follow_ups):
    assert list_follow_ups(name, make_case(*case), language) == follow_ups


def to_answers(*hits):
    answers = np.empty(len(hits), dtype=object)
    answers[:] = [{"hits": number, "items": ()} for number in hits]
    return answers


@pytest.mark.parametrize(
    ("pattern", "expected", "sizes"),
    [
        (SameHits(), [True, False, False], [0, 1, 50]),
        (NotMoreHits(), [True, True, False], [0, -1, 50]),
        (SimilarHits(at_least=0.9), [True, True, False], [0, 1, 50]),
        (SimilarHits(at_least=1), [True, False, False], [0, 1, 50]),
    ],
)
def test_numbers_of_hits(pattern, expected, sizes):
    before, after = to_answers(100, 100, 100), to_answers(100, 99, 150)
    assert pattern.expects(before, [after]).tolist() == expected
    assert pattern.measure(before, [after]).tolist() == sizes


def test_the_largest_of_several_differences_counts():
    assert NotMoreHits().measure(to_answers(10), [to_answers(5), to_answers(12)]).tolist() == [2]
    assert SameHits().measure(to_answers(10), [to_answers(5), to_answers(12)]).tolist() == [5]


def test_other_answers_are_rejected_in_one_line():
    for pattern in (SameHits(), NotMoreHits()):
        with pytest.raises(dm.errors.TestSystemError, match="hits"):
            pattern.measure(np.array([{"total": 3}], dtype=object), [to_answers(3)])


def sum_rank_overlap(first, second, p):
    """The series that defines rank-biased overlap, of two endless rankings that share nothing after the lists."""
    return (1 - p) * sum(
        p ** (depth - 1) * len(set(first[:depth]) & set(second[:depth])) / depth for depth in range(1, 400)
    )


def test_rank_overlap_is_extrapolated_from_the_series():
    """For rankings of one length k it is the series to k, plus the agreement at k for all places below."""
    p, k = 0.8, 4
    for order in itertools.permutations("abcx", k):
        first, second = list("abcd"), list(order)
        agreements = [len(set(first[:d]) & set(second[:d])) / d for d in range(1, k + 1)]
        expected = (1 - p) * sum(p ** (d - 1) * agreements[d - 1] for d in range(1, k + 1)) + agreements[-1] * p**k
        assert compute_rank_overlap(first, second, p) == pytest.approx(expected)
        assert compute_rank_overlap(first, second, p) >= sum_rank_overlap(first, second, p) - 1e-9


def test_rank_overlap_of_special_rankings():
    assert compute_rank_overlap([], []) == 1
    assert compute_rank_overlap([], ["a"]) == compute_rank_overlap(["a"], ["b"]) == 0
    assert compute_rank_overlap("ab", "abcdef") == pytest.approx(1)  # as far as both go, they agree
    assert compute_rank_overlap("abcdef", "ab") == compute_rank_overlap("ab", "abcdef")
    assert compute_rank_overlap("aab", "ab") == pytest.approx(1)
    assert compute_rank_overlap("abcdefghij", "bacdefghij") < compute_rank_overlap("abcdefghij", "abcdefghji")


def test_rankings_by_items_and_by_order():
    reversed_items = ({"items": tuple("abcdef")}, {"items": tuple("fedcba")})
    before, after = (np.array([answer], dtype=object) for answer in reversed_items)
    assert SimilarRanking(measured_by="Jaccard", at_least=1).expects(before, [after]).tolist() == [True]
    assert SimilarRanking(measured_by="rank overlap").expects(before, [after]).tolist() == [False]


@in_one_test(
    "call",
    [
        lambda: search_relations("de"),
        lambda: search_relations(departments={"men": "Men"}),
        lambda: search_relations(departments={}),
        lambda: search_relations(at_least=0),
        lambda: search_relations(rankings=True, ranking_at_least=2),
        lambda: SimilarRanking(measured_by="luck"),
        lambda: SimilarRanking(persistence=1),
    ],
)
def test_wrong_parameters_are_rejected_in_one_line(call):
    with pytest.raises(dm.errors.ArgumentError) as error:
        call()
    assert "\n" not in str(error.value)


def test_relations_follow_from_the_patterns_of_the_thesis():
    relations = search_relations()
    sides = {name: (relation.input.pattern, relation.output.pattern) for name, relation in relations.items()}
    assert sides["search.MR1"][1] == "Partially-Equal"
    assert sides["search.HMR1"][0] == "Complete Partitions"
    assert sides["search.HMR2"][0] == search_relations("zh")["search.HMR2"].input.pattern == "Query-Meaning"
    assert sides["search.HMR3"] == ("Input-Merge", "Similar")
    assert [relation.promise for relation in relations.values()] == ["MR", "HMR", "HMR", "HMR"]
    assert "In the domain of product searches" in str(relations["search.HMR1"])


def test_a_search_that_loses_items_when_sorting_is_found():
    """The planted defects break MR1 and HMR1, which the real engines keep."""

    def answer(query, department, sort):
        hits = 100 if department == "All Departments" else 150
        return {"hits": hits - (40 if sort != "Featured" else 0), "items": []}

    cases = pd.concat([make_case("men's hats"), make_case("hats for women")])
    report = dm.check(dm.wrap(answer, scalar=True), cases, search_relations(), shrink=False)
    assert report.decades.set_index("relation")["[10, 100)"].to_dict() == {
        "search.MR1": 2,
        "search.HMR1": 2,
        "search.HMR2": 0,
        "search.HMR3": 2,
    }
    assert not report.passed


def test_the_page_shows_cases_and_answers_and_no_empty_columns():
    def answer(query, department, sort):
        return {"hits": len(query), "items": []}

    cases = pd.concat([make_case("men's hats"), make_case("hats for men")])
    report = dm.check(dm.wrap(answer, scalar=True), cases, search_relations()["search.HMR2"])
    sections = {section.heading: section for section in report.page().sections}
    columns = ["relation", "statement", "verdict", "judged", "violated", "share", "95%"]
    assert sections["Validation"].table.columns == columns
    assert sections["Violations by size"].table.rows == [["search.HMR2", "2", "2", "2"]]
    (example,) = sections["The smallest violations"].parts
    assert [term for term, _ in example.facts] == ["Case", "Answer", "Changed", "Becomes"]
    # no word stays at its place, so the query is shown as replaced
    assert dict(example.facts)["Changed"] in ("query='hats for men'", 'query="men\'s hats"')
