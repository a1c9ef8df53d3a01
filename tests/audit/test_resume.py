"""A killed audit is resumed: the same findings, from the answers in the store, whatever the clock says."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.runs.store import Store
from support.cases import WITHOUT_TRAINING
from support.lending import people

PEOPLE = people(80)


class Killed(BaseException):
    """What ends a run from outside."""


class SlowLender:
    """Takes some time of the clock for every call and row, and ends the run at a call of your choice."""

    def __init__(self, clock, seconds_per_row, kill_at=None):
        self.clock, self.seconds_per_row, self.kill_at = clock, seconds_per_row, kill_at
        self.calls = 0

    def __reduce__(self):
        return SlowLender, (None, self.seconds_per_row)  # whoever compares models: it is the same one

    def __call__(self, frame):
        self.calls += 1
        if self.calls == self.kill_at:
            raise Killed
        self.clock.move(0.001 + self.seconds_per_row * len(frame))
        return np.where(frame.income - 9 * (frame.gender == "f") > 60 + frame.debt / 9, "approve", "refuse")


def run_test(model, **options):
    return dm.test(
        model,
        PEOPLE,
        "decision",
        protected=["gender"],
        expect={"monotone": {"income": "up"}, "outcome": "approve"},
        name="lender",
        progress=False,
        **options,
    )


def drop_seconds(value):
    if isinstance(value, list):
        return [drop_seconds(item) for item in value]
    if isinstance(value, dict):
        return {name: drop_seconds(item) for name, item in value.items() if name != "seconds"}
    return value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seconds_per_row", "is_complete"), [(0.0, True), (0.004, False)], ids=["fast", "too slow for the budget"]
)
def test_a_killed_audit_is_resumed_with_the_same_findings(tmp_path, clock, seconds_per_row, is_complete):
    options = {"budget": "20s", "only": WITHOUT_TRAINING}
    model = SlowLender(clock, seconds_per_row)
    whole = run_test(model, store=tmp_path / "whole.sqlite", **options)
    assert whole.complete is is_complete
    for kill_at in np.linspace(9, model.calls - 1, 3).astype(int):
        store = tmp_path / f"{kill_at}.sqlite"
        with pytest.raises(Killed):
            run_test(SlowLender(clock, seconds_per_row, kill_at), store=store, **options)
        clock.move(1e5)  # the night between the two
        resumed = SlowLender(clock, seconds_per_row)
        result = run_test(resumed, store=store, resume=1, **options)
        assert drop_seconds(result.document()) == drop_seconds(whole.document())
        assert result.seconds == pytest.approx(whole.seconds, abs=1)
        assert 0 < resumed.calls < model.calls
        with Store.open(store) as runs:
            assert runs.run(1).state == "finished"


def test_cases_that_violated_before_are_those_of_the_beginning(tmp_path, clock):
    """A killed audit has stored violations of its own; the resumed one must not try these first."""
    store, options = tmp_path / "runs.sqlite", {"budget": "20000 runs", "only": ["answers", "protected", "borders"]}
    whole = run_test(SlowLender(clock, 0.0), **options)
    with pytest.raises(Killed):
        run_test(SlowLender(clock, 0.0, 30), store=store, **options)
    with Store.open(store) as runs:
        assert "gender" in str([failure.case for failure in dm.runs.failures.recall_all(runs)])
    result = run_test(SlowLender(clock, 0.0), store=store, resume=1, **options)
    assert drop_seconds(result.document()) == drop_seconds(whole.document())


def test_other_expectations_are_noticed(tmp_path, clock):
    store = tmp_path / "runs.sqlite"
    with pytest.raises(Killed):
        run_test(SlowLender(clock, 0.0, 12), store=store)
    with pytest.raises(dm.errors.StoreError, match="was started with other arguments: tolerance=None"):
        run_test(SlowLender(clock, 0.0), store=store, resume=1, tolerance=0.1)
