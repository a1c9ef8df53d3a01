"""The relations of clusterers, by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._text import pluralise
from ..._typing import SupportsFit
from ...space.partition import RowPartition
from ...systems.training import Places, Training
from .base import Rng, SameClusters, TrainingChange, compute_widths, name_relations, shuffle_positions
from .sklearn import Refit
from .xie import ConstantAttribute, PermutedAttributes

MAX_SCALE_EXPONENT = 6
FAR_WIDTHS = 4  # how far the copy of a cluster is moved, in widths of each feature


class _RowsReordered(TrainingChange):
    clause = "the rows in another order"

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training:
        # the labels, which a clusterer does not see, carry the old positions of the rows
        return replace(data, y=np.arange(len(data.y))).rows(shuffle_positions(len(data.y), rng))


class _RowsKeepClusters(SameClusters):
    def expected(self, partition: RowPartition, data: Training, made: Training) -> RowPartition:
        return RowPartition(partition.array[made.y])


class _RowsDoubled(TrainingChange):
    clause = "every row twice"

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training:
        return data.rows(np.tile(np.arange(len(data.y)), 2))


class _CopiesKeepClusters(SameClusters):
    def expected(self, partition: RowPartition, data: Training, made: Training) -> RowPartition:
        return RowPartition(np.tile(partition.array, 2))


class _NumericChange(TrainingChange):
    needs = ("all features are numbers",)

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        return "" if len(data.numeric) == data.x.shape[1] else "some features are not numbers"


class _AllScaled(_NumericChange):
    clause = "all numbers multiplied by the same power of two"

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training:
        # a power of two causes no rounding errors, which could break ties
        exponent = rng.integers(1, MAX_SCALE_EXPONENT + 1) * rng.choice([-1, 1])
        return data.with_numbers(data.numbers * 2.0**exponent)

    def change(self, data: Training, made: Training) -> str:
        place = np.unravel_index(np.nanargmax(np.abs(data.numbers)), data.numbers.shape)
        return f"all numbers multiplied by {made.numbers[place] / data.numbers[place]:g}"


class _AllShifted(_NumericChange):
    clause = "a number added to each feature, the same in all rows"

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training:
        return data.with_numbers(data.numbers + compute_widths(data) * rng.uniform(-1, 1, data.numbers.shape[1]))

    def change(self, data: Training, made: Training) -> str:
        shifts = ", ".join(f"{shift:+.6g}" for shift in (made.numbers - data.numbers)[0])
        return f"the features shifted by {shifts}"


class _PermutedFeatures(PermutedAttributes):
    clause = "the features in another order"
    needs = ("there are at least two features",)
    noun = "feature"


class _ConstantFeature(ConstantAttribute):
    clause = "one more feature at the end, with the same value everywhere"


class _FittedAgain(Refit):
    clause = "fitted again to the same rows, with the same random_state"


class _RowOnCentre(_NumericChange):
    clause = "one row moved onto the mean of its cluster"

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


class _FarCluster(_NumericChange):
    clause = "a copy of one cluster, moved far away, and one more cluster to find"

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training | None:
        rows = _draw_cluster(partition, rng)
        if rows is None:
            return None
        directions = rng.choice([-1, 1], size=data.numbers.shape[1])
        copy = data.with_numbers(data.numbers + FAR_WIDTHS * compute_widths(data) * directions).rows(rows)
        far = data.appended(copy.x, copy.y)
        return far if data.labels is None else replace(far, labels=tuple(range(len(data.labels) + 1)))

    def change(self, data: Training, made: Training) -> str:
        copies = len(made.y) - len(data.y)
        return f"a copy of a cluster of {pluralise(copies, 'row')}, moved far away, at the end of the rows"


class _CopyIsCluster(SameClusters):
    clause = "the same clusters and the copy"

    def expected(self, partition: RowPartition, data: Training, made: Training) -> RowPartition:
        copies = len(made.y) - len(data.y)
        return RowPartition([*partition.labels, *[len(partition.sizes)] * copies])


def _draw_cluster(partition: RowPartition, rng: Rng) -> Places | None:
    """Return the rows of a cluster of at least two; None if there is none."""
    clusters = [label for label, size in enumerate(partition.sizes) if size > 1]
    return np.flatnonzero(partition.array == rng.choice(clusters)) if clusters else None


CLUSTER_RELATIONS = name_relations(
    {
        "fitted again": _FittedAgain() >> SameClusters(),
        "rows reordered": _RowsReordered() >> _RowsKeepClusters(),
        "rows doubled": _RowsDoubled() >> _CopiesKeepClusters(),
        "all features scaled": _AllScaled() >> SameClusters(),
        "all features shifted": _AllShifted() >> SameClusters(),
        "features reordered": _PermutedFeatures() >> SameClusters(),
        "constant feature": _ConstantFeature() >> SameClusters(),
        "row on its centre": _RowOnCentre() >> SameClusters(),
        "far cluster": _FarCluster() >> _CopyIsCluster(),
    }
)
