"""Samplers of training sets: random ones, or parts of labelled data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._text import pluralise, suggest_name
from ..._validation import validate_integer
from ...errors import ArgumentError, DataError
from ...systems.training import Training

TrainingSampler = Callable[[np.random.Generator, int], Training]  # a generator, and the maximum number of cases
RANDOM_DATA, MIXED_DATA = "random", "mixed"  # as in Xie et al. (2011), and of many kinds
CASES_PER_TRAINING_SET = 20  # drawn from the user's data; a random training set has one case
RANDOM_LABELS = ("L0", "L1", "L2")
RANDOM_ATTRIBUTE_COUNT = 4
RANDOM_VALUE_LOW, RANDOM_VALUE_HIGH = 1.0, 20.0
MIN_ROW_LIMIT, MAX_TRAINING_ROWS = 20, 50  # the maximum number of rows is drawn between these (Xie et al. 2011)


def is_random(data: object) -> bool:
    """Return whether a user asks for random data."""
    return isinstance(data, str) and data in (RANDOM_DATA, MIXED_DATA)


def draw_random_training(
    rng: np.random.Generator,
    cases: int = 1,
    *,
    min_rows: int = 1,
    max_rows: int = MAX_TRAINING_ROWS,
    labels: tuple[Any, ...] = RANDOM_LABELS,
    framed: bool = False,
) -> Training:
    """Return random data as in Xie et al. (2011).

    The labels L0, L1 and L2 are random. All of them are declared, even if they do not occur: how a learner treats a
    missing label explains several published violations. The rows are arrays, which is faster, or frames if `framed`.
    """
    limit = int(rng.integers(min(MIN_ROW_LIMIT, max_rows), max_rows + 1))
    rows = int(rng.integers(min_rows, max(min_rows, limit) + 1))
    numbers = rng.uniform(RANDOM_VALUE_LOW, RANDOM_VALUE_HIGH, (rows + cases, RANDOM_ATTRIBUTE_COUNT))
    y = np.array(labels)[rng.integers(len(labels), size=rows)]
    numbers.flags.writeable = False  # a relation that writes to its data would change them for other relations
    if not framed:
        return Training(numbers[:rows], y, numbers[rows:], labels)
    names = [f"a{place}" for place in range(RANDOM_ATTRIBUTE_COUNT)]
    x, t = (pd.DataFrame(part, columns=names) for part in (numbers[:rows], numbers[rows:]))
    return Training(x, y, t, labels)


def describe_random_data(max_rows: int) -> str:
    """Return what `draw_random_training` draws."""
    return (
        f"random data: up to {pluralise(max_rows, 'training row')} of {RANDOM_ATTRIBUTE_COUNT} numbers from "
        f"{RANDOM_VALUE_LOW:g} to {RANDOM_VALUE_HIGH:g}, random labels {', '.join(RANDOM_LABELS)}, one case each"
    )


def make_data_sampler(data: object, target: str | None, rows: int = MAX_TRAINING_ROWS) -> TrainingSampler:
    """Return a sampler of training sets of at least `rows` rows, or half the data."""
    if not isinstance(data, pd.DataFrame) or target is None:
        raise ArgumentError(
            "A relation of learners needs labelled data. Give a frame, and the column of its labels as target=."
        )
    if target not in data.columns:
        raise DataError(f"The data have no target column {target!r}. {suggest_name(target, data.columns)}")
    validate_integer("rows", "check", rows, 1)
    labelled_rows = data[data[target].notna()]
    x, y = labelled_rows.drop(columns=[target]).reset_index(drop=True), labelled_rows[target].to_numpy()
    if len(x) < 2:
        raise DataError(
            f"A learner needs rows to learn from and a case to label. The data have {pluralise(len(x), 'row')} with a label."
        )

    def draw_part(rng: np.random.Generator, cases: int) -> Training:
        order = rng.permutation(len(x))
        case_rows = order[: min(cases, len(x) // 2)]
        training_rows = order[len(case_rows) : len(case_rows) + max(rows, len(x) // 2)]
        rows_x, cases_x = (x.iloc[part].reset_index(drop=True) for part in (training_rows, case_rows))
        return Training(rows_x, y[training_rows], cases_x)

    return draw_part
