"""Statistics of test sets: Morphy's columns, correctness, failures with their lineage, distances."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.morphisms import case_statistics
from datamorphic.morphisms.case_ancestry import CaseAncestry
from datamorphic.morphisms.case_statistics import compute_statistics, list_failures, measure_distances
from datamorphic.morphisms.cases import TestSet

LINE = dm.Space([dm.Continuous("x", 0, 10, step=1.0)], moves="open")


class Faulty:
    """A classifier with a hole between 6 and 7."""

    space = LINE

    @dm.datamorphism
    def forward(self, p):
        return p + 1

    @dm.metamorphism(of="forward", message="moving forward never leads from high to low")
    def never_falls(self, case, origin):
        return ~((origin.output == "high") & (case.output == "low"))

    @dm.executor
    def classify(self, p):
        return np.where((p["x"] > 4) & ~p["x"].between(6, 7), "high", "low")


@pytest.fixture
def system():
    return dm.TestSystem.collect(Faulty)


@pytest.fixture
def tests(system):
    """Two seeds and two moves of both; the second seed falls into the hole."""
    seeds = TestSet.of_seeds(LINE.points(pd.DataFrame({"x": [1.0, 4.5]})), "grid")
    first = system.mutate("forward", seeds)
    second = system.mutate("forward", TestSet.concat([seeds, first]).take([2, 3]))
    return system.judge(system.execute(TestSet.concat([seeds, first, second])))


def test_statistics_have_the_columns_of_morphy(tests):
    statistics = compute_statistics(tests, runs=20)
    assert statistics.morphy_values() == [20, 6, 2, 4, 5.0]
    assert compute_statistics(tests).runs == 6  # cases with an output
    seeds_only = compute_statistics(tests.take([0, 1]))
    assert math.isinf(seeds_only.runs_per_mutant)
    assert seeds_only.document()["runs_per_mutant"] is None
    figures = [line.split(":") for line in statistics.describe().splitlines()[1:6]]
    assert [name for name, _ in figures] == ["#Runs", "#Test Cases", "#Original TC", "#Mutants", "Runs/Mutant"]
    assert [value.strip() for _, value in figures] == ["20", "6", "2", "4", "5"]


def test_failures_have_their_lineage_and_the_metamorphism(tests, system):
    statistics = compute_statistics(tests, system=system, name="line")
    assert (statistics.correct, statistics.incorrect, statistics.not_judged) == (3, 1, 2)
    (failure,) = statistics.failures
    assert (failure.id, failure.lineage, failure.chain) == (5, [3, 1], ["grid", "forward", "forward"])
    assert (failure.input, failure.output, failure.metamorphisms) == ({"x": 6.5}, "low", ["never_falls"])
    assert [(counts.morphism, counts.cases, counts.incorrect) for counts in statistics.morphisms] == [
        *[("grid", 2, 0), ("forward", 4, 1)]
    ]
    (verdicts,) = statistics.metamorphisms
    assert (verdicts.holds, verdicts.violated, verdicts.undefined, verdicts.inapplicable) == (3, 1, 0, 2)
    text = re.sub(" +", " ", statistics.describe())
    assert "line: 6 test cases (2 original, 4 mutants): 3 correct, 1 incorrect, 2 not judged" in text
    assert " case input output made by origins violates\n 5 x=6.5 low grid > forward > forward 3, 1 never_falls" in text
    assert " VIOLATED never_falls moving forward never leads" in text
    assert json.loads(statistics.to_json())["failures"][0]["id"] == 5
    assert 'failures="1"' in statistics.to_junit()
    assert "violated by 1 case" in statistics.to_junit()
    assert "grid &gt; forward &gt; forward" in statistics.to_html()
    assert "incorrect" in statistics.to_markdown()


def test_failures_are_listed(tests):
    (row,) = list_failures(tests).to_dict("records")
    assert row == {"id": 5, "in.x": 6.5, "output": "low", "made_by": "grid > forward > forward", "lineage": "3 1"}
    assert list_failures(tests.take([0])).empty


def test_without_a_system_morphisms_are_the_outcomes(tests):
    junit = compute_statistics(tests).to_junit()
    assert 'name="cases of forward"' in junit
    assert "1 of 4 cases incorrect" in junit
    assert 'skipped="1"' in junit  # no seed case was judged


def test_distances_are_those_to_the_nearest_case(tests):
    statistics = compute_statistics(tests)
    nearest = [1, 1, 1, 1, 1, 1]  # 1, 2, 3 and 4.5, 5.5, 6.5
    assert statistics.mean_distance == pytest.approx(np.mean(nearest))
    assert statistics.distance_deviation == 0
    frame = measure_distances(tests)
    assert frame["distance"].tolist() == nearest
    assert frame["nearest"].tolist() == [2, 3, 0, 1, 2, 3]
    twins = measure_distances(tests.take([0, 0, 1]).renumbered(0))
    assert (twins["nearest"].tolist()[:2], twins["distance"].tolist()[:2]) == ([1, 0], [0, 0])
    assert measure_distances(tests.take([0]))["nearest"].tolist() == [-1]
    assert math.isnan(compute_statistics(tests, distances=False).mean_distance)


def test_large_sets_are_shortened(tests, monkeypatch):
    monkeypatch.setattr(case_statistics, "MAX_CASES_FOR_TREE_DISTANCES", 3)
    monkeypatch.setattr(case_statistics, "MAX_LISTED_FAILURES", 1)
    statistics = compute_statistics(tests.with_correctness([2] * 6))
    assert math.isnan(statistics.mean_distance)
    assert (len(statistics.failures), statistics.incorrect) == (1, 6)
    assert "Distances are not measured above 3 cases." in statistics.describe()
    assert "The first 1 of 6 incorrect cases are listed." in statistics.notes


def test_a_chain_ends_where_a_case_is_unknown(tests):
    assert CaseAncestry(tests.take([5])).find_chain(5) == ["?", "forward"]
    empty = compute_statistics(tests.take([]))
    assert empty.morphy_values()[:4] == [0, 0, 0, 0]
    assert "0 test cases" in empty.describe()
