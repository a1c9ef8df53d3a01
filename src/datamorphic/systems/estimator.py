"""Systems made of scikit-learn-like models, queried with a frame or an array as they were fitted."""

from __future__ import annotations

import copy
import re
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import pluralise, suggest_name
from .._typing import SupportsPredict
from ..errors import ModelError
from ..space.blocks import PlacedBlock, is_single_block, restore_frame, to_arrays
from ..space.dates import DateColumn, restore_dates
from ..space.labels import shorten_label, to_label_array
from ..space.outputs import Outputs
from ..space.points import Batch, Points
from .array_queries import copy_without_feature_names, is_pure_sklearn, to_array
from .base import CallStyle, Executor, Function, ScoreKind, ScoreRequest
from .boosters import find_catboost_columns
from .coerce import Labels, to_outputs
from .support_vectors import make_support_vector_scores

if TYPE_CHECKING:
    from ..space.space import Space

#: what models get, according to what they were fitted on
ModelInput: TypeAlias = "pd.DataFrame | npt.NDArray[Any]"
COMPARED_BATCHES = 3  # that a model fitted on a frame answers from a frame and from an array, before it gets arrays
MAX_NESTED_STEPS = 10  # of pipelines in pipelines
#: models that are slow per row and quick per call, so that small batches can be shared among workers
SLOW_MODELS = re.compile("KNeighbors|RadiusNeighbors|(Nu)?SV[CR]|OneClassSVM|GaussianProcess")


class Estimator(Executor):
    """Anything with ``predict``, with scores if the model offers them.

    The scores come from the most direct function: ``decision_function`` (for support vector machines of several classes one
    value per pair of classes, before they vote), the joint log-likelihood of a naive Bayes model, or ``predict_proba``.
    """

    def __init__(
        self,
        model: SupportsPredict,
        space: Space | None = None,
        *,
        name: str | None = None,
        labels: Iterable[Any] | None = None,
        classes: Labels | None = None,
    ) -> None:
        self.model, self.space, self.classes = model, space, classes
        self.date_columns: tuple[DateColumn, ...] = ()
        self.restored_blocks: tuple[PlacedBlock, ...] = ()  # that the model gets as arrays instead of columns
        self.takes_texts = starts_with_vectorizer(model)  # whether it gets a list of texts instead of a frame
        self.name = name or type(model).__name__
        if SLOW_MODELS.match(type(model).__name__):
            self.batch_rows = 1_000
        _validate_fitted(model)
        # a pipeline reads these from its first step, and raises AttributeError if that has none
        names = getattr(model, "feature_names_in_", None)
        self.columns = find_catboost_columns(model) if names is None else [str(feature_name) for feature_name in names]
        self.width: int | None = getattr(model, "n_features_in_", None) or None  # CatBoost forgets it in files
        self.labels = tuple(map(shorten_label, labels)) if labels is not None else _read_labels(model)
        self._scorers = _find_scorers(model, self.labels) if self.labels else {}
        self.score_kind = next(iter(self._scorers), None)
        if self.labels is not None and labels is not None and self.labels != _read_labels(model):
            self.score_kind = None  # the order of the model's scores is that of its own labels
        self._class_names = self._name_classes(classes)
        #: Whether the model may get arrays although it was fitted on a frame, and how many batches showed that.
        self._takes_arrays = self.columns is not None and is_pure_sklearn(model)
        self._takes_arrays &= all(getattr(scorer, "__self__", None) is model for scorer in self._scorers.values())
        self._compared_batches = 0
        if space is not None:
            self.use_blocks(space)
            if not self.restored_blocks:
                self.check_columns(space.names)

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Predict labels, and compute scores if requested."""
        array = self._to_array(batch)
        if array is not None and self._compared_batches >= COMPARED_BATCHES:
            return self._answer(copy_without_feature_names(self.model), array, scores)
        outputs = self._answer(self.model, self._prepare_batch(batch), scores)
        if array is not None:
            self._compare_with_array(array, scores, outputs)
        return outputs

    def _answer(self, model: SupportsPredict, model_input: ModelInput, scores: ScoreRequest) -> Outputs:
        if scores == "only":
            guessed_scores = self._compute_scores(model, model_input)
            if guessed_scores is not None and not np.isnan(guessed_scores).any():
                return Outputs.of(np.asarray(self.labels)[self._pick_labels(guessed_scores)], guessed_scores)
        predictions = model.predict(model_input)
        if self._class_names is not None:
            predictions = self._class_names.rename(predictions)
        if getattr(predictions, "ndim", 1) == 2 and predictions.shape[1] > 1:
            self.labels = self.score_kind = None  # multi-label: classes_ lists single labels
        outputs = to_outputs(predictions, len(model_input), self.labels)
        if not scores or self.score_kind is None:
            return outputs
        return Outputs(outputs.values, outputs.status, self._compute_scores(model, model_input), outputs.messages)

    def _to_array(self, batch: Batch) -> npt.NDArray[Any] | None:
        """Return a batch as the array that scikit-learn makes of its frame; None if the model must get the frame."""
        if not self._takes_arrays or self.date_columns or self.restored_blocks or not isinstance(batch, Points):
            return None
        return to_array(batch) if list(batch.space.names) == self.columns else None

    def _compare_with_array(self, array: npt.NDArray[Any], scores: ScoreRequest, outputs: Outputs) -> None:
        """Note whether the model answers an array as it answered the frame; if not, it gets frames from now on."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                twin_outputs = self._answer(copy_without_feature_names(self.model), array, scores)
            equal = _are_identical(outputs, twin_outputs)
        except Exception:
            equal = False
        self._compared_batches += 1
        if not equal:
            self._takes_arrays = False
            self.call_note = (
                f"{self.name} is queried with frames: with arrays its answers differ, or the call fails or warns."
            )
        elif self._compared_batches == COMPARED_BATCHES:
            self.call_note = (
                f"{self.name} was fitted on a frame and is queried with arrays, which takes less time. "
                f"It gave the same answers to both in {COMPARED_BATCHES} batches."
            )

    def with_scores(self, kind: ScoreKind) -> Estimator | None:
        """Return a copy whose scores are of one kind only; None if the model does not give them."""
        if self.score_kind is None or kind not in self._scorers:
            return None
        twin = copy.copy(self)
        twin._scorers, twin.score_kind = {kind: self._scorers[kind]}, kind
        return twin

    @cached_property
    def bare(self) -> Function:
        """The model as a function that gets every frame as it is, columns in any order."""
        function = self.model.predict if self._class_names is None else _RenamedPredict(self.model, self._class_names)
        style: CallStyle = "texts" if self.takes_texts else "frame"
        return Function(function, name=self.name, labels=self.labels, style=style, date_columns=self.date_columns)

    def to_function(self, function: Callable[[Any], Any]) -> Function:
        """Return a function that takes the place of ``predict``, with the same name and space."""
        return Function(function, self.space, name=self.name, labels=self.labels, classes=self.classes)

    def adopt_names(self, column_names: Iterable[str]) -> None:
        """Use the names of the data for columns whose names lost their spaces in a model file."""
        if self.columns is not None and getattr(self.model, "names_without_spaces", False):
            name_by_written = {str(name).replace(" ", "_"): str(name) for name in column_names}
            self.columns = [name_by_written.get(name, name) for name in self.columns]

    def _name_classes(self, classes: Labels | None) -> ClassNames | None:
        """Use other names for the classes of the model, in their order."""
        own_labels = _read_labels(self.model)
        if classes is None or own_labels is None or set(classes) == set(own_labels):
            return None
        if len(classes) != len(own_labels):
            raise ModelError(
                f"{self.name} has {pluralise(len(own_labels), 'class', 'classes')} "
                f"({', '.join(map(repr, own_labels[:6]))}), but classes= names {len(classes)}."
            )
        self.labels = classes
        return ClassNames(own_labels, classes)

    def _prepare_batch(self, batch: Batch) -> ModelInput:
        wants_array = self.columns is None and self.width is not None
        is_plain = not self.date_columns and not self.restored_blocks
        if wants_array and is_plain and isinstance(batch, Points) and (array := to_array(batch)) is not None:
            self.check_columns(batch.space.names)
            return array
        return self.input(batch.frame)

    def input(self, frame: pd.DataFrame) -> ModelInput:
        """Return a frame as the model expects it: columns in its order, or an array."""
        if self.takes_texts and len(frame.columns) == 1:
            return frame.iloc[:, 0].to_numpy(dtype=object)
        if self.restored_blocks and all(
            placed_block.names[0] in frame.columns for placed_block in self.restored_blocks
        ):
            if self.columns is None and is_single_block(self.restored_blocks, len(frame.columns)):
                return to_arrays(frame, self.restored_blocks)
            frame = restore_frame(frame, self.restored_blocks)
        self.check_columns(tuple(frame.columns))
        if self.date_columns:
            frame = restore_dates(frame, self.date_columns)
        if self.columns is not None:
            return frame if list(frame.columns) == self.columns else frame[self.columns]
        return frame if self.width is None else frame.to_numpy()

    def use_blocks(self, space: Space) -> None:
        """Find out whether the model takes the images and sequences of a space as arrays or as columns of numbers."""
        names = set(space.names)
        if self.columns is not None:
            takes_arrays = not all(name in names for name in self.columns)
        else:  # for an array of images, the width is the length of its second axis
            widths = {
                None,
                *(
                    placed_block.block.shape[0]
                    for placed_block in space.blocks
                    if placed_block.block.size == len(names)
                ),
            }
            takes_arrays = self.width != len(names) and self.width in widths
        self.restored_blocks = space.blocks if takes_arrays else ()

    def check_columns(self, column_names: tuple[str, ...]) -> None:
        """Raise `ModelError` if the model was fitted on other columns."""
        if self.columns is not None:
            missing = [name for name in self.columns if name not in column_names]
            if missing:
                missing_text = ", ".join(map(repr, missing[:6])) + (", ..." if len(missing) > 6 else "")
                raise ModelError(
                    f"{self.name} was fitted on {pluralise(len(self.columns), 'column')}, but {len(missing)} of them are "
                    f"not in the data: {missing_text}. {suggest_name(missing[0], column_names)}"
                )
        elif self.width is not None and self.width != len(column_names):
            raise ModelError(
                f"{self.name} was fitted on {pluralise(self.width, 'column')}, but the data have {len(column_names)}. "
                "Leave out columns that are not features, such as the target."
            )

    def _pick_labels(self, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
        """Return the index of the label with the best score or most pairwise votes."""
        if self.score_kind != "pairwise" or self.labels is None:
            return scores.argmax(axis=1)
        votes = np.zeros((len(scores), len(self.labels)), dtype=np.intp)
        for column, (i, j) in enumerate(combinations(range(len(self.labels)), 2)):
            first = scores[:, column] > 0
            votes[:, i] += first
            votes[:, j] += ~first
        return votes.argmax(axis=1)

    def _compute_scores(self, model: SupportsPredict, model_input: ModelInput) -> npt.NDArray[np.float64] | None:
        kind, labels = self.score_kind, self.labels  # read once: another thread may change them
        if kind is None or labels is None:
            return None
        scorer = self._scorers[kind]
        if model is not self.model:
            scorer = getattr(model, scorer.__name__)
        scores = np.asarray(scorer(model_input), dtype=np.float64)
        if scores.ndim == 1:  # one value for two classes: high for the second
            scores = np.column_stack([1 - scores if kind == "probability" else -scores, scores])
        class_count = len(labels)
        if scores.shape[1] == (class_count * (class_count - 1) // 2 if kind == "pairwise" else class_count):
            return scores
        # not one score per class
        if kind != "probability" and "probability" in self._scorers:
            self.score_kind = "probability"
            return self._compute_scores(model, model_input)
        self.score_kind = None
        return None


def _are_identical(a: Outputs, b: Outputs) -> bool:
    """Return whether labels and scores are the same, bit for bit."""
    if a.values.dtype != b.values.dtype or (a.scores is None) != (b.scores is None) or not a.same(b).all():
        return False
    return a.scores is None or b.scores is None or np.array_equal(a.scores, b.scores, equal_nan=True)


class ClassNames:
    """Names for the classes of a model that was fitted on codes."""

    def __init__(self, own_labels: Labels, names: Labels) -> None:
        self.name_by_label = dict(zip(own_labels, names, strict=True))

    def rename(self, predictions: Any) -> npt.NDArray[Any]:
        """Return predictions with the names of their classes; what is no class stays as it is."""
        array = np.asarray(predictions)
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        uniques, codes = np.unique(array, return_inverse=True)
        names = tuple(self.name_by_label.get(label, label) for label in uniques.tolist())
        return to_label_array(names)[codes.reshape(array.shape)]


class _RenamedPredict:
    """The ``predict`` of a model, with names of classes."""

    def __init__(self, model: SupportsPredict, class_names: ClassNames) -> None:
        self.model, self.class_names = model, class_names

    def __call__(self, rows: Any) -> npt.NDArray[Any]:
        return self.class_names.rename(self.model.predict(rows))


class _PipelineScores:
    """The scores of a pipeline: those of its last step, after all others."""

    def __init__(self, transformers: Any, scores: Callable[[Any], Any]) -> None:
        self.transformers, self.scores = transformers, scores

    def __call__(self, rows: Any) -> npt.NDArray[Any]:
        scores: npt.NDArray[Any] = self.scores(self.transformers.transform(rows))
        return scores


def _validate_fitted(model: SupportsPredict) -> None:
    if "sklearn" not in sys.modules:  # then the model cannot be one of its estimators
        return
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        if isinstance(model, BaseEstimator):  # other libraries raise when they are queried
            check_is_fitted(model)
    except TypeError:
        return  # a model that needs no fitting
    except NotFittedError:
        raise ModelError(f"This {type(model).__name__} is not fitted. Fit it first: model.fit(X, y).") from None


def starts_with_vectorizer(model: Any) -> bool:
    """Return whether a model of scikit-learn begins with a vectorizer, which takes a list of texts."""
    for _ in range(MAX_NESTED_STEPS):
        if hasattr(model, "build_analyzer"):
            return True
        steps = getattr(model, "steps", None) or getattr(
            model, "transformer_list", None
        )  # of a Pipeline, a FeatureUnion
        inner = steps[0][1] if steps else getattr(model, "best_estimator_", None) or getattr(model, "estimator", None)
        if inner is None or isinstance(inner, str):
            return False
        model = inner
    return False


def _read_labels(model: SupportsPredict) -> Labels | None:
    if type(model).__name__ == "OneClassSVM":
        return (-1, 1)  # outliers and others
    try:
        classes = np.asarray(getattr(model, "classes_", None))
    except ValueError:  # several outputs with different classes
        return None
    return tuple(map(shorten_label, classes.tolist())) if classes.ndim == 1 and len(classes) else None


def _find_scorers(model: SupportsPredict, labels: Labels) -> dict[ScoreKind, Callable[[Any], Any]]:
    """Return the functions that give scores by kind, the most direct first."""
    scorers: dict[ScoreKind, Callable[[Any], Any]] = {}
    machine_scores = _find_machine_scores(model)
    if machine_scores is not None:
        scorers["pairwise" if len(labels) > 2 else "decision"] = machine_scores
    elif hasattr(model, "decision_function"):
        scorers["decision"] = model.decision_function
    elif hasattr(model, "predict_joint_log_proba"):  # probabilities round to 0 and 1 near a border
        scorers["decision"] = model.predict_joint_log_proba
    if hasattr(model, "predict_proba"):
        scorers["probability"] = model.predict_proba
    return scorers


def _find_machine_scores(model: SupportsPredict) -> Callable[[Any], Any] | None:
    """Return the decision values of an SVM, or of a pipeline that ends with one: per pair of classes, before they vote."""
    if "sklearn.svm" not in sys.modules:
        return None
    from sklearn.pipeline import Pipeline
    from sklearn.svm import SVC, NuSVC, OneClassSVM

    if isinstance(model, OneClassSVM):
        return make_support_vector_scores(model)
    if isinstance(model, SVC | NuSVC):
        twin: Any = copy.copy(model)
        twin.decision_function_shape = "ovo"  # has effect without fitting again
        return make_support_vector_scores(twin) or twin.decision_function
    inner = _find_machine_scores(model.steps[-1][1]) if isinstance(model, Pipeline) else None
    if inner is None:
        return None
    *transformers, _ = model.steps  # type: ignore[attr-defined]
    return _PipelineScores(Pipeline(transformers), inner) if transformers else inner
