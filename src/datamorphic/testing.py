"""Conformance suites: a new executor is tested in one line.

::

    def test_my_executor():
        check_executor(MyExecutor(...), space.sample(50, points=True))
"""

from __future__ import annotations

import numpy as np

from .outputs import Status
from .space.points import Points
from .sut.base import Executor


def check_executor(executor: Executor, points: Points) -> None:
    """Assert that an executor keeps its contract on some points it can answer.

    One output a row, in order; the same for a part, for one row and for any order of rows; nothing changed
    in what it was given; no rows, no outputs; scores of one column a label where it says it has them.
    """
    before = points.codes.copy()
    whole = executor.execute(points)
    assert len(whole) == len(points), f"{executor} gave {len(whole)} outputs for {len(points)} rows"
    assert whole.status.dtype == np.int8, f"{executor}: the status must be int8"
    np.testing.assert_array_equal(points.codes, before, err_msg=f"{executor} changed what it was given")
    assert executor.execute(points).same(whole).all(), f"{executor} answers differently the second time"

    backwards = np.arange(len(points))[::-1]
    assert executor.execute(points.take(backwards)).same(whole.take(backwards)).all(), (
        f"{executor} minds the order"
    )
    half = slice(0, len(points) // 2)
    assert executor.execute(points.take(half)).same(whole.take(half)).all(), f"{executor} minds the batch"
    first = slice(0, 1)
    assert executor.execute(points.take(first)).same(whole.take(first)).all(), f"{executor} minds single rows"
    assert len(executor.execute(points.take(slice(0, 0)))) == 0, f"{executor} gave outputs for no rows"
    twice = executor.execute(Points.concat([points, points]))
    assert twice.take(slice(len(points), None)).same(whole).all(), f"{executor} minds repeated rows"

    if executor.labels is not None:
        known = {Status(s) for s in np.unique(whole.status)} - {Status.NEW_LABEL}
        assert known <= set(Status), f"{executor}: unknown status"
        assert set(whole.values[whole.status == Status.OK].tolist()) <= set(executor.labels)
    scored = executor.execute(points, scores=True)
    assert scored.same(whole).all(), f"{executor} gives other labels when it is asked for scores"
    if executor.score_kind is None:
        assert scored.scores is None, f"{executor} gives scores it says it does not have"
    else:
        assert scored.scores is not None
        assert scored.scores.shape[0] == len(points)
        if executor.labels is not None:
            assert scored.scores.shape[1] == len(executor.labels)
