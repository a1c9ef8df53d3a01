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

from .._text import redact
from .._validation import reject
from ..errors import ModelError, format_error_line
from ..space.outputs import Outputs, Status
from .base import Executor, ScoreRequest
from .coerce import to_outputs
from .estimator import Estimator
from .training import Array, Floats, Training, TrainingBatch

LEARNER_ERRORS = (Exception, SystemExit)  # what a learner may raise without ending the run


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
        self.name = name or format_learner(learner)
        self._prototype: Any = None  # a copy in which nothing is left to chance, of which copies are fitted

    def batch(self, data: Any) -> Any:
        """Return data as a batch: one training set, or many."""
        return TrainingBatch([data]) if isinstance(data, Training) else data

    def answer(self, batch: Any, scores: ScoreRequest) -> Outputs:
        """Fit a copy for each training set, and label its cases."""
        values = np.full(len(batch), None, dtype=object)
        status = np.zeros(len(batch), dtype=np.int8)
        table = np.full((len(batch), batch.width), np.nan) if scores else None
        messages: dict[int, str] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self._prototype is None:
                self._prototype = self._make_prototype()
            for training, rows in batch.parts():
                try:
                    model = fit_copy(self._prototype, training)
                    outputs = _to_outputs(model.predict(copy_table(training.t)), len(rows))
                except LEARNER_ERRORS as error:
                    if self.limited and isinstance(error, MemoryError):
                        raise
                    status[rows] = Status.ERROR
                    messages |= dict.fromkeys(rows.tolist(), redact(format_error_line(error)))
                    continue
                values[rows], status[rows] = outputs.values, outputs.status
                messages |= {int(rows[row]): text for row, text in outputs.messages.items()}
                if table is not None:
                    case_scores = compute_scores(model, training)
                    if case_scores is not None:
                        table[rows, : case_scores.shape[1]] = case_scores
        return Outputs(values, status, table, messages)

    def _make_prototype(self) -> Any:
        try:
            return copy_with_seed(self.learner, self.seed)
        except LEARNER_ERRORS as error:
            raise ModelError(
                f"{self.name} cannot be copied, and each training needs a copy of its own: {format_error_line(error)}. Its constructor "
                "must keep its parameters as they are given, or the object allow copy.deepcopy."
            ) from error

    def fit(self, x: Any, y: Any) -> Executor:
        """Return the learner, fitted, as a system that predicts."""
        return Estimator(self._make_prototype().fit(x, y), name=self.name)


def _to_outputs(answer: Any, rows: int) -> Outputs:
    """Return answers as outputs; in texts and whole numbers there is nothing to look for."""
    if isinstance(answer, np.ndarray) and answer.shape == (rows,) and answer.dtype.kind in "Uiu":
        return Outputs.of(answer)
    return to_outputs(answer, rows)


def fit_copy(learner: Any, data: Training) -> Any:
    """Return a copy of a learner, fitted; what it raises is raised."""
    model = _copy_unfitted(learner)
    fit_arguments: dict[str, Any] = {}
    if data.weights is not None:
        fit_arguments["sample_weight"] = data.weights.copy()
    if data.labels is not None and "classes" in list_fit_parameters(type(learner)):  # type: ignore[arg-type]
        fit_arguments["classes"] = list(data.labels)
    model.fit(copy_table(data.x), data.y.copy(), **fit_arguments)
    return model


def compute_scores(model: Any, data: Training) -> Floats | None:
    """Return a fitted learner's scores of the test cases, a column a declared label; None where it has none."""
    score = getattr(model, "predict_proba", None) or getattr(model, "decision_function", None)
    classes = list(getattr(model, "classes_", ()))
    if score is None or not classes:
        return None
    with suppress(*LEARNER_ERRORS):  # labels are answers without scores, too
        scores = np.asarray(score(copy_table(data.t)), dtype=np.float64)
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        if scores.shape == (len(data), len(classes)):
            return align_scores(scores, classes, data.declared)
    return None


def align_scores(scores: Floats, classes: Any, labels: Any) -> Floats:
    """Return scores with a column for each class that is wanted; NaN where it has none."""
    column_of_label = {label: column for column, label in enumerate(classes)}
    columns = np.array([column_of_label.get(label, -1) for label in labels], dtype=np.intp)
    return np.where(columns < 0, np.nan, scores[:, columns])


def copy_table(table: Any) -> Any:
    """Return a copy: some learners write on what they are given."""
    return table.copy()


def _copy_unfitted(learner: Any) -> Any:
    """Return an unfitted copy."""
    if not hasattr(learner, "get_params"):
        return copy.deepcopy(learner)
    from sklearn.base import clone

    return clone(learner)


def copy_with_seed(learner: Any, seed: int) -> Any:
    """Return an unfitted copy in which nothing is left to chance."""
    model = _copy_unfitted(learner)
    if unseeded_names := [
        name for name, value in read_parameters(model).items() if name.endswith("random_state") and value is None
    ]:
        model.set_params(**dict.fromkeys(unseeded_names, seed))
    return model


def read_parameters(learner: Any) -> Mapping[str, Any]:
    """Return all parameters of a learner and of its parts; none where it has none to tell."""
    with suppress(*LEARNER_ERRORS):
        all_parameters: Mapping[str, Any] = learner.get_params(deep=True)
        return all_parameters
    return {}


def find_parameter_values(learner: Any, name: str) -> list[Any]:
    """Return the values of all parameters of a name, of the learner and of its parts."""
    return [value for key, value in read_parameters(learner).items() if key.rpartition("__")[2] == name]


@lru_cache(maxsize=256)
def list_fit_parameters(kind: type[Any]) -> tuple[str, ...]:
    """Return the parameters that a class's ``fit`` takes."""
    with suppress(TypeError, ValueError):
        return tuple(inspect.signature(kind.fit).parameters)
    return ()


def has_weight_parameter(learner: Any) -> bool:
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


def format_learner(learner: Any) -> str:
    """Return a learner as its author would write it, on one line, the same in every process; or else its type's name."""
    try:
        text = " ".join(repr(learner).split())
    except Exception:  # it has a name whatever it says of itself
        text = ""
    is_stable = " at 0x" not in text  # no place in memory, which is another the next time
    return text if 0 < len(text) <= 80 and is_stable else type(learner).__name__
