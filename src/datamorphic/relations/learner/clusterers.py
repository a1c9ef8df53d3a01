"""The relations of clusterers, by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._text import pluralize
from ..._typing import SupportsFit
from ...space.partition import RowPartition
from ...systems.training import Places, Training
from .base import ClusterRelation, Rng, compute_widths, shuffle_positions

MAX_SCALE_EXPONENT = 6
FAR_WIDTHS = 4  # how far the copy of a cluster is moved, in widths of each feature


class _FittedAgain(ClusterRelation):
    name = "fitted again"
    statement = "fitted again to the same rows, with the same random_state: the same clusters"
    firm = False
    seeded = False

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training:
        return data


class _RowsReordered(ClusterRelation):
    name = "rows reordered"
    statement = "the rows in another order: the same clusters"

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training:
        # the labels, which a clusterer does not see, carry the old positions of the rows
        return replace(data, y=np.arange(len(data.y))).rows(shuffle_positions(len(data.y), rng))

    def expected(self, partition: RowPartition, data: Training, made: Training) -> RowPartition:
        return RowPartition(partition.array[made.y])


class _RowsDoubled(ClusterRelation):
    name = "rows doubled"
    statement = "every row twice: the same clusters"

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training:
        return data.rows(np.tile(np.arange(len(data.y)), 2))

    def expected(self, partition: RowPartition, data: Training, made: Training) -> RowPartition:
        return RowPartition(np.tile(partition.array, 2))


class _NumericRelation(ClusterRelation):
    needs = ("all features are numbers",)

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        return "" if len(data.numeric) == data.x.shape[1] else "some features are not numbers"


class _AllScaled(_NumericRelation):
    name = "all features scaled"
    statement = "all numbers multiplied by the same power of two: the same clusters"

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training:
        # a power of two causes no rounding errors, which could break ties
        exponent = rng.integers(1, MAX_SCALE_EXPONENT + 1) * rng.choice([-1, 1])
        return data.with_numbers(data.numbers * 2.0**exponent)

    def change(self, data: Training, made: Training) -> str:
        place = np.unravel_index(np.nanargmax(np.abs(data.numbers)), data.numbers.shape)
        return f"all numbers multiplied by {made.numbers[place] / data.numbers[place]:g}"


class _AllShifted(_NumericRelation):
    name = "all features shifted"
    statement = "a number added to each feature, the same in all rows: the same clusters"

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training:
        return data.with_numbers(data.numbers + compute_widths(data) * rng.uniform(-1, 1, data.numbers.shape[1]))

    def change(self, data: Training, made: Training) -> str:
        shifts = ", ".join(f"{shift:+.6g}" for shift in (made.numbers - data.numbers)[0])
        return f"the features shifted by {shifts}"


class _FeaturesReordered(ClusterRelation):
    name = "features reordered"
    statement = "the features in another order: the same clusters"
    needs = ("there are at least two features",)

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        return "" if data.x.shape[1] > 1 else "there is only one feature"

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training:
        return data.attributes(shuffle_positions(data.x.shape[1], rng))


class _ConstantFeature(ClusterRelation):
    name = "constant feature"
    statement = "one more feature at the end, with the same value everywhere: the same clusters"

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training:
        numbers = data.numbers[np.isfinite(data.numbers)]  # a number that occurs has the right magnitude
        return data.with_attribute(float(rng.choice(numbers)) if len(numbers) else 1.0, name="constant")


class _RowOnCentre(_NumericRelation):
    name = "row on its centre"
    statement = "one row moved onto the mean of its cluster: the same clusters"

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training | None:
        rows = _draw_cluster(partition, rng)
        if rows is None:
            return None
        numbers = data.numbers.copy()
        numbers[rng.choice(rows)] = numbers[rows].mean(axis=0)
        return data.with_numbers(numbers)

    def change(self, data: Training, made: Training) -> str:
        rows = np.flatnonzero((data.numbers != made.numbers).any(axis=1))
        return f"row {rows[0]} moved onto the mean of its cluster" if len(rows) else ""


class _FarCluster(_NumericRelation):
    name = "far cluster"
    statement = "a copy of one cluster, moved far away, and one more cluster to find: the same clusters and the copy"

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training | None:
        rows = _draw_cluster(partition, rng)
        if rows is None:
            return None
        directions = rng.choice([-1, 1], size=data.numbers.shape[1])
        copy = data.with_numbers(data.numbers + FAR_WIDTHS * compute_widths(data) * directions).rows(rows)
        far = data.appended(copy.x, copy.y)
        return far if data.labels is None else replace(far, labels=tuple(range(len(data.labels) + 1)))

    def expected(self, partition: RowPartition, data: Training, made: Training) -> RowPartition:
        copies = len(made.y) - len(data.y)
        return RowPartition([*partition.labels, *[len(partition.sizes)] * copies])

    def change(self, data: Training, made: Training) -> str:
        copies = len(made.y) - len(data.y)
        return f"a copy of a cluster of {pluralize(copies, 'row')}, moved far away, at the end of the rows"


def _draw_cluster(partition: RowPartition, rng: Rng) -> Places | None:
    """Return the rows of a cluster of at least two; None if there is none."""
    clusters = [label for label, size in enumerate(partition.sizes) if size > 1]
    return np.flatnonzero(partition.array == rng.choice(clusters)) if clusters else None


_KINDS = (
    _FittedAgain,
    _RowsReordered,
    _RowsDoubled,
    _AllScaled,
    _AllShifted,
    _FeaturesReordered,
    _ConstantFeature,
    _RowOnCentre,
    _FarCluster,
)
CLUSTER_RELATIONS: dict[str, ClusterRelation] = {kind.name: kind() for kind in _KINDS}
