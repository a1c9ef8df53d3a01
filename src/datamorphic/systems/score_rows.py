"""Answers that are scores: rows of probabilities or logits, or one number for two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import pluralise
from ..errors import BadAnswer, ModelError
from ..space.labels import to_label_array, to_label_key
from ..space.outputs import Outputs, Status
from .coerce import Labels, to_plain_array

PROBABILITY_TOLERANCE = 1e-2  # the sum of a row of probabilities in half precision differs from 1 by less
MAX_NAMED_CLASSES = 6  # in notes

AnswerForm = Literal["scores", "second", "codes"]


@dataclass(frozen=True, kw_only=True)
class AnswerReading:
    """How the numbers that a system answers are read as labels.

    `form` is "scores" for one number per class, of which the largest decides; "second" for one number per case, which
    speaks for the second of two classes; "codes" for the places of the classes.
    """

    form: AnswerForm
    labels: Labels
    kind: Literal["probability", "decision"] | None  # of the scores

    def read(self, answer: object, rows: int, with_scores: bool) -> Outputs:
        """Return the labels, and the scores if requested.

        Raises
        ------
        BadAnswer
            If the answer does not have this form.
        """
        array = to_plain_array(answer)
        if array.ndim == 0 or len(array) != rows:
            raise BadAnswer(f"it gave {pluralise(len(np.atleast_1d(array)), 'answer')} for {pluralise(rows, 'row')}")
        if self.form != "scores" and array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        width = len(self.labels)
        expected_shape = (rows, width) if self.form == "scores" else (rows,)
        if array.shape != expected_shape or array.dtype.kind not in "iufb":
            raise BadAnswer(
                f"it gave an array of shape {array.shape} and type {array.dtype}, where {expected_shape} numbers were expected"
            )
        scores = self._to_scores(array)
        missing = np.isnan(scores).any(axis=1)
        values = to_label_array(self.labels)[np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1)]
        status = np.where(missing, np.int8(Status.MISSING), np.int8(Status.OK)).astype(np.int8)
        messages = {int(row): "it answered NaN, which is not a score" for row in np.flatnonzero(missing)[:1000]}
        has_scores = with_scores and self.kind is not None
        return Outputs(values, status, scores.astype(np.float64) if has_scores else None, messages)

    def _to_scores(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return one score per class, in the precision of the answer, so that its rounding can be recognised."""
        if self.form == "scores":
            return array
        if self.form == "codes":
            known = (array >= 0) & (array < len(self.labels))
            if not known.all():
                code = array[~known][0]
                raise BadAnswer(f"it answered {code}, which is not the place of one of {len(self.labels)} classes")
            return np.eye(len(self.labels))[array.astype(np.intp)]
        return np.column_stack([1 - array, array] if self.kind == "probability" else [-array, array])

    def describe(self) -> str:
        """Return a sentence about what the answers are taken for."""
        noun = "probabilities" if self.kind == "probability" else "scores"
        if self.form == "second":
            number = "the probability" if self.kind == "probability" else "a score"
            limit = "above 0.5" if self.kind == "probability" else "above 0"
            return f"The answer is a number, read as {number} of {self.labels[1]!r}: {limit} it is the answer."
        names = ", ".join(repr(label) for label in self.labels[:MAX_NAMED_CLASSES])
        if len(self.labels) > MAX_NAMED_CLASSES:
            names += ", ..."
        return f"The answer is a row of {len(self.labels)} {noun}, one for each of {names}: the largest decides."


def find_score_kind(scores: npt.NDArray[Any]) -> Literal["probability", "decision"]:
    """Tell probabilities, whose rows sum to 1, from other scores."""
    known = scores[~np.isnan(scores).any(axis=1)].astype(np.float64)
    inside = (known >= -PROBABILITY_TOLERANCE) & (known <= 1 + PROBABILITY_TOLERANCE)
    sums = known.sum(axis=1)
    if inside.all() and (np.abs(sums - 1) <= PROBABILITY_TOLERANCE).all():
        return "probability"
    return "decision"


def find_reading(
    answer: object, classes: Labels | None = None, truth: npt.NDArray[Any] | None = None
) -> AnswerReading | None:
    """Return how numbers in an answer stand for classes; None if the answers are labels, or numbers as such.

    `classes` are the names of the classes in the order of the scores. `truth` are labels of the data, if known.

    Raises
    ------
    ModelError
        If there are as many scores per row as there are not classes.
    """
    array = to_plain_array(answer)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 2 and array.dtype.kind in ("f" if classes is None else "iuf"):
        return _find_row_reading(array, classes)
    if array.ndim != 1 or array.dtype.kind not in "iufb" or not len(array):
        return None
    whole = array.dtype.kind in "iub" or bool((array == np.rint(array)).all())
    if classes is None:
        return None if whole else _find_rate_reading(array, truth)
    keys = {to_label_key(label) for label in classes}
    if whole and {to_label_key(value) for value in np.unique(array).tolist()} <= keys:
        return None  # labels
    if not whole and len(classes) == 2:
        inside = bool(((array >= 0) & (array <= 1)).all())
        return AnswerReading(form="second", labels=classes, kind="probability" if inside else "decision")
    if whole and array.min() >= 0 and array.max() < len(classes):
        return AnswerReading(form="codes", labels=classes, kind=None)
    return None


def _find_row_reading(array: npt.NDArray[Any], classes: Labels | None) -> AnswerReading | None:
    width = array.shape[1]
    if classes is not None and len(classes) != width:
        raise ModelError(
            f"The model answers rows of {width} numbers, but {len(classes)} classes are named "
            f"({', '.join(map(repr, classes[:MAX_NAMED_CLASSES]))}). Name one class per number with classes=."
        )
    kind = find_score_kind(array)
    is_indicator = bool(np.isin(array, (0, 1)).all())
    if classes is None and is_indicator and kind != "probability":
        return None  # several labels at once
    return AnswerReading(form="scores", labels=tuple(range(width)) if classes is None else classes, kind=kind)


def _find_rate_reading(array: npt.NDArray[Any], truth: npt.NDArray[Any] | None) -> AnswerReading | None:
    """Return the reading of numbers between 0 and 1 as the probability of the label 1, if the labels are 0 and 1."""
    if truth is None or not bool(((array >= 0) & (array <= 1)).all()):
        return None
    labels = pd.unique(pd.Series(truth).dropna())
    if sorted(to_label_key(label) for label in labels) != ["0", "1"]:
        return None
    in_order = sorted(labels.tolist(), key=to_label_key)
    if all(isinstance(label, float) for label in in_order):
        in_order = [int(label) for label in in_order]
    return AnswerReading(form="second", labels=tuple(in_order), kind="probability")
