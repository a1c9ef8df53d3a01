"""The commands of a test pool, and that explorations of scripts are those of `dm.explore`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import DataError, TestSystemError, UsageError
from datamorphic.morphisms.cases import Correctness
from datamorphic.scripting.statistics_file import COLUMNS, format_figures
from support.cases import LONG, in_one_test

STRATEGIES = {
    "randomTargetExplore(20,mid)": {"strategy": "random_target", "walks": 20},
    "randomTargetExplore(40,mid)": {"strategy": "random_target", "walks": 40},
    "directedWalkExplore([upward, mid])": {"strategy": "directed_walk", "walks": 60, "moves": ["upward"]},
    "randomWalkExplore([downward, upward, rightward, mid, leftward];20;30)": {
        "strategy": "random_walk",
        "walks": 30,
        "moves": ["downward", "upward", "rightward", "leftward"],
    },
}


class Halves:
    """Two halves of the unit square, with planted mistakes for the metamorphism to find."""

    space = dm.Space([dm.Continuous("x", 0, 1, step=0.1), dm.Continuous("y", 0, 1, step=0.1)])

    @dm.seed_maker
    def grid(self):
        axis = np.linspace(0.05, 0.95, 5)
        return pd.DataFrame({"x": np.repeat(axis, 5), "y": np.tile(axis, 5)})

    @dm.datamorphism(feature="y")
    def lift(self, p):
        return p.assign(y=(p.y + 0.02).clip(upper=1))

    @dm.datamorphism
    def centre(self, a, b):
        return (a + b) / 2

    @dm.metamorphism(of="lift", applies_to="mutant", message="height must not matter")
    def same_colour(self, cases, origins):
        return cases.output == origins.output

    @dm.set_metric
    def size(self, tests):
        return len(tests)

    @dm.set_filter
    def left(self, tests):
        return tests.filter(tests.input["x"].to_numpy() < 0.5)

    @dm.case_filter
    def low(self, tests):
        return tests.input["y"].to_numpy() < 0.5

    @dm.analyser
    def count(self, tests):
        return f"{len(tests)} cases"

    @dm.executor
    def classify(self, p):
        return np.where((p.x > 0.5) | (p.y > 0.96), "right", "left")


@pytest.fixture
def pool(tmp_path):
    """An empty pool of halves."""
    return dm.TestPool(Halves, seed=5, folder=tmp_path)


SPECS = {"BoxTest2": "Box 2", "SinTest1": "Sin 1"} if LONG else {"SinTest1": "Sin 1"}


@pytest.mark.slow
def test_statistics_are_those_of_explore_for_the_same_draws(tmp_path):
    """Scripts in the style of the published ones: seeds, a strategy, statistics, for every repetition."""
    for name, command in enumerate(STRATEGIES):
        (tmp_path / f"once{name}.scr").write_text(
            f"clean()\nmakeSeed([RandomValue60])\n{command}\nanalyse([saveStatistics])\n"
        )
        (tmp_path / f"repeat{name}.scr").write_text(f"playTestScript(once{name}.scr)\n" * 2)
    (tmp_path / "all.scr").write_text(
        "".join(
            f"loadTestSpec(file:C:\\x\\bin\\{spec}.class)\nanalyse([saveMessageHead])\n"
            + "".join(
                f"playTestScript(repeat{name}.scr)\nanalyse([saveMessageNL])\n" for name in range(len(STRATEGIES))
            )
            for spec in SPECS
        )
    )
    result = dm.play(tmp_path / "all.scr", seed=11)
    expected, number = [], 0
    for subject in SPECS.values():
        expected.append(",".join([subject, *COLUMNS]))
        for options in STRATEGIES.values():
            for _ in range(2):
                seeds, walks = (np.random.SeedSequence(11, spawn_key=(number + i,)) for i in range(2))
                cases = dm.subjects[subject].make_seeds(n=60, seed=seeds).input
                front = dm.explore(
                    dm.subjects[subject], seeds=cases, seed=walks, max_halvings=20, refine="bisect", **options
                )
                tests = dm.TestSet.of_seeds(dm.Points.concat([front.seeds, front.a, front.b]))
                mutants = tests.filter(np.arange(len(tests)) >= 60)
                tests = dm.TestSet.concat(
                    [tests.take(slice(0, 60)), tests.mutants(mutants.inputs, "mid", [mutants.ids])]
                )
                expected.append(format_figures(dm.compute_statistics(tests, front.runs)))
                number += 2
            expected.append("Average")
    lines = (tmp_path / "ExpDataFile.csv").read_text().splitlines()
    assert lines == expected
    assert result.commands == len(SPECS) * (2 + len(STRATEGIES) * (2 * 4 + 1))
    assert sum(entry["pairs"] for entry in result.pool.explorations) > 25


def test_results_of_an_earlier_script_are_loaded(tmp_path):
    (tmp_path / "first.scr").write_text("makeSeed([RandomValue50])\nexecuteTestCases()\nsaveTestResult(Seeds.tcs)\n")
    (tmp_path / "second.scr").write_text(
        "makeSeed([ResetTestSuite])\nloadTestResults(Seeds.tcs)\nrandomTargetExplore(30,mid)\nanalyse([saveStatistics])\n"
    )
    seeds = dm.play(tmp_path / "first.scr", "Sin 2", seed=1).tests
    dm.play(tmp_path / "second.scr", "Sin 2", seed=2)
    front = dm.explore(
        dm.subjects["Sin 2"],
        seeds=seeds.input,
        strategy="random_target",
        walks=30,
        refine="bisect",
        seed=np.random.SeedSequence(2, spawn_key=(1,)),
    )
    figures = (tmp_path / "ExpDataFile.csv").read_text().split(",")[1:5]
    assert figures == [str(front.runs), str(50 + front.mutants), "50", str(front.mutants)]
    assert len(front) > 5


def test_mutants_are_border_pairs_that_lead_back_to_seeds(tmp_path):
    pool = dm.TestPool("Box 1", seed=1, folder=tmp_path)
    pool.make_seed(["RandomValue100"])
    seeds = pool.tests
    target = pool.random_target_explore(40)
    walk = pool.random_walk_explore(["upward", "leftward"], 20, 40)
    tests = pool.tests
    assert len(tests) == 100 + 2 * len(target) + 2 * len(walk)
    assert pool.runs == target.runs + walk.runs
    assert np.array_equal(tests.inputs.codes[100:102], np.vstack([target.a.codes[:1], target.b.codes[:1]]))
    assert tests.output[100:102].tolist() == [target.a_output[0], target.b_output[0]]
    first, second = tests.origins[100]
    assert {first, second} <= set(seeds.ids.tolist())
    between = (seeds.inputs.codes[first] + seeds.inputs.codes[second]) / 2
    assert np.all(np.abs(tests.inputs.codes[100] - between) <= np.abs(seeds.inputs.codes[first] - between) + 1e-9)
    assert min(tests.lineage(int(tests.ids[-1]))) < 100


def test_morphisms_of_the_system_are_commands(pool):
    pool.make_seed("grid")
    pool.make_mutant(["lift", "centre"])
    assert len(pool.tests) == 75
    assert pool.tests.count_by("morphism").to_dict() == {"grid": 25, "lift": 25, "centre": 25}
    assert pool.measure_test_set(["size", "AvgDistance"])["size"] == 75
    assert pool.analyse(["count"]) == {"count": "75 cases"}
    pool.execute_test_cases()
    pool.execute_test_cases()  # all have outputs
    assert pool.runs == 75
    counts = pool.check_metamorphisms()["same_colour"]
    assert counts == {"holds": 22, "violated": 3, "inapplicable": 50, "undefined": 0}
    assert (pool.tests.correctness == Correctness.INCORRECT).sum() == 3
    assert pool.judgements[0]["message"] == "height must not matter"
    pool.test_set_filter(["left"])
    pool.test_case_filter(["low"])
    assert len(pool.tests)
    assert (pool.tests.input < 0.5).all(axis=None)
    pool.clean()
    assert (len(pool.tests), pool.runs) == (0, 0)


def test_stock_filters_and_metrics(pool):
    pool.make_seed(["RandomValue50", "RandomValue50"])
    assert len(pool.tests) == 100
    pool.make_seed(["grid"])
    pool.make_seed(["grid"])
    pool.test_set_filter(["dropDuplicates"])
    assert len(pool.tests) == len(dm.TestSet.drop_duplicates(pool.tests))
    pool.test_set_filter(["sparse"])
    assert pool.measure_test_set(["StdDistance"])["StdDistance"] > 0
    pool.test_case_filter(["TooClose"])
    pool.make_seed(["Select10RandomTestCases"])
    assert len(pool.tests) == 10
    pool.make_seed(["ResetTestSuite"])
    assert not len(pool.tests)


@pytest.mark.parametrize("name", ["cases.parquet", "cases.csv", "cases.tcs", "cases"])
def test_test_sets_are_saved_and_loaded(pool, tmp_path, name):
    pool.make_seed(["grid"])
    pool.make_mutant(["lift"])
    pool.execute_test_cases()
    before = pool.tests
    pool.set_file_path("data")
    pool.save_test_result(name)
    assert (tmp_path / "data" / name).is_file()
    pool.clean()
    pool.load_test_set(name)
    assert np.allclose(pool.tests.inputs.codes, before.inputs.codes)
    assert pool.tests.output.tolist() == before.output.tolist()
    pool.load_test_set(name)
    assert len(pool.tests) == 100
    assert pool.files == [tmp_path / "data" / name]


def test_another_midpoint_can_be_chosen(tmp_path):
    class Two(Halves):
        @dm.datamorphism
        def third(self, a, b):
            return a + (b - a) / 3

    pool = dm.TestPool(Two, folder=tmp_path)
    pool.make_seed(["grid"])
    assert len(pool.random_target_explore(20, "third")) > 0
    assert "third" in pool.tests.morphisms


def test_models_of_a_system_are_started_by_name(tmp_path):
    class Model:
        def __init__(self, cut):
            self.cut = cut

        def predict(self, frame):
            return np.where(np.asarray(frame)[:, 0] > self.cut, "b", "a")

    class Models:
        space = Halves.space
        models = {"low": Model(0.2), "high": lambda: Model(0.8)}  # noqa: RUF012

        @dm.seed_maker
        def random(self, rng, n=30):
            return self.space.sample(n, seed=rng)

    pool = dm.TestPool(Models, folder=tmp_path)
    pool.make_seed(["random"])
    with pytest.raises(UsageError, match="start_low_Invoker"):
        pool.random_target_explore(5)
    fronts = {}
    for name in ("low", "high"):
        pool.analyse([f"start_{name}_Invoker"])
        fronts[name] = pool.random_target_explore(30)
        pool.analyse(["stop_Invoker"])
    assert fronts["low"].a.codes[:, 0] == pytest.approx(0.2, abs=1e-3)
    assert fronts["high"].a.codes[:, 0] == pytest.approx(0.8, abs=1e-3)


def test_combinations_join_the_pool(pool):
    pool.make_seed(["grid"])
    first = pool.make_mutants_1st_order_complete(["lift"])
    assert len(pool.tests) == 50
    assert pool.runs == first.tally.runs == 50
    assert pool.tests.outputs.ok.all()
    assert pool.judgements[-1]["violated"] == 3
    pool.clean()
    pool.k_order_complete(3, ["grid"], ["lift"], metamorphisms=["same_colour"])
    expected = dm.combine(Halves, "kOrderComplete", order=3, datamorphisms=["lift"])
    assert np.array_equal(pool.tests.inputs.codes, expected.tests.inputs.codes)
    assert pool.judgements[-1]["violated"] == (expected.verdicts["same_colour"] == "violated").sum() > 0
    assert max(pool.tests.lineage(int(pool.tests.ids[-1]))) >= 25
    pool.make_mutant(["lift"])
    before = len(pool.tests)
    pool.combinatorial_complete([], ["lift", "centre"], filters=["left"], budget=40)
    assert len(pool.tests) > before
    assert set(pool.tests.made_by_names) == {"grid", "lift", "centre"}


def test_options_name_morphisms_as_other_commands_do(tmp_path):
    pool = dm.TestPool("Box 1", folder=tmp_path)
    front = pool.explore_with("strategy=random_walk", "walks=5", "seeds=10", "moves=ALL")
    assert len(pool.tests) == 10 + 2 * len(front)
    assert len(pool.combine_with("seeds=3", "datamorphisms=UPWARD").tests) == 6
    assert pool.optimise_with("seeds=5", "steps=1", "metric=AvgDistance").fitness.keys() == {"mean_nearest_distance"}


def test_optimisations_replace_the_pool(pool):
    pool.make_seed(["RandomValue30"])
    before = pool.measure_test_set(["AvgDistance"])["AvgDistance"]
    better = pool.ga_optimize_weakest_removal(["ALL"], max_cycles=5, mutant_ratio=0.4)
    assert better.settings["mutant_ratio"] == 0.4
    assert len(pool.tests) == 30
    assert pool.measure_test_set(["AvgDistance"])["AvgDistance"] > before
    runs = pool.runs
    pool.ga_optimize_random_removal(["lift", "centre"], ["label_balance"], 3)
    assert pool.runs > runs
    assert "GAOptimizeRandomRemoval: label_balance" in pool.messages[-1]


def test_the_former_name_of_the_number_of_cycles_is_accepted(pool):
    pool.make_seed(["RandomValue10"])
    with pytest.warns(DeprecationWarning, match=r"'steps' of TestPool\.ga_optimize_filter is deprecated"):
        assert pool.ga_optimize_filter(["ALL"], steps=1).settings["steps"] == 1


@in_one_test(
    ("work", "error", "message"),
    [
        (lambda pool: pool.random_target_explore(5), DataError, "The pool has no test cases"),
        (lambda pool: pool.make_seed(["grit"]), TestSystemError, "Did you mean 'grid'?"),
        (lambda pool: pool.load_test_set("../x.csv"), UsageError, "is outside of"),
        (lambda pool: pool.make_seed(5), UsageError, "a list of names"),
        (lambda pool: pool.random_target_explore(5, "lift"), UsageError, "'lift' is a move"),
        (lambda pool: pool.save_message("/tmp/x", "y"), UsageError, "absolute path"),
        (lambda pool: pool.save_message("conftest.py", "y"), UsageError, "do not write 'conftest.py'"),
        (lambda pool: pool.load_test_spec("Nothing"), UsageError, "--map Nothing=module:Class"),
        (lambda pool: dm.TestPool(seed=-1), UsageError, "must be an int"),
        (lambda pool: dm.TestPool().tests, UsageError, "No test system is loaded"),
    ],
)
def test_wrong_use(pool, work, error, message):
    with pytest.raises(error) as caught:
        work(pool)
    assert message in str(caught.value)


def test_all_stands_for_the_declared_datamorphisms_only():
    class Mirrored:
        space = dm.Space([dm.Integer("x", 0, 10_000)])

        @dm.datamorphism
        def mirror(self, p):
            return 10_000 - p

        @dm.metamorphism(applies_to="mutant")
        def stays(self, case, origin):
            return case.output == origin.output

        @dm.executor
        def answer(self, p):
            return np.full(len(p), "same")

    for run in (
        lambda pool: pool.make_mutant(["ALL"]),
        lambda pool: pool.make_mutants_1st_order_complete(["ALL"]),
        lambda pool: pool.k_order_complete(2, [], ["ALL"]),
        lambda pool: pool.ga_optimize_random_removal(["ALL"], max_cycles=2),
    ):
        pool = dm.TestPool(Mirrored)
        pool.make_seed(["RandomValue5"])
        run(pool)
        assert "midpoint" not in pool.tests.made_by_names


def test_cases_of_derived_datamorphisms_are_judged_by_declared_metamorphisms():
    class Judged:
        space = dm.Space([dm.Integer("x", 0, 100)])

        @dm.metamorphism(applies_to="mutant")
        def stays(self, case, origin):
            return case.output == origin.output

        @dm.executor
        def answer(self, p):
            return np.where(p["x"] > 50, "large", "small")

    pool = dm.TestPool(Judged)
    pool.make_seed(["RandomValue20"])
    assert "stays" in pool.first_order_mutant_complete([], ["mid"]).verdicts


def test_a_case_edited_by_hand_is_executed_again(pool, tmp_path):
    pool.make_seed(["grid"])
    pool.execute_test_cases()
    assert pool.tests.output[3] == "left"
    pool.edit_test_case(3, "x", "0.7")
    assert pool.tests.input["x"][3] == 0.7
    assert not pool.tests.outputs.ok[3]
    assert pool.tests.made_by_names[3] == "edit"
    runs = pool.runs
    pool.execute_test_cases(3)
    assert pool.tests.output[3] == "right"
    assert pool.runs == runs + 1
    pool.save_test_script("edit.scr")
    assert "editTestCase(3;x;0.7)\nexecuteTestCases(3)\n" in (tmp_path / "edit.scr").read_text()
    again = dm.play(tmp_path / "edit.scr", Halves, seed=5)
    assert again.tests.frame().equals(pool.tests.frame())


def test_one_case_can_be_executed_before_the_others(pool):
    pool.make_seed(["grid"])
    pool.execute_test_cases(24)
    assert pool.tests.outputs.ok.tolist() == [False] * 24 + [True]
    assert pool.messages == []


@pytest.mark.parametrize(
    ("case_id", "feature", "value", "message"),
    [
        (3, "z", "1", "no feature 'z'"),
        (99, "x", "1", "no test case with id 99"),
        (3, "x", "wide", "Case 3: 'wide', the value of 'x', is not a number"),
    ],
)
def test_an_edit_that_makes_no_sense_changes_nothing(pool, case_id, feature, value, message):
    pool.make_seed(["grid"])
    tests = pool.tests
    with pytest.raises(DataError, match=message):
        pool.edit_test_case(case_id, feature, value)
    assert pool.tests is tests
    with pytest.raises(DataError, match="no test case with id 99"):
        pool.execute_test_cases(99)


def test_the_feature_of_an_edit_is_checked_before_the_script_runs(tmp_path):
    script = tmp_path / "edit.scr"
    script.write_text("makeSeed([grid])\neditTestCase(3;z;1)\n")
    with pytest.raises(UsageError, match=r"edit.scr:2:16: There is no feature 'z'"):
        dm.play(script, Halves)
