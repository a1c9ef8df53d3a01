"""How much better answers fit the labels after a change: losses per row, and the paired test."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....core.result import Measure
from ....space.outputs import Outputs
from ...context import CheckContext
from ...judged_rows import JudgedRows
from ...responses import AnswerCodes

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
RowNumbers = npt.NDArray[np.intp]

MIN_ROWS_OF_CLASS = 5  # to take part in the mean over classes
MIN_AGREEMENT = 0.9  # of answers with the largest probability, for probabilities to be considered
MIN_PROBABILITY = 0.01  # smaller ones surprise as much
MIN_BALANCED_CLEARNESS = 1.64  # standard errors by which the mean over classes must be better, too
Z_95 = 1.959964


@dataclass(frozen=True, eq=False, kw_only=True)
class Losses:
    """The losses of some rows."""

    errors: Floats  # 0 or 1 for right and wrong classes, absolute errors of numbers; NaN for a number that is missing
    surprise: Floats | None = None  # of the labels by the probabilities, -log p; None without probabilities


def makes_less_likely(before: Losses, after: Losses, inside: Mask) -> bool:
    """Tell whether a change of some rows makes their labels less likely by the probabilities of the system.

    A weak model may be right more often by accident if a column is stretched, but what it was fitted to does not improve.
    """
    if before.surprise is None or after.surprise is None:
        return False
    return float((after.surprise - before.surprise)[inside].sum()) > 0


@dataclass(frozen=True, eq=False, kw_only=True)
class Judge:
    """Compares answers with the labels of judged rows."""

    codes: AnswerCodes
    truth: Floats  # the codes of the labels, or the numbers
    numeric: bool
    score_columns: Floats | None = None  # for each row, the column of its label among the probabilities; NaN for none

    @classmethod
    def from_rows(cls, context: CheckContext, data: JudgedRows) -> Judge:
        """Return the judge of some rows."""
        codes = AnswerCodes(data.numeric, context.sut.labels)
        truth = data.numbers if data.numeric else codes.encode(data.labels)
        columns = None
        if context.sut.score_kind == "probability" and context.sut.labels is not None and not data.numeric:
            order = codes.encode(list(context.sut.labels))
            columns = np.array(
                [next(iter(np.flatnonzero(order == label)), np.nan) for label in truth], dtype=np.float64
            )
        return cls(codes=codes, truth=truth, numeric=data.numeric, score_columns=columns)

    def measure(self, outputs: Outputs, rows: RowNumbers) -> Losses:
        """Return the errors of answers to some rows, and how surprising their labels are by the probabilities."""
        answers = self.codes.encode(outputs.values, outputs.ok)
        if self.numeric:
            return Losses(errors=np.abs(answers - self.truth[rows]))
        errors = np.asarray(answers != self.truth[rows], dtype=np.float64)
        if self.score_columns is None or outputs.scores is None:
            return Losses(errors=errors)
        columns = self.score_columns[rows]
        if np.isnan(columns).any() or outputs.scores.shape[1] <= columns.max():
            return Losses(errors=errors)
        order = self.codes.encode(list(self.codes.labels))
        agrees = order[outputs.scores.argmax(axis=1)] == answers
        if agrees.mean() < MIN_AGREEMENT:
            return Losses(errors=errors)
        levels = outputs.scores[np.arange(len(rows)), columns.astype(int)]
        return Losses(errors=errors, surprise=-np.log(np.clip(levels, MIN_PROBABILITY, 1.0)))

    def compare(self, before: Floats, after: Floats, rows: RowNumbers) -> Gain:
        """Return how much smaller the losses of some rows are after a change."""
        from scipy.stats import binomtest, wilcoxon

        gains = before - after
        total, count = float(before.sum()), len(rows)
        saved = float(gains.sum())
        margin = Z_95 * float(gains.std()) * math.sqrt(count)
        moved = gains[gains != 0]
        fixed, broken = int((moved > 0).sum()), int((moved < 0).sum())
        if not len(moved) or saved <= 0 or not np.isfinite(gains).all():
            p_value = 1.0
        elif self.numeric:
            p_value = float(wilcoxon(moved, alternative="greater").pvalue)
        else:
            p_value = float(binomtest(fixed, fixed + broken, alternative="greater").pvalue)
        scale = max(total, 1e-300)
        return Gain(
            before=total / count,
            after=(total - saved) / count,
            reduction=Measure(saved / scale, (saved - margin) / scale, (saved + margin) / scale, count),
            fixed=fixed,
            broken=broken,
            p_value=p_value,
            is_balanced=self._is_smaller_in_squares(before, after)
            if self.numeric
            else self._is_better_on_average_over_classes(gains, rows),
        )

    def _is_better_on_average_over_classes(self, gains: Floats, rows: RowNumbers) -> bool:
        """Tell whether the mean over classes gets better, too."""
        labels = self.truth[rows]
        means, variances = [], []
        for label in np.unique(labels):
            values = gains[labels == label]
            if len(values) >= MIN_ROWS_OF_CLASS:
                means.append(float(values.mean()))
                variances.append(float(values.var()) / len(values))
        return bool(means) and sum(means) > MIN_BALANCED_CLEARNESS * math.sqrt(sum(variances))

    @staticmethod
    def _is_smaller_in_squares(before: Floats, after: Floats) -> bool:
        gains = np.square(before) - np.square(after)
        return float(gains.mean()) > MIN_BALANCED_CLEARNESS * float(gains.std()) / math.sqrt(len(gains))


@dataclass(frozen=True, eq=False, kw_only=True)
class Gain:
    """The gain by a change, on rows that were not used to find it."""

    before: float  # the mean loss
    after: float
    reduction: Measure  # the part of all losses that disappears
    fixed: int  # rows whose loss gets smaller
    broken: int  # rows whose loss gets larger
    p_value: float  # of a change without effect
    #: whether the mean over classes, or the mean squared error, gets better, too: preferring the frequent class, or the median
    #: of a skewed number, is no repair
    is_balanced: bool
