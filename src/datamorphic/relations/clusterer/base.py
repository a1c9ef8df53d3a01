"""`ClusterRelation`: rows change in a known way, so clusters do, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...systems.clusterer import RowPartition
from ...systems.training import Array, Training
from ..learner.base import LearnerRelation, Rng


class ClusterRelation(LearnerRelation):
    """A relation of clusterers: a change of the rows and its effect on the clusters.

    To write your own, implement `follow_up`, which makes the follow-up data. Without `expected`, the rows must be grouped as
    before. The numbers of clusters do not matter. Partitions agree if their adjusted Rand index is at least 0.99.

    Attributes
    ----------
    name, statement : str
        The name in reports and in the table of necessary relations, and the relation as "change: consequence".
    seeded : bool
        Whether violations are set aside if the clusters depend on ``random_state``.

    Examples
    --------
    >>> class Backwards(ClusterRelation):
    ...     name = "rows backwards"
    ...     statement = "the rows in reverse order: the same clusters"
    ...
    ...     def follow_up(self, data, partition, rng):
    ...         return data.rows(slice(None, None, -1))
    ...
    ...     def expected(self, partition, data, made):
    ...         return partition.labels[::-1]
    >>> Backwards()
    Backwards('rows backwards')
    """

    domain_noun = "clusterers"
    input_noun = "the input is rows, the output is a partition of them into clusters and noise"
    regressors = True
    scores = False
    labelled = False
    seeded: ClassVar[bool] = True

    def follow_up(self, data: Training, partition: RowPartition, rng: Rng) -> Training | None:
        """Return the follow-up data; `partition` has the cluster of each row. None if it has no suitable cluster."""
        raise NotImplementedError(f"{type(self).__name__} must implement follow_up(), which makes the follow-up data.")

    def expected(self, partition: RowPartition, data: Training, made: Training) -> RowPartition | Sequence[int]:
        """Return the cluster that each row of the follow-up data must have; by default the same as before."""
        return partition

    def are_as_expected(self, answers: Array, expected: Array) -> Array:
        """Return which partitions agree with the expected ones."""
        pairs = zip(answers.tolist(), expected.tolist(), strict=True)
        return np.array([answer is not None and answer.agrees(goal) for answer, goal in pairs], dtype=bool)
