"""The source of training sets for relations of clusterers."""

from __future__ import annotations

from ..._typing import LearnerLike, ModelLike
from ..learner.sampling import CASES_PER_TRAINING_SET, is_random
from ..learner.waves import TrainingSource
from .sampling import make_cluster_sampler, make_rows_sampler


def make_cluster_source(
    learner: LearnerLike | ModelLike, data: object, target: str | None, rows: int, count: int, seed: int
) -> TrainingSource:
    """Return the source of random groups, or of parts of data; a part counts as much as the cases of a training set."""
    if is_random(data):
        return TrainingSource(make_cluster_sampler(learner, rows), count, 1, seed)
    parts = max(1, count // CASES_PER_TRAINING_SET)
    return TrainingSource(make_rows_sampler(learner, data, target, rows), parts, 1, seed)
