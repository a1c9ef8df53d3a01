"""Constraints between features, which moves and midpoints satisfy.

A constraint is an object of this module, a string (``"free <= total"``, ``"a + b > c"``, ``"limit == balance + available"``), or a
function of a frame that returns one boolean per row. Strings are parsed, never evaluated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Protocol

import numpy as np

from .._lazy import pd
from .._text import format_short, pluralise, to_text
from ..errors import DataError, SpaceError
from .encoding import encode
from .features import Codes, Feature, Mask
from .hashing import RowTable


class FeatureSpace(Protocol):
    """What constraints, geometry and sampling use of a `Space`, so that they need not import it."""

    features: tuple[Feature, ...]
    names: tuple[str, ...]
    units: tuple[tuple[int, ...], ...]
    moves: str
    smooth: bool
    constraints: tuple[Constraint, ...]

    def __getitem__(self, name: str) -> Feature: ...

    @property
    def keeps_constraints(self) -> bool:
        """Whether moves and midpoints must satisfy the constraints."""
        ...

    def position(self, name: str) -> int:
        """Return the position of a feature."""
        ...

    def satisfied(self, codes: Codes) -> Mask:
        """Return which rows satisfy all constraints."""
        ...

    def decode(self, codes: Codes) -> pd.DataFrame:
        """Return codes as the user's values."""
        ...


class Constraint:
    """Base class: a condition on rows, and how to satisfy it again after a move.

    `Space` calls `check` when it is made. `satisfied` is called on every batch of new points, `mend` before it after a
    move, `settle` before it after a random draw, and `repair` on points that break the constraint after another change.
    """

    #: whether the features only make sense together: a midpoint takes the values of all of them from one end
    tied: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The features that the constraint depends on."""
        return ()

    def check(self, space: FeatureSpace) -> None:
        """Raise `SpaceError` unless the constraint fits the features of `space`."""
        self._locate(space)

    def _locate(self, space: FeatureSpace) -> list[int]:
        """Return the positions of the features that the constraint depends on."""
        return [space.position(name) for name in self.names]

    def satisfied(self, space: FeatureSpace, codes: Codes) -> Mask:
        """Return which rows satisfy the constraint."""
        raise NotImplementedError

    def mend(self, space: FeatureSpace, codes: Codes, moved: int) -> None:
        """Change other features in place, to satisfy it after a move of `moved`."""

    def mending(self, space: FeatureSpace, name: str) -> float:
        """Return the largest distance that `mend` adds to a move of the feature `name`."""
        return 0.0

    def settle(self, space: FeatureSpace, codes: Codes, rng: np.random.Generator) -> None:
        """Change randomly drawn rows in place so that more of them satisfy the constraint."""

    def repair(self, space: FeatureSpace, codes: Codes, changed: Mask, lows: Codes, highs: Codes) -> None:
        """Change other features than the `changed` ones in place, so that more rows satisfy the constraint.

        New values of numbers lie between `lows` and `highs`. All three have the shape of `codes`.
        """

    def describe(self) -> str:
        """Return the constraint in words."""
        return str(self)


_OPERATORS = {"<=": le, ">=": ge, "==": eq, "!=": ne, "<": lt, ">": gt}
_SYMBOLS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}  # for people
_COMPARISON = re.compile(r"^\s*(.+?)\s*(<=|>=|==|!=|<|>)\s*(.+?)\s*$")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Compare(Constraint):
    """A comparison of a numeric feature with another one or with a number.

    A missing value satisfies it.

    Examples
    --------
    >>> Compare.parse("free sulfur dioxide <= total sulfur dioxide")
    Compare(left='free sulfur dioxide', relation='<=', right='total sulfur dioxide')
    """

    left: str
    relation: str
    right: str | float

    @classmethod
    def parse(cls, text: str) -> Compare:
        """Parse ``"a <= b"`` or ``"a <= 3"``."""
        match = _COMPARISON.match(text)
        if not match:
            raise SpaceError(
                f"The constraint {text!r} cannot be parsed. Write two features, or a feature and a number, "
                'around one of <=, >=, <, >, ==, !=, as in "free <= total".'
            )
        left, relation, right = match.groups()
        if _is_number(left) and not _is_number(right):
            left, relation, right = right, relation.translate(str.maketrans("<>", "><")), left
        if _is_number(right) and np.isnan(float(right)):
            raise SpaceError(f"The constraint {text!r} compares with nan, which is always false. Use a number.")
        return cls(left, relation, float(right) if _is_number(right) else right)

    @property
    def names(self) -> tuple[str, ...]:
        """The features that the constraint depends on."""
        return (self.left, self.right) if isinstance(self.right, str) else (self.left,)

    def check(self, space: FeatureSpace) -> None:
        """Raise `SpaceError` if a feature is unknown or not a number."""
        super().check(space)
        for name in self.names:
            if not space[name].numeric:
                raise SpaceError(
                    f"The constraint {self} compares {name!r}, which is {space[name].kind}. "
                    "Compare numbers, or use AllowedCombinations for categories."
                )

    def satisfied(self, space: FeatureSpace, codes: Codes) -> Mask:
        """Return which rows satisfy the constraint."""
        left = codes[:, space.position(self.left)]
        right = codes[:, space.position(self.right)] if isinstance(self.right, str) else self.right
        return _OPERATORS[self.relation](left, right) | np.isnan(left) | np.isnan(right)

    def repair(self, space: FeatureSpace, codes: Codes, changed: Mask, lows: Codes, highs: Codes) -> None:
        """Let a feature that was not changed equal the other one, if the order of two features is broken."""
        if not isinstance(self.right, str) or self.relation not in ("<=", ">="):
            return
        left, right = self._locate(space)
        smaller, larger = (left, right) if self.relation == "<=" else (right, left)
        for j, other, to_whole in ((larger, smaller, np.ceil), (smaller, larger, np.floor)):
            values = codes[:, other]
            if space.features[j].kind == "integer":
                values = to_whole(values)
            use = ~self.satisfied(space, codes) & ~changed[:, j] & (values >= lows[:, j]) & (values <= highs[:, j])
            codes[use, j] = values[use]

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"

    def describe(self) -> str:
        """Return the comparison as a formula."""
        right = self.right if isinstance(self.right, str) else format_short(self.right)
        return f"{self.left} {_SYMBOLS.get(self.relation, self.relation)} {right}"


@dataclass(frozen=True)
class OneHot(Constraint):
    """Exactly one feature of a group of two-valued features is on.

    Moving one feature up turns the others off.

    Examples
    --------
    >>> OneHot(["is_red", "is_green", "is_blue"]).names
    ('is_red', 'is_green', 'is_blue')
    """

    group: Sequence[str]
    tied = True

    def __post_init__(self) -> None:
        if isinstance(self.group, str) or not isinstance(self.group, Sequence):
            raise SpaceError(f"A one-hot group is a list of features. Got {self.group!r}.")
        object.__setattr__(self, "group", tuple(self.group))

    @property
    def names(self) -> tuple[str, ...]:
        """The features that the constraint depends on."""
        return tuple(self.group)

    def check(self, space: FeatureSpace) -> None:
        """Raise `SpaceError` unless there are at least two features, each with two values."""
        super().check(space)
        if len(set(self.names)) < 2:
            raise SpaceError(f"A one-hot group needs at least two different features. Got {list(self.names)}.")
        for name in self.names:
            feature = space[name]
            if feature.kind == "continuous" or feature.high - feature.low != 1:
                raise SpaceError(
                    f"The one-hot feature {name!r} must have two values, as Integer({name!r}, 0, 1) has. "
                    f"It is a {feature.describe()}."
                )

    def satisfied(self, space: FeatureSpace, codes: Codes) -> Mask:
        """Return which rows satisfy the constraint."""
        on_count = np.zeros(len(codes), dtype=np.int64)
        for j in self._locate(space):
            on_count += codes[:, j] == space.features[j].high
        return on_count == 1

    def mend(self, space: FeatureSpace, codes: Codes, moved: int) -> None:
        """Turn the other features off where `moved` was turned on."""
        positions = self._locate(space)
        if moved in positions:
            turned_on = codes[:, moved] == space.features[moved].high
            for j in positions:
                if j != moved:
                    codes[turned_on, j] = space.features[j].low

    def mending(self, space: FeatureSpace, name: str) -> float:
        """Return 1 for a feature of the group: turning it on turns another one off."""
        return float(name in self.names)

    def settle(self, space: FeatureSpace, codes: Codes, rng: np.random.Generator) -> None:
        """Turn on one feature of the group in every row."""
        positions = self._locate(space)
        on_place = rng.integers(len(positions), size=len(codes))
        for place, j in enumerate(positions):
            feature = space.features[j]
            codes[:, j] = np.where(on_place == place, feature.high, feature.low)

    def __str__(self) -> str:
        return "one of " + ", ".join(self.names)


class AllowedCombinations(Constraint):
    """A table of the valid combinations of values, e.g. of cities and their countries.

    Parameters
    ----------
    table : DataFrame
        One row per valid combination. Its columns are features that are not continuous.
    """

    tied = True

    def __init__(self, table: pd.DataFrame) -> None:
        if not isinstance(table, pd.DataFrame):
            raise SpaceError(
                f"AllowedCombinations takes a DataFrame with one row per combination. Got {type(table).__name__}."
            )
        if not len(table) or not len(table.columns):
            raise SpaceError("The table of valid combinations is empty, so no point is valid. Add rows to it.")
        self.table = table.drop_duplicates().reset_index(drop=True)
        self._prepared: dict[tuple[Feature, ...], tuple[Codes, RowTable]] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._comparison_key() == other._comparison_key()

    def __hash__(self) -> int:
        return hash(self.names)

    def _comparison_key(self) -> tuple[Any, ...]:
        return self.names, list(self.table.astype(object).itertuples(index=False, name=None))

    def __getstate__(self) -> dict[str, Any]:
        return {"table": self.table, "_prepared": {}}

    @property
    def names(self) -> tuple[str, ...]:
        """The features that the constraint depends on."""
        return tuple(self.table.columns)

    def check(self, space: FeatureSpace) -> None:
        """Raise an error unless the table lists values of discrete features."""
        super().check(space)
        for name in self.names:
            if space[name].kind in ("continuous", "text"):
                raise SpaceError(
                    f"A table of valid combinations cannot list {name!r}: it is {space[name].kind}. "
                    "Use a comparison or a function instead."
                )
        self._encode_table(space)

    def _encode_table(self, space: FeatureSpace) -> tuple[Codes, RowTable]:
        features = tuple(space[name] for name in self.names)
        if features not in self._prepared:
            codes = np.column_stack(
                [encode(feature, self.table[feature.name], open_ends=False) for feature in features]
            )
            self._prepared[features] = codes, RowTable(len(features))
            self._prepared[features][1].add(codes)
        return self._prepared[features]

    def satisfied(self, space: FeatureSpace, codes: Codes) -> Mask:
        """Return which rows satisfy the constraint."""
        _, lookup = self._encode_table(space)
        return lookup.find(codes[:, self._locate(space)]) >= 0

    def settle(self, space: FeatureSpace, codes: Codes, rng: np.random.Generator) -> None:
        """Set every row to one of the valid combinations."""
        table, _ = self._encode_table(space)
        codes[:, self._locate(space)] = table[rng.integers(len(table), size=len(codes))]

    def __str__(self) -> str:
        return f"{pluralise(len(self.table), 'valid combination')} of {', '.join(self.names)}"


Combinations = AllowedCombinations  # the name in pickles of version 0.1


class Dependency(AllowedCombinations):
    """One feature determines another one, as a city determines its country.

    Changing the first feature changes the second one with it. A missing value satisfies the constraint.

    Parameters
    ----------
    table : DataFrame
        Two columns: each value of the first feature once, with its value of the second one.
    """

    def __init__(self, table: pd.DataFrame) -> None:
        super().__init__(table)
        if len(self.table.columns) != 2 or self.table.iloc[:, 0].duplicated().any():
            raise SpaceError(
                "A dependency takes a DataFrame with two columns, in which every value of the first occurs once."
            )

    @property
    def determinant(self) -> str:
        """The feature that determines the other one."""
        return self.names[0]

    @property
    def dependent(self) -> str:
        """The feature that is determined."""
        return self.names[1]

    def check(self, space: FeatureSpace) -> None:
        """Raise an error unless the first feature is discrete and the table lists values of both."""
        self._locate(space)
        if space[self.determinant].kind == "continuous":
            raise SpaceError(f"{self.determinant!r} cannot determine {self.dependent!r}: it is continuous.")
        self._encode_table(space)

    def satisfied(self, space: FeatureSpace, codes: Codes) -> Mask:
        """Return which rows satisfy the constraint."""
        first, second = (codes[:, j] for j in self._locate(space))
        return (self._look_up(space, first) == second) | np.isnan(first) | np.isnan(second)

    def _look_up(self, space: FeatureSpace, determinants: Codes) -> Codes:
        """Return the values that a column of the first feature determines; NaN where its value is not in the table."""
        table, _ = self._encode_table(space)
        order = np.argsort(table[:, 0], kind="stable")
        known, values = table[order, 0], table[order, 1]
        places = np.minimum(np.searchsorted(known, determinants), len(known) - 1)
        return np.where(known[places] == determinants, values[places], np.nan)

    def mend(self, space: FeatureSpace, codes: Codes, moved: int) -> None:
        """Change the second feature with the first one, which another dependency may have changed."""
        if self._depends_on(space, moved):
            self._determine(space, codes, np.ones(len(codes), dtype=bool))

    def mending(self, space: FeatureSpace, name: str) -> float:
        """Return the largest change of the second feature, for features that change the first one."""
        dependent = space[self.dependent]
        largest_change = 1.0 if not dependent.numeric else dependent.high - dependent.low
        return largest_change if self._depends_on(space, space.position(name)) else 0.0

    def _depends_on(self, space: FeatureSpace, position: int) -> bool:
        """Tell whether a move of a feature may change the second feature, directly or by a chain of dependencies."""
        first, second = self._locate(space)
        return position != second and any(position in unit and first in unit for unit in space.units)

    def settle(self, space: FeatureSpace, codes: Codes, rng: np.random.Generator) -> None:
        """Draw the first feature from the table, and determine the second one."""
        table, _ = self._encode_table(space)
        first, _ = self._locate(space)
        unknown = np.isnan(self._look_up(space, codes[:, first])) & ~np.isnan(codes[:, first])
        codes[unknown, first] = table[rng.integers(len(table), size=int(unknown.sum())), 0]
        self._determine(space, codes, np.ones(len(codes), dtype=bool))

    def repair(self, space: FeatureSpace, codes: Codes, changed: Mask, lows: Codes, highs: Codes) -> None:
        """Determine the second feature, or choose the first one if only one value of it determines the second."""
        first, second = self._locate(space)
        broken = ~self.satisfied(space, codes)
        self._determine(space, codes, broken & ~changed[:, second])
        table, _ = self._encode_table(space)
        values, places, counts = np.unique(table[:, 1], return_index=True, return_counts=True)
        entries = np.minimum(np.searchsorted(values, codes[:, second]), len(values) - 1)
        is_unique = (values[entries] == codes[:, second]) & (counts[entries] == 1)
        rows = broken & changed[:, second] & ~changed[:, first] & is_unique
        codes[rows, first] = table[places[entries[rows]], 0]

    def _determine(self, space: FeatureSpace, codes: Codes, rows: Mask) -> None:
        first, second = self._locate(space)
        values = self._look_up(space, codes[:, first])
        use = rows & ~np.isnan(values) & ~np.isnan(codes[:, second])
        codes[use, second] = values[use]

    def __str__(self) -> str:
        return f"{self.determinant} determines {self.dependent}"


_EQUALITY_DIGITS = 12  # of computed values; the last digits of a float are rounding errors
_RELATIVE_ROUNDING = 1e-9  # of the terms of an equality


def _parse_sums(text: str, relation: str) -> tuple[dict[str, float], float]:
    """Return the coefficients of the features, moved to the left side, and the constant, moved to the right side."""
    sides = text.split(relation)
    problem = SpaceError(
        f"The constraint {text!r} cannot be parsed. Write sums of features with spaces around + and -, as in "
        '"limit == balance + available", "total == 12 * monthly + 5" or "a + b > c".'
    )
    if len(sides) != 2:
        raise problem
    coefficients: dict[str, float] = {}
    constant = 0.0
    for sign_of_side, side in zip((1.0, -1.0), sides, strict=True):
        pieces = re.split(r"\s([+-])\s", f" + {side.strip()}")
        for operator, piece in zip(pieces[1::2], pieces[2::2], strict=True):
            sign = sign_of_side * (1.0 if operator == "+" else -1.0)
            factor, times, name = piece.strip().partition(" * ")
            if not times:
                factor, name = "1", factor
            if not name or not _is_number(factor):
                raise problem
            if not times and _is_number(name):
                constant -= sign * float(name)
            else:
                coefficients[name.strip()] = coefficients.get(name.strip(), 0.0) + sign * float(factor)
    if not coefficients or not all(math.isfinite(value) and value for value in coefficients.values()):
        raise problem
    return coefficients, constant


@dataclass(frozen=True)
class LinearInequality(Constraint):
    """A comparison of sums of multiples of numeric features: ``a + b > c``.

    A missing value satisfies it.

    Examples
    --------
    >>> inequality = LinearInequality.parse("a + b > 2 * c + 1")
    >>> inequality.terms, inequality.relation, inequality.constant
    ((('a', 1.0), ('b', 1.0), ('c', -2.0)), '>', 1.0)
    """

    text: str
    terms: tuple[tuple[str, float], ...]  # features with their coefficients
    relation: str
    constant: float

    @classmethod
    def parse(cls, text: str) -> LinearInequality:
        """Parse ``"a + b > c"`` or ``"2 * a - b <= 3"``."""
        relation = Compare.parse(text).relation
        coefficients, constant = _parse_sums(text, relation)
        return cls(text, tuple(coefficients.items()), relation, constant)

    @property
    def names(self) -> tuple[str, ...]:
        """The features that the constraint depends on."""
        return tuple(name for name, _ in self.terms)

    def check(self, space: FeatureSpace) -> None:
        """Raise `SpaceError` if a feature is unknown or not a number."""
        super().check(space)
        _refuse_sums_of_others(self, space)

    def satisfied(self, space: FeatureSpace, codes: Codes) -> Mask:
        """Return which rows satisfy the constraint."""
        total = np.zeros(len(codes))
        for name, factor in self.terms:
            total += factor * codes[:, space.position(name)]
        return np.asarray(_OPERATORS[self.relation](total, self.constant) | np.isnan(total))

    def __str__(self) -> str:
        return self.text

    def describe(self) -> str:
        """Return the inequality as a formula."""
        return self.text.replace(self.relation, _SYMBOLS.get(self.relation, self.relation)).replace(" * ", " × ")


def _refuse_sums_of_others(constraint: Constraint, space: FeatureSpace) -> None:
    """Raise `SpaceError` if a feature of a sum is not a number."""
    for name in constraint.names:
        if not space[name].numeric:
            raise SpaceError(f"The constraint {constraint} adds {name!r}, which is {space[name].kind}. Add numbers.")


@dataclass(frozen=True)
class LinearEquality(Constraint):
    """A sum of multiples of numeric features has a fixed value: ``limit - balance - available == 0``.

    Changing one of the features changes another one with it. A missing value satisfies the equality.

    Examples
    --------
    >>> equality = LinearEquality.parse("limit == balance + available")
    >>> equality.names, str(equality)
    (('limit', 'balance', 'available'), 'limit == balance + available')
    """

    terms: tuple[tuple[str, float], ...]  # features with their coefficients
    constant: float = 0.0
    tolerance: float = 0.0  # by which the sum may differ, since values are rounded

    @classmethod
    def from_coefficients(
        cls, coefficients: Mapping[str, float], constant: float = 0.0, tolerance: float = 0.0
    ) -> LinearEquality:
        """Return the equality with the single term of its sign first, so that it reads as a total and its parts."""
        terms = list(coefficients.items())
        for sign in (1.0, -1.0) if constant >= 0 else (-1.0, 1.0):
            alone = [(name, factor) for name, factor in terms if factor * sign > 0]
            if len(alone) == 1 and (len(terms) > 2 or abs(alone[0][1]) == 1):
                terms = [*alone, *(term for term in terms if term not in alone)]
                break
        sign = -1.0 if terms[0][1] < 0 else 1.0
        return cls(tuple((name, sign * factor) for name, factor in terms), sign * constant + 0.0, tolerance)

    @classmethod
    def parse(cls, text: str) -> LinearEquality:
        """Parse ``"a == b + c"``, ``"a == 12 * b"`` or ``"a + b + c == 100"``."""
        return cls.from_coefficients(*_parse_sums(text, "=="))

    @property
    def names(self) -> tuple[str, ...]:
        """The features that the constraint depends on."""
        return tuple(name for name, _ in self.terms)

    def check(self, space: FeatureSpace) -> None:
        """Raise `SpaceError` if a feature is unknown or not a number."""
        super().check(space)
        _refuse_sums_of_others(self, space)

    def _compute_residuals(self, space: FeatureSpace, codes: Codes) -> tuple[Codes, Codes]:
        """Return how far each row is from the equality, and the largest rounding error."""
        residuals, sizes = np.full(len(codes), -self.constant), np.full(len(codes), abs(self.constant))
        for name, factor in self.terms:
            part = factor * codes[:, space.position(name)]
            residuals += part
            sizes += np.abs(part)
        return residuals, self.tolerance + _RELATIVE_ROUNDING * sizes

    def satisfied(self, space: FeatureSpace, codes: Codes) -> Mask:
        """Return which rows satisfy the constraint."""
        residuals, rounding = self._compute_residuals(space, codes)
        return (np.abs(residuals) <= rounding) | np.isnan(residuals)

    def mend(self, space: FeatureSpace, codes: Codes, moved: int) -> None:
        """Change another feature, within its bounds, after a move of `moved`."""
        if moved not in self._locate(space):
            return
        changed = np.zeros(codes.shape, dtype=bool)
        changed[:, moved] = True
        self.repair(space, codes, changed, *find_limits(space, codes.shape))

    def mending(self, space: FeatureSpace, name: str) -> float:
        """Return the largest change of another feature after a move of `name`."""
        factors = dict(self.terms)
        if name not in factors:
            return 0.0
        ratios = [abs(factors[name] / factor) for other, factor in self.terms if other != name]
        return space[name].step * max(ratios, default=0.0)

    def settle(self, space: FeatureSpace, codes: Codes, rng: np.random.Generator) -> None:
        """Compute one feature from the others; a sum of many parts that leaves nothing for it is scaled instead."""
        self.repair(space, codes, np.zeros(codes.shape, dtype=bool), *find_limits(space, codes.shape))
        is_sum = all(
            factor > 0 and space[name].kind == "continuous" and space[name].low >= 0 for name, factor in self.terms
        )
        if is_sum and self.constant > 0:
            residuals, rounding = self._compute_residuals(space, codes)
            rows = np.flatnonzero(residuals > rounding)
            for j in self._locate(space):
                codes[rows, j] *= self.constant / (residuals[rows] + self.constant)

    def repair(self, space: FeatureSpace, codes: Codes, changed: Mask, lows: Codes, highs: Codes) -> None:
        """Compute a feature that was not changed from the others: real numbers first, since they can take any value."""
        residuals, rounding = self._compute_residuals(space, codes)
        rows = np.flatnonzero(np.abs(residuals) > rounding)  # without missing values
        for name, factor in sorted(self.terms, key=lambda term: space[term[0]].kind != "continuous"):
            if not rows.size:
                return
            j = space.position(name)
            values = codes[rows, j] - residuals[rows] / factor
            scale = max(float(np.abs(values).max()), 1e-300)
            values = np.round(values, max(0, _EQUALITY_DIGITS - 1 - math.floor(math.log10(scale))))
            use = ~changed[rows, j] & (values >= lows[rows, j]) & (values <= highs[rows, j])
            if space[name].kind == "integer":
                use &= values == np.rint(values)
            codes[rows[use], j] = values[use]
            rows = rows[~use]

    def __str__(self) -> str:
        (first, factor), *others = self.terms
        negatives = [name for name, value in self.terms if value < 0]
        if not negatives:  # a sum with a fixed value
            return f"{' + '.join(_format_term(*term) for term in self.terms)} == {format_short(self.constant)}"
        right = "".join(f" {'+' if value < 0 else '-'} {_format_term(name, abs(value))}" for name, value in others)
        if self.constant:
            right += f" {'+' if self.constant > 0 else '-'} {format_short(abs(self.constant))}"
        return f"{_format_term(first, factor)} == {right.removeprefix(' + ').removeprefix(' ')}"

    def describe(self) -> str:
        """Return the equality as a formula."""
        return str(self).replace(" == ", " = ").replace(" * ", " × ")


def _format_term(name: str, factor: float) -> str:
    return name if factor == 1 else f"{format_short(factor)} * {name}"


def find_limits(space: FeatureSpace, shape: tuple[int, int]) -> tuple[Codes, Codes]:
    """Return the bounds of the features as two matrices; those of continuous features may be left in an open space."""
    is_open = [space.moves == "open" and feature.kind == "continuous" for feature in space.features]
    lows = [-np.inf if free else feature.low for feature, free in zip(space.features, is_open, strict=True)]
    highs = [np.inf if free else feature.high for feature, free in zip(space.features, is_open, strict=True)]
    return np.broadcast_to(np.array(lows), shape), np.broadcast_to(np.array(highs), shape)


@dataclass(frozen=True)
class Rule(Constraint):
    """A condition given as a function of a frame that returns True or False per row."""

    function: Callable[[pd.DataFrame], Any]
    name: str = ""

    def satisfied(self, space: FeatureSpace, codes: Codes) -> Mask:
        """Return which rows satisfy the constraint."""
        if not len(codes):
            return np.zeros(0, dtype=bool)
        frame = space.decode(codes)
        try:
            answer = self.function(frame)
        except Exception as error:
            raise DataError(
                f"The constraint {self} raised {type(error).__name__}: {to_text(error)}. "
                f"It was called with a frame with the columns {', '.join(space.names[:6])} ..."
            ) from error
        try:
            # A comparison with a missing value is missing itself. It counts as satisfied, as in `Compare`.
            satisfied = pd.array(answer, dtype="boolean").to_numpy(dtype=bool, na_value=True)
        except (TypeError, ValueError):
            satisfied = np.zeros(0, dtype=bool)
        if satisfied.shape != (len(codes),):
            raise DataError(
                f"The constraint {self} must return True or False for each of {pluralise(len(codes), 'row')}. "
                f"It returned {type(answer).__name__} of shape {np.shape(answer)}."
            )
        return satisfied

    def __str__(self) -> str:
        return self.name or getattr(self.function, "__name__", "rule")


def to_constraint(source: object, names: Sequence[str] = ()) -> Constraint:
    """Return the constraint that an object, a string or a function declares; `names` are the features of the space."""
    if isinstance(source, Constraint):
        return source
    if isinstance(source, str):
        comparison = Compare.parse(source)
        is_plain = all(name in names for name in comparison.names)
        if is_plain or re.search(r"\s[-+*]\s", source) is None:
            return comparison
        return LinearEquality.parse(source) if comparison.relation == "==" else LinearInequality.parse(source)
    if callable(source):
        return Rule(source)
    raise SpaceError(
        "A constraint must be a string such as 'a <= b', 'a + b > c' or 'a == b + c', a function of a frame, OneHot or "
        "AllowedCombinations. "
        f"Got {source!r}."
    )
