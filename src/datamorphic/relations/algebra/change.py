"""Relations about named changes of columns, such as a tenth more credit score, and their composition.

A change multiplies a column, adds to it or sets it. The relation says in which direction the probability of an outcome may
then move. Values stay in the range of the column, and rows without a usable value are set aside:

- a missing value, a sentinel (9999 for "unavailable") and a value outside the range make a case INAPPLICABLE;
- a value that the change would move out of the range is moved to its end, and the case is marked as *clipped*.

The *wrongness* of a case is the amount by which the probability moves in the wrong direction. A violation of at least
`STRONG_THRESHOLD` is strong, a smaller one weak (Ying 2024, definitions 8.1 and 8.2).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ..._deprecation import rename_keywords
from ..._lazy import pd
from ..._text import format_short, suggest_name
from ..._validation import is_number, validate_choice
from ...errors import ArgumentError, DataError
from ...runs.flow import Flow, Query
from ...space.encoding import to_numbers, to_numpy_dtype
from ...space.features import Categorical, Feature
from ...space.outputs import Outputs
from ...space.points import Batch, Points
from ...space.text_feature import Text
from ...systems.base import Executor
from ..patterns.relation import InputPattern
from .base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED, JudgedGroups, Mask, Relation, Verdicts
from .one_way import DIRECTION_WORDS, Direction, OneWay, compute_wrongness

Floats = npt.NDArray[np.float64]

STRONG_THRESHOLD = 1e-2  # of the probability; Ying 2024, section 8.3.3.1


class ChangedRows(NamedTuple):
    """Rows of a frame after a change."""

    frame: pd.DataFrame
    clipped: Mask  # a value was moved to the end of its range
    inapplicable: Mask  # a value is missing, a sentinel or outside its range; the row is unchanged in that column


class ChangedPoints(NamedTuple):
    """Points after a change."""

    points: Points
    clipped: Mask
    inapplicable: Mask


class _ChangedValues(NamedTuple):
    """The numbers of one column after a change."""

    values: Floats
    clipped: Mask
    inapplicable: Mask


@dataclass(frozen=True, kw_only=True)
class Change(InputPattern):
    """A change of one column: multiply it, add to it, or set it.

    Exactly one of `factor`, `amount` and `value` says what happens.

    Parameters
    ----------
    column : str
        The name of the column.
    factor : float, optional
        The number that the value is multiplied by.
    amount : float, optional
        The number that is added to the value.
    value : object, optional
        The new value: a number or a category.
    low, high : float, optional
        The range of the column. Changed values stay in it; a value outside it cannot be changed.
    sentinels : tuple
        Values that mean "unavailable". They cannot be changed.
    whole : bool, optional
        Whether changed values are rounded to whole numbers. By default if the column has integers.

    Examples
    --------
    >>> import pandas as pd
    >>> from datamorphic.relations.algebra.change import Change
    >>> better_score = Change(column="score", factor=1.1, low=300, high=850, sentinels=(9999,))
    >>> str(better_score)
    'score x 1.1'
    >>> changed = better_score.apply(pd.DataFrame({"score": [661, 800, 9999]}))
    >>> changed.frame.score.tolist(), changed.clipped.tolist(), changed.inapplicable.tolist()
    ([727, 850, 9999], [False, True, False], [False, False, True])

    A change and an expectation are a relation:

    >>> (better_score >> OneWay(direction="down", outcome="default")).statement
    'score x 1.1: the probability of default does not rise'
    """

    pattern: ClassVar[str] = "Change of a column"
    column: str
    factor: float | None = None
    amount: float | None = None
    value: object | None = None
    low: float = -math.inf
    high: float = math.inf
    sentinels: tuple[Any, ...] = ()
    whole: bool | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise ArgumentError(f"The column of a change must be the name of a column. Got {self.column!r}.")
        actions = [name for name in ("factor", "amount", "value") if getattr(self, name) is not None]
        if len(actions) != 1:
            raise ArgumentError(
                f"The change of {self.column!r} needs exactly one of factor=, amount= and value=. "
                f"Got {' and '.join(actions) or 'none of them'}."
            )
        for name in ("factor", "amount"):
            number = getattr(self, name)
            if number is not None and (not is_number(number) or not math.isfinite(number)):
                raise ArgumentError(
                    f"The {name} of the change of {self.column!r} must be a finite number. Got {number!r}."
                )
        for name, default in (("low", -math.inf), ("high", math.inf)):
            bound = getattr(self, name)
            if bound is None:
                object.__setattr__(self, name, default)
            elif not is_number(bound) or math.isnan(bound):
                raise ArgumentError(f"{name}= of the change of {self.column!r} must be a number. Got {bound!r}.")
        if self.low > self.high:
            raise ArgumentError(
                f"The range of {self.column!r} is reversed: low={self.low:g} is above high={self.high:g}. Swap them."
            )
        if is_number(self.value) and not self.low <= self.value <= self.high:
            raise ArgumentError(
                f"The value {self.value:g} of the change of {self.column!r} is outside its range "
                f"from {self.low:g} to {self.high:g}. Give a value in the range."
            )
        sentinels = self.sentinels if isinstance(self.sentinels, tuple | list) else (self.sentinels,)
        object.__setattr__(self, "sentinels", tuple(sentinels))

    def __str__(self) -> str:
        if self.factor is not None:
            return f"{self.column} x {self.factor:g}"
        if self.amount is not None:
            return f"{self.column} {'-' if self.amount < 0 else '+'} {abs(self.amount):g}"
        return f"{self.column} := {format_short(self.value)}"

    def describe(self) -> str:
        """Return the change as a clause."""
        return str(self)

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which rows can be changed."""
        return ~self.apply(frame).inapplicable

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the changed rows."""
        return [self.apply(frame).frame]

    def __rshift__(self, expectation: object) -> Relation:  # type: ignore[override]
        if not isinstance(expectation, OneWay):
            return super().__rshift__(expectation)
        return ChangeRelation(
            str(self),
            self,
            outcome=expectation.outcome,
            direction=expectation.direction,
            outcome_guesses=expectation.guesses,
        )

    def apply(self, frame: pd.DataFrame) -> ChangedRows:
        """Return the changed rows, which of them were clipped, and which cannot be changed."""
        column = _get_column(frame, self.column)
        if self.value is not None and not is_number(self.value):
            return self._assign(frame, column)
        numbers, is_text = to_numbers(column)
        if is_text.any():
            row = int(is_text.argmax())
            raise DataError(
                f"{self.column!r} has a value that is not a number in row {row}: {format_short(column.iloc[row])!r}. "
                f"The change {self} needs numbers."
            )
        dtype = to_numpy_dtype(column.dtype)
        has_integers = dtype is not None and dtype.kind in "iu"
        result = self.compute_values(numbers, has_integers if self.whole is None else self.whole)
        return ChangedRows(
            frame.assign(**{self.column: _to_column(result.values, column, has_integers)}),
            result.clipped,
            result.inapplicable,
        )

    def compute_values(self, numbers: Floats, whole: bool) -> _ChangedValues:
        """Return the changed numbers of a column; NaN is missing."""
        inapplicable = np.isnan(numbers) | (numbers < self.low) | (numbers > self.high)
        sentinels = [float(sentinel) for sentinel in self.sentinels if is_number(sentinel)]
        if sentinels:
            inapplicable |= np.isin(numbers, sentinels)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.factor is not None:
                changed = numbers * self.factor
            elif self.amount is not None:
                changed = numbers + self.amount
            else:
                changed = np.full(len(numbers), float(self.value))  # type: ignore[arg-type]
        low, high = self.low, self.high
        if whole:
            changed = np.rint(changed)
            low, high = _round_range(low, high)
        within = np.clip(changed, low, high)
        clipped = (within != changed) & ~inapplicable
        if sentinels:  # a value that becomes a sentinel would mean "unavailable"
            inapplicable |= np.isin(within, sentinels)
        return _ChangedValues(np.where(inapplicable, numbers, within), clipped & ~inapplicable, inapplicable)

    def _assign(self, frame: pd.DataFrame, column: pd.Series[Any]) -> ChangedRows:
        """Return the rows with another category."""
        inapplicable = (column.isna() | column.isin(list(self.sentinels))).to_numpy(dtype=bool)
        if isinstance(column.dtype, pd.CategoricalDtype) and self.value not in column.cat.categories:
            raise DataError(
                f"{self.column!r} has no category {self.value!r}. {suggest_name(str(self.value), column.cat.categories)}"
            )
        return ChangedRows(
            frame.assign(**{self.column: column.mask(~inapplicable, self.value)}),
            np.zeros(len(frame), dtype=bool),
            inapplicable,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class ChangeGroups(JudgedGroups):
    """Judged groups of a `ChangeRelation`, with the size of each violation."""

    before_levels: Floats  # the probability of the outcome, or the number, before the change; NaN without an answer
    after_levels: Floats
    wrongness: Floats  # by how much the level moves in the wrong direction; NaN for groups that are not judged
    clipped: Mask  # the change was cut at the end of a range

    @property
    def strong(self) -> Mask:
        """Which groups are strong violations."""
        return is_strong(self.verdicts, self.wrongness)

    @property
    def weak(self) -> Mask:
        """Which groups are weak violations."""
        return (self.verdicts == VIOLATED) & ~self.strong


def is_strong(verdicts: Verdicts, wrongness: Floats, threshold: float = STRONG_THRESHOLD) -> Mask:
    """Return which violations are strong: wrong by at least the threshold, apart from rounding."""
    with np.errstate(invalid="ignore"):
        return (verdicts == VIOLATED) & (wrongness >= threshold * (1 - 1e-9))


class ChangeRelation(Relation):
    """After a change, the probability of an outcome moves in one direction only.

    Parameters
    ----------
    name : str
        The name in reports and commands.
    changes : Change or sequence of Change
        The changes, applied one after the other.
    outcome : object, optional
        The class whose probability is judged. By default the second of two classes. Answers that are numbers are judged
        themselves.
    direction : {"down", "up", "same"}
        The direction in which the probability may move: "down" if it must not rise.
    outcome_guesses : sequence
        Classes to look for, in this order, if `outcome` is None. If the model has none of them, the relation is refused.
    statement : str, optional
        The relation as a sentence, by default made from the changes.

    Examples
    --------
    >>> import pandas as pd, datamorphic as dm
    >>> from datamorphic.relations.algebra.change import Change, ChangeRelation
    >>> relation = ChangeRelation("less debt", Change(column="debt", factor=0.9), outcome="default")
    >>> relation.statement
    'debt x 0.9: the probability of default does not rise'
    >>> loans = pd.DataFrame({"debt": [1200.0, 3000.0, 450.0]})
    >>> dm.check(lambda frame: frame.debt / 10_000, loans, relation).table.violated.tolist()
    [0]
    """

    necessary = False

    @rename_keywords("0.2", says="statement")
    def __init__(
        self,
        name: str,
        changes: Change | Sequence[Change],
        *,
        outcome: object = None,
        direction: Direction = "down",
        outcome_guesses: Sequence[object] = (),
        statement: str = "",
    ) -> None:
        items = (changes,) if isinstance(changes, Change) else tuple(changes)
        if not items or not all(isinstance(item, Change) for item in items):
            raise ArgumentError(f"The relation {name!r} needs at least one Change. Got {changes!r}.")
        validate_choice("direction", "ChangeRelation", direction, DIRECTION_WORDS)
        self.name = name
        self.changes: tuple[Change, ...] = items
        self.expectation = OneWay(direction=direction, outcome=outcome, guesses=tuple(outcome_guesses))
        self.about = tuple(dict.fromkeys(change.column for change in items))
        self._statement = statement

    @property
    def statement(self) -> str:
        """The relation as a sentence."""
        return self._statement or f"{', '.join(map(str, self.changes))}: {self.expectation.describe()}"

    @statement.setter
    def statement(self, statement: str) -> None:
        self._statement = statement

    @property
    def outcome(self) -> object:
        """The class whose probability is judged; None if it is unknown."""
        return self.expectation.outcome

    @property
    def direction(self) -> Direction:
        """The direction in which the probability may move."""
        return self.expectation.direction

    @property
    def outcome_guesses(self) -> tuple[object, ...]:
        """Classes to look for if there is no outcome."""
        return self.expectation.guesses

    # -- what a system offers ----------------------------------------------------------------------------------------

    def find_obstacle(self, sut: Executor, inputs: Points) -> str:
        """Return "": the relation applies. Raise if a column or the class that is judged is unknown."""
        for change in self.changes:
            if change.column not in inputs.space.names:
                raise DataError(
                    f"The relation {self.name!r} changes {change.column!r}, which is not a column of the data. "
                    f"{suggest_name(change.column, inputs.space.names)}"
                )
        return self.expectation.find_obstacle(sut, self.name)

    def system(self, sut: Executor) -> Executor:
        """Return the system with probabilities as scores, if it has them."""
        return self.expectation.system(sut)

    def fitted_to(self, sut: Executor, inputs: Points) -> ChangeRelation:
        """Return the relation for the classes of a system, with rounding for its integer features."""
        fitted_relation = copy.copy(self)
        fitted_relation.expectation = self.expectation.fitted_to(sut)
        kinds = {feature.name: feature.kind for feature in inputs.space.features}
        fitted_relation.changes = tuple(
            replace(change, whole=kinds.get(change.column) == "integer") if change.whole is None else change
            for change in self.changes
        )
        return fitted_relation

    # -- the change --------------------------------------------------------------------------------------------------

    def change(self, frame: pd.DataFrame) -> ChangedRows:
        """Return the rows after all changes; a row that one of them cannot change is inapplicable."""
        clipped, inapplicable = np.zeros(len(frame), dtype=bool), np.zeros(len(frame), dtype=bool)
        for change in self.changes:
            frame, was_clipped, was_inapplicable = change.apply(frame)
            clipped |= was_clipped
            inapplicable |= was_inapplicable
        return ChangedRows(frame, clipped & ~inapplicable, inapplicable)

    def change_points(self, points: Points) -> ChangedPoints:
        """Return points after all changes, which may leave the space."""
        codes = points.codes.copy(order="F")
        clipped, inapplicable = np.zeros(len(codes), dtype=bool), np.zeros(len(codes), dtype=bool)
        for change in self.changes:
            feature, column = points.space[change.column], points.space.position(change.column)
            result = _change_codes(change, feature, codes[:, column])
            codes[:, column] = result.values
            clipped |= result.clipped
            inapplicable |= result.inapplicable
        return ChangedPoints(Points(points.space, codes), clipped & ~inapplicable, inapplicable)

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which cases can be changed."""
        return ~self.change(frame).inapplicable

    def follow_up(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return the changed cases."""
        return self.change(frame).frame

    # -- the verdict -------------------------------------------------------------------------------------------------

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Query source and follow-up cases with scores, and judge the answers."""
        before = yield Query(inputs, scores="only", note=self.name)
        return (yield from self.check_answered(inputs, before))

    def check_answered(self, inputs: Points, before: Outputs) -> Flow[ChangeGroups]:
        """Query the follow-up cases only; `before` are the answers to the inputs."""
        follow_up, clipped, inapplicable = self.change_points(inputs)
        after = yield Query(follow_up, scores="only", note=self.name)
        return self.judge_changes(inputs, follow_up, before, after, clipped, inapplicable)

    def judge_changes(
        self, source: Batch, follow_up: Batch, before: Outputs, after: Outputs, clipped: Mask, inapplicable: Mask
    ) -> ChangeGroups:
        """Return the groups with their verdicts and the size of each violation."""
        before_levels, after_levels = self.compute_level(before), self.compute_level(after)
        verdicts, wrongness = self.judge_levels(before_levels, after_levels, inapplicable)
        return ChangeGroups(
            rows=np.arange(len(verdicts)),
            source=source,
            follow_up=follow_up,
            before=before,
            after=after,
            verdicts=verdicts,
            before_levels=before_levels,
            after_levels=after_levels,
            wrongness=wrongness,
            clipped=clipped,
        )

    def judge_levels(self, before: Floats, after: Floats, inapplicable: Mask | None = None) -> tuple[Verdicts, Floats]:
        """Return verdicts and wrongness from the probabilities before and after the change; NaN is no answer.

        Without a system: ``relation.judge_levels(model.predict_proba(x)[:, 1], model.predict_proba(changed)[:, 1])``.
        """
        wrongness = compute_wrongness(before, after, self.direction)
        undefined = np.isnan(wrongness)
        violated = replace(self.expectation, tolerance=self.tolerance).is_violated(before, after)
        verdicts = np.where(violated, VIOLATED, HOLDS).astype(np.int8)
        verdicts[undefined] = UNDEFINED
        if inapplicable is not None:
            verdicts[inapplicable] = INAPPLICABLE
            undefined = undefined | inapplicable
        return verdicts, np.where(undefined, np.nan, wrongness)

    def compute_level(self, outputs: Outputs) -> Floats:
        """Return the probability of the outcome, or the answer if it is a number; NaN without an answer."""
        return self.expectation.compute_level(outputs, self.name)

    def expects(self, before: npt.NDArray[Any], after: npt.NDArray[Any]) -> Mask:
        """Return per group whether levels, such as probabilities, move as they may."""
        verdicts, _ = self.judge_levels(np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64))
        return np.asarray(verdicts != VIOLATED)


def compose(*relations: ChangeRelation, name: str = "") -> ChangeRelation:
    """Return the relation that makes the changes of several relations, one after the other.

    A later change acts on what the earlier ones made.

    Parameters
    ----------
    *relations : ChangeRelation
        At least two relations about the same outcome, with the same direction.
    name : str, optional
        The name of the result, by default the names joined by " + ".

    Examples
    --------
    >>> from datamorphic.relations.algebra.change import Change, ChangeRelation, compose
    >>> score = ChangeRelation("score", Change(column="score", factor=1.1))
    >>> ltv = ChangeRelation("ltv", Change(column="ltv", factor=0.9))
    >>> compose(score, ltv, name="both").statement
    'score x 1.1, ltv x 0.9: the probability of the outcome does not rise'
    """
    if len(relations) < 2 or not all(isinstance(relation, ChangeRelation) for relation in relations):
        raise ArgumentError(f"compose needs at least two relations about changes. Got {relations!r}.")
    first = relations[0]
    for other in relations[1:]:
        if other.direction != first.direction:
            raise ArgumentError(
                f"{first.name!r} and {other.name!r} cannot be composed: the first says that the probability "
                f"{DIRECTION_WORDS[first.direction]}, the second that it {DIRECTION_WORDS[other.direction]}."
            )
        if (other.outcome, other.outcome_guesses) != (first.outcome, first.outcome_guesses):
            raise ArgumentError(
                f"{first.name!r} and {other.name!r} cannot be composed, because they are about different outcomes, "
                f"{first.outcome!r} and {other.outcome!r}."
            )
    return ChangeRelation(
        name or " + ".join(relation.name for relation in relations),
        [change for relation in relations for change in relation.changes],
        outcome=first.outcome,
        direction=first.direction,
        outcome_guesses=first.outcome_guesses,
    )


def check_changes(relations: Sequence[ChangeRelation], inputs: Points) -> Flow[list[ChangeGroups]]:
    """Query the source cases once and the follow-ups of every relation; return the groups per relation.

    The relations must be fitted to the system that answers; see `ChangeRelation.fitted_to`.
    """
    before = yield Query(inputs, scores="only", note="source cases")
    groups = []
    for relation in relations:
        groups.append((yield from relation.check_answered(inputs, before)))
    return groups


def _change_codes(change: Change, feature: Feature, codes: Floats) -> _ChangedValues:
    """Return the codes of a feature after a change."""
    if isinstance(feature, Text):
        if not isinstance(change.value, str):
            raise ArgumentError(
                f"The change {change} computes with {change.column!r}, which is text. Set it with value=."
            )
        inapplicable = np.isnan(codes)
        new_codes = np.where(inapplicable, codes, feature.encode_texts([change.value])[0])
        return _ChangedValues(new_codes, np.zeros(len(codes), dtype=bool), inapplicable)
    if not isinstance(feature, Categorical):
        if change.value is not None and not is_number(change.value):
            raise ArgumentError(
                f"The change {change} sets {change.column!r}, which has numbers, to {change.value!r}. Give a number."
            )
        return change.compute_values(codes, change.whole if change.whole is not None else feature.kind == "integer")
    categories = list(feature.values)
    inapplicable = np.isnan(codes) | np.isin(
        codes, [float(code) for code, category in enumerate(categories) if category in change.sentinels]
    )
    if change.value is None:
        raise ArgumentError(
            f"The change {change} computes with {change.column!r}, which has categories. Set one of them with value=."
        )
    if change.value not in categories:
        raise DataError(
            f"{change.column!r} has no category {change.value!r}. {suggest_name(str(change.value), categories)}"
        )
    new_codes = np.where(inapplicable, codes, float(categories.index(change.value)))
    return _ChangedValues(new_codes, np.zeros(len(codes), dtype=bool), inapplicable)


def _get_column(frame: pd.DataFrame, name: str) -> pd.Series[Any]:
    if name not in frame.columns:
        raise DataError(
            f"The data have no column {name!r}. {suggest_name(name, [str(column) for column in frame.columns])}"
        )
    return frame[name]


def _to_column(values: Floats, column: pd.Series[Any], has_integers: bool) -> Any:
    """Return changed numbers in the type of their column, as far as it holds them."""
    if has_integers and not (np.rint(values[~np.isnan(values)]) == values[~np.isnan(values)]).all():
        return values  # fractions in a column of integers
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
        return values.astype(column.dtype)
    if isinstance(column.dtype, np.dtype):  # objects
        return np.where(column.isna().to_numpy(), column.to_numpy(), values.astype(object))
    return pd.Series(values, index=column.index).convert_dtypes().astype(column.dtype)


def _round_range(low: float, high: float) -> tuple[float, float]:
    """Return the whole numbers of a range."""
    return (
        float(math.ceil(low)) if math.isfinite(low) else low,
        float(math.floor(high)) if math.isfinite(high) else high,
    )
