"""Cases that a system failed on are kept, tried first the next time, and forgotten once they are mended."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.runs import failures
from datamorphic.runs.store import Store
from datamorphic.systems.isolation import IsolatedSystem
from support.cases import LONG

GRID = pd.DataFrame(np.random.default_rng(0).random((40, 2)) * [1, 3], columns=["x", "y"]).sort_values("x")
X = GRID["x"].tolist()  # so odd that no case half-way between two others is one of them
SPACE = dm.Space([dm.Continuous("x", 0, 1, step=0.1), dm.Continuous("y", 0, 3, step=0.25)])
HOW = {"walks": 12, "max_halvings": 4, "strategy": "random_target", "space": SPACE, "name": "churn", "progress": False}


def rule(frame):
    return np.where(frame["x"] * 3 > frame["y"], "stay", "go").astype(object)


class Faulty:
    """Raises where `raising` says, answers NaN where `missing` says, and writes down every batch it was asked."""

    def __init__(self, raising=(), missing=()):
        self.raising, self.missing = list(raising), list(missing)
        self.asked = []

    def __call__(self, frame):
        self.asked.append(frame.copy())
        if frame["x"].isin(self.raising).any():
            raise ValueError("out of stock")
        answers = rule(frame)
        answers[frame["x"].isin(self.missing)] = None
        return answers

    @property
    def first(self):
        return sorted(self.asked[1]["x"].tolist())  # after the rows on which it was tried


@pytest.fixture
def url(tmp_path):
    return str(tmp_path / "runs.sqlite")


def known(url):
    with Store.open(url) as store:
        return failures.recall_all(store)


def cases(url):
    return sorted(failure.case["x"] for failure in known(url))


def explore(model, url, **options):
    return dm.explore(model, GRID, **{**HOW, **options}, store=url)


# -- remembered --------------------------------------------------------------------------------------------------


def test_failing_rows_are_stored_in_readable_form(url):
    front = explore(Faulty(raising=[X[10]], missing=[X[20]]), url)
    failure_by_x = {failure.case["x"]: failure for failure in known(url)}
    assert set(failure_by_x) == set(front.incidents["x"]) == {X[10], X[20]}
    assert failure_by_x[X[10]].case == GRID.iloc[10].to_dict()
    assert (failure_by_x[X[10]].system, failure_by_x[X[10]].relation) == ("churn", "answers")
    assert (failure_by_x[X[10]].verdict, failure_by_x[X[10]].message) == ("ERROR", "ValueError: out of stock")
    assert failure_by_x[X[20]].verdict == "MISSING"
    with Store.open(url) as store:
        (run,) = store.runs()
    assert {failure.run for failure in failure_by_x.values()} == {run.id}
    assert {verdict["relation"]: (verdict["verdict"], verdict["cases"]) for verdict in run.verdicts}["answers"] == (
        "VIOLATED",
        2,
    )


def test_a_sound_system_stores_no_failures(url):
    assert explore(Faulty(), url).tally.retried_failures is None
    front = explore(Faulty(), url)
    assert front.tally.retried_failures is None
    assert "earlier runs" not in front.describe()
    assert known(url) == []


@pytest.mark.slow
def test_rows_that_crash_a_process_or_hang_are_stored_and_replayed(url):
    deadly, endless = X[10], X[20] if LONG else None  # a new process takes as long as the rest
    expected = {deadly: "DIED"} | ({endless: "TIMEOUT"} if LONG else {})

    class Model:  # it has classes, so it is not tried in a process of its own first
        classes_ = ("go", "stay")

        def predict(self, frame):
            import os
            import time

            import numpy as np

            if (frame["x"] == deadly).any():
                os._exit(3)
            if (frame["x"] == endless).any():
                time.sleep(3600)
            return np.where(frame["x"] * 3 > frame["y"], "stay", "go")

    isolated = {"engine": "processes:1", "timeout": 1.0, "batch": 1}
    front = explore(Model(), url, **isolated)
    assert dict(zip(front.incidents["x"], front.incidents["status"], strict=True)) == expected
    assert {failure.case["x"]: failure.verdict for failure in known(url)} == expected
    (died,) = (failure for failure in known(url) if failure.verdict == "DIED")
    assert "process ended" in died.message
    assert explore(Model(), url, **isolated, walks=0).tally.retried_failures == (len(expected), 0)
    mended = Faulty()
    assert explore(mended, url, walks=0).tally.retried_failures == (0, len(expected))
    assert mended.first == list(expected)


@pytest.mark.slow
def test_a_new_process_has_its_libraries_before_an_answer_is_timed():
    def loaded():
        import sys

        return "pandas" in sys.modules

    lane = IsolatedSystem(dm.wrap(lambda frame: frame["x"] > 0.5, space=SPACE), timeout=60)
    try:
        assert lane._ready_child().submit(loaded).result()
    finally:
        lane.close()


# -- tried first -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_next_run_replays_failures_first(url):
    explore(Faulty(raising=[X[10], X[30]], missing=[X[20]]), url)
    again = Faulty(raising=[X[10], X[30]], missing=[X[20]])
    front = explore(again, url, seed=5)
    assert sorted(again.asked[1]["x"]) == [X[10], X[20], X[30]]  # after the rows on which it was tried
    assert front.tally.retried_failures == (3, 0)
    assert "3 cases that failed in earlier runs went first: 3 still fail, 0 do not." in front.describe()
    assert cases(url) == [X[10], X[20], X[30]]
    assert min(failure.times for failure in known(url)) > 1


@pytest.mark.slow
def test_fixed_failures_are_reported_and_forgotten(url):
    explore(Faulty(raising=[X[10], X[30]], missing=[X[20]]), url)
    front = explore(Faulty(raising=[X[30]]), url)
    assert front.tally.retried_failures == (1, 2)
    assert "1 still fail, 2 do not" in front.describe()
    assert cases(url) == [X[30]]
    last = Faulty(raising=[X[30]])
    assert explore(last, url).tally.retried_failures == (1, 0)
    assert last.asked[1]["x"].tolist() == [X[30]]
    assert explore(Faulty(), url).tally.retried_failures == (0, 1)
    assert explore(Faulty(), url).tally.retried_failures is None


def test_the_error_of_a_failure_is_updated(url):
    explore(Faulty(raising=[X[10]]), url)
    explore(Faulty(missing=[X[10]]), url)
    (failure,) = known(url)
    assert failure.verdict == "MISSING"
    assert failure.times > 1


def test_a_run_without_a_store_replays_nothing(url):
    explore(Faulty(raising=[X[10]]), url)
    alone = Faulty(raising=[X[10]])
    front = dm.explore(alone, GRID, **HOW)
    assert front.tally.retried_failures is None
    assert len(alone.first) > 1


@pytest.mark.slow
def test_a_system_that_fails_on_all_it_failed_on_is_not_called_dead(url):
    bad = X[10:17]  # more of them than a whole system needs to be given up
    explore(Faulty(raising=bad), url, walks=40)
    front = explore(Faulty(raising=bad), url)
    assert front.tally.retried_failures == (7, 0)
    assert cases(url) == bad
    assert len(front) > 0


@pytest.mark.slow
def test_at_most_a_thousand_failures_are_replayed(url):
    remember(url, [k / 10_000 for k in range(1050)])
    model = Faulty()
    assert explore(model, url, walks=0).tally.retried_failures == (0, 1000)
    assert len(model.first) == 1000
    assert len(cases(url)) == 50


def test_one_fixed_failure_among_many_is_found(url):
    bad = [k / 1000 for k in range(80)]
    remember(url, bad)
    (mended,) = bad[1:2]  # those remembered last are tried first
    front = explore(Faulty(raising=set(bad) - {mended}), url)
    assert front.tally.retried_failures == (79, 1)
    assert mended not in cases(url)


def remember(url, numbers):
    with Store.open(url) as store:
        failures.remember(store, "churn", "answers", [{"case": {"x": number, "y": 1.0}} for number in numbers])


def test_a_label_that_was_not_known_is_an_answer(url):
    class Classifier:
        classes_ = np.array(["go", "stay"])

        def predict(self, frame):
            return np.where(frame["x"] == X[10], "ask", rule(frame))

    explore(Classifier(), url)
    with Store.open(url) as store:
        (run,) = store.runs()
    assert run.verdicts[0]["verdict"] == "HOLDS"
    assert known(url) == []
    assert explore(Classifier(), url).tally.retried_failures is None


# -- systems of the same name ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("features", "why"),
    [
        pytest.param([dm.Continuous("x", 0, 1)], "one feature fewer"),
        ([dm.Continuous("x", 0, 1), dm.Continuous("y", 0, 3), dm.Continuous("z", 0, 1)], "one more"),
        ([dm.Continuous("x", 0, 1), dm.Continuous("z", 0, 3)], "another name"),
        ([dm.Continuous("x", 0, 1), dm.Categorical("y", ["a", "b"])], "another kind"),
        ([dm.Continuous("x", 0, 0.125), dm.Continuous("y", 0, 3)], "other bounds"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_failures_of_another_system_of_the_same_name_are_ignored(url, features, why):
    explore(Faulty(raising=[X[10]]), url)
    batch_sizes = []

    def other(frame):
        batch_sizes.append(len(frame))
        return frame["x"] > 0.0625

    options = {"walks": 4, "max_halvings": 4, "strategy": "random_target", "name": "churn"}
    front = dm.explore(other, dm.Space(features), **options, store=url, progress=False)
    assert front.tally.retried_failures is None, why
    assert batch_sizes[0] > 1  # the run itself
    assert cases(url) == [X[10]]  # and what the first system failed on is still known
    first = Faulty(raising=[X[10]])
    assert explore(first, url).tally.retried_failures == (1, 0)


def test_failures_are_stored_per_system(url):
    explore(Faulty(raising=[X[10]]), url)
    assert explore(Faulty(raising=[X[10]]), url, name="credit").tally.retried_failures is None
    assert sorted(failure.system for failure in known(url)) == ["churn", "credit"]


# -- values of every kind ----------------------------------------------------------------------------------------

KINDS = {
    "nullable ints": (dm.Integer("v", -5, 5, nullable=True), pd.array([1, None, -3] * 10, dtype="Int64")),
    "plain ints": (dm.Integer("v", -(2**50), 2**50), np.array([2**50, -(2**50), 7] * 10)),
    "booleans": (dm.Categorical("v", [False, True]), np.array([True, False, True] * 10)),
    "nullable booleans": (
        dm.Categorical("v", [False, True], nullable=True),
        pd.array([True, None, False] * 10, dtype="boolean"),
    ),
    "text categories": (
        dm.Categorical("v", ["lo", "mid", "hi"]),
        pd.Categorical(["lo", "hi", "mid"] * 10, categories=["lo", "mid", "hi"], ordered=True),
    ),
    "missing categories": (dm.Categorical("v", ["a", "b"], nullable=True), pd.Categorical(["a", None, "b"] * 10)),
    "whole numbers as categories": (dm.Categorical("v", [1, 2, 4]), np.array([1, 4, 2] * 10)),
    "missing numbers": (dm.Continuous("v", 0, 1, nullable=True), np.array([0.1, np.nan, 1 / 3] * 10)),
    "small floats": (dm.Continuous("v", 0, 1), np.array([0.1, 0.2, 1 / 3] * 10, dtype=np.float32)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_values_of_every_kind_are_replayed_unchanged(url, kind):
    feature, values = KINDS[kind]
    frame = pd.DataFrame({"v": values, "x": np.arange(30) / 30})
    space = dm.Space.from_frame(
        frame, kinds={"v": feature.kind}, orders={"v": list(feature.values)} if feature.kind == "categorical" else None
    )
    batches, bad = [], {0.0, 1 / 30, 2 / 30}

    def model(batch):
        batches.append(batch.copy())
        if batch["x"].isin(bad).any():
            raise ValueError("no")
        return batch["x"] > 0.5

    def run():
        batches.clear()
        return dm.explore(
            model, frame, "random_target", walks=8, max_halvings=3, space=space, store=url, name="kinds", progress=False
        )

    first = run().incidents.drop(columns=["status", "message"])
    assert len(first) == 3
    assert run().tally.retried_failures == (3, 0)
    again = next(batch for batch in batches if len(batch) == 3).sort_values("x", ignore_index=True)
    pd.testing.assert_frame_equal(again, first.sort_values("x", ignore_index=True)[again.columns.tolist()])
    assert len(known(url)) == 3  # each is the same case as before


# -- and the run itself ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "mended"), [("random_target", False), ("random_walk", True), ("auto", True)])
def test_replayed_failures_do_not_change_the_result(url, tmp_path, strategy, mended):
    bad = X[10:16]
    explore(Faulty(raising=bad), url, seed=1, strategy=strategy)
    assert known(url)

    def model():
        return Faulty() if mended else Faulty(raising=bad)

    after = explore(model(), url, strategy=strategy)
    assert after.tally.retried_failures is not None
    alone = dm.explore(model(), GRID, **{**HOW, "strategy": strategy})
    assert len(alone) > 3
    for name, front in (("after", after), ("alone", alone)):
        front.save(tmp_path / name)
    assert (tmp_path / "after").read_bytes() == (tmp_path / "alone").read_bytes()
    assert after.tally.calls == alone.tally.calls
    assert after.tally.health.status_counts == alone.tally.health.status_counts


@pytest.mark.slow
def test_a_resumed_run_replays_nothing(url):
    explore(Faulty(raising=[X[10]]), url)

    calls, stop_at = [], 5

    def model(frame):
        if len(calls) == stop_at:
            raise KeyboardInterrupt
        calls.append(frame["x"].tolist())
        if frame["x"].isin([X[10]]).any():
            raise ValueError("out of stock")
        return rule(frame)

    assert explore(model, url, walks=30).exhausted
    assert calls[1] == [X[10]]  # after the rows on which it was tried
    with Store.open(url) as store:
        run = store.runs()[-1]
    assert run.state == "interrupted"
    calls, stop_at = [], None
    front = explore(model, url, walks=30, resume=run.id)
    assert front.tally.retried_failures is None
    assert [X[10]] not in calls[:2]
    assert len(front) == len(dm.explore(Faulty(raising=[X[10]]), GRID, **{**HOW, "walks": 30}))
