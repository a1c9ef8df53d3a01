"""The relations of clusterers, by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._lazy import pd
from ..._text import pluralise
from ..._typing import SupportsFit
from ...space.partition import RowPartition
from ...systems.clusterer import find_cluster_count
from ...systems.training import Places, Training
from .base import Rng, SameClusters, TrainingChange, compute_widths, name_relations, shuffle_positions
from .sklearn import FittedToOtherData, GivenAsFrames, Refit, SparseMatrix
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


class _EqualRows(TrainingChange):
    """Some rows twice; the follow-up data are the same, since one fit shows whether equal rows are together."""

    clause = "rows that are equal"
    needs = ("there are as many different rows as clusters to find",)

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        count = find_cluster_count(learner)
        wanted = 0 if count is None else len(data.labels) if data.labels is not None else count[1]
        return "there are fewer different rows than clusters" if _count_distinct_rows(data) < wanted else ""

    def source(self, data: Training, rng: Rng) -> Training:
        return data.rows(np.concatenate([np.arange(len(data.y)), rng.integers(len(data.y), size=len(data.y))]))

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training:
        return data


class _OnePlace(_EqualRows):
    """All rows at one place."""

    clause = "all rows are equal"
    needs = ("the number of clusters is not given",)
    any_data = True

    def find_obstacle(self, learner: SupportsFit, data: Training) -> str:
        return "the number of clusters is given" if find_cluster_count(learner) else ""

    def source(self, data: Training, rng: Rng) -> Training:
        return data.rows(np.zeros(len(data.y), dtype=np.intp))


class _OneCluster(SameClusters):
    clause = "one cluster for all of them"

    def expected(self, partition: RowPartition, data: Training, made: Training) -> RowPartition:
        groups = pd.DataFrame(data.x).groupby(list(pd.DataFrame(data.x)), dropna=False, sort=False).ngroup().to_numpy()
        _, first_rows = np.unique(groups, return_index=True)
        return RowPartition(partition.array[first_rows[groups]])


class _PlainRows(TrainingChange):
    """Rows as they are, and rows from which there is little to learn: equal ones, a single feature, a single row."""

    clause = "any rows that the learner accepts, equal ones and a single feature among them"
    any_data = True
    firm = False

    def source(self, data: Training, rng: Rng) -> Training:
        form = rng.integers(5)
        if form == 0:
            return data.attributes([0])
        if form == 1:  # two different rows
            return data.rows(rng.integers(min(2, len(data.y)), size=len(data.y)))
        if form == 2:
            return data.rows(np.repeat(np.arange(len(data.y)), 3))
        return data.rows(np.arange(1)) if form == 3 and rng.random() < 0.2 else data

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training:
        return data


class _AnyClusters(SameClusters):
    clause = "clusters"
    any_answer = True


def _count_distinct_rows(data: Training) -> int:
    return int((~pd.DataFrame(data.x).duplicated()).sum())


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
        "fitted to other rows": FittedToOtherData() >> SameClusters(),
        "rows in frames": GivenAsFrames() >> SameClusters(),
        "sparse rows": SparseMatrix() >> _AnyClusters(),
        "equal rows": _EqualRows() >> _OneCluster(),
        "one place": _OnePlace() >> _OneCluster(),
        "rows answered": _PlainRows() >> _AnyClusters(),
        "row on its centre": _RowOnCentre() >> SameClusters(),
        "far cluster": _FarCluster() >> _CopyIsCluster(),
    }
)
