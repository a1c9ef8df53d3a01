"""Two systems as one, to find out where their answers differ."""

from __future__ import annotations

import numpy as np

from ..space.labels import to_object_array
from ..space.outputs import Outputs, Status
from ..space.points import Batch
from .base import Executor, ScoreRequest
from .learner import Learner
from .training import TrainingBatch


class LearnerPair(Executor):
    """Two learners as one system: the second is trained on data marked (`Training.for_second`)."""

    def __init__(self, first: Learner, second: Learner) -> None:
        self.first, self.second = first, second
        self.name, self.score_kind, self.batch_rows = first.name, first.score_kind, first.batch_rows

    def answer(self, batch: TrainingBatch, scores: ScoreRequest) -> Outputs:  # type: ignore[override]
        """Return the answers of the learner that is trained on each row's data."""
        for_second = np.array([training.for_second for training in batch.trainings], dtype=bool)[batch.training_index]
        places = [np.flatnonzero(~for_second), np.flatnonzero(for_second)]
        parts = [
            system.execute(batch.take(rows), scores=scores)
            for system, rows in zip((self.first, self.second), places, strict=True)
        ]
        if not all(map(len, parts)):
            return max(parts, key=len)
        return Outputs.concat(parts).take(np.argsort(np.concatenate(places)))


class ModelPair(Executor):
    """Two models as one system whose answer to a case is the pair of their answers."""

    def __init__(self, first: Executor, second: Executor) -> None:
        self.first, self.second = first, second
        self.name, self.space, self.batch_rows = first.name, first.space, first.batch_rows

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Return pairs of answers; there is none where one of the models has none."""
        first, second = self.first.execute(batch), self.second.execute(batch)
        values = to_object_array(list(zip(first.values.tolist(), second.values.tolist(), strict=True)))
        status = np.where(first.ok & second.ok, Status.OK, Status.ERROR).astype(np.int8)
        return Outputs(values, status, None, {**second.messages, **first.messages})
