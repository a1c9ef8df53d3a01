"""What a test needs before its first check: the model loaded and fitted, labels, the baseline, the training data."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import suggest_name
from .._typing import DataLike, FilePath, ModelLike
from .._validation import reject
from ..errors import ArgumentError, DataError, ModelError, format_error_line
from ..exploration.front import Front
from ..morphisms.subject import SubjectUnderTest
from ..morphisms.system import has_morphisms
from ..space.blocks import is_array_column, stack_arrays
from ..space.frames import is_text_list
from ..space.points import Points
from ..space.space import Space
from ..space.table_forms import to_plain_data
from ..systems.clusterer import is_clusterer
from ..systems.files import load_model, name_model
from ..systems.weka import Weka
from .context import TestedModel
from .expectations import Expectations

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def load_tested_model(
    model: ModelLike, data: DataLike | None, target: str | None, *, name: str | None, trust: bool
) -> TestedModel:
    """Load a model from its path, and fit it if it is an unfitted estimator."""
    if isinstance(model, str | os.PathLike):
        name = name or name_model(model)
        model = load_model(model, trust=trust)
    if "sklearn" not in sys.modules and not isinstance(model, Weka):  # then the model cannot be one of its estimators
        return TestedModel(original=model, fitted=model, name=name)
    from sklearn.base import BaseEstimator, clone
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, BaseEstimator | Weka) or not hasattr(model, "fit") or has_morphisms(model):
        return TestedModel(original=model, fitted=model, name=name)
    try:
        check_is_fitted(model)
        learns_here = target is not None or is_clusterer(model)
        return TestedModel(original=model, fitted=model, name=name, learner=model if learns_here else None)
    except TypeError:
        return TestedModel(original=model, fitted=model, name=name)
    except NotFittedError:
        pass
    kind = type(model).__name__
    columns = getattr(data, "columns", None)
    if target is None or columns is None:
        raise ArgumentError(
            f"This {kind} is not fitted. Fit it first, or give a frame with labels, and target= to name their column."
        )
    if target not in columns:
        raise DataError(f"The target column {target!r} is not in the data. {suggest_name(target, columns)}")
    frame: Any = data
    *other_forms, last_form = _list_training_inputs(frame.drop(columns=[target]))
    for form in other_forms:
        with suppress(Exception):  # such as a vectorizer, which takes no frame
            return TestedModel(original=model, fitted=clone(model).fit(form, frame[target]), name=name, learner=model)
    try:
        fitted = clone(model).fit(last_form, frame[target])
    except Exception as error:
        raise ModelError(
            f"This {kind} could not be fitted to the data: {format_error_line(error)}. Fit it first, or fix the data."
        ) from error
    return TestedModel(original=model, fitted=fitted, name=name, learner=model)


def _list_training_inputs(frame: pd.DataFrame) -> list[Any]:
    """Return the forms of the inputs that a learner may take.

    They are a matrix of images or sequences, with one row per case; texts as a frame and as a list; other frames as they are.
    """
    if len(frame.columns) != 1:
        return [frame]
    column = frame.iloc[:, 0]
    if is_text_list(column):
        return [frame, list(column)]
    if not is_array_column(column):
        return [frame]
    arrays = stack_arrays(str(frame.columns[0]), column.tolist())
    return [arrays.reshape(len(arrays), -1)]


def select_labels(data: DataLike | None, target: str | None, subject: SubjectUnderTest) -> npt.NDArray[Any] | None:
    """Return the labels of the inputs; None if the data have none."""
    if target is None or not hasattr(data, "columns"):
        return None
    frame: Any = data
    labels = np.asarray(frame[target].to_numpy())
    labels = labels if subject.rows is None else labels[subject.rows]
    return labels if len(labels) == len(subject.seeds) else None


def select_columns(data: DataLike | None, target: str | None, subject: SubjectUnderTest) -> pd.DataFrame | None:
    """Return the columns of the data as they were given, without the labels; None if the data are no table.

    The index numbers the rows of the data.
    """
    if data is None or isinstance(data, Space | Points):
        return None
    if isinstance(data, pd.DataFrame):
        frame = data.drop(columns=[target]) if target is not None and target in data.columns else data
    else:
        array = np.asarray(to_plain_data(data))
        if array.ndim != 2:
            return None
        names = list(subject.seeds.space.names)
        frame = pd.DataFrame(array, columns=names if len(names) == array.shape[1] else None, copy=False)
    if subject.rows is not None:
        return frame.iloc[subject.rows].set_axis(np.asarray(subject.rows), axis=0)
    return frame.set_axis(np.arange(len(frame)), axis=0)


def make_model_stand_in(name: str | None) -> TestedModel:
    """Return what takes the place of a model where only data are tested: it is never asked about them."""
    return TestedModel(original=_answer_zero, fitted=_answer_zero, name=name or "the data")


def name_data(text: str | None) -> str | None:
    """Return what reports call data that the command line names; None without a name."""
    return None if text is None else os.path.basename(text) or text


def _answer_zero(frame: pd.DataFrame) -> npt.NDArray[np.int64]:
    return np.zeros(len(frame), dtype=np.int64)


def find_learner(model: TestedModel, subject: SubjectUnderTest, expectations: Expectations) -> BaseEstimator | None:
    """Return the learner that can be trained again; raise if relations about training are declared and there is none."""
    # a learner that takes dates instead of days, or images instead of columns of numbers, cannot be trained on columns
    takes_other_forms = getattr(subject.sut, "date_columns", ()) or getattr(subject.sut, "restored_blocks", ())
    learner = None if takes_other_forms else model.learner
    for relation_name, relation in expectations.learner_relations.items():
        if learner is None:
            raise ModelError(
                f"The relation {relation_name!r} is about learners, and {subject.name} cannot be trained here. Give an estimator of "
                "scikit-learn, and labelled data with target=."
            )
        if relation.labelled is is_clusterer(learner):
            kind = "learners with labels" if relation.labelled else "clusterers"
            raise ModelError(f"The relation {relation_name!r} is about {kind}, but {subject.name} is not one.")
    return learner


def load_baseline(baseline: Front | FilePath | None, subject: SubjectUnderTest) -> Front | None:
    """Return the border of an earlier version; raise if its model had other inputs."""
    if baseline is None:
        return None
    if isinstance(baseline, str | os.PathLike):
        baseline = Front.load(baseline)
    if baseline.space.names != subject.seeds.space.names:
        raise DataError(
            "The baseline is the border of a model with other inputs: "
            f"{', '.join(baseline.space.names[:5])}, ... Save a new one with --save-front, or front.save()."
        )
    return baseline


def load_reference(
    reference: DataLike | FilePath | None, target: str | None, subject: SubjectUnderTest
) -> tuple[pd.DataFrame | None, npt.NDArray[Any] | None]:
    """Return the inputs of the training data and their labels, each None if not given."""
    if reference is None:
        return None, None
    frame = to_plain_data(reference)
    if not isinstance(frame, pd.DataFrame):
        reject("reference", "test", "a frame, or the path of a CSV or Parquet file", reference)
    names = list(subject.seeds.space.names)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise DataError(
            f"The reference data have no column {missing[0]!r}, which is an input of the model. "
            f"{suggest_name(missing[0], [str(name) for name in frame.columns])}"
        )
    labels = None
    if target is not None and target in frame.columns:
        labels = np.asarray(frame[target].to_numpy())
    return frame[names].reset_index(drop=True), labels
