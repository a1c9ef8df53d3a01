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
MIN_ROWS_OF_MEAN = 100  # whose error moves, for the mean to be tested besides the ranks
MIN_AGREEMENT = 0.9  # of answers with the largest probability, for probabilities to be considered
MIN_PROBABILITY = 0.01  # smaller ones surprise as much
MIN_AUC_GAIN = 0.01  # mean over classes, for probabilities to separate the classes better
MIN_BALANCED_CLEARNESS = 1.64  # standard errors by which the mean over classes must be better, too
Z_95 = 1.959964


@dataclass(frozen=True, eq=False, kw_only=True)
class Losses:
    """The losses of some rows."""

    errors: Floats  # 0 or 1 for right and wrong classes, absolute errors of numbers; NaN for a number that is missing
    probabilities: Floats | None = None  # rows by classes; None if the system has none that agree with its answers

    def change_where(self, inside: Mask, changed: Losses) -> Losses:
        """Return these losses, those of a change inside a group."""
        probabilities = None
        if self.probabilities is not None and changed.probabilities is not None:
            probabilities = np.where(inside[:, None], changed.probabilities, self.probabilities)
        return Losses(errors=np.where(inside, changed.errors, self.errors), probabilities=probabilities)


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelJudge:
    """Compares answers with the labels of judged rows."""

    codes: AnswerCodes
    truth: Floats  # the codes of the labels, or the numbers
    numeric: bool
    has_probabilities: bool = (
        False  # whether the scores of the system are probabilities of the classes, in the order of the codes
    )

    @classmethod
    def from_rows(cls, context: CheckContext, data: JudgedRows) -> LabelJudge:
        """Return the judge of some rows."""
        codes = AnswerCodes(data.numeric, context.sut.labels)
        truth = data.numbers if data.numeric else codes.encode(data.labels)
        has_probabilities = (
            not data.numeric and context.sut.score_kind == "probability" and context.sut.labels is not None
        )
        return cls(codes=codes, truth=truth, numeric=data.numeric, has_probabilities=has_probabilities)

    def get_second_class_probabilities(self, context: CheckContext, data: JudgedRows) -> Floats | None:
        """Return the probabilities of the second of two classes for judged rows; None if they are unknown."""
        if self.numeric or context.probabilities is None or context.score_rows is None:
            return None
        if len(self.codes.labels) != 2 or context.probabilities.shape[1] != 2:
            return None
        levels = np.full(len(context.inputs), np.nan)
        levels[context.score_rows] = context.probabilities[:, 1]
        own = levels[data.rows]
        return None if np.isnan(own).any() else own

    def measure(self, outputs: Outputs, rows: RowNumbers) -> Losses:
        """Return the errors of answers to some rows, and how surprising their labels are by the probabilities."""
        answers = self.codes.encode(outputs.values, outputs.ok)
        if self.numeric:
            return Losses(errors=np.abs(answers - self.truth[rows]))
        errors = np.asarray(answers != self.truth[rows], dtype=np.float64)
        if not self.has_probabilities or outputs.scores is None:
            return Losses(errors=errors)
        if outputs.scores.shape[1] != len(self.codes.labels) or np.isnan(outputs.scores).any():
            return Losses(errors=errors)
        agrees = outputs.scores.argmax(axis=1) == answers
        return Losses(errors=errors, probabilities=outputs.scores if agrees.mean() >= MIN_AGREEMENT else None)

    def measure_surprise(self, losses: Losses, rows: RowNumbers) -> Floats:
        """Return a loss that tells more than right and wrong, if there are probabilities: how surprising the labels are."""
        truth = self.truth[rows]
        if losses.probabilities is None or np.isnan(truth).any() or truth.max() >= losses.probabilities.shape[1]:
            return losses.errors
        levels = losses.probabilities[np.arange(len(rows)), truth.astype(int)]
        return np.asarray(-np.log(np.clip(levels, MIN_PROBABILITY, 1)))

    def has_less_likely_labels(self, before: Losses, after: Losses, rows: RowNumbers) -> bool:
        """Tell whether the labels are less likely by the probabilities after a change.

        A weak model may be right more often by accident if a column is stretched, but what it was fitted to does not improve.
        """
        old, new = before.probabilities, after.probabilities
        if old is None or new is None or np.isnan(self.truth[rows]).any():
            return False
        places = np.arange(len(rows)), self.truth[rows].astype(int)
        if places[1].max() >= old.shape[1]:
            return False
        old, new = (np.log(np.clip(levels[places], MIN_PROBABILITY, 1)) for levels in (old, new))
        return float((new - old).sum()) < 0

    def has_better_ranking(self, before: Losses, after: Losses, rows: RowNumbers) -> bool:
        """Tell whether probabilities separate the classes better after a change, whatever the threshold."""
        old, new = before.probabilities, after.probabilities
        if old is None or new is None:
            return False
        gains = []
        for label in range(old.shape[1]):
            inside = self.truth[rows] == label
            if MIN_ROWS_OF_CLASS <= inside.sum() <= len(rows) - MIN_ROWS_OF_CLASS:
                gains.append(compute_auc(new[:, label], inside) - compute_auc(old[:, label], inside))
        return bool(gains) and float(np.mean(gains)) >= MIN_AUC_GAIN

    def compare(self, old: Losses, new: Losses, rows: RowNumbers) -> Gain:
        """Return how much smaller the losses of some rows are after a change."""
        from scipy.stats import binomtest, ttest_1samp, wilcoxon

        before, after = old.errors, new.errors
        gains = before - after
        total, count = float(before.sum()), len(rows)
        saved = float(gains.sum())
        margin = Z_95 * float(gains.std()) * math.sqrt(count)
        moved = gains[gains != 0]
        fixed, broken = int((moved > 0).sum()), int((moved < 0).sum())
        if not len(moved) or saved <= 0 or not np.isfinite(gains).all():
            p_value = 1.0
        elif self.numeric:
            # many rows that move a little in both directions hide in ranks what the mean shows
            tests = [float(wilcoxon(moved, alternative="greater").pvalue)]
            if len(moved) >= MIN_ROWS_OF_MEAN:
                tests.append(float(ttest_1samp(gains, 0.0, alternative="greater").pvalue))
            p_value = min(1.0, len(tests) * min(tests))
        else:
            tests = [float(binomtest(fixed, fixed + broken, alternative="greater").pvalue)]
            if old.probabilities is not None and new.probabilities is not None:  # they tell more than right and wrong
                surprise = self.measure_surprise(old, rows) - self.measure_surprise(new, rows)
                tests.append(float(ttest_1samp(surprise, 0.0, alternative="greater").pvalue) if surprise.any() else 1.0)
            p_value = min(1.0, len(tests) * min(tests))
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
            else not self.has_less_likely_labels(old, new, rows)
            and (self._is_better_on_average_over_classes(gains, rows) or self.has_better_ranking(old, new, rows)),
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
    #: whether more than the threshold gets better: the mean over classes or the ranking, and the mean squared error of numbers.
    #: Preferring the frequent class, or the median of a skewed number, is no repair.
    is_balanced: bool


def compute_auc(scores: Floats, inside: Mask) -> float:
    """Return the area under the ROC curve: how often a row inside has a higher score than one outside."""
    from scipy.stats import rankdata

    count, total = int(inside.sum()), len(scores)
    return float((rankdata(scores)[inside].sum() - count * (count + 1) / 2) / (count * (total - count)))
