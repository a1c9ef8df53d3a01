"""`Learner`: a system under test that is trained for every query."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import redact
from .._typing import DataLike, LearnerLike, ModelLike, SupportsFit
from .._validation import reject
from ..errors import BadAnswer, ModelError, format_error_line
from ..space.outputs import Outputs, Status
from .base import Executor, ScoreRequest
from .coerce import STATUS_BY_ERROR, to_outputs
from .estimator import Estimator
from .other_python_worker import is_refusal
from .training import Array, Floats, Table, Training, TrainingBatch, take_rows
from .traits import has_method

PROBABILITY_TOLERANCE = 1e-4  # some are computed in single precision
LEARNER_ERRORS = (Exception, SystemExit)  # caught as failures of the learner
PLAIN_TYPES = (bool, int, float, str, type(None), np.number)


class Learner(Executor):
    """A learner as a system: training data and a test case in, a label out.

    For each training set of a batch, a copy of the learner is fitted and labels the cases. Parameters named ``random_state``
    that are None get one number, the same for all fits. An error becomes the status of the cases to label. In a process with
    `limited` memory, running out of memory ends the run instead.

    Scores have one column per declared label of the training data, NaN for labels the learner has no score for.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> data = Training(np.array([[1.0], [2.0], [8.0]]), np.array(["low", "low", "high"]), np.array([[3.0], [7.0]]))
    >>> Learner(KNeighborsClassifier(1)).execute(data).values.tolist()
    ['low', 'high']
    """

    score_kind = "probability"
    batch_rows = 50  # each row may need a fit
    needed_methods: ClassVar[tuple[str, ...]] = ("fit", "predict")
    trains_together: ClassVar[bool] = True  # if the learner can train on many training sets at once
    unfitted_hint = "is a learner and is not fitted. Fit it first: dm.wrap(learner).fit(X, y)."

    def __init__(
        self, learner: LearnerLike | ModelLike, *, seed: int = 0, name: str | None = None, limited: bool = False
    ) -> None:
        if isinstance(learner, type) or not all(has_method(learner, method) for method in self.needed_methods):
            reject("learner", type(self).__name__, f"an object with {' and '.join(self.needed_methods)}", learner)
        self.learner: Any = learner
        self.seed, self.limited = seed, limited
        self.name = name or format_learner(learner)
        self._prototype: Any = None  # a copy with fixed seeds, of which copies are fitted

    def batch(self, data: DataLike) -> Any:
        """Convert one training set, or a batch of them, to a batch."""
        return TrainingBatch([data]) if isinstance(data, Training) else data

    def answer(self, batch: TrainingBatch, scores: ScoreRequest) -> Outputs:  # type: ignore[override]
        """Fit a copy for each training set and label its cases."""
        if not isinstance(batch, TrainingBatch):
            raise ModelError(f"{self.name} {self.unfitted_hint}")
        values = np.full(len(batch), None, dtype=object)
        status = np.zeros(len(batch), dtype=np.int8)
        table = np.full((len(batch), batch.width), np.nan) if scores else None
        messages: dict[int, str] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self._prototype is None:
                self._prototype = self._make_prototype()
            as_array = takes_arrays(self._prototype)
            parts = batch.parts()
            answers = self._train_all([training for training, _ in parts], scores)
            for (training, rows), answer in zip(parts, answers, strict=True):
                try:
                    outputs = (
                        self._answer_training(training, len(rows), as_array, scores)
                        if answer is None
                        else self._read_answer(answer, training, len(rows))
                    )
                except LEARNER_ERRORS as error:
                    refused = error.refusal if hasattr(error, "refusal") else is_refusal(error)
                    status[rows] = Status.REFUSED if refused else STATUS_BY_ERROR.get(type(error), Status.ERROR)
                    messages |= dict.fromkeys(rows.tolist(), self._describe_failure(error))
                    continue
                values[rows], status[rows] = outputs.values, outputs.status
                messages |= {int(rows[row]): text for row, text in outputs.messages.items()}
                if table is not None and outputs.scores is not None:
                    table[rows, : outputs.scores.shape[1]] = outputs.scores
        return Outputs(values, status, table, messages)

    def _train_all(self, trainings: list[Training], scores: ScoreRequest) -> list[Any]:
        """Return the answers of a learner that trains on many training sets at once; None for each by any other."""
        train_all = getattr(self._prototype, "train_all", None) if self.trains_together else None
        return [None] * len(trainings) if train_all is None else train_all(trainings, scores=bool(scores))

    def _read_answer(self, answer: Any, training: Training, rows: int) -> Outputs:
        """Return an answer of `_train_all` as outputs; raise its error."""
        if isinstance(answer, BaseException):
            raise answer
        scores = None
        if training.query == "with scores":
            check_numbers(answer.answer, answer.scores)
        if training.query == "with probabilities":
            check_probabilities(answer.scores)
        if answer.scores is not None:
            scores = arrange_scores(answer.scores, answer.classes.tolist(), training)
        return replace(_to_outputs(answer.answer, rows), scores=scores)

    def _answer_training(self, training: Training, rows: int, as_array: bool, scores: ScoreRequest) -> Outputs:
        """Return the answers of a copy that is fitted to a training set."""
        # both as an array, or none: a model knows the names it was fitted with
        if training.query == "as frames":
            training, as_array = to_frames(training), False
        use_arrays = as_array and has_only_numbers(training.x) and has_only_numbers(training.t)
        model = fit_copy(self._prototype, training, use_arrays)
        answer = query_cases(model.predict, training, use_arrays)
        outputs = _to_outputs(answer, rows)
        if training.query == "with scores":
            score = _find_score_method(model)
            check_numbers(answer, None if score is None else score(copy_table(training.t, use_arrays)))
        if training.query == "with probabilities":
            check_probabilities(model.predict_proba(copy_table(training.t, use_arrays)))
        return replace(outputs, scores=compute_scores(model, training, use_arrays)) if scores else outputs

    def _describe_failure(self, error: BaseException) -> str:
        """Return the error of a fit as a line; raise it if the memory of a process with a limit is used up."""
        if self.limited and isinstance(error, MemoryError):
            raise error
        return redact(format_error_line(error))

    def _make_prototype(self) -> Any:
        try:
            return copy_with_seed(self.learner, self.seed)
        except LEARNER_ERRORS as error:
            raise ModelError(
                f"{self.name} cannot be copied, and every fit needs a copy: {format_error_line(error)}. Its constructor "
                "must store its parameters unchanged, or the object must support copy.deepcopy."
            ) from error

    def fit(self, x: Table, y: npt.ArrayLike) -> Executor:
        """Return the fitted learner as a system that predicts."""
        return Estimator(self._make_prototype().fit(x, y), name=self.name)


def _to_outputs(answer: object, rows: int) -> Outputs:
    """Convert answers to outputs; text and integers need no check."""
    if isinstance(answer, np.ndarray) and answer.shape == (rows,) and answer.dtype.kind in "Uiu":
        return Outputs.of(answer)
    return to_outputs(answer, rows)


def query_cases(answer: Callable[[Any], Any], training: Training, as_array: bool = False) -> Any:
    """Return the answers of a fitted learner to the test cases, queried as the training data say."""
    table = copy_table(training.t, as_array)
    if training.query == "again":
        answer(copy_table(training.t, as_array))
    elif training.query == "backwards":
        return answer(take_rows(table, slice(None, None, -1)))[::-1]
    elif training.query == "alone":
        return join_answers([answer(take_rows(table, slice(row, row + 1))) for row in range(len(training))])
    return answer(table)


def join_answers(answers: Sequence[Any]) -> Any:
    """Return the answers to single cases as the answer to all of them."""
    if hasattr(answers[0], "tocsr"):
        from scipy.sparse import vstack

        return vstack(answers)
    return pd.concat(answers, ignore_index=True) if hasattr(answers[0], "iloc") else np.concatenate(answers)


def check_numbers(answers: Any, scores: Any = None) -> None:
    """Raise `BadAnswer` for numbers that are not finite, and for scores that are NaN."""
    for name, table, is_valid in (("answer", answers, np.isfinite), ("score", scores, lambda x: ~np.isnan(x))):
        numbers = np.asarray(table)
        if numbers.dtype.kind == "f" and not (valid := is_valid(numbers)).all():
            raise BadAnswer(f"the {name} to a case is {numbers[~valid].ravel()[0]}")


def check_probabilities(probabilities: Any) -> None:
    """Raise `BadAnswer` for probabilities that are negative or do not add up to 1; others may be NaN."""
    if np.ndim(probabilities) == 2:
        sums = np.sum(probabilities, axis=1)
        wrong = (np.abs(sums - 1) > PROBABILITY_TOLERANCE) | (np.min(probabilities, axis=1) < -PROBABILITY_TOLERANCE)
        if wrong.any():
            raise BadAnswer(f"the probabilities of a case add up to {sums[wrong][0]:.6g}")


def to_frames(data: Training) -> Training:
    """Return the same data as frames, with names of columns.

    Numbers stay where they are in memory, since sums in another order would be rounded differently.
    """
    if data.framed or hasattr(data.x, "tocsr"):
        return data
    names = [f"a{place}" for place in range(data.x.shape[1])]
    x, t = (pd.DataFrame(rows, columns=names, copy=False) for rows in (data.x, data.t))
    return replace(data, x=x, t=t)


def fit_copy(learner: SupportsFit, data: Training, as_array: bool = False) -> Any:
    """Return a fitted copy of a learner; its errors are not caught.

    Data are given `as_array` if they are frames of numbers and the learner `takes_arrays`.
    """
    model: Any = _copy_plain_learner(learner) if as_array else _copy_unfitted(learner)
    if data.parameters:
        model.set_params(**dict(data.parameters))
    fit_arguments: dict[str, Any] = {}
    if data.weights is not None:
        fit_arguments["sample_weight"] = data.weights.copy()
    if data.labels is not None and "classes" in list_fit_parameters(type(learner)):
        fit_arguments["classes"] = list(data.labels)
    if data.query == "after other data":
        with suppress(*LEARNER_ERRORS):  # it may refuse them
            model.fit(copy_table(data.x, as_array), data.other_labels)
    model.fit(copy_table(data.x, as_array), data.y.copy(), **fit_arguments)
    return model


def compute_scores(model: SupportsFit, data: Training, as_array: bool = False) -> Floats | None:
    """Return the scores of the test cases, one column per declared label; None if the learner has no scores."""
    score = _find_score_method(model)
    classes = list(getattr(model, "classes_", ()))
    if score is None or not classes:
        return None
    with suppress(*LEARNER_ERRORS):  # labels without scores are answers as well
        return arrange_scores(np.asarray(score(copy_table(data.t, as_array)), dtype=np.float64), classes, data)
    return None


def _find_score_method(model: Any) -> Callable[[Any], Any] | None:
    return getattr(model, "predict_proba", None) or getattr(model, "decision_function", None)


def arrange_scores(scores: Floats, classes: Sequence[Any], data: Training) -> Floats | None:
    """Return the scores of test cases with one column per declared label; None if they are not one per class."""
    scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    return align_scores(scores, classes, data.declared) if scores.shape == (len(data), len(classes)) else None


def align_scores(scores: Floats, classes: Iterable[Any], labels: Iterable[Any]) -> Floats:
    """Return scores with one column per label, NaN where a label has none."""
    column_of_label = {label: column for column, label in enumerate(classes)}
    columns = np.array([column_of_label.get(label, -1) for label in labels], dtype=np.intp)
    return np.where(columns < 0, np.nan, scores[:, columns])


def copy_table(table: Table, as_array: bool = False) -> Any:
    """Return a copy of a table: some learners write to their input. A frame of numbers may be given as an array."""
    return table.to_numpy(copy=True) if as_array and hasattr(table, "to_numpy") else table.copy()


def has_only_numbers(table: Table) -> bool:
    """Return whether a table is a frame of plain numbers."""
    return hasattr(table, "dtypes") and all(isinstance(kind, np.dtype) and kind.kind in "fiu" for kind in table.dtypes)


def takes_arrays(learner: SupportsFit) -> bool:
    """Return whether a learner does the same with an array of numbers as with a frame of them.

    Those of scikit-learn check a frame at every call, which takes as long as the fit to a few rows, and convert it to an array
    themselves. Learners with parts may select columns by name, as may parameters that are not plain values. Pipelines are an
    exception if all their steps take arrays.
    """
    if type(learner).__module__.partition(".")[0] != "sklearn" or not hasattr(learner, "get_params"):
        return False
    parameters = learner.get_params(deep=False)
    if steps := _get_named_steps(learner):
        del parameters["steps"]
    return (
        "categorical_features" not in parameters
        and all(isinstance(value, PLAIN_TYPES) for value in parameters.values())
        and all(isinstance(step, PLAIN_TYPES) or takes_arrays(step) for _, step in steps)
    )


def _get_named_steps(learner: object) -> list[tuple[str, Any]]:
    """Return the (name, step) pairs of a scikit-learn pipeline; none for other learners and invalid steps."""
    steps = getattr(learner, "steps", []) if type(learner).__module__ == "sklearn.pipeline" else []
    return steps if all(isinstance(step, tuple) and len(step) == 2 for step in steps) else []


def _copy_plain_learner(learner: SupportsFit) -> Any:
    """Return a copy of an unfitted learner whose parameters are plain values, which need no copies of their own."""
    model: Any = copy.copy(learner)
    if steps := _get_named_steps(learner):
        model.steps = [(name, _copy_plain_learner(step)) for name, step in steps]
    return model


def _copy_unfitted(learner: SupportsFit) -> Any:
    if not hasattr(learner, "get_params"):
        return copy.deepcopy(learner)
    from sklearn.base import clone

    return clone(learner)


def copy_with_seed(learner: SupportsFit, seed: int) -> Any:
    """Return an unfitted copy with `seed` for every unset ``random_state``."""
    model = _copy_unfitted(learner)
    names = [name for name, value in read_parameters(model).items() if name.endswith("random_state") and value is None]
    if names:
        model.set_params(**dict.fromkeys(names, seed))
    return model


def read_parameters(learner: object) -> Mapping[str, Any]:
    """Return all parameters of a learner and its parts; empty if it has none."""
    with suppress(*LEARNER_ERRORS):
        return dict(learner.get_params(deep=True))  # type: ignore[attr-defined]
    return {}


def find_parameter_values(learner: object, name: str) -> list[Any]:
    """Return the values of a parameter of the learner and its parts."""
    return [value for key, value in read_parameters(learner).items() if key.rpartition("__")[2] == name]


@lru_cache(maxsize=256)
def list_fit_parameters(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the parameters of a class's ``fit``."""
    with suppress(TypeError, ValueError):
        return tuple(inspect.signature(kind.fit).parameters)
    return ()


def has_weight_parameter(learner: object) -> bool:
    """Return whether a learner accepts weights of rows."""
    if hasattr(learner, "takes_weights"):  # its own method cannot say it
        return bool(learner.takes_weights)
    from sklearn.utils.validation import has_fit_parameter

    with suppress(Exception):  # pipelines raise various errors
        return bool(has_fit_parameter(learner, "sample_weight"))
    return False


def is_regressor(learner: object, y: Array | None = None) -> bool:
    """Return whether a learner is a regressor, by its type or by fractional labels."""
    from sklearn import base

    if hasattr(learner, "__sklearn_tags__"):
        with suppress(AttributeError, TypeError):  # not quite an estimator of scikit-learn
            if base.is_regressor(learner):
                return True
    return y is not None and y.dtype.kind == "f" and bool((y % 1 > 0).any())


def format_learner(learner: object) -> str:
    """Return a learner as its author would write it, on one line, or the name of its type."""
    try:
        text = " ".join(repr(learner).split())
    except Exception:  # __repr__ is foreign code
        text = ""
    is_stable = " at 0x" not in text  # a memory address differs between processes
    return text if 0 < len(text) <= 80 and is_stable else type(learner).__name__
