"""Labelled rows as arrays, for checks that predict the label from features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...._lazy import pd
from ...context import CheckContext
from ...labels import find_missing_labels, to_label_texts

Labels = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

MAX_LABELLED_ROWS = 5_000
MIN_LABELLED_ROWS = 60  # fewer do not tell 97% from 90%
MIN_ROWS_PER_CLASS = 10  # of classes that are compared
RANDOM_STREAM = 172


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledRows:
    """Inputs and their labels, without rows whose label is missing or too rare."""

    positions: npt.NDArray[np.intp]  # among the inputs, in random order
    codes: Floats
    labels: Labels  # numbers, or classes as integers
    classes: Sequence[str] = ()  # the texts of the classes; empty for numbers

    @property
    def numbers(self) -> bool:
        """Whether the labels are numbers."""
        return not self.classes

    def take(self, count: int) -> LabelledRows:
        """Return the first rows."""
        return LabelledRows(
            positions=self.positions[:count], codes=self.codes[:count], labels=self.labels[:count], classes=self.classes
        )

    def to_targets(self) -> Floats:
        """Return what is to be predicted as columns of numbers: the numbers, or one indicator for each class."""
        if self.numbers:
            return np.asarray(self.labels[:, None], dtype=np.float64)
        return (self.labels[:, None] == np.arange(len(self.classes))).astype(np.float64)

    def compute_error(self, predictions: Labels) -> float:
        """Return the error of predictions: of classes averaged over the classes, of numbers the unexplained variance."""
        if self.numbers:
            variance = float(np.var(self.labels))
            return float(np.mean((predictions - self.labels) ** 2)) / variance if variance else 0.0
        wrong = predictions != self.labels
        return float(np.mean([wrong[self.labels == label].mean() for label in np.unique(self.labels)]))

    def find_row_errors(self, predictions: Labels) -> Floats:
        """Return the size of the error in each row."""
        return np.abs(predictions - self.labels) if self.numbers else (predictions != self.labels).astype(np.float64)


def select_labelled_rows(context: CheckContext) -> LabelledRows | None:
    """Return some of the labelled inputs; None if they do not allow a judgement."""
    assert context.truth is not None
    order = np.random.default_rng([context.seed, RANDOM_STREAM]).permutation(len(context.inputs))
    order = order[~find_missing_labels(context.truth)[order]][:MAX_LABELLED_ROWS]
    truth, codes = context.truth[order], context.inputs.codes[order]
    if context.has_numeric_answers:
        labels = pd.to_numeric(pd.Series(truth), errors="coerce").to_numpy(dtype=np.float64)
        if not np.isfinite(labels).all() or len(labels) < MIN_LABELLED_ROWS or labels.std() == 0:
            return None
        return LabelledRows(positions=order, codes=codes, labels=labels)
    labels, names = pd.factorize(pd.Series(to_label_texts(truth), dtype=object), sort=True)
    frequent = np.flatnonzero(np.bincount(labels, minlength=1) >= MIN_ROWS_PER_CLASS)
    usable = np.isin(labels, frequent)
    order, labels, codes = order[usable], np.searchsorted(frequent, labels[usable]), codes[usable]
    if len(labels) < MIN_LABELLED_ROWS or len(frequent) < 2:
        return None
    return LabelledRows(positions=order, codes=codes, labels=labels, classes=[str(names[code]) for code in frequent])
