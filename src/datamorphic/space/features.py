"""The three kinds of feature, frozen and validated.

A feature's values are stored as float64 codes: a number is its own code, a category's code is its place
in the declared order, and a missing value (of a nullable feature) is NaN. The methods here work on whole
columns of codes.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from .._text import format_short
from .._validation import is_number
from ..errors import SpaceError

Codes = npt.NDArray[np.float64]
FeatureKind = Literal["continuous", "integer", "categorical"]

LARGEST_INTEGER = 2.0**52  # beyond it neighbouring integers share a float64
LARGEST_NUMBER = 1e150  # beyond it a squared difference overflows


class Feature:
    """What all features share; use `Continuous`, `Integer` or `Categorical`.

    Attributes
    ----------
    name : str
        The column it stands for.
    nullable : bool
        Whether the value may be missing.
    low, high : float
        The smallest and the largest code, infinite where there is none.
    step : float
        How far one move goes, in distance.
    step_given : bool
        Whether the user said so; the law check holds moves to it only then.
    """

    kind: ClassVar[FeatureKind]
    name: str
    nullable: bool
    low: float
    high: float
    step: float
    step_given: bool = True

    def _validate_name(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise SpaceError(
                f"A feature's name must be a string that is not empty. Got {self.name!r} instead; "
                "for a frame with numbered columns: frame.columns = frame.columns.astype(str)"
            )
        if not isinstance(self.nullable, bool | np.bool_):
            raise SpaceError(f"Feature {self.name!r}: nullable must be True or False. Got {self.nullable!r}.")

    def with_step_given(self, step_given: bool) -> Self:
        """Say whether the step was the user's or worked out from data; returns the feature itself."""
        object.__setattr__(self, "step_given", step_given)
        return self

    @property
    def scale(self) -> float:
        """What one unit of raw distance counts in the scaled distance."""
        return 1.0

    @property
    def default(self) -> float:
        """The code a missing value gets when it is filled: the middle of the range, the first category."""
        return 0.0

    def moved(self, codes: Codes, direction: int, clip: bool) -> Codes:
        """Return the column one step up (+1) or down (-1); missing values stay missing."""
        new_codes = codes + direction * self.step
        if clip:
            new_codes = np.clip(new_codes, self.low, self.high)
        return new_codes

    def describe(self) -> str:
        """Return the domain in words."""
        raise NotImplementedError


class _NumericFeature(Feature):
    """A feature whose codes are its values."""

    def _validate_bounds(self, largest: float) -> None:
        for side, open_end in (("low", -math.inf), ("high", math.inf)):
            value = getattr(self, side)
            if value is None:
                value = open_end
            if not is_number(value) or value != value:
                raise SpaceError(
                    f"Feature {self.name!r}: {side} must be a number, or None for no bound. Got {value!r}."
                )
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
        """One over the range; twenty steps stand in for a range that is open."""
        width = self.high - self.low if self.bounded else 20 * self.step
        return 1 / width if width > 0 else 1.0

    @property
    def default(self) -> float:
        """The middle of the range, or the point of it nearest to zero."""
        if self.bounded:
            return (self.low + self.high) / 2
        return min(max(0.0, self.low), self.high)

    def _format_domain(self) -> str:
        left = "(-inf" if math.isinf(self.low) else f"[{format_short(self.low)}"
        right = "inf)" if math.isinf(self.high) else f"{format_short(self.high)}]"
        return f"{left}, {right}, step {format_short(self.step)}" + (", may be missing" if self.nullable else "")


@dataclass(frozen=True)
class Continuous(_NumericFeature):
    """A real number in [low, high]; leave a bound out, or pass None, for none.

    Parameters
    ----------
    name : str
        The column it stands for.
    low, high : float, optional
        The bounds.
    step : float, optional
        How far one move goes: a twentieth of the range, or 1 where there is no range.
    nullable : bool
        Whether the value may be missing.

    Examples
    --------
    >>> Continuous("x", 0, 10).step
    0.5
    """

    kind: ClassVar[FeatureKind] = "continuous"
    name: str
    low: float = None  # type: ignore[assignment]
    high: float = None  # type: ignore[assignment]
    step: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    nullable: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        self._validate_name()
        self._validate_bounds(LARGEST_NUMBER)
        step: Any = self.step
        object.__setattr__(self, "step_given", step is not None)
        if step is None:
            step = (self.high - self.low) / 20 if self.bounded else 1.0
            step = step if step > 0 else 1.0  # a single value: no move leads anywhere, any step will do
        if not is_number(step) or not 0 < step < LARGEST_NUMBER:
            raise SpaceError(f"Feature {self.name!r}: the step must be a finite number above 0. Got {step!r}.")
        object.__setattr__(self, "step", float(step))

    def describe(self) -> str:
        """Return the domain in words."""
        return "real number in " + self._format_domain()


@dataclass(frozen=True)
class Integer(_NumericFeature):
    """A whole number in [low, high]; leave a bound out, or pass None, for none.

    Parameters
    ----------
    name : str
        The column it stands for.
    low, high : int, optional
        The bounds. Moves never leave them: natural numbers (``low=0``) stop at 0.
    step : int, optional
        How far one move goes: 1.
    nullable : bool
        Whether the value may be missing.
    rounds : bool
        Whether values that are not whole are rounded; otherwise they are an error.

    Examples
    --------
    >>> Integer("age", 0, 120).describe()
    'whole number in [0, 120], step 1'
    """

    kind: ClassVar[FeatureKind] = "integer"
    name: str
    low: float = None  # type: ignore[assignment]
    high: float = None  # type: ignore[assignment]
    step: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    nullable: bool = field(default=False, kw_only=True)
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
        if self.step is None:
            object.__setattr__(self, "step", 1.0)
        if not is_number(self.step) or not 1 <= self.step < LARGEST_INTEGER or self.step != round(self.step):
            raise SpaceError(
                f"Feature {self.name!r}: the step of an integer must be a whole number of at least 1. "
                f"Got {self.step!r}."
            )
        object.__setattr__(self, "step", float(self.step))

    @property
    def default(self) -> float:
        """The whole number in the middle of the range."""
        return float(math.floor(super().default))

    def moved(self, codes: Codes, direction: int, clip: bool) -> Codes:
        """Return the column one step up or down; integers stay in their bounds even in open spaces."""
        return super().moved(codes, direction, clip=True)

    def describe(self) -> str:
        """Return the domain in words."""
        return "whole number in " + self._format_domain()


@dataclass(frozen=True, init=False, eq=False)
class Categorical(Feature):
    """One of finitely many values, in the order given.

    Parameters
    ----------
    name : str
        The column it stands for.
    values : sequence
        The categories. Moves go to the next or the previous one and stay put at the ends.
    nullable : bool
        Whether the value may be missing.

    Examples
    --------
    >>> Categorical("card", ["Blue", "Silver", "Gold"]).describe()
    'one of Blue, Silver, Gold'
    """

    kind: ClassVar[FeatureKind] = "categorical"
    low: ClassVar[float] = 0.0  # type: ignore[misc]
    step: ClassVar[float] = 1.0  # type: ignore[misc]  # two categories are 1 apart, whichever they are
    name: str
    values: tuple[Hashable, ...]
    nullable: bool

    def __init__(self, name: str, values: Iterable[Hashable], *, nullable: bool = False) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "nullable", nullable)
        self._validate_name()
        if isinstance(values, str | set | frozenset) or not isinstance(values, Iterable):
            raise SpaceError(
                f"Feature {name!r}: the categories must be a list of values, in their order. Got {values!r}."
            )
        categories = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
        object.__setattr__(self, "values", categories)
        if not categories:
            raise SpaceError(f"Feature {name!r}: there are no categories. Give at least one.")
        seen: set[Hashable] = set()
        for value in categories:
            try:
                repeated = hash(value) is not None and value in seen
            except TypeError:
                raise SpaceError(
                    f"Feature {name!r}: the category {format_short(value)!r} is a {type(value).__name__}, which is not "
                    "hashable. Use strings, numbers or tuples."
                ) from None
            if repeated:
                raise SpaceError(
                    f"Feature {name!r}: the category {value!r} is given twice. (True equals 1 and False equals 0.)"
                )
            if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
                raise SpaceError(
                    f"Feature {name!r}: a missing value is no category. Declare the feature with nullable=True."
                )
            seen.add(value)
        object.__setattr__(self, "high", len(categories) - 1.0)

    def _comparison_key(self) -> tuple[object, ...]:
        # 0, 0.0 and False are equal to Python and are different categories to a model
        return (self.name, self.nullable, tuple((type(value), value) for value in self.values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Categorical) and self._comparison_key() == other._comparison_key()

    def __hash__(self) -> int:
        return hash(self._comparison_key())

    def moved(self, codes: Codes, direction: int, clip: bool) -> Codes:
        """Return the next or previous category, staying put at the ends even in open spaces."""
        return super().moved(codes, direction, clip=True)

    def describe(self) -> str:
        """Return the domain in words."""
        values_text = ", ".join(map(str, self.values[:8])) + (", ..." if len(self.values) > 8 else "")
        return f"one of {values_text}" + (", or missing" if self.nullable else "")
