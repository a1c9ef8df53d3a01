"""Promises about one feature: all else equal, the answer does not hang on it, or moves one way only."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .._checks import one_of, plural
from ..errors import ArgumentError
from ..outputs import Outputs
from ..space.features import Codes
from ..space.points import Points
from ..strategies.flow import Flow
from ..sut.answers import Labels
from ..sut.base import Executor
from .base import HOLDS, INAPPLICABLE, ROUNDING, UNDEFINED, VIOLATED, Groups, Mask, Relation
from .sweeping import Swept, sweep, values_of

DIRECTIONS = {"up": 1, "increasing": 1, "+": 1, "down": -1, "decreasing": -1, "-": -1}


class _OfFeature(Relation):
    """A promise about one feature."""

    tried: Codes | None = None  # values; by default those of the cases at hand

    def __init__(self, feature: str) -> None:
        self.feature = feature
        self.about = (feature,)

    def fitted_to(self, sut: Executor, inputs: Points) -> Self:
        """Return the promise with the values that will be tried on every case."""
        fitted = copy.copy(self)
        fitted.tried = values_of(inputs, self.feature)
        return fitted

    def why_not(self, sut: Executor, inputs: Points) -> str:
        """Return why it cannot be asked: the feature has one value."""
        values = inputs.codes[:, inputs.space.position(self.feature)]
        if np.isnan(values).all():
            return f"{self.feature} is missing in every case"
        feature = inputs.space[self.feature]
        return f"{self.feature} has one value only" if feature.low == feature.high else ""


class Invariant(_OfFeature):
    """All else equal, the answer does not hang on a feature.

    Parameters
    ----------
    feature : str
        The feature that must not matter.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.invariant("gender").says
    'another gender alone does not change the answer'
    """

    necessary = False

    def __init__(self, feature: str) -> None:
        super().__init__(feature)
        self.name = f"invariant {feature}"
        self.says = f"another {feature} alone does not change the answer"

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[Groups]:
        """Try all values of the feature on each case; a group is a case and the nearest value that changes its answer."""
        swept = yield from sweep(inputs, self.feature, self.tried, note=self.name)
        return self.judged(swept)

    def changes(self, swept: Swept) -> Mask:
        """Tell of which cases with which value the answer differs from the case's own."""
        n, width = swept.shape
        rows = np.repeat(np.arange(n), width)
        own = swept.answers(rows, np.repeat(swept.own, width))
        both = own.ok & swept.outputs.ok
        kept = np.ones(n * width, dtype=bool)
        if both.any():
            kept[both] = np.asarray(self.expects(own.values[both], swept.outputs.values[both]), dtype=bool)
        return swept.grid(~kept) & swept.valid

    def judged(self, swept: Swept) -> Groups:
        """Return a group a case: with the nearest value that changes its answer, or else another one."""
        n, width = swept.shape
        rows, known = np.arange(n), swept.known
        differs = self.changes(swept)
        away = np.abs(swept.values - swept.values[rows, swept.own][:, None])
        away[np.arange(width)[None, :] == swept.own[:, None]] = np.inf
        away[away == 0] = np.inf
        nearest = np.where(differs, away, np.inf).argmin(axis=1)
        changed = differs.any(axis=1)
        other = np.where(known, away, np.inf)
        columns = np.where(changed, nearest, other.argmin(axis=1))
        verdicts = np.where(changed, VIOLATED, HOLDS).astype(np.int8)
        verdicts[~known[rows, swept.own] | (~changed & ~np.isfinite(other.min(axis=1, initial=np.inf)))] = (
            UNDEFINED
        )
        return Groups(
            rows, swept.points(rows, swept.own), swept.points(rows, columns),
            swept.answers(rows, swept.own), swept.answers(rows, columns), verdicts,
        )  # fmt: skip


class Monotone(_OfFeature):
    """All else equal, more of a feature moves the answer one way only.

    What must not fall is the answer itself where it is a number, else the score of a class (its probability, its
    decision value), or, where there are no scores, whether the answer is that class.

    Parameters
    ----------
    feature : str
        The feature.
    direction : {"up", "down"}
        Where the answer goes as the feature rises.
    towards : object, optional
        The class that becomes more likely; the second of two classes by default.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.monotone("income", "up", towards="approved").says
    'more income alone never speaks against approved'
    """

    necessary = False

    def __init__(self, feature: str, direction: str = "up", towards: Any = None) -> None:
        super().__init__(feature)
        one_of("direction", "Monotone", direction, DIRECTIONS)
        self.sign, self.towards = DIRECTIONS[direction], towards
        self.direction = "up" if self.sign > 0 else "down"
        self._labels: Labels | None = None
        self._scored = self._probable = False
        self.name = f"monotone {feature}"
        what = "lowers the answer" if towards is None else f"speaks against {towards}"
        self.says = f"{'more' if self.sign > 0 else 'less'} {feature} alone never {what}"

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[Groups]:
        """Try all values of the feature on each case; a group is a case with the steepest step the wrong way."""
        swept = yield from sweep(inputs, self.feature, self.tried, scores=True, note=self.name)
        return self.judged(swept)

    def why_not(self, sut: Executor, inputs: Points) -> str:
        """Return why it cannot be judged: nobody said which of several classes is meant."""
        why = super().why_not(sut, inputs)
        if why or sut.labels is None:
            return why
        if self.towards is not None and self._meant(sut.labels) is None:
            raise ArgumentError(
                f"The class {self.towards!r} that {self.feature} should lead towards is none of the model's: "
                f"{', '.join(map(repr, sut.labels[:12]))}."
            )
        if self.towards is None and len(sut.labels) > 2 and not all(_is_number(each) for each in sut.labels):
            return f"the model has {plural(len(sut.labels), 'class', 'classes')}: say which one {self.feature} leads towards"
        return ""

    def fitted_to(self, sut: Executor, inputs: Points) -> Monotone:
        """Return the promise with what is known of the system's classes and scores."""
        fitted = super().fitted_to(sut, inputs)
        if self.towards is not None and sut.labels is not None:
            fitted.towards = self._meant(sut.labels)
        fitted._labels, fitted._scored = sut.labels, sut.score_kind in ("decision", "probability")
        fitted._probable = sut.score_kind == "probability"
        return fitted

    def _meant(self, labels: Labels) -> Any:
        """Return the class that is meant, which a command line or a file may write as text; None if there is none."""
        alike = [each for each in labels if each == self.towards] or [
            e for e in labels if str(e) == str(self.towards)
        ]
        return alike[0] if alike else None

    @property
    def _aim(self) -> Any:
        """The class that the feature leads towards; None where the answers are numbers."""
        labels = self._labels
        return labels[1] if self.towards is None and labels is not None and len(labels) == 2 else self.towards

    def level(self, outputs: Outputs) -> Codes:
        """Return what must not fall, as a number an answer; NaN where there is none.

        A score of a class is told as its standing against all others: of probabilities the class's own, of other scores
        the class's less the (soft) highest of the others.
        """
        ok, labels, towards = outputs.ok, self._labels, self._aim
        if outputs.scores is not None and self._scored and labels is not None and towards in labels:
            column, scores = labels.index(towards), outputs.scores
            standing = scores[:, column] if self._probable else _standing(scores, column)
            return np.where(ok, standing, np.nan)
        level = np.full(len(outputs), np.nan)
        values = outputs.values[ok]
        if towards is not None:
            if labels is None and values.dtype.kind == "f":
                raise ArgumentError(
                    f"The answers are numbers, and {self.feature} is said to lead towards {towards!r}. Leave that out."
                )
            level[ok] = [value == towards for value in values.tolist()]
            if labels is None and not level[ok].any():
                met = ", ".join(repr(each) for each in list(dict.fromkeys(values.tolist()))[:6])
                raise ArgumentError(
                    f"No answer is {towards!r}, which {self.feature} should lead towards. There are: {met}."
                )
        elif values.dtype.kind in "fiub" or all(_is_number(value) for value in values.tolist()):
            level[ok] = values.astype(np.float64)
        else:
            raise ArgumentError(
                f"The answers are no numbers ({str(values[0])[:40]!r}, ...). Say which of them more {self.feature} leads "
                "towards: towards=..."
            )
        return level

    def judged(self, swept: Swept) -> Groups:
        """Return a group a case: the two neighbouring values between which the level falls most.

        Where the level is a score, an answer that leaves the class against its score is a fall, too.
        """
        n, width = swept.shape
        rows = np.arange(n)
        levels = [self.level(swept.outputs)]
        towards = self._aim
        if towards is not None:
            levels.append(
                np.array([value == towards for value in swept.outputs.values.tolist()], dtype=np.float64)
            )
        falls, earliers = zip(*(_falls(swept, self.sign * level) for level in levels), strict=True)
        fall = np.max(falls, axis=0)
        later = _telling(fall, swept) if width > 1 else np.zeros(n, dtype=np.intp)
        earlier = earliers[0](later)
        verdicts = np.where(fall.max(axis=1, initial=-np.inf) > ROUNDING, VIOLATED, HOLDS).astype(np.int8)
        verdicts[~np.isfinite(fall).any(axis=1)] = UNDEFINED if width > 1 else INAPPLICABLE
        first, second = (earlier, later) if self.sign > 0 else (later, earlier)
        return Groups(
            rows, swept.points(rows, first), swept.points(rows, second),
            swept.answers(rows, first), swept.answers(rows, second), verdicts,
        )  # fmt: skip


def _falls(swept: Swept, level: Codes) -> tuple[Codes, Callable[[npt.NDArray[np.intp]], npt.NDArray[np.intp]]]:
    """Return by how much of its spread a level falls at each step, and where the steps begin.

    A value without an answer is skipped: its neighbours are compared with each other.
    """
    levels = np.where(swept.known, swept.grid(level), np.nan)
    known = levels[~np.isnan(levels)]
    spread = float(np.ptp(known)) if known.size else 0.0
    fall = _filled_forward(levels)[:, :-1] - levels[:, 1:]
    fall = np.where(np.isnan(fall), -np.inf, fall / (spread or 1.0))
    return fall, lambda later: _last_known(levels, later)


def _telling(fall: Codes, swept: Swept) -> npt.NDArray[np.intp]:
    """Return in each row where the level has fallen most; a step that changes the answer itself goes first."""
    n, width = swept.shape
    rows, steps = np.repeat(np.arange(n), width - 1), np.tile(np.arange(width - 1), n)
    same = swept.answers(rows, steps).same(swept.answers(rows, steps + 1)).reshape(fall.shape)
    turns = np.where(~same & (fall > ROUNDING), fall, -np.inf)
    chosen = np.where(np.isfinite(turns).any(axis=1), turns.argmax(axis=1), fall.argmax(axis=1))
    return chosen + 1


def _standing(scores: Codes, column: int) -> Codes:
    """Return how a class stands against all others: the score of a class alone may fall although the class gains."""
    others = np.delete(scores, column, axis=1)
    if not others.shape[1]:
        return scores[:, column]
    highest = others.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return scores[:, column] - (highest[:, 0] + np.log(np.exp(others - highest).sum(axis=1)))


def _filled_forward(levels: Codes) -> Codes:
    """Return each row with the last known value in place of a missing one."""
    places = np.where(np.isnan(levels), 0, np.arange(levels.shape[1])[None, :])
    np.maximum.accumulate(places, axis=1, out=places)
    return np.take_along_axis(levels, places, axis=1)


def _last_known(levels: Codes, before: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return in each row the last place before the given one that has a value; 0 if none has."""
    columns = np.arange(levels.shape[1])[None, :]
    usable = ~np.isnan(levels) & (columns < before[:, None])
    return np.where(usable, columns, 0).max(axis=1, initial=0)


def monotone(feature: str, direction: str = "up", towards: Any = None) -> Monotone:
    """Return the promise that more of a feature moves the answer one way only; see `Monotone`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.monotone("age", "down")
    Monotone('monotone age')
    """
    return Monotone(feature, direction, towards)


def invariant(feature: str) -> Invariant:
    """Return the promise that a feature alone does not change the answer; see `Invariant`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.invariant("id")
    Invariant('invariant id')
    """
    return Invariant(feature)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
