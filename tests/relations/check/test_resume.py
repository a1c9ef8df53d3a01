"""Checks that are stopped and resumed have the result of an undisturbed one, for models, learners and clusterers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering

import datamorphic as dm
from datamorphic.data.knn import KNN
from datamorphic.errors import StoreError
from datamorphic.runs.store import Store

ROWS = pd.DataFrame({"x": np.linspace(0, 9, 40), "z": np.tile([0.0, 1.0], 20)})
FLEETING = ("seconds",)
calls = {"count": 0, "stop_at": 0}


def count_call():
    """Press Ctrl-C at the call that a test has named."""
    calls["count"] += 1
    if calls["count"] == calls["stop_at"]:
        raise KeyboardInterrupt


class Nearest(KNN):
    def fit(self, X, y):
        count_call()
        return super().fit(X, y)


class Groups(AgglomerativeClustering):
    def fit_predict(self, X, y=None):
        count_call()
        return super().fit_predict(X)


def decide(frame):
    count_call()
    return np.where(frame.x + frame.z > 4.5, "yes", "no")


def decide_otherwise(frame):
    count_call()
    return np.where(frame.x > 4.5, "yes", "no")


CHECKS = {
    "learner": ((Nearest(3), "random", ["MR-1.1", "MR-3.2", "MR-0"]), {"inputs": 30}),
    "learner and rows": (
        (Nearest(3), ROWS.assign(y=np.where(ROWS.x > 4, "a", "b")), ["MR-1.2", "refit"], "y"),
        {"inputs": 30},
    ),
    "learner against another": ((Nearest(3), "random", ["MR-1.1", "MR-0"]), {"inputs": 15, "against": Nearest(5)}),
    "clusterer": ((Groups(2),), {"inputs": 8}),
    "model against another": (
        (decide, ROWS, [dm.invariant("z"), dm.invariant("x")]),
        {"batch": 10, "against": decide_otherwise},
    ),
    "model": ((decide, ROWS, [dm.invariant("z"), dm.invariant("x")]), {"batch": 10}),
}


def check(name, stop_at=0, **options):
    calls.update(count=0, stop_at=stop_at)
    arguments, keywords = CHECKS[name]
    return dm.check(*arguments, **keywords, progress=False, **options)


def to_document(report):
    return {key: value for key, value in report.document().items() if key not in FLEETING}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_a_stopped_check_is_resumed_with_the_same_result(tmp_path, name):
    store = str(tmp_path / "runs.sqlite")
    check(name, store=store)  # what it keeps is replayed by the next ones
    whole = check(name, store=store)
    all_calls = calls["count"]
    stopped = check(name, store=store, stop_at=all_calls * 2 // 3)
    assert stopped.interrupted
    assert not stopped.complete
    resumed = check(name, store=store, resume=3)
    assert to_document(resumed) == to_document(whole)
    assert calls["count"] < all_calls  # the others were stored
    with Store.open(store) as run_store:
        assert [run.state for run in run_store.runs()] == ["finished"] * 3


def test_another_request_is_not_resumed(tmp_path):
    store = str(tmp_path / "runs.sqlite")
    check("learner", store=store, stop_at=40)
    with pytest.raises(StoreError, match="started with other arguments: ties='aside'"):
        check("learner", store=store, resume=1, ties="count")


def test_the_former_name_of_the_model_warns():
    with pytest.warns(DeprecationWarning, match="'learner' of check is now called 'model'"):
        report = dm.check(learner=KNN(1), relations="MR-0", inputs=3)
    assert report.passed


def test_a_spent_budget_names_what_is_unfinished():
    report = check("learner", budget="60 runs")
    assert not report.complete
    assert set(report.unfinished) <= {"MR-1.1", "MR-3.2", "MR-0"}
    assert report.unfinished
    assert report.document()["unfinished"] == list(report.unfinished)
    assert check("learner").unfinished == ()
