"""Single morphisms of every kind, invoked by name."""

from __future__ import annotations

import pytest

import datamorphic as dm
from datamorphic.morphisms.case_statistics import CaseStatistics
from datamorphic.morphisms.invocation import invoke
from support.loans import Loans


@pytest.fixture
def system():
    return dm.TestSystem.collect(Loans)


@pytest.fixture
def seeds(system):
    return invoke(system, "Applicants").tests


def test_seed_makers_and_datamorphisms_add_cases(system, seeds):
    assert seeds.input["income"].tolist() == [30, 60, 90]
    assert len(invoke(system, "applicants", seeds, n=2).tests) == 5
    grown = invoke(system, "raiseIncome", seeds).tests
    assert grown.input["income"].tolist() == [30, 60, 90, 40, 70, 100]
    assert grown.origins[3:, 0].tolist() == [0, 1, 2]


def test_further_arguments_are_other_cases(system, seeds):
    grown = invoke(system, "mid", seeds, seed=4).tests
    first, second = grown.origins[3:, 0], grown.origins[3:, 1]
    assert first.tolist() == [0, 1, 2]
    assert (first != second).all()
    assert grown.ids.tolist() == invoke(system, "mid", seeds, seed=4).tests.ids.tolist()
    with pytest.raises(dm.errors.DataError, match="at least two test cases"):
        invoke(system, "mid", seeds.take([0]))


def test_filters_leave_cases_out(system, seeds):
    assert invoke(system, "rich", seeds).tests.ids.tolist() == [1, 2]
    assert invoke(system, "first_two", seeds).tests.ids.tolist() == [0, 1]
    doubled = dm.TestSet.concat([seeds, seeds])
    assert len(invoke(system, "drop_duplicates", doubled).tests) == 3


def test_the_executor_and_metamorphisms_give_outputs_and_correctness(system, seeds):
    grown = invoke(system, "raise_income", seeds).tests
    with pytest.raises(dm.errors.DataError, match="Execute the test cases first"):
        invoke(system, "income_helps", grown)
    executed = invoke(system, "decide", grown)
    assert executed.tests.output.tolist() == ["no", "yes", "yes", "no", "yes", "no"]
    assert executed.tally.runs == 6
    judged = invoke(system, "income_helps", executed.tests)
    assert judged.tests.correctness.tolist() == [0, 0, 0, 1, 1, 2]
    assert judged.values.tolist()[3:] == ["holds", "holds", "violated"]


def test_metrics_and_analysers_give_values(system, seeds):
    assert invoke(system, "total", seeds).answer == 180
    assert invoke(system, "size", seeds, kind="case_metric").values.tolist() == [30, 60, 90]
    assert invoke(system, "report", seeds).answer == "3 applicants"
    assert invoke(system, "mean_nearest_distance", seeds).answer > 0
    assert len(invoke(system, "nearest_distance", seeds).values) == 3
    assert isinstance(invoke(system, "statistics", seeds).answer, CaseStatistics)


def test_wrong_names_are_refused(system, seeds):
    for name, kind, message in [
        ("size", None, "has a case_metric and a analyser named 'size'. Give the kind"),
        ("raise_incme", None, "Did you mean 'raise_income'.*Every test set also has nearest_distance"),
        ("total", "metric", "no kind of morphism 'metric'. Did you mean 'set_metric'"),
        ("total", "analyser", "has no analyser named 'total'"),
    ]:
        with pytest.raises(dm.errors.TestSystemError, match=message):
            invoke(system, name, seeds, kind=kind)
    with pytest.raises(dm.errors.DataError, match="needs test cases"):
        invoke(system, "total")
