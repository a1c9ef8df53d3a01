"""Code coverage as a metric: its value, what cases contribute, and what an optimisation makes of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ModelError, TestSystemError
from datamorphic.morphisms.invocation import invoke
from datamorphic.synthesis.optimisation.code_coverage import CodeCoverage
from datamorphic.systems.code_recorder import CODE_METRICS, CodeRecorder
from support.decisions import Loans, decide

SYSTEM = dm.TestSystem.collect(Loans)


def make_tests(cases):
    return dm.TestSet.of_seeds(Loans.space.points(pd.DataFrame(cases, columns=["income", "debt"])))


def make_metric(name):
    return CodeCoverage(name, CodeRecorder(SYSTEM.sut, decide))


def find_covered(tests, name):
    """Return the set of lines or branches that each case covers, case by case: the plain reference."""
    recorder = CodeRecorder(SYSTEM.sut, decide)
    columns = recorder.columns[name]
    record = [recorder.execute(tests.inputs.take([row]), scores=True).scores[0, columns] for row in range(len(tests))]
    return [set(np.flatnonzero(row).tolist()) for row in record]


@pytest.mark.parametrize("name", CODE_METRICS)
def test_the_value_is_the_share_of_the_union(name):
    tests = SYSTEM.make_seeds(n=12, seed=1)
    covered = find_covered(tests, name)
    assert make_metric(name).measure(tests) == len(set.union(*covered)) / 10
    assert invoke(SYSTEM, name, tests, kind="set_metric", code=decide).answer == len(set.union(*covered)) / 10


@pytest.mark.parametrize("name", CODE_METRICS)
def test_a_case_contributes_what_only_it_covers_and_its_part_of_the_rest(name):
    tests = make_tests([[0.5, 0.5], [0.6, 0.5], [0.95, 0.5], [0.5, 0.01], [0.5, 0.99]])
    metric, covered = make_metric(name), find_covered(tests, name)
    counts = {item: sum(item in items for items in covered) for items in covered for item in items}
    scores = metric.score_cases(tests)
    for row, items in enumerate(covered):
        own_items = {item for item in items if counts[item] == 1}
        loss = metric.measure(tests) - metric.measure(tests.take(np.arange(5) != row))
        assert loss == pytest.approx(len(own_items) / 10)
        assert scores[row] == pytest.approx(sum(1 / counts[item] for item in items), abs=2e-3)
    assert scores[0] < scores[2]
    needed = metric.find_needed(tests)
    assert metric.measure(tests.filter(needed)) == metric.measure(tests)
    assert needed.sum() == 4


def test_the_weakest_case_is_one_that_nobody_misses():
    tests = make_tests([[0.95, 0.5], [0.5, 0.5], [0.5, 0.01], [0.6, 0.5]])
    for seed in range(5):
        removed = make_metric("line_coverage").choose_weakest(
            tests, 1, np.ones(4, dtype=bool), np.random.default_rng(seed)
        )
        assert removed.tolist()[0] in (1, 3)


def test_an_optimisation_covers_more_and_leaves_no_record_in_its_cases():
    better = dm.optimise(
        Loans, "weakest_removal", metric=list(CODE_METRICS), code=decide, seeds=8, max_cycles=8, mutant_ratio=2.0
    )
    assert better.start_fitness["line_coverage"] < better.fitness["line_coverage"]
    assert better.fitness == better.measure(better.tests)
    covered = find_covered(better.tests, "branch_coverage")
    assert better.fitness["branch_coverage"] == len(set.union(*covered)) / 10
    assert all(tests.outputs.scores is None for tests in (better.tests, better.pool, better.start))
    assert better.executions >= better.calls > 0
    assert "line_coverage is the share of 10 lines of decisions.py." in better.describe()


def test_every_engine_covers_the_same():
    runs = [
        dm.optimise(
            Loans, "strongest_mutant", metric="code_coverage", code=decide, seeds=6, max_cycles=2, engine=engine
        )
        for engine in ("serial", "processes:1")
    ]
    assert runs[0].fitness == runs[1].fitness
    assert runs[0].tests.inputs.codes.tolist() == runs[1].tests.inputs.codes.tolist()


def test_it_needs_a_system_in_python():
    class Idle:
        space = Loans.space
        up = dm.datamorphism(lambda self, p: p)

    with pytest.raises(ModelError, match="Mark the function that queries it"):
        dm.optimise(Idle, metric="line_coverage", seeds=4)
    with pytest.raises(ModelError, match="line_coverage is about the code of a system, but Idle has none"):
        invoke(dm.TestSystem.collect(Idle), "line_coverage", make_tests([[0.5, 0.5]]))
    with pytest.raises(TestSystemError, match="line_coverage, branch_coverage"):
        invoke(SYSTEM, "line_cov", make_tests([[0.5, 0.5]]), kind="set_metric")


def test_scripts_measure_and_optimise_it():
    pool = dm.TestPool(Loans, progress=False)
    pool.make_seed(["middle"])
    values = pool.measure_test_set(["LineCoverage", "branch_coverage"])
    union = set.union(*find_covered(pool.tests, "branch_coverage"))
    assert values["branch_coverage"] == len(union) / 10
    assert pool.runs == 2 * len(pool.tests)
    result = pool.ga_optimize_weakest_removal(["richer", "repaid"], ["line_coverage"], 2)
    assert result.fitness["line_coverage"] >= values["line_coverage"]
    assert pool.measures[-1]["metric"] == "line_coverage"
