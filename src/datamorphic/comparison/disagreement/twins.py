"""`Twins`: two systems that must be one, and how their answers are compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...runs.driver import drive
from ...runs.flow import Flow, Query
from ...space.features import Mask
from ...space.labels import to_label_keys
from ...space.outputs import SINGLE_ROUNDING, Outputs, find_rounding
from ...space.points import Batch
from ...systems.base import Executor, ScoreKind, ScoreRequest
from ...systems.estimator import Estimator

Numbers = npt.NDArray[np.float64]
#: Asks a system about a batch, with scores or not, and returns its answers.
SystemQuery = Callable[[Executor, Batch, ScoreRequest], Outputs]

DEFAULT_TOLERANCE = 1e-6  # of the spread of scores or numbers
MIN_SCORE_AGREEMENT = 0.5  # of the given rows with equal labels: with less, the scores are of another kind
#: of `drive`: extreme values are expected to fail, and are not asked twice
QUERY_OPTIONS: dict[str, Any] = {"progress": False, "recheck": 0, "alive": True, "cache": None}
BEST_SHARE = 0.98  # of given rows whose answer is the class with the best score


def ask_twin(batch: Batch, scores: ScoreRequest) -> Flow[Outputs]:
    """Yield one query and return its outputs."""
    return (yield Query(batch, scores, note="looking for differences", fresh=True))


def query_directly(system: Executor, batch: Batch, scores: ScoreRequest) -> Outputs:
    """Return the answers of a system to a batch; rows that fail have a status."""
    return drive(ask_twin(batch, scores), system, **QUERY_OPTIONS)


@dataclass(frozen=True, eq=False, kw_only=True)
class PairedAnswers:
    """The answers of two systems to the same rows, and where they differ."""

    old: Outputs
    new: Outputs
    refused: Mask  # one answers, and the other does not
    answers_differ: Mask  # both answer: labels that are not equal, or numbers beyond the tolerance
    scores_differ: Mask  # both answer, and a score differs by more than the tolerance
    ties: Mask  # the labels differ although the scores are equal up to the tolerance
    gaps: Numbers  # by how much numbers or scores differ, in units of their spread; NaN if not compared

    def __len__(self) -> int:
        return len(self.old)

    @property
    def differ(self) -> Mask:
        """Where the two systems differ in any way."""
        return self.refused | self.answers_differ | self.scores_differ

    @property
    def severity(self) -> Numbers:
        """How bad the difference is, to prefer the worst examples: 0 if there is none."""
        gaps = np.where(np.isnan(self.gaps), 1.0, np.minimum(self.gaps, 1.0))
        worst = np.where(self.ties, 1.0, np.where(self.answers_differ, 3.0 + gaps, np.where(self.refused, 2.0, gaps)))
        return np.where(self.differ, worst, 0.0)

    def take(self, rows: npt.NDArray[Any]) -> PairedAnswers:
        """Return the answers to some of the rows."""
        arrays = ("refused", "answers_differ", "scores_differ", "ties", "gaps")
        parts: dict[str, Any] = {name: getattr(self, name)[rows] for name in arrays}
        return PairedAnswers(old=self.old.take(rows), new=self.new.take(rows), **parts)

    @staticmethod
    def concat(parts: list[PairedAnswers]) -> PairedAnswers:
        """Return the answers of several queries as one."""
        arrays = ("refused", "answers_differ", "scores_differ", "ties", "gaps")
        joined: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in arrays}
        old, new = (Outputs.concat([getattr(part, side) for part in parts]) for side in ("old", "new"))
        return PairedAnswers(old=old, new=new, **joined)


class Twins:
    """Two systems that must answer alike.

    `calibrate` must be called first, with the given rows: it learns what can be compared, and the spread of the answers.

    Attributes
    ----------
    numeric : bool
        Whether the answers are numbers, which may differ by the tolerance.
    with_scores : bool
        Whether both systems have scores of the same kind, which are compared.
    tolerance : float
        The share of the spread of scores or numbers by which they may differ.
    single : bool
        Whether one of the systems answers in single precision.
    """

    def __init__(
        self,
        old: Executor,
        new: Executor,
        *,
        query: SystemQuery = query_directly,
        tolerance: float | None = None,  # in the unit of numbers and scores; None for a share of their spread
        is_late: Callable[[], bool] = bool,  # tells whether the time of the search is over
    ) -> None:
        self.old, self.new = _choose_common_scores(old, new)
        self.row_count = 0  # queried so far
        self._query, self._absolute_tolerance, self.is_late = query, tolerance, is_late
        self.with_scores = self.old.score_kind is not None and self.old.score_kind == self.new.score_kind
        self.numeric, self.single = False, False
        self.tolerance = DEFAULT_TOLERANCE
        self._spread: Numbers = np.ones(1)
        self._follows_scores = False  # whether the answer is the class with the best score

    @property
    def shows_more_than_labels(self) -> bool:
        """Whether numbers or scores show small differences, too."""
        return self.numeric or self.with_scores

    @property
    def tolerance_text(self) -> str:
        """The tolerance in words."""
        noun = "numbers" if self.numeric else "scores"
        if self._absolute_tolerance is not None:
            return f"{noun} may differ by {self._absolute_tolerance:.3g}"
        return f"{noun} may differ by {self.tolerance:.0e} of their spread".replace("e-0", "e-")

    def calibrate(self, batch: Batch) -> PairedAnswers:
        """Return the answers to the given rows, and learn from them how answers are compared."""
        old, new = (self._ask(system, batch, self.with_scores) for system in (self.old, self.new))
        has_labels = self.old.labels is not None or self.new.labels is not None
        self.numeric = not has_labels and all(outputs.are_numbers(if_constant=True) for outputs in (old, new))
        if self.numeric:
            self.with_scores = False
            self._spread = np.array([_measure_spread(old.values[old.ok].astype(np.float64))])
            self.single = any(find_rounding(side.values[side.ok]) > 0 for side in (old, new))
        elif self.with_scores:
            self._calibrate_scores(old, new)
        if self.single:
            self.tolerance = SINGLE_ROUNDING
        self._follows_scores = all(
            self._are_scores_of_classes(side, system) for side, system in ((old, self.old), (new, self.new))
        )
        paired = self.compare(old, new)
        comparable = old.ok & new.ok & ~paired.answers_differ
        if self.with_scores and comparable.any():
            agreement = 1 - paired.scores_differ[comparable].mean()
            if agreement < MIN_SCORE_AGREEMENT and not self._are_scores_of_classes(new, self.new):
                self.with_scores = False  # what the new system calls scores is something else
                paired = self.compare(old, new)
        return paired

    def ask(self, batch: Batch) -> PairedAnswers:
        """Return the answers of both systems to a batch, compared."""
        old, new = (self._ask(system, batch, self.with_scores) for system in (self.old, self.new))
        return self.compare(old, new)

    def ask_one(self, batch: Batch, side: int) -> Outputs:
        """Return the answers of the old system (side 0) or of the new one (side 1); labels may come from the scores."""
        request: ScoreRequest = "only" if self.with_scores and self._follows_scores else self.with_scores
        return self._ask((self.old, self.new)[side], batch, request)

    def _ask(self, system: Executor, batch: Batch, scores: ScoreRequest) -> Outputs:
        self.row_count += len(batch)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return self._query(system, batch, scores)

    def compare(self, old: Outputs, new: Outputs) -> PairedAnswers:
        """Return where two systems' answers to the same rows differ."""
        both = old.ok & new.ok
        refused = old.ok != new.ok
        gaps = np.full(len(old), np.nan)
        scores_differ = np.zeros(len(old), dtype=bool)
        if self.numeric:
            numbers = [np.where(both, _to_floats(side.values, both), 0.0) for side in (old, new)]
            distances, allowed = self._measure_distances(numbers[0][:, None], numbers[1][:, None])
            gaps[both] = (distances / self._spread.max())[both]
            answers_differ = both & (distances > allowed)
        else:
            answers_differ = np.zeros(len(old), dtype=bool)
            if both.any():
                answers_differ[both] = find_different_labels(old.values[both], new.values[both])
        has_scores = self.with_scores and old.scores is not None and new.scores is not None
        if has_scores and old.scores.shape == new.scores.shape:  # type: ignore[union-attr]
            old_scores, new_scores = np.asarray(old.scores), np.asarray(new.scores)[:, self._class_order(new)]
            distances, allowed = self._measure_distances(old_scores, new_scores)
            gaps[both] = (distances / self._spread.max())[both]
            scores_differ = both & (distances > allowed)
            ties = answers_differ & ~scores_differ
        else:
            ties = np.zeros(len(old), dtype=bool)
        return PairedAnswers(
            old=old,
            new=new,
            refused=refused,
            answers_differ=answers_differ,
            scores_differ=scores_differ,
            ties=ties,
            gaps=gaps,
        )

    def compare_one_side(self, before: Outputs, after: Outputs) -> Mask:
        """Return where two answers of one system differ."""
        both = before.ok & after.ok
        differ = before.ok != after.ok
        if self.numeric:
            numbers = [np.where(both, _to_floats(outputs.values, both), 0.0)[:, None] for outputs in (before, after)]
            distances, allowed = self._measure_distances(numbers[0], numbers[1])
            return differ | (both & (distances > allowed))
        differ[both] = find_different_labels(before.values[both], after.values[both])
        if self.with_scores and before.scores is not None and after.scores is not None:
            distances, allowed = self._measure_distances(before.scores, after.scores)
            differ |= both & (distances > allowed)
        return differ

    def _measure_distances(self, a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
        """Return the largest distance per row, and the allowed one. Two NaN are equal, and so are two infinities."""
        with np.errstate(all="ignore"):
            equal = (a == b) | (np.isnan(a) & np.isnan(b))
            distances = np.where(equal, 0.0, np.abs(a - b))
        distances = np.where(np.isnan(distances), np.inf, distances).max(axis=1)
        if self._absolute_tolerance is not None:
            return distances, np.full(len(a), self._absolute_tolerance)
        sizes = np.where(np.isfinite(a), np.abs(a), 0.0).max(axis=1)
        return distances, self.tolerance * np.maximum(self._spread.max(), sizes)

    def to_signal(self, outputs: Outputs) -> Numbers:
        """Return answers as numbers in which jumps show: scores or numbers in units of their spread; NaN if none."""
        if self.numeric:
            return (_to_floats(outputs.values, outputs.ok) / self._spread.max())[:, None]
        if self.with_scores and outputs.scores is not None:
            return outputs.scores / self._spread.max()
        return np.zeros((len(outputs), 1))

    def to_codes(self, outputs: Outputs) -> npt.NDArray[Any]:
        """Return labels as texts that can be compared; rows without an answer get an empty text."""
        if self.numeric:
            return np.where(outputs.ok, "number", "")
        texts = np.full(len(outputs), "", dtype=object)
        if outputs.ok.any():
            texts[outputs.ok] = _to_class_texts(outputs.values[outputs.ok])
        return texts

    # -- scores ----------------------------------------------------------------------------------------------------

    def _calibrate_scores(self, old: Outputs, new: Outputs) -> None:
        if old.scores is None or new.scores is None or old.scores.shape != new.scores.shape:
            self.with_scores = False
            return
        if self.old.score_kind != "probability":
            self._spread = np.array([_measure_spread(old.scores[old.ok])])
        self.single = any(find_rounding(side.scores[side.ok]) > 0 for side in (old, new) if side.scores is not None)

    def _class_order(self, new: Outputs) -> npt.NDArray[np.intp] | slice:
        """Return the columns of the new scores in the order of the old classes, if both declare their classes."""
        if self.old.labels is None or self.new.labels is None or self.old.score_kind == "pairwise":
            return slice(None)
        old_texts, new_texts = (
            list(_to_class_texts(_as_objects(system.labels or ()))) for system in (self.old, self.new)
        )
        if old_texts == new_texts or sorted(old_texts) != sorted(new_texts):
            return slice(None)
        if new.scores is None or new.scores.shape[1] != len(new_texts):
            return slice(None)
        return np.array([new_texts.index(text) for text in old_texts])

    def _are_scores_of_classes(self, outputs: Outputs, system: Executor) -> bool:
        """Return whether the best score is that of the answer, so that different scores mean different models."""
        if outputs.scores is None or system.labels is None or outputs.scores.shape[1] != len(system.labels):
            return True
        best = _as_objects(system.labels)[np.nan_to_num(outputs.scores).argmax(axis=1)]
        if not outputs.ok.any():
            return True
        return bool(find_different_labels(best[outputs.ok], outputs.values[outputs.ok]).mean() <= 1 - BEST_SHARE)


def _choose_common_scores(old: Executor, new: Executor) -> tuple[Executor, Executor]:
    """Return the systems with scores of the same kind, if they have one in common."""
    if old.score_kind is None or new.score_kind is None or old.score_kind == new.score_kind:
        return old, new
    for kind in ("probability", "decision"):
        pair = [_restrict_scores(system, kind) for system in (old, new)]
        if pair[0] is not None and pair[1] is not None:
            return pair[0], pair[1]
    return old, new


def _restrict_scores(system: Executor, kind: ScoreKind) -> Executor | None:
    if system.score_kind == kind:
        return system
    return system.with_scores(kind) if isinstance(system, Estimator) else None


def _to_floats(values: npt.NDArray[Any], ok: Mask) -> Numbers:
    numbers = np.full(len(values), np.nan)
    try:
        numbers[ok] = values[ok].astype(np.float64)
    except (TypeError, ValueError):  # not numbers after all
        numbers[ok] = np.nan
    return numbers


def _measure_spread(numbers: Numbers) -> float:
    """Return the distance between the smallest and the largest number; 1 if there is none."""
    finite = numbers[np.isfinite(numbers)]
    spread = float(np.ptp(finite)) if finite.size else 0.0
    return spread if spread > 0 else 1.0


def _as_objects(values: tuple[Any, ...]) -> npt.NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def find_different_labels(old: npt.NDArray[Any], new: npt.NDArray[Any]) -> Mask:
    """Return which labels differ, whatever types they were read as.

    Examples
    --------
    >>> find_different_labels(np.array([1, 0]), np.array(["1", "1"])).tolist()
    [False, True]
    """
    if old.dtype.kind in "iub" and new.dtype.kind in "iub":
        return np.asarray(old.astype(np.int64) != new.astype(np.int64))
    return np.asarray(_to_class_texts(old) != _to_class_texts(new), dtype=bool)


def _to_class_texts(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels as texts; True equals 1, and 1.0 equals 1, since services and files turn one into the other."""
    return to_label_keys(values)
