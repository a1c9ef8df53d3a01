"""Training sets to try a learner on: random ones as in the study, or parts of labelled data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._checks import did_you_mean, plural, whole_number
from ..errors import ArgumentError, DataError
from ..sut.training import Training

Draw = Callable[[np.random.Generator, int], Training]  # with so many test cases, at most
LABELS = ("L0", "L1", "L2")
ATTRIBUTES = 4
LOW, HIGH = 1.0, 20.0
FEWEST, ROWS = 20, 50  # of a training set at most: as in the study of the relations, and quick


def random_training(
    rng: np.random.Generator,
    cases: int = 1,
    *,
    least: int = 1,
    most: int = ROWS,
    labels: tuple[Any, ...] = LABELS,
    framed: bool = False,
) -> Training:
    """Return the random data of the study: up to 50 rows of 4 numbers from 1 to 20, with labels L0, L1, L2 by chance.

    All labels are declared, whether or not they occur: what a learner makes of one that does not is behind several of
    the published violations. The rows are arrays, which is quicker, or `framed`.

    Examples
    --------
    >>> data = random_training(np.random.default_rng(0))
    >>> data.x.shape[1], data.t.shape, data.labels
    (4, (1, 4), ('L0', 'L1', 'L2'))
    """
    limit = int(rng.integers(min(FEWEST, most), most + 1))  # the study had several
    rows = int(rng.integers(least, max(least, limit) + 1))
    numbers = rng.uniform(LOW, HIGH, (rows + cases, ATTRIBUTES))
    y = np.array(labels)[rng.integers(len(labels), size=rows)]
    numbers.flags.writeable = False  # a relation that writes on its data would spoil them for others
    if not framed:
        return Training(numbers[:rows], y, numbers[rows:], labels)
    import pandas as pd

    names = [f"a{place}" for place in range(ATTRIBUTES)]
    x, t = (pd.DataFrame(part, columns=names) for part in (numbers[:rows], numbers[rows:]))
    return Training(x, y, t, labels)


def parts_of(data: Any, target: str | None, rows: int = ROWS) -> Draw:
    """Return what draws training sets and cases from labelled data; `rows` of it at least, or half of them."""
    if not hasattr(data, "columns") or target is None:
        raise ArgumentError(
            "A relation about learning needs labelled data: give a frame, and target= to name the column of its labels."
        )
    if target not in data.columns:
        raise DataError(f"The target column {target!r} is not in the data. {did_you_mean(target, data.columns)}")
    whole_number("rows", "check", rows, 1)
    known = data[data[target].notna()]
    x, y = known.drop(columns=[target]).reset_index(drop=True), known[target].to_numpy()
    if len(x) < 2:
        raise DataError(
            f"A learner needs rows to learn from and a case to label. The data have {plural(len(x), 'row')} with a label."
        )

    def part(rng: np.random.Generator, cases: int) -> Training:
        order = rng.permutation(len(x))
        tested = order[: min(cases, len(x) // 2)]
        learnt = order[len(tested) : len(tested) + max(rows, len(x) // 2)]
        return Training(x.iloc[learnt].reset_index(drop=True), y[learnt], x.iloc[tested].reset_index(drop=True))

    return part
