"""Relations about one feature: invariance and monotonicity."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..._deprecation import rename_attribute, rename_keywords
from ..._text import pluralise
from ..._validation import check_types, is_number, validate_choice
from ...errors import ArgumentError
from ...runs.flow import Flow
from ...space.features import Codes
from ...space.outputs import Outputs, find_rounding
from ...space.points import Points
from ...systems.base import Executor
from ...systems.coerce import Labels
from .base import HOLDS, INAPPLICABLE, ROUNDING_TOLERANCE, UNDEFINED, VIOLATED, JudgedGroups, Mask, Relation, Verdicts
from .one_way import Direction, OneWay, find_label
from .sweep import MAX_VALUES_PER_NUMBER, Sweep, find_sweep_values, sweep

Places = npt.NDArray[np.intp]
DIRECTION_SIGNS = {"up": 1, "increasing": 1, "+": 1, "down": -1, "decreasing": -1, "-": -1}


class _FeatureRelation(Relation):
    """A relation about one feature."""

    feature_values: Codes | None = None  # to try; by default those of the checked cases
    low: float | None = None  # the range of the feature in which the relation holds
    high: float | None = None
    unavailable: tuple[float, ...] = ()  # values that mean "not known", to which the relation does not apply

    def __init__(self, feature: str) -> None:
        self.feature = feature
        self.about = (feature,)

    def fitted_to(self, sut: Executor, inputs: Points) -> Self:
        """Return the relation with the values that are tried on every case."""
        fitted_relation = copy.copy(self)
        if self.low is None and self.high is None and not self.unavailable:
            fitted_relation.feature_values = find_sweep_values(inputs, self.feature)
        else:  # the space may reach far beyond the values in which the relation holds
            column = inputs.codes[:, inputs.space.position(self.feature)]
            known_values = column[self._is_known(column)]
            shares = np.linspace(0, 1, MAX_VALUES_PER_NUMBER)
            ends = [end for end in (self.low, self.high) if end is not None]
            fitted_relation.feature_values = np.unique([*np.quantile(known_values, shares, method="nearest"), *ends])
        return fitted_relation

    def _is_known(self, values: Codes) -> Mask:
        """Return which values are present, within the range, and do not mean "not known"."""
        known = ~np.isnan(values) & ~np.isin(values, self.unavailable)
        known &= values >= (-np.inf if self.low is None else self.low)
        return known & (values <= (np.inf if self.high is None else self.high))

    def _find_known_rows(self, inputs: Points) -> Places:
        """Return the positions of the cases to which the relation applies."""
        return np.flatnonzero(self._is_known(inputs.codes[:, inputs.space.position(self.feature)]))

    def find_obstacle(self, sut: Executor, inputs: Points) -> str:
        """Return why the relation does not apply: the feature does not vary."""
        values = inputs.codes[:, inputs.space.position(self.feature)]
        if not self._is_known(values).any():
            return f"{self.feature} is missing in every case"
        feature = inputs.space[self.feature]
        return f"{self.feature} has only one value" if feature.low == feature.high else ""


class Invariant(_FeatureRelation):
    """All else equal, the answer does not depend on a feature; see `invariant`."""

    necessary = False

    def __init__(self, feature: str) -> None:
        super().__init__(feature)
        self.name = f"invariant {feature}"
        self.statement = f"another {feature} alone does not change the answer"

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Query each case with all values; a group has the nearest one that matters."""
        rows = self._find_known_rows(inputs)
        swept = yield from sweep(inputs.take(rows), self.feature, self.feature_values, note=self.name)
        groups = self.judge_sweep(swept)
        return replace(groups, rows=rows[groups.rows])

    def find_changes(self, swept: Sweep) -> Mask:
        """Return for which cases and values the answer differs."""
        n, width = swept.shape
        rows = np.repeat(np.arange(n), width)
        own_outputs = swept.answers(rows, np.repeat(swept.own_columns, width))
        both = own_outputs.ok & swept.outputs.ok
        unchanged = np.ones(n * width, dtype=bool)
        if both.any():
            unchanged[both] = np.asarray(self.expects(own_outputs.values[both], swept.outputs.values[both]), dtype=bool)
        return swept.grid(~unchanged) & swept.valid

    def judge_sweep(self, swept: Sweep) -> JudgedGroups:
        """Return one group per case, with the nearest value that changes the answer."""
        n, width = swept.shape
        rows, answered = np.arange(n), swept.answered
        differs = self.find_changes(swept)
        distances = np.abs(swept.values - swept.values[rows, swept.own_columns][:, None])
        distances[np.arange(width)[None, :] == swept.own_columns[:, None]] = np.inf
        distances[distances == 0] = np.inf
        nearest = np.where(differs, distances, np.inf).argmin(axis=1)
        changed = differs.any(axis=1)
        known_distances = np.where(answered, distances, np.inf)
        columns = np.where(changed, nearest, known_distances.argmin(axis=1))
        verdicts = np.where(changed, VIOLATED, HOLDS).astype(np.int8)
        has_other = np.isfinite(known_distances.min(axis=1, initial=np.inf))
        verdicts[~answered[rows, swept.own_columns] | (~changed & ~has_other)] = UNDEFINED
        return _build_groups(swept, swept.own_columns, columns, verdicts)


class Monotone(_FeatureRelation):
    """All else equal, a higher value of a feature moves the answer one way only; see `monotone`."""

    necessary = False
    towards = rename_attribute("Monotone.towards", "outcome")

    @rename_keywords("0.2", towards="outcome")
    def __init__(self, feature: str, direction: str = "up", outcome: object = None) -> None:
        super().__init__(feature)
        validate_choice("direction", "Monotone", direction, DIRECTION_SIGNS)
        self.sign, self.outcome = DIRECTION_SIGNS[direction], outcome
        self.direction = "up" if self.sign > 0 else "down"
        self._labels: Labels | None = None
        self._score_kind: str | None = None
        self.name = f"monotone {feature}"
        effect = "lowers the answer" if outcome is None else f"makes the answer {outcome} less likely"
        self.statement = f"a {'higher' if self.sign > 0 else 'lower'} {feature} alone never {effect}"

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Query each case with all values; a group has the steepest wrong step."""
        rows = self._find_known_rows(inputs)
        swept = yield from sweep(inputs.take(rows), self.feature, self.feature_values, scores=True, note=self.name)
        groups = self.judge_sweep(swept)
        return replace(groups, rows=rows[groups.rows])

    def find_obstacle(self, sut: Executor, inputs: Points) -> str:
        """Return why the relation does not apply: the class is ambiguous."""
        why = super().find_obstacle(sut, inputs)
        if inputs.space[self.feature].kind == "text":
            why = f"{self.feature} is text, which has no order"
        if why or sut.labels is None:
            return why
        if self.outcome is not None and find_label(sut.labels, self.outcome) is None:
            raise ArgumentError(
                f"The model has no class {self.outcome!r} that {self.feature} could lead towards. It has: "
                f"{', '.join(map(repr, sut.labels[:12]))}."
            )
        if self.outcome is None and len(sut.labels) > 2 and not all(map(is_number, sut.labels)):
            return f"the model has {pluralise(len(sut.labels), 'class', 'classes')}: say which one {self.feature} leads towards"
        return ""

    def fitted_to(self, sut: Executor, inputs: Points) -> Monotone:
        """Return the relation with what is known of the system's classes and scores."""
        fitted_relation = super().fitted_to(sut, inputs)
        if self.outcome is not None and sut.labels is not None:
            fitted_relation.outcome = find_label(sut.labels, self.outcome)
        fitted_relation._labels, fitted_relation._score_kind = sut.labels, sut.score_kind
        return fitted_relation

    @property
    def expectation(self) -> OneWay:
        """What is expected of the answers: their level moves in one direction only."""
        direction: Direction = "up" if self.sign > 0 else "down"
        return OneWay(direction=direction, outcome=self.outcome, labels=self._labels, score_kind=self._score_kind)

    @property
    def _target_label(self) -> Any:
        """The class that the feature leads towards; None if the answers are numbers."""
        labels = self._labels
        return labels[1] if self.outcome is None and labels is not None and len(labels) == 2 else self.outcome

    def compute_level(self, outputs: Outputs) -> Codes:
        """Return the level that must not fall, one number per answer.

        The level of a class is its standing against all others: its probability, or for other scores its score minus the soft
        maximum of the others.
        """
        levels = self.expectation.read_scores(outputs)
        if levels is not None:
            return levels
        ok, labels, outcome = outputs.ok, self._labels, self._target_label
        level = np.full(len(outputs), np.nan)
        values = outputs.values[ok]
        if outcome is not None:
            if labels is None and values.dtype.kind == "f":
                raise ArgumentError(
                    f"The answers are numbers, but {self.feature} is to lead towards the class {outcome!r}. "
                    "Leave out outcome=."
                )
            level[ok] = self.expectation.match(values)
            if labels is None and not level[ok].any():
                examples = ", ".join(repr(value) for value in list(dict.fromkeys(values.tolist()))[:6])
                raise ArgumentError(
                    f"No answer is {outcome!r}, which {self.feature} should lead towards. Answers are: {examples}."
                )
        elif values.dtype.kind in "fiub" or all(map(is_number, values.tolist())):
            level[ok] = values.astype(np.float64)
        else:
            raise ArgumentError(
                f"The answers are not numbers ({str(values[0])[:40]!r}, ...). Name the answer that a higher {self.feature} "
                "leads towards: outcome=..."
            )
        return level

    def judge_sweep(self, swept: Sweep) -> JudgedGroups:
        """Return one group per case: the two values between which the level falls most.

        If the level is a score, an answer that leaves the class although its score does not fall counts as a fall, too.
        """
        n, width = swept.shape
        levels = [self.compute_level(swept.outputs)]
        outcome = self._target_label
        if outcome is not None:
            levels.append(self.expectation.match(swept.outputs.values))
        grids = [np.where(swept.answered, swept.grid(self.sign * level), np.nan) for level in levels]
        # the tolerance is about the level: an answer that leaves the class is no small fall
        tolerances = (self.tolerance, 0.0)
        fall = np.max([_compute_falls(*pair) for pair in zip(grids, tolerances, strict=False)], axis=0)
        later = _find_steepest_steps(fall, swept) if width > 1 else np.zeros(n, dtype=np.intp)
        # the last value before it that has a level; a value without an answer is skipped
        known_columns = ~np.isnan(grids[0]) & (np.arange(width) < later[:, None])
        earlier = np.where(known_columns, np.arange(width), 0).max(axis=1, initial=0)
        tolerance = _find_fall_tolerance(swept.outputs)
        verdicts = np.where(fall.max(axis=1, initial=-np.inf) > tolerance, VIOLATED, HOLDS).astype(np.int8)
        verdicts[~np.isfinite(fall).any(axis=1)] = UNDEFINED if width > 1 else INAPPLICABLE
        first, second = (earlier, later) if self.sign > 0 else (later, earlier)
        return _build_groups(swept, first, second, verdicts)


def _build_groups(swept: Sweep, source: Places, follow_up: Places, verdicts: Verdicts) -> JudgedGroups:
    """Return one group per case from the columns of its source and its follow-up."""
    rows = np.arange(len(source))
    return JudgedGroups(
        rows=rows,
        source=swept.points(rows, source),
        follow_up=swept.points(rows, follow_up),
        before=swept.answers(rows, source),
        after=swept.answers(rows, follow_up),
        verdicts=verdicts,
    )


def _compute_falls(levels: Codes, tolerance: float = 0.0) -> Codes:
    """Return the falls of the level, from the last known value, as shares of its spread.

    A fall within the tolerance counts as none.
    """
    known_levels = levels[~np.isnan(levels)]
    spread = float(np.ptp(known_levels)) if known_levels.size else 0.0
    last_known = np.where(np.isnan(levels), 0, np.arange(levels.shape[1]))
    np.maximum.accumulate(last_known, axis=1, out=last_known)
    fall = np.take_along_axis(levels, last_known, axis=1)[:, :-1] - levels[:, 1:]
    fall = np.where((fall > 0) & (fall <= tolerance), 0.0, fall)
    return np.where(np.isnan(fall), -np.inf, fall / (spread or 1.0))


def _find_fall_tolerance(outputs: Outputs) -> float:
    """Return the fall, as a share of the spread, that rounding may cause in scores or numbers of this precision."""
    return max(ROUNDING_TOLERANCE, find_rounding(outputs.values if outputs.scores is None else outputs.scores))


def _find_steepest_steps(fall: Codes, swept: Sweep) -> Places:
    """Return the steepest fall of each row, preferably one that changes the answer."""
    n, width = swept.shape
    rows, steps = np.repeat(np.arange(n), width - 1), np.tile(np.arange(width - 1), n)
    same = swept.answers(rows, steps).same(swept.answers(rows, steps + 1)).reshape(fall.shape)
    turns = np.where(~same & (fall > _find_fall_tolerance(swept.outputs)), fall, -np.inf)
    steepest = np.where(np.isfinite(turns).any(axis=1), turns.argmax(axis=1), fall.argmax(axis=1))
    return steepest + 1


@rename_keywords("0.2", towards="outcome")
@check_types
def monotone(feature: str, direction: str = "up", outcome: object = None) -> Monotone:
    """Return the relation that, all else equal, a feature moves the answer one way only.

    The level that must not fall is the answer itself if it is a number. Otherwise it is the score of a class (its
    probability or decision value) or, without scores, whether the answer is that class.

    Parameters
    ----------
    feature : str
        The feature.
    direction : {"up", "down"}
        The direction of the answer as the feature rises.
    outcome : object, optional
        The class that becomes more likely; the second of two classes by default.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.monotone("income", "up", outcome="approved").statement
    'a higher income alone never makes the answer approved less likely'
    """
    return Monotone(feature, direction, outcome)


@check_types
def invariant(feature: str) -> Invariant:
    """Return the relation that, all else equal, the answer does not depend on a feature.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.invariant("gender").statement
    'another gender alone does not change the answer'
    """
    return Invariant(feature)
