"""Plans of explorations: what ends them early, what is stored of them, and how they are shown."""

import signal

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.cli.command import find_command
from datamorphic.reporting.terminal import format_page
from datamorphic.runs import journal
from datamorphic.runs.store import Store

SQUARE = dm.Space([dm.Continuous("x", 0, 1), dm.Continuous("y", 0, 1)])


class Calls:
    """The number of calls of the model, and the one at which it sends Ctrl-C."""

    count = stop_at = 0


def decide(frame):
    Calls.count += 1
    if Calls.count == Calls.stop_at:
        signal.raise_signal(signal.SIGINT)
    return np.where(frame.x + frame.y > 1, "high", "low")


def make_plan(*, stop_at=0, **options):
    Calls.count, Calls.stop_at = 0, stop_at
    return dm.plan(decide, SQUARE, walks=100, trial=20, seeds=30, progress=False, **options)


def drop_times(plan):
    """Return the document of a plan without what differs between equal plans."""
    document = plan.document()
    for row in document["strategies"]:
        del row["seconds"], row["seconds_per_pair"]
    return document


def test_an_interrupted_plan_is_resumed_with_the_same_result(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "WRITE_INTERVAL_SECONDS", 0.0)
    store = tmp_path / "runs.sqlite"
    whole = make_plan()
    all_calls = Calls.count
    stopped = make_plan(stop_at=all_calls // 2, store=store)
    assert stopped.interrupted
    assert "the walks of the trial" in stopped.unfinished
    with Store.open(store) as opened:
        assert [(run.verb, run.state) for run in opened.runs()] == [("plan", "interrupted")]
    resumed = make_plan(store=store, resume=1)
    assert drop_times(resumed) == drop_times(whole)
    assert Calls.count < 0.7 * all_calls
    with Store.open(store) as opened:
        run = opened.run(1)
    assert run.state == "finished"
    assert run.summary["headline"] == whole.headline == f"{whole.best} is recommended for 100 walks"


@pytest.mark.parametrize(("budget", "has_walks"), [("20 runs", False), ("900 runs", True)])
def test_a_budget_ends_the_trial(budget, has_walks):
    plan = make_plan(budget=budget)
    assert not plan.complete
    assert plan.unfinished[0] == "the walks of the trial"
    assert bool(plan.best) == bool(plan.options) == bool(len(plan.table)) == bool(len(plan.curve)) == has_walks
    assert plan.spent <= int(budget.split()[0])
    assert "Not finished" in str(plan)
    assert "<html" in plan.to_html()
    assert '"skipped"' not in plan.to_junit()
    assert 'skipped="1"' in plan.to_junit()


@pytest.mark.parametrize("strategy", ["random_target", "directed_walk"])
def test_a_single_strategy_is_planned(strategy):
    plan = make_plan(strategy=strategy)
    assert plan.best == strategy
    assert list(plan.table.strategy) == [strategy]
    assert set(plan.curve.strategy) == {strategy}
    assert ("by walk distance" in str(plan)) == (strategy != "random_target")


def test_the_text_is_the_page_in_short():
    plan = make_plan()
    assert str(plan) == plan.describe() == format_page(plan.page(brief=True))
    assert plan.complete
    assert len(plan.page().sections) == len(plan.page(brief=True).sections) + 1 == 3


def test_a_stored_plan_names_the_command_that_repeats_it():
    command = find_command("plan").format_command({"subject": "Box 1", "walks": 50, "trial": 20}, 3)
    assert command == "datamorphic explore --subject 'Box 1' --walks 50 --trial 20 --seed 3 --plan"
