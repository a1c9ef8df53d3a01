"""`execute`: what every run has, whatever it measures."""

import contextlib
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import datamorphic as dm
from datamorphic.core.capability import capability
from datamorphic.core.execute import CapabilityOptions
from datamorphic.errors import ArgumentError, OutOfBudget, StoreError
from datamorphic.runs.driver import CallCounter
from datamorphic.runs.flow import Budget, ask

PEOPLE = pd.DataFrame({"income": np.linspace(10, 90, 200).round(1), "gender": ["f", "m", "m", "f"] * 50})


class Decider:
    """Counts the rows that it is asked about."""

    def __init__(self):
        self.rows = 0

    def __call__(self, frame):
        self.rows += len(frame)
        return np.where(frame.income - 20 * (frame.gender == "f") > 40, "yes", "no")


def examine(model, **options):
    return dm.fairness(model, PEOPLE, "gender", outcome="yes", name="decider", **options)


def drop_fleeting(report):
    return {name: value for name, value in report.document().items() if name != "seconds"}


def test_a_run_is_stored_with_its_result(tmp_path):
    report = examine(Decider(), store=tmp_path / "runs.sqlite", seed=3)
    with dm.Store.open(tmp_path / "runs.sqlite") as store:
        [run] = store.runs()
        assert (run.verb, run.state, run.seed, run.system) == ("fairness", "finished", 3, "decider")
        assert run.summary["headline"] == report.headline
        assert run.calls == report.calls > 0, "of all queries, not only of the last ones"
        assert run.parameters["protected"] == ["gender"]
        assert {verdict["verdict"] for verdict in run.verdicts} == {"VIOLATED", "HOLDS"}
        with store.fetch(run.id, "result.json") as path:
            assert report.headline in path.read_text()


def test_a_run_that_the_user_ends_is_resumed_and_asks_nothing_twice(tmp_path):
    class Stopping(Decider):
        def __call__(self, frame):
            if self.rows > 400:
                raise KeyboardInterrupt
            return super().__call__(frame)

    store, whole = tmp_path / "runs.sqlite", examine(Decider())
    part = examine(Stopping(), store=store)
    assert part.interrupted
    assert not part.complete
    with dm.Store.open(store) as runs:
        assert runs.run(1).state == "interrupted"
    with pytest.raises(StoreError, match="was started with other arguments: rows=2000"):
        examine(Decider(), store=store, resume=1, rows=100)
    model = Stopping()
    again = examine(model, store=store, resume=1)
    assert 0 < model.rows <= 400  # fewer than the model was asked about
    assert drop_fleeting(again) == drop_fleeting(whole)
    with dm.Store.open(store) as runs:
        assert runs.run(1).state == "finished"


def test_resuming_needs_a_store():
    with pytest.raises(ArgumentError, match="Run 3 can only be resumed from its run store"):
        examine(Decider(), resume=3)


def test_a_spent_budget_leaves_questions_unfinished():
    report = examine(Decider(), budget=450)
    assert report.unfinished == ("the effect of gender",)
    assert not report.complete
    assert report.passed
    assert report.headline.startswith("Incomplete: the effect of gender")
    assert report.calls <= 450
    assert "Not examined" in report.describe()
    report.to_html()


@pytest.mark.slow
def test_engines_and_time_outs_give_the_same_report():
    whole = drop_fleeting(examine(Decider()))
    assert drop_fleeting(examine(Decider(), engine="threads:2", batch=30)) == whole
    assert drop_fleeting(examine(Decider(), engine="processes:2", batch=30)) == whole
    assert drop_fleeting(examine(Decider(), timeout=60)) == whole


def test_work_that_queries_nothing_ends_with_its_time(tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.random(300), "y": rng.random(300)})
    forest = RandomForestClassifier(20, random_state=0).fit(rows, (rows.x > rows.y).astype(int))
    whole = dm.cover(forest, rows, criterion="DTMT")
    cut = dm.cover(forest, rows, criterion="DTMT", budget="0.0001s", store=tmp_path / "runs.sqlite")
    assert whole.complete
    assert cut.unfinished == ("the mutants of 19 of 20 trees",)
    assert not cut.complete
    assert cut.counts.tolist() == whole.counts[: len(whole.of[0])].tolist()
    assert any("Not measured: the mutants of 19 of 20 trees" in note for note in cut.notes)
    with dm.Store.open(tmp_path / "runs.sqlite") as store:
        assert store.run(1).seconds > 0


def run_parts(parts, budget=None, **options):
    """Run a capability that asks a counting model for some rows, once per part, and note how each part ended."""

    @dataclass(frozen=True, eq=False)
    class PartOptions(CapabilityOptions):
        OWNER = "ask_parts"

        def make_subject(self, execution):
            return dm.wrap(Decider(), space=dm.Space.from_frame(PEOPLE))

        def describe_run(self, execution):
            return {"system": "parts", "parameters": self.to_request(), "model": None, "seeds": None}

    seen = {"spent": [], "runs": [], "cleaned": []}

    @capability(PartOptions, verb="parts")
    def ask_parts(options, execution):
        """Ask for rows."""
        points = execution.subject.space.points(PEOPLE)
        for start, limits in parts:
            tally = CallCounter()
            execution.cleanups.append(partial(seen["cleaned"].append, start))
            with contextlib.suppress(OutOfBudget):
                rows = points.take(slice(start, start + 20))
                execution.drive(ask(rows), execution.subject, tally=tally, limits=limits)
            seen["runs"].append(tally.runs)
            seen["spent"].append(execution.is_spent)
        return EmptyResult()

    ask_parts(budget=budget, **options)
    return seen


class EmptyResult:
    """A result without figures."""

    interrupted = False

    def stored_summary(self):
        return {}

    def stored_verdicts(self):
        return []

    def stored_files(self):
        return {}


def test_a_part_may_have_limits_of_its_own():
    few, many = Budget(runs=10), Budget(runs=30)
    seen = run_parts([(0, few), (0, many), (20, many)], budget="30 runs")
    assert seen == {"spent": [False, False, True], "runs": [0, 20, 0], "cleaned": []}


def test_a_run_is_stored_by_its_verb_and_cleaned_up_when_it_is_finished(tmp_path):
    seen = run_parts([(0, Budget())], store=tmp_path / "runs.sqlite")
    assert (seen["runs"], seen["cleaned"]) == ([20], [0])
    with dm.Store.open(tmp_path / "runs.sqlite") as store:
        assert [(run.verb, run.state) for run in store.runs()] == [("parts", "finished")]


@pytest.mark.parametrize(
    ("first", "second", "narrowed"),
    [
        (Budget(), Budget(), Budget()),
        (Budget(runs=5), Budget(), Budget(runs=5)),
        (Budget(runs=5, seconds=1.0), Budget(runs=3, seconds=2.0), Budget(runs=3, seconds=1.0)),
    ],
)
def test_the_smaller_limits_of_two_budgets(first, second, narrowed):
    assert first.narrow(second) == second.narrow(first) == narrowed
