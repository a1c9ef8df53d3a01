"""Training sets to try a learner on: random ones as in the study, or parts of labelled data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._text import pluralize, suggest_name
from ..._validation import validate_integer
from ...errors import ArgumentError, DataError
from ...systems.training import Training

TrainingSampler = Callable[[np.random.Generator, int], Training]  # with so many test cases, at most
RANDOM_LABELS = ("L0", "L1", "L2")
RANDOM_ATTRIBUTE_COUNT = 4
RANDOM_VALUE_LOW, RANDOM_VALUE_HIGH = 1.0, 20.0
MIN_ROW_LIMIT, MAX_TRAINING_ROWS = 20, 50  # of a training set at most: as in the study of the relations, and quick


def draw_random_training(
    rng: np.random.Generator,
    cases: int = 1,
    *,
    min_rows: int = 1,
    max_rows: int = MAX_TRAINING_ROWS,
    labels: tuple[Any, ...] = RANDOM_LABELS,
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
    limit = int(rng.integers(min(MIN_ROW_LIMIT, max_rows), max_rows + 1))  # the study had several
    rows = int(rng.integers(min_rows, max(min_rows, limit) + 1))
    numbers = rng.uniform(RANDOM_VALUE_LOW, RANDOM_VALUE_HIGH, (rows + cases, RANDOM_ATTRIBUTE_COUNT))
    y = np.array(labels)[rng.integers(len(labels), size=rows)]
    numbers.flags.writeable = False  # a relation that writes on its data would spoil them for others
    if not framed:
        return Training(numbers[:rows], y, numbers[rows:], labels)
    import pandas as pd

    names = [f"a{place}" for place in range(RANDOM_ATTRIBUTE_COUNT)]
    x, t = (pd.DataFrame(part, columns=names) for part in (numbers[:rows], numbers[rows:]))
    return Training(x, y, t, labels)


def make_data_sampler(data: Any, target: str | None, rows: int = MAX_TRAINING_ROWS) -> TrainingSampler:
    """Return what draws training sets and cases from labelled data; `rows` of it at least, or half of them."""
    if not hasattr(data, "columns") or target is None:
        raise ArgumentError(
            "A relation about learning needs labelled data: give a frame, and target= to name the column of its labels."
        )
    if target not in data.columns:
        raise DataError(f"The target column {target!r} is not in the data. {suggest_name(target, data.columns)}")
    validate_integer("rows", "check", rows, 1)
    labelled_rows = data[data[target].notna()]
    x, y = labelled_rows.drop(columns=[target]).reset_index(drop=True), labelled_rows[target].to_numpy()
    if len(x) < 2:
        raise DataError(
            f"A learner needs rows to learn from and a case to label. The data have {pluralize(len(x), 'row')} with a label."
        )

    def draw_part(rng: np.random.Generator, cases: int) -> Training:
        order = rng.permutation(len(x))
        case_rows = order[: min(cases, len(x) // 2)]
        training_rows = order[len(case_rows) : len(case_rows) + max(rows, len(x) // 2)]
        return Training(
            x.iloc[training_rows].reset_index(drop=True),
            y[training_rows],
            x.iloc[case_rows].reset_index(drop=True),
        )

    return draw_part
