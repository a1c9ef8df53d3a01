"""`dm.combine`: seed cases, filters, sampling, violations with their shortest chains, exports, runs in a store."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError, SystemFailed
from datamorphic.morphisms.cases import Correctness
from datamorphic.runs.store import Store
from datamorphic.synthesis.combination import run as runner
from datamorphic.synthesis.combination.run import estimate_size
from datamorphic.synthesis.stored_tests import load_stored_tests
from support.cases import in_one_test

SEEDS = pd.DataFrame([[1, 1], [2, 5], [4, 4]], columns=["x", "y"])


class Numbers:
    """Pairs of numbers, of which the system should answer the sign of the sum; it is wrong where x is 12."""

    space = dm.Space([dm.Integer("x", -1000, 1000), dm.Integer("y", -1000, 1000)])

    @dm.seed_maker
    def three_pairs(self):
        return SEEDS

    @dm.datamorphism
    def swapped(self, p):
        return p.assign(x=p.y, y=p.x)

    @dm.datamorphism
    def doubled(self, p):
        return 2 * p

    @dm.datamorphism
    def tripled(self, p):
        return 3 * p

    @dm.datamorphism(filter="small")
    def shifted(self, p):
        return p + 100

    @dm.datamorphism(move=False)
    def sum_of(self, a, b):
        return a + b

    @dm.datamorphism(move=False)
    def three_in_one(self, a, b, c):
        return a + b + c

    @dm.datamorphism
    def noisy(self, p, rng):
        return p.assign(x=rng.integers(0, 400, len(p)))

    @dm.case_filter
    def small(self, tests):
        return (tests.input.x < 10).to_numpy()

    @dm.set_filter
    def only_even(self, tests):
        return tests.filter((tests.input.x % 2 == 0).to_numpy())

    @dm.metamorphism(of="swapped", message="the order of the numbers does not matter")
    def order_is_irrelevant(self, cases, origins):
        return cases.output == origins.output

    @dm.metamorphism(of="tripled")
    def size_is_irrelevant(self, cases, origins):
        return cases.output == origins.output

    @dm.executor
    def sign(self, p):
        return np.where(p.x == 12, -1, np.sign(p.x + p.y))


MOVES = ["swapped", "doubled", "tripled"]


def combine(strategy="permutationComplete", source=Numbers, **options):
    return dm.combine(source, strategy, **({"datamorphisms": MOVES, "progress": False} | options))


@pytest.fixture(scope="module")
def combination():
    return combine()


def test_cases_have_outputs_and_lineage(combination):
    tests = combination.tests
    assert (len(tests), combination.seed_count) == (3 + combination.case_count, 3)
    assert combination.estimate == 3 * 15
    assert len(tests.input.drop_duplicates()) == len(tests)
    assert combination.duplicates == combination.cases.made_count - combination.case_count > 0
    assert tests.outputs.ok.all()
    last = int(tests.ids[-1])
    assert combination.chain(last) == ["tripled", "doubled", "swapped"]
    assert len(tests.lineage(last)) == 3
    with pytest.raises(dm.errors.DataError, match="no test case with id 999"):
        combination.chain(999)


def test_violations_are_traced_to_the_shortest_chain(combination):
    assert combination.violated == ["order_is_irrelevant", "size_is_irrelevant"]
    frame = combination.violations
    assert set(frame["shortest"]) == {"tripled", "doubled > tripled", "tripled > doubled > swapped"}
    row = frame[frame["shortest"] == "tripled"].iloc[0]
    assert (row["seed_case"], row["seed.x"], row["in.x"], row["origin_output"], row["output"]) == (2, 4, 12, 1, -1)
    assert not combination.holds
    judged = combination.tests.correctness
    assert (judged == Correctness.INCORRECT).sum() == frame["case"].nunique()
    text = combination.describe()
    assert re.search("VIOLATED +order_is_irrelevant +the order of the numbers does not matter", text)
    assert re.search(" tripled +1  seed case 2 \\(x 4, y 4\\), tripled", text)


def test_a_chain_loses_what_is_not_needed():
    # only the last step matters, and the chains that were drawn are long
    combination = combine("kOrderComplete", order=12, budget=20, datamorphisms=["swapped", "shifted"], source=Fragile)
    chains = combination.violations
    assert (chains["chain"].str.count(">") >= 5).any()
    assert set(chains["shortest"]) == {"swapped"}
    assert " swapped " in combination.describe()


class Fragile(Numbers):
    """A system that is wrong for every odd sum of positions: swapping changes the answer."""

    @dm.datamorphism
    def shifted(self, p):
        return (p + 7).clip(upper=900)

    @dm.executor
    def sign(self, p):
        return np.where(p.x > p.y, 1, 0)


@pytest.mark.slow
def test_long_chains_are_shortened_step_by_step():
    combination = combine("kOrderComplete", order=12, budget=2, datamorphisms=["swapped", "shifted"], source=Counting)
    assert combination.violations["chain"].str.count(">").max() > 8
    assert set(combination.violations["shortest"]) <= {"shifted > shifted > shifted > shifted > swapped"}


class Counting(Numbers):
    """The answer to swapped pairs changes after four shifts."""

    space = dm.Space([dm.Integer("x", 0, 10**6), dm.Integer("y", 0, 10**6)])

    @dm.seed_maker
    def three_pairs(self):
        return SEEDS.head(1).assign(y=2)

    @dm.datamorphism
    def shifted(self, p):
        return p + 10

    @dm.executor
    def sign(self, p):
        return np.where((p.x > p.y) & (p.x + p.y > 80), 1, 0)


@pytest.mark.parametrize(
    ("seeds", "count"),
    [(2, 2), (SEEDS.tail(1), 1), (pd.concat([SEEDS, SEEDS]), 3), (None, 3)],
    ids=["number", "frame", "duplicates", "default"],
)
def test_seed_cases(seeds, count):
    combination = combine("firstOrderMutantComplete", seeds=seeds)
    assert (combination.seed_count, combination.estimate) == (count, 3 * count)
    assert any("3 seed cases left out" in note for note in combination.notes) == (
        seeds is not None and not isinstance(seeds, int) and len(seeds) == 6
    )


def test_a_test_set_keeps_its_ids():
    system = dm.TestSystem.collect(Numbers)
    tests = dm.TestSet.concat([system.make_seeds(), system.mutate("shifted", system.make_seeds())])
    tests = tests.take(np.array([1, 4, 5]))
    combination = combine("firstOrderMutantComplete", seeds=tests, datamorphisms=["swapped"])
    assert combination.tests.ids.tolist() == [1, 4, 5, 6, 7, 8][: len(combination.tests)]
    assert combination.tests.made_by_names[:3].tolist() == ["three_pairs", "shifted", "shifted"]
    with pytest.raises(ArgumentError, match="another space"):
        combine(seeds=dm.TestSet.of_seeds(dm.Space([dm.Integer("z", 0, 1)]).sample(2, points=True)))


def test_chains_have_a_largest_length_whose_number_can_be_written():
    with pytest.raises(ArgumentError, match=r"range \[1, 100\]"):
        combine("kOrderComplete", order=9500)
    with pytest.raises(ArgumentError, match="no strategy"):
        combine(f"kOrderComplete({'9' * 5000})")
    with pytest.raises(ArgumentError, match=r"about 10\^"):
        combine("kOrderComplete", order=100)


def test_a_shortest_chain_may_end_with_another_second_argument():
    class Sums:
        space = dm.Space([dm.Integer("x", 0, 1000)])

        @dm.datamorphism(move=False)
        def add(self, a, b):
            return a + b

        @dm.metamorphism(of="add")
        def stays(self, case, origin):
            return case.output == origin.output

        @dm.executor
        def answer(self, p):
            return np.where(p["x"] == 3, "three", "other")

    combination = dm.combine(Sums, "kOrderComplete", order=2, seeds=pd.DataFrame({"x": [1, 2, 5]}))
    assert combination.violations.set_index("chain")["shortest"]["add(1) > add(2)"] == "add(1)"


def test_binary_datamorphisms_take_every_other_seed_case():
    combination = combine("firstOrderMutantComplete", datamorphisms=["sum_of"])
    assert combination.estimate == 3 * 2
    assert combination.case_count == 3  # a + b equals b + a
    assert combination.chain(3) == ["sum_of(1)"]
    assert combination.tests.origins[3].tolist() == [0, 1]


def test_datamorphisms_of_three_cases_are_combined_too():
    combination = combine("firstOrderMutantComplete", datamorphisms=None)
    assert "three_in_one" in combination.datamorphisms
    combination = combine("firstOrderMutantComplete", datamorphisms=["three_in_one"])
    assert combination.estimate == 3 * 2
    assert combination.tests.input.values.tolist()[3:] == [[7, 10]]  # whatever their order
    assert combination.tests.origins[3].tolist() == [0, 1, 2]


@pytest.mark.parametrize("arguments", ["seeds", "cases"])
def test_violations_of_datamorphisms_of_several_cases_are_shortened(arguments, tmp_path):
    class Sums(Numbers):
        @dm.metamorphism(of="three_in_one")
        def stays_small(self, cases, first, second, third):
            return (cases.output == first.output) & (cases.input.x < 9)

    options = {"datamorphisms": ["doubled", "three_in_one"], "arguments": arguments, "store": tmp_path / "runs"}
    combination = dm.combine(Sums, "combinatorialComplete", progress=False, **options)
    assert "stays_small" in combination.violated
    violations = combination.violations
    assert {"three_in_one"} >= {group.chain for group in combination.groups if group.is_searched} - {
        "doubled > three_in_one"
    }
    assert all(len(chain.split(", ")) == 2 for chain in violations["shortest"])
    again = dm.combine(Sums, "combinatorialComplete", progress=False, **options)
    assert again.recurring, "stored with all their arguments"
    assert again.tally.retried_failures == (len(again.recurring), 0)


def test_the_filter_of_a_datamorphism_ends_chains():
    combination = combine("kOrderComplete", order=3, datamorphisms=["shifted"])
    assert (combination.case_count, combination.cases.rejected_count) == (3, 3)


def test_filters_select_cases_and_keep_their_ancestors():
    everything, combination = combine(), combine(filters=["onlyEven"])
    inputs = combination.tests.input
    assert combination.case_count < everything.case_count
    assert (inputs.x[~combination.ancestors] % 2 == 0).all()
    assert (inputs.x[combination.ancestors] % 2 == 1).all()
    rows = combination.tests.rows_of(combination.tests.origins)
    assert ((rows >= 0) | (combination.tests.origins < 0)).all()  # lineage is complete
    assert set(combination.violations["in.x"] % 2) == {0}
    assert any("removed by filters: onlyEven" in note for note in combination.notes)


def test_random_datamorphisms_repeat_with_the_seed():
    inputs = [combine(datamorphisms=["noisy", "doubled"], seed=seed).tests.input for seed in (1, 1, 2)]
    assert inputs[0].equals(inputs[1])
    assert not inputs[0].equals(inputs[2])


def test_too_many_cases_need_a_budget(tmp_path):
    with pytest.raises(ArgumentError, match=r"makes up to 45 cases, more than the limit of 10\. .*budget=10"):
        combine(limit=10, store=tmp_path / "runs.sqlite")
    assert not (tmp_path / "runs.sqlite").exists()  # a request that is refused is not a run
    with pytest.raises(ArgumentError, match=r"about 10\^\d+ cases"):
        combine("kOrderComplete", order=60)
    combination = combine(limit=10, budget=10)
    assert combination.is_sampled
    assert 0 < combination.case_count <= 10
    assert "drawn at random" in combination.describe()
    assert combine(limit=10, budget=45).is_sampled is False
    same, other = combine(limit=10, budget=10), combine(limit=10, budget=10, seed=1)
    assert same.tests.input.equals(combination.tests.input)
    assert not other.tests.input.equals(combination.tests.input)


@pytest.mark.slow
def test_draws_are_uniform():
    counts = np.zeros(30)
    system = dm.TestSystem.collect(Drawn)
    for seed in range(30):
        drawn = combine("permutationComplete", system, datamorphisms=None, budget=5, seed=seed)
        for case_id in drawn.tests.ids[~drawn.ancestors].tolist():
            if drawn.chain(case_id):
                counts[int(drawn.tests.input.x[drawn.tests.rows_of(np.array([case_id]))[0]])] += 1
    chains = counts[counts > 0]
    assert len(chains) == 15  # 3 + 6 + 6
    expected = 30 * 5 / 15
    assert ((chains - expected) ** 2 / expected).sum() < 29.1  # chi-square with 14 degrees of freedom, p = 0.01


class Drawn:
    """Three datamorphisms whose 15 chains give different numbers below 30."""

    space = dm.Space([dm.Integer("x", 0, 100)])
    NUMBERS: ClassVar = {}

    @dm.seed_maker
    def zero(self):
        return pd.DataFrame({"x": [0]})

    def extend(self, x, digit):
        # the numbers of chains in the order in which they are first seen
        return [self.NUMBERS.setdefault((int(value), digit), len(self.NUMBERS) + 1) for value in x]

    @dm.datamorphism
    def one(self, p):
        return p.assign(x=self.extend(p.x, 1))

    @dm.datamorphism
    def two(self, p):
        return p.assign(x=self.extend(p.x, 2))

    @dm.datamorphism
    def three(self, p):
        return p.assign(x=self.extend(p.x, 3))


def test_without_executor_or_metamorphism_nothing_is_checked():
    space = dm.Space([dm.Continuous("x", 0, 1, step=0.1), dm.Categorical("c", ["a", "b"])])
    combination = dm.combine(space, seeds=4)
    assert combination.tests.outputs is None
    assert combination.holds
    assert "There is no executor" in combination.describe()
    frame = pd.DataFrame({"x": [0.1, 0.7], "c": ["a", "b"]})
    assert dm.combine(frame).seed_count == 2
    assert dm.combine(frame, seeds=1).seed_count == 1
    combination = dm.combine(dm.subjects["Box 1"], seeds=5, datamorphisms=["upward"])
    assert combination.tests.outputs.ok.all()
    assert "There is no metamorphism" in combination.describe()


class Broken(Numbers):
    """A system that answers nothing."""

    @dm.executor
    def sign(self, p):
        raise RuntimeError("out of order")


def test_a_system_without_answers_fails():
    with pytest.raises(SystemFailed, match="out of order"):
        combine(source=Broken)


class Unary(Numbers):
    """A metamorphism of single cases, which a seed case violates."""

    @dm.metamorphism
    def never_ten(self, cases):
        return cases.output != 2

    @dm.executor
    def sign(self, p):
        return p.x


def test_a_seed_case_may_be_guilty_itself():
    combination = combine("firstOrderMutantComplete", source=Unary)
    rows = combination.violations[combination.violations["metamorphism"] == "never_ten"]
    assert set(rows["shortest"]) == {"", "doubled"}
    assert re.search("none needed +1  seed case 1 \\(x 2, y 5\\): the answer is 2", combination.describe())


@pytest.mark.slow
def test_a_violation_by_a_seed_case_is_tried_again(tmp_path):
    options = {"strategy": "firstOrderMutantComplete", "source": Unary, "store": tmp_path / "runs.sqlite"}
    combine(**options)
    assert any("seed case 1 (x 2, y 5): the answer is 2" in words for words in combine(**options).recurring)


@in_one_test(
    ("options", "message"),
    [
        ({"strategy": "permutatonComplete"}, "no strategy 'permutatonComplete'.*permutationComplete"),
        ({"strategy": "kOrderComplete"}, "needs the length"),
        ({"strategy": "kOrderComplete(2)", "order": 3}, "has the order 2"),
        ({"order": 2}, "Only kOrderComplete has an order"),
        ({"datamorphisms": ["swaped"]}, "no datamorphism named 'swaped'.*swapped"),
        ({"datamorphisms": []}, "a name, or a list of names"),
        ({"filters": ["nothing"]}, "no set_filter named 'nothing'"),
        ({"budget": 0}, "'budget'"),
        ({"limit": 0}, "'limit'"),
        ({"resume": 3}, r"Add store="),
        ({"seeds": 0}, "'seeds'"),
    ],
)
def test_wrong_use_is_explained(options, message):
    with pytest.raises(dm.errors.UsageError, match=message):
        combine(**options)


def test_names_of_strategies_in_any_style():
    for name in ("kOrderComplete(2)", "k_order_complete (2)"):
        assert combine(name).strategy == "kOrderComplete"
    assert estimate_size(Numbers, "makeMutants1stOrderComplete", datamorphisms=MOVES) == 9


def test_exports(combination, tmp_path):
    document = json.loads(combination.to_json())
    assert document["cases"] == combination.case_count
    assert document["violations"][0]["shortest"]
    page = combination.to_html(tmp_path / "page.html")
    assert "The shortest chains that lead to violations" in page
    assert 'failures="2"' in combination.to_junit()
    assert "tripled &gt; doubled" in page
    assert "shortest chains" in combination._repr_html_()
    assert "| metamorphism" in combination.to_markdown()
    assert repr(combination).startswith("CombinationResult(Numbers, permutationComplete: ")


def test_an_interrupted_run_is_resumed_to_the_same_result(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "MAX_CASES_PER_QUERY", 4)
    path = tmp_path / "runs.sqlite"
    whole = combine()
    Interrupting.left = 3
    first = combine(store=path, source=Interrupting)
    assert first.tally.interrupted
    assert any("were not executed" in note for note in first.notes)
    resumed = combine(store=path, resume=1, source=Interrupting)
    assert resumed.tests.frame().equals(whole.tests.frame())
    assert resumed.violations.equals(whole.violations)
    assert Interrupting.rows < whole.runs + 20  # what was answered before is not asked again
    with Store.open(path) as store:
        run = store.run(1)
        assert (run.verb, run.state) == ("combine", "finished")
        assert load_stored_tests(store, 1).frame().equals(whole.tests.frame())


class Interrupting(Numbers):
    """The user stops it after some batches, once."""

    left = -1
    rows = 0

    @dm.executor
    def sign(self, p):
        Interrupting.left -= 1
        if Interrupting.left == 0:
            raise KeyboardInterrupt
        Interrupting.rows += len(p)
        return Numbers.sign(self, p)


@pytest.mark.parametrize(
    ("fault", "chains"),
    [
        (None, set()),
        ("side forgotten", {"rotate", "rotate > swap"}),
        ("pair forgotten", {"rotate", "rotate > swap"}),
        ("8 bits", {"double > triple", "triple > double"}),
    ],
)
def test_the_faults_of_the_triangle_program_are_found(fault, chains, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "examples")
    from triangle import Triangle

    combination = dm.combine(Triangle(fault), "permutationComplete")
    assert {group.chain for group in combination.groups} == chains
    text = combination.describe()
    assert all(f"  {chain} " in text for chain in chains)


@pytest.mark.parametrize("engine", ["threads:2"])
def test_engines_give_the_same_result(engine, combination):
    other = combine(engine=engine)
    assert other.tests.frame().equals(combination.tests.frame())
    assert other.violations.equals(combination.violations)


def test_an_interrupted_search_keeps_the_violations(monkeypatch):
    monkeypatch.setattr(runner, "MAX_CACHED_CASES", 0)
    Interrupting.left = 3  # all cases, some of them again, then candidates for shortest chains
    combination = combine(source=Interrupting)
    assert combination.tally.interrupted
    assert combination.tests.outputs.ok.all()
    assert len(combination.violations) == len(combine().violations)
    assert combination.violations["shortest"].isna().any()
    assert "not searched" in combination.describe()


class Changing(Numbers):
    """A system that can be repaired."""

    repaired = False

    @dm.executor
    def sign(self, p):
        return np.sign(p.x + p.y) if Changing.repaired else Numbers.sign(self, p)


@pytest.mark.slow
def test_violations_are_tried_first_the_next_time(tmp_path):
    path, options = tmp_path / "runs.sqlite", {"datamorphisms": [*MOVES, "sum_of"], "source": Changing}
    first = combine(store=path, **options)
    assert first.tally.retried_failures is None
    count = len(first.groups)
    assert any("sum_of(" in group.words for group in first.groups)
    # a sample that finds nothing itself
    again = combine("firstOrderMutantComplete", store=path, seeds=1, budget=1, **options)
    assert again.violated == []
    assert again.tally.retried_failures == (count, 0)
    assert not again.holds
    assert f"{count} violations of earlier runs still occur" in again.describe()
    assert "of earlier runs still occur" in again.to_html()
    assert 'failures="1"' in again.to_junit()
    Changing.repaired = True
    fixed = combine(store=path, **options)
    assert fixed.tally.retried_failures == (0, count)
    assert fixed.holds
    assert combine(store=path, **options).tally.retried_failures is None


@pytest.mark.parametrize(
    ("plain", "published"),
    [
        ("first_order", "firstOrderMutantComplete"),
        ("combinations", "combinatorialComplete"),
        ("permutations", "permutationComplete"),
        ("sequences(2)", "kOrderComplete(2)"),
    ],
)
def test_strategies_have_plain_names(plain, published):
    box = dm.subjects["Box 1"]
    moves = ["upward", "leftward"]
    first, second = (dm.combine(box, name, seeds=4, datamorphisms=moves, progress=False) for name in (plain, published))
    assert first.strategy == second.strategy == published.removesuffix("(2)")
    assert (first.tests.inputs.codes == second.tests.inputs.codes).all()


def test_a_budget_of_runs_leaves_cases_unexecuted():
    whole = dm.combine(dm.subjects["Box 1"], seeds=10, progress=False)
    part = dm.combine(dm.subjects["Box 1"], seeds=10, budget="30 runs", progress=False)
    assert whole.complete
    assert (part.complete, part.runs) == (False, 30)
    assert part.unfinished == (f"{len(whole.tests) - 30} of {len(whole.tests)} cases",)
    assert part.tests.outputs.ok.sum() == 30
    assert not dm.combine(dm.subjects["Box 1"], seeds=10, budget=30, progress=False).unfinished  # that many are drawn


def test_the_former_name_of_the_test_system_warns():
    with pytest.warns(DeprecationWarning, match="'test_system' of combine is now called 'model'"):
        dm.combine(test_system=dm.subjects["Box 1"], seeds=3, progress=False)
