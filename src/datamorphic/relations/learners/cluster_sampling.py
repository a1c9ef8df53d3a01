"""Samplers of rows to cluster: random groups, or parts of the user's data."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._text import pluralise
from ..._typing import LearnerLike, ModelLike
from ..._validation import validate_integer
from ...errors import ArgumentError, DataError
from ...systems.clusterer import find_cluster_count, find_length
from ...systems.training import Floats, Training
from .sampling import MAX_TRAINING_ROWS, TrainingSampler

DEFAULT_GROUPS, MAX_GROUPS = 3, 12  # without a number of clusters, and at most
MIN_ROWS, MIN_GROUP_ROWS = 20, 6
MIN_FEATURES, MAX_FEATURES = 2, 4
MIN_GROUP_DISTANCE, MAX_GROUP_DISTANCE = 6.0, 12.0  # between centres, in standard deviations of the widest group
MAX_STRAY_ROWS = 3  # in no group, for clusterers that look for any number of clusters
SPREAD_PER_LENGTH = 0.4  # the standard deviation of a group, in units of a distance such as DBSCAN's eps
MAX_DATA_ROWS = 500  # of a part of the user's data


def make_training(learner: LearnerLike | ModelLike, x: Any) -> Training:
    """Return rows as training data for a clusterer: without labels, declared are as many as the clusters it looks for."""
    count = find_cluster_count(learner)
    labels = None if count is None else tuple(range(count[1]))
    return Training(x, np.zeros(x.shape[0], dtype=np.int64), x[:1], labels)


def make_cluster_sampler(
    learner: LearnerLike | ModelLike, max_rows: int = MAX_TRAINING_ROWS, *, framed: bool = False
) -> TrainingSampler:
    """Return a sampler of random groups of rows, as many as the clusterer looks for."""
    return partial(_draw_random_groups, learner=learner, max_rows=max_rows, framed=framed)


def _draw_random_groups(
    rng: np.random.Generator, cases: int = 1, *, learner: LearnerLike | ModelLike, max_rows: int, framed: bool
) -> Training:
    count = find_cluster_count(learner)
    groups = DEFAULT_GROUPS if count is None else min(count[1], MAX_GROUPS)
    length = find_length(learner)
    spread = rng.uniform(0.5, 2) if length is None else SPREAD_PER_LENGTH * length
    features = int(rng.integers(MIN_FEATURES, MAX_FEATURES + 1))
    least = max(MIN_ROWS, groups * MIN_GROUP_ROWS)
    rows = int(rng.integers(least, max(least, max_rows) + 1))
    # every group has its least number of rows, and the others belong to any group
    group_of_row = np.concatenate(
        [np.repeat(np.arange(groups), MIN_GROUP_ROWS), rng.integers(groups, size=rows - groups * MIN_GROUP_ROWS)]
    )
    spreads = spread * rng.uniform(0.5, 1, groups)
    centres = _draw_centres(rng, groups, features, spread * rng.uniform(MIN_GROUP_DISTANCE, MAX_GROUP_DISTANCE))
    numbers = centres[group_of_row] + spreads[group_of_row, None] * rng.normal(size=(rows, features))
    if count is None:
        strays = rng.uniform(numbers.min(axis=0), numbers.max(axis=0), (rng.integers(MAX_STRAY_ROWS + 1), features))
        numbers = np.concatenate([numbers, strays])
    numbers = numbers[rng.permutation(len(numbers))]
    numbers.flags.writeable = False
    if not framed:
        return make_training(learner, numbers)
    return make_training(learner, pd.DataFrame(numbers, columns=[f"a{place}" for place in range(features)]))


def _draw_centres(rng: np.random.Generator, count: int, features: int, distance: float) -> Floats:
    """Return points with at least a distance between each two."""
    side = 2 * distance * count ** (1 / features)
    centres = rng.uniform(-side, side, (1, features))
    while len(centres) < count:
        point = rng.uniform(-side, side, features)
        if np.linalg.norm(centres - point, axis=1).min() >= distance:
            centres = np.vstack([centres, point])
    return centres


def describe_random_groups(learner: LearnerLike | ModelLike, max_rows: int) -> str:
    """Return what a sampler of random groups draws."""
    count = find_cluster_count(learner)
    groups = DEFAULT_GROUPS if count is None else min(count[1], MAX_GROUPS)
    least = max(MIN_ROWS, groups * MIN_GROUP_ROWS)
    return (
        f"random data: {least} to {pluralise(max(least, max_rows), 'row')} of {MIN_FEATURES} to {MAX_FEATURES} numbers, in "
        f"{pluralise(groups, 'group')} far from each other"
    )


def make_rows_sampler(
    learner: LearnerLike | ModelLike, data: object, target: str | None, rows: int = MAX_TRAINING_ROWS
) -> TrainingSampler:
    """Return a sampler of parts of data, of at least `rows` rows or half the data; a target column is left out."""
    if not isinstance(data, pd.DataFrame):
        raise ArgumentError("A relation of clusterers needs a frame of rows, or data='random'.")
    validate_integer("rows", "check", rows, 1)
    x = data if target is None else data.drop(columns=[target])
    if len(x) < 2 or not x.shape[1]:
        raise DataError(f"A clusterer needs rows to group. The data have {pluralise(len(x), 'row')}.")

    def draw_part(rng: np.random.Generator, cases: int) -> Training:
        size = max(rows, min(len(x) // 2, MAX_DATA_ROWS))
        return make_training(learner, x.iloc[rng.permutation(len(x))[:size]].reset_index(drop=True))

    return draw_part
