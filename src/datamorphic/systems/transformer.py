"""`Transformer`: a learner whose answer to a test case is the changed row."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .._text import pluralise
from ..errors import ModelError
from ..space.labels import to_object_array
from ..space.outputs import Outputs
from .base import ScoreRequest
from .learner import Learner, check_numbers, fit_copy, query_cases, to_frames
from .training import Training


class Transformer(Learner):
    """A transformer as a system: training data and a test case in, the changed case out, as a tuple of numbers.

    Examples
    --------
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> data = Training(np.array([[1.0], [5.0]]), np.array([0, 1]), np.array([[2.0], [4.0]]))
    >>> Transformer(MinMaxScaler()).execute(data).values.tolist()
    [(0.25,), (0.75,)]
    """

    needed_methods: ClassVar[tuple[str, ...]] = ("fit", "transform")
    trains_together = False
    unfitted_hint = "is a transformer and is not fitted. Fit it first: transformer.fit(X)."

    def _answer_training(self, training: Training, rows: int, as_array: bool, scores: ScoreRequest) -> Outputs:
        """Return the rows that a fitted copy makes of the test cases."""
        if training.query == "as frames":
            training, as_array = to_frames(training), False
        model = fit_copy(self._prototype, training, as_array and hasattr(training.x, "columns"))
        table = query_cases(model.transform, training, as_array and hasattr(training.t, "columns"))
        table = np.asarray(table.toarray() if hasattr(table, "toarray") else table)
        if training.query == "with scores" and not training.has_missing_values:
            check_numbers(table)
        if table.shape[:1] != (rows,):
            raise ModelError(
                f"The transformer made {pluralise(len(table), 'row')} of {pluralise(rows, 'case')}. Return one row per case."
            )
        return Outputs.of(to_object_array([tuple(row) for row in table.reshape(rows, -1).tolist()]))
