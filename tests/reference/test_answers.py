"""The batched judgement of answers equals a plain one, row by row."""

from __future__ import annotations

import math

import numpy as np
import pytest

from datamorphic.space.outputs import Status
from datamorphic.systems.coerce import to_outputs


def plain_status(value, labels):
    parts = value if isinstance(value, tuple) else (value,)
    if any(part is None or (isinstance(part, float) and math.isnan(part)) for part in parts):
        return Status.MISSING
    return Status.OK if labels is None or value in labels else Status.NEW_LABEL


POOLS = {
    "text": ["a", "b", "new", ""],
    "mixed": ["a", 1, 2.5, True, None, float("nan"), ("a", 1), ("a", None), "1"],
    "floats": [0.0, 1.0, float("nan"), 2.5],
    "whole": [0, 1, 7],
}


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("labels", [None, ("a", "b", 1, ("a", 1)), (0, 1)])
@pytest.mark.parametrize("form", [list, "array"])
def test_status_by_status(pool, labels, form):
    rng = np.random.default_rng(3)
    answers = [POOLS[pool][i] for i in rng.integers(0, len(POOLS[pool]), 300)]
    values = answers
    if form == "array":
        values = np.empty(300, dtype=object)
        values[:] = answers
    outputs = to_outputs(values, 300, labels)
    assert outputs.status.tolist() == [plain_status(value, labels) for value in answers]
    assert set(outputs.messages) == set(np.flatnonzero(outputs.status).tolist())
