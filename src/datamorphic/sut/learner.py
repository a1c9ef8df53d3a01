"""`Learner`: a system under test that is trained first. What it is asked are cases with the data to learn them from."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np

from .._checks import redacted, reject
from ..errors import ModelError, told
from ..outputs import Outputs, Status
from .answers import as_outputs
from .base import Executor, Wanted
from .estimator import Estimator
from .training import Array, Floats, Training, Trainings

FAILURES = (Exception, SystemExit)  # what a learner may raise without ending the run


class Learner(Executor):
    """A learner as a system: training data and a test case in, a label out.

    For each training set of a batch a copy of the learner is fitted, and labels its cases. Parameters named
    ``random_state`` that are None get one number, the same for all fits. What it raises becomes the status of the cases
    it was to label; in a process whose memory is `limited`, running out of it ends the run.

    Scores have a column for each declared label of the training data, NaN where the learner has none for it.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> data = Training(np.array([[1.0], [2.0], [8.0]]), np.array(["low", "low", "high"]), np.array([[3.0], [7.0]]))
    >>> Learner(KNeighborsClassifier(1)).execute(data).values.tolist()
    ['low', 'high']
    """

    score_kind = "probability"
    batch_rows = 50  # each may take a fit

    def __init__(self, learner: Any, *, seed: int = 0, name: str | None = None, limited: bool = False) -> None:
        if isinstance(learner, type) or not (hasattr(learner, "fit") and hasattr(learner, "predict")):
            reject("learner", "Learner", "an object with fit and predict", learner)
        self.learner, self.seed, self.limited = learner, seed, limited
        self.name = name or learner_text(learner)
        self._settled: Any = None  # a copy in which nothing is left to chance, of which copies are fitted

    def batch(self, data: Any) -> Any:
        """Return data as a batch: one training set, or many."""
        return Trainings([data]) if isinstance(data, Training) else data

    def answer(self, batch: Any, scores: Wanted) -> Outputs:
        """Fit a copy for each training set, and label its cases."""
        values = np.full(len(batch), None, dtype=object)
        status = np.zeros(len(batch), dtype=np.int8)
        table = np.full((len(batch), batch.width), np.nan) if scores else None
        messages: dict[int, str] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self._settled is None:
                self._settled = self._copied()
            for training, rows in batch.parts():
                try:
                    model = fitted(self._settled, training)
                    outputs = _outputs(model.predict(copied(training.t)), len(rows))
                except FAILURES as error:
                    if self.limited and isinstance(error, MemoryError):
                        raise
                    status[rows] = Status.ERROR
                    messages |= dict.fromkeys(rows.tolist(), redacted(told(error)))
                    continue
                values[rows], status[rows] = outputs.values, outputs.status
                messages |= {int(rows[row]): text for row, text in outputs.messages.items()}
                if table is not None:
                    found = scores_of(model, training)
                    if found is not None:
                        table[rows, : found.shape[1]] = found
        return Outputs(values, status, table, messages)

    def _copied(self) -> Any:
        try:
            return settled(self.learner, self.seed)
        except FAILURES as error:
            raise ModelError(
                f"{self.name} cannot be copied, and each training needs a copy of its own: {told(error)}. Its constructor "
                "must keep its parameters as they are given, or the object allow copy.deepcopy."
            ) from error

    def fit(self, x: Any, y: Any) -> Executor:
        """Return the learner, fitted, as a system that predicts."""
        return Estimator(self._copied().fit(x, y), name=self.name)


def _outputs(answer: Any, rows: int) -> Outputs:
    """Return answers as outputs; in texts and whole numbers there is nothing to look for."""
    if isinstance(answer, np.ndarray) and answer.shape == (rows,) and answer.dtype.kind in "Uiu":
        return Outputs.of(answer)
    return as_outputs(answer, rows)


def fitted(learner: Any, data: Training) -> Any:
    """Return a copy of a learner, fitted; what it raises is raised."""
    model = _copy(learner)
    more: dict[str, Any] = {}
    if data.weights is not None:
        more["sample_weight"] = data.weights.copy()
    if data.labels is not None and "classes" in fit_takes(type(learner)):  # type: ignore[arg-type]
        more["classes"] = list(data.labels)
    model.fit(copied(data.x), data.y.copy(), **more)
    return model


def scores_of(model: Any, data: Training) -> Floats | None:
    """Return a fitted learner's scores of the test cases, a column a declared label; None where it has none."""
    score = getattr(model, "predict_proba", None) or getattr(model, "decision_function", None)
    classes = list(getattr(model, "classes_", ()))
    if score is None or not classes:
        return None
    with suppress(*FAILURES):  # labels are answers without scores, too
        found = np.asarray(score(copied(data.t)), dtype=np.float64)
        found = np.column_stack([-found, found]) if found.ndim == 1 else found
        if found.shape == (len(data), len(classes)):
            return aligned(found, classes, data.declared)
    return None


def aligned(scores: Floats, classes: Any, wanted: Any) -> Floats:
    """Return scores with a column for each class that is wanted; NaN where it has none."""
    place = {label: column for column, label in enumerate(classes)}
    columns = np.array([place.get(label, -1) for label in wanted], dtype=np.intp)
    return np.where(columns < 0, np.nan, scores[:, columns])


def copied(table: Any) -> Any:
    """Return a copy: some learners write on what they are given."""
    return table.copy()


def _copy(learner: Any) -> Any:
    """Return an unfitted copy."""
    if not hasattr(learner, "get_params"):
        return copy.deepcopy(learner)
    from sklearn.base import clone

    return clone(learner)


def settled(learner: Any, seed: int) -> Any:
    """Return an unfitted copy in which nothing is left to chance."""
    model = _copy(learner)
    if loose := [name for name, value in deep(model).items() if name.endswith("random_state") and value is None]:
        model.set_params(**dict.fromkeys(loose, seed))
    return model


def deep(learner: Any) -> Mapping[str, Any]:
    """Return all parameters of a learner and of its parts; none where it has none to tell."""
    with suppress(*FAILURES):
        told: Mapping[str, Any] = learner.get_params(deep=True)
        return told
    return {}


def parameters(learner: Any, name: str) -> list[Any]:
    """Return the values of all parameters of a name, of the learner and of its parts."""
    return [value for key, value in deep(learner).items() if key.rpartition("__")[2] == name]


@lru_cache(maxsize=256)
def fit_takes(kind: type[Any]) -> tuple[str, ...]:
    """Return the parameters that a class's ``fit`` takes."""
    with suppress(TypeError, ValueError):
        return tuple(inspect.signature(kind.fit).parameters)
    return ()


def takes_weights(learner: Any) -> bool:
    """Tell whether rows can be given weights."""
    with suppress(Exception):  # a pipeline passes them on under another name, and says so in its own way
        from sklearn.utils.validation import has_fit_parameter

        return bool(has_fit_parameter(learner, "sample_weight"))
    return False


def is_regressor(learner: Any, y: Array | None = None) -> bool:
    """Tell whether a learner says that it is a regressor, or learns numbers that are not whole."""
    from sklearn import base

    with suppress(AttributeError, TypeError):  # not of scikit-learn's kin
        if base.is_regressor(learner):
            return True
    return y is not None and y.dtype.kind == "f" and bool((y % 1 > 0).any())


def learner_text(learner: Any) -> str:
    """Return a learner as its author would write it, on one line, the same in every process; or else its type's name."""
    try:
        text = " ".join(repr(learner).split())
    except Exception:  # it has a name whatever it says of itself
        text = ""
    lasting = " at 0x" not in text  # no place in memory, which is another the next time
    return text if 0 < len(text) <= 80 and lasting else type(learner).__name__
