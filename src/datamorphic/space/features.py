"""Features: continuous, integer and categorical; `Text` has its own module.

The values of a feature are stored as float64 codes. The code of a number is the number, the code of a category its
position in the declared order, and the code of a missing value (of a nullable feature) NaN.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from .._text import format_short
from .._validation import is_integer, is_number
from ..errors import SpaceError

Codes = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
FeatureKind = Literal["continuous", "integer", "categorical", "text"]

LARGEST_INTEGER = 2.0**52  # beyond it, neighbouring integers share a float64
LARGEST_NUMBER = 1e150  # beyond it, a squared difference overflows


class Feature:
    """Base class of features; use `Continuous`, `Integer`, `Categorical` or `Text`."""

    kind: ClassVar[FeatureKind]
    numeric: ClassVar[bool] = True  # whether codes are numbers, which have an order and differences
    name: str  # of the column
    nullable: bool  # whether the value may be missing
    low: float  # the smallest code; infinite if there is no bound
    high: float  # the largest code
    step: float  # the length of one move, as a distance
    step_given: bool = True  # whether the user declared it: the law check holds moves only to a declared step

    def _validate_name(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise SpaceError(
                f"The name of a feature must be a non-empty string. Got {self.name!r} instead; "
                "for a frame with numbered columns: frame.columns = frame.columns.astype(str)"
            )
        if not isinstance(self.nullable, bool | np.bool_):
            raise SpaceError(f"Feature {self.name!r}: nullable must be True or False. Got {self.nullable!r}.")

    def with_step_given(self, is_given: bool) -> Self:
        """Return the feature with `step_given` set; False for an inferred step."""
        feature = copy.copy(self)
        feature.__dict__["step_given"] = is_given
        return feature

    @property
    def scale(self) -> float:
        """The factor from raw to scaled distance."""
        return 1.0

    @property
    def default(self) -> float:
        """The code that fills a missing value: mid-range, or the first category."""
        return 0.0

    def moved(self, codes: Codes, direction: int, clip: bool) -> Codes:
        """Return a column one step up (+1) or down (-1); missing values stay missing.

        Discrete features never leave their bounds, not even without `clip`.
        """
        new_codes = codes + direction * self.step
        return np.clip(new_codes, self.low, self.high) if clip or self.kind != "continuous" else new_codes

    def describe(self) -> str:
        """Return a description of the domain."""
        raise NotImplementedError


@dataclass(frozen=True)
class _NumericFeature(Feature):
    """A feature whose codes equal its values."""

    name: str
    low: float = None  # type: ignore[assignment]
    high: float = None  # type: ignore[assignment]
    step: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    nullable: bool = field(default=False, kw_only=True)

    def _validate_bounds(self, largest: float) -> None:
        for side, open_end in (("low", -math.inf), ("high", math.inf)):
            value = open_end if getattr(self, side) is None else getattr(self, side)
            if not (is_integer(value) or is_number(value)) or value != value:
                raise SpaceError(f"Feature {self.name!r}: {side} must be a number, or None if open. Got {value!r}.")
            if abs(value) > largest and value != open_end:
                raise SpaceError(
                    f"Feature {self.name!r}: {side} is too large: bounds beyond {largest:.3g} lose precision. "
                    "Rescale the column, pass None for no bound, or declare it categorical if it is an identifier."
                )
            object.__setattr__(self, side, float(value))
        if self.low > self.high:
            raise SpaceError(
                f"Feature {self.name!r}: the bounds are reversed, low {format_short(self.low)} is above "
                f"high {format_short(self.high)}. Swap them."
            )

    @property
    def bounded(self) -> bool:
        """Whether both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def scale(self) -> float:
        """One divided by the range, or by twenty steps if the range is open."""
        width = self.high - self.low if self.bounded else 20 * self.step
        return 1 / width if width > 0 else 1.0

    @property
    def default(self) -> float:
        """The middle of the range, or the point nearest to zero if the range is open."""
        return (self.low + self.high) / 2 if self.bounded else min(max(0.0, self.low), self.high)

    def describe(self) -> str:
        """Return a description of the domain."""
        noun = "real number" if self.kind == "continuous" else "whole number"
        left = "(-inf" if math.isinf(self.low) else f"[{format_short(self.low)}"
        right = "inf)" if math.isinf(self.high) else f"{format_short(self.high)}]"
        missing = ", may be missing" if self.nullable else ""
        return f"{noun} in {left}, {right}, step {format_short(self.step)}{missing}"


@dataclass(frozen=True)
class Continuous(_NumericFeature):
    """A real number in [low, high]. Without a bound, or with None, that end is open.

    Parameters
    ----------
    name : str
        The name of its column.
    low, high : float, optional
        The bounds.
    step : float, optional
        The length of one move; by default a twentieth of the range, or 1 if the range is open.
    nullable : bool
        Whether the value may be missing.

    Examples
    --------
    >>> Continuous("x", 0, 10).step
    0.5
    """

    kind: ClassVar[FeatureKind] = "continuous"

    def __post_init__(self) -> None:
        self._validate_name()
        self._validate_bounds(LARGEST_NUMBER)
        step: Any = self.step
        object.__setattr__(self, "step_given", step is not None)
        if step is None:
            step = (self.high - self.low) / 20 if self.bounded else 1.0
            step = step if step > 0 else 1.0  # a single value cannot move, so that any step will do
        if not is_number(step) or not 0 < step < LARGEST_NUMBER:
            raise SpaceError(f"Feature {self.name!r}: the step must be a finite number above 0. Got {step!r}.")
        object.__setattr__(self, "step", float(step))


@dataclass(frozen=True)
class Integer(_NumericFeature):
    """A whole number in [low, high]. Without a bound, or with None, that end is open.

    Parameters
    ----------
    name : str
        The name of its column.
    low, high : int, optional
        The bounds. Moves never leave them, not even in an open space.
    step : int, optional
        The length of one move; 1 by default.
    nullable : bool
        Whether the value may be missing.
    rounds : bool
        Whether fractions are rounded; otherwise they are an error.

    Examples
    --------
    >>> Integer("age", 0, 120).describe()
    'whole number in [0, 120], step 1'
    """

    kind: ClassVar[FeatureKind] = "integer"
    rounds: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        self._validate_name()
        self._validate_bounds(LARGEST_INTEGER)
        for side in ("low", "high"):
            bound = getattr(self, side)
            if math.isfinite(bound) and bound != round(bound):
                raise SpaceError(
                    f"Feature {self.name!r}: {side} must be a whole number. Got {format_short(bound)}; "
                    "use Continuous for real numbers."
                )
        object.__setattr__(self, "step_given", self.step is not None)
        step: Any = 1.0 if self.step is None else self.step
        if not is_number(step) or not 1 <= step < LARGEST_INTEGER or step != round(step):
            raise SpaceError(f"Feature {self.name!r}: the step must be a whole number of at least 1. Got {step!r}.")
        object.__setattr__(self, "step", float(step))

    @property
    def default(self) -> float:
        """The whole number in the middle of the range."""
        return float(math.floor(super().default))


@dataclass(frozen=True, eq=False)
class Categorical(Feature):
    """One of finitely many values, which have an order.

    Parameters
    ----------
    name : str
        The name of its column.
    values : sequence
        The categories in order. Moves go to the next or the previous one and stop at the ends.
    nullable : bool
        Whether the value may be missing.

    Examples
    --------
    >>> Categorical("card", ["Blue", "Silver", "Gold"]).describe()
    'one of Blue, Silver, Gold'
    """

    kind: ClassVar[FeatureKind] = "categorical"
    numeric: ClassVar[bool] = False
    low: ClassVar[float] = 0.0  # type: ignore[misc]
    step: ClassVar[float] = 1.0  # type: ignore[misc]  # any two categories are 1 apart
    name: str
    values: Sequence[Hashable]
    nullable: bool = field(default=False, kw_only=True)
    high: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        owner, values = f"Feature {self.name!r}", self.values
        self._validate_name()
        if isinstance(values, str | set | frozenset) or not isinstance(values, Iterable):
            raise SpaceError(f"{owner}: categories must be a list of values, in their order. Got {values!r}.")
        categories = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
        object.__setattr__(self, "values", categories)
        if not categories:
            raise SpaceError(f"{owner} has no categories. Give at least one.")
        seen: set[Hashable] = set()
        for value in categories:
            try:
                repeated = hash(value) is not None and value in seen
            except TypeError:
                raise SpaceError(
                    f"{owner}: the category {format_short(value)!r} is a {type(value).__name__}, which is not "
                    "hashable. Use strings, numbers or tuples."
                ) from None
            if repeated:
                raise SpaceError(f"{owner}: the category {value!r} is given twice. (True equals 1 and False equals 0.)")
            if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
                raise SpaceError(f"{owner}: a missing value is not a category. Declare the feature with nullable=True.")
            seen.add(value)
        object.__setattr__(self, "high", len(categories) - 1.0)

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Categorical):
            return self is other
        # 0, 0.0 and False are equal in Python but different categories for a model
        same_values = self.values == other.values and list(map(type, self.values)) == list(map(type, other.values))
        return same_values and (self.name, self.nullable) == (other.name, other.nullable)

    def __hash__(self) -> int:
        return hash((self.name, self.nullable, len(self.values), self.values[:8]))  # there may be 100,000 values

    def describe(self) -> str:
        """Return a description of the domain."""
        values_text = ", ".join(map(format_short, self.values[:8])) + (", ..." if len(self.values) > 8 else "")
        return f"one of {values_text}" + (", or missing" if self.nullable else "")
