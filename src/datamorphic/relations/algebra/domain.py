"""`NumberRange`, how the numbers of one argument are drawn, and `RangeDomain`, a box with such ranges, names and constraints."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._estimates import refuse_many_rows
from ..._text import suggest_name
from ..._validation import check_types, is_number, reject, validate_choice, validate_integer
from ...errors import ArgumentError
from ...space.features import Continuous, Integer
from ...space.sampling import draw
from ...space.space import Space
from .box import NUMBER, WHOLE, Box, Floats
from .source_distribution import find_distribution, find_limits, format_distribution, is_frozen

SCALES = ("linear", "log")
LOG_DECADES = 6  # below the greatest magnitude, that a logarithmic range around 0 covers
QUANTILE_GRID = 4097  # quantiles between which shares are interpolated
DEFAULT_SPECIAL_SHARE = 0.1  # of the draws, that are special values


@check_types
@dataclass(frozen=True)
class NumberRange:
    """The numbers of one argument, and how they are drawn.

    Parameters
    ----------
    low, high : float
        The limits.
    whole : bool
        Whether only whole numbers are drawn.
    scale : {"linear", "log"}
        Whether all numbers are equally likely, or all powers of ten. A logarithmic range with 0 inside has both signs, and
        magnitudes down to a millionth of the greatest one.
    special : sequence of float
        Values that are drawn more often, such as the limits.
    special_share : float
        The share of the draws that are special values.
    distribution : str or distribution of SciPy, optional
        What numbers are drawn from, within the limits: ``"normal(0, 1)"``, or ``scipy.stats.norm(0, 1)``.

    Examples
    --------
    >>> shape = NumberRange(0.001, 1000, scale="log", special=(1, 2))
    >>> drawn = shape.draw(1000, np.random.default_rng(0))
    >>> round(float((drawn < 1).mean()), 1), round(float(np.isin(drawn, (1, 2)).mean()), 1)
    (0.4, 0.1)
    """

    low: float
    high: float
    whole: bool = False
    scale: str = "linear"
    special: Sequence[float] = ()
    special_share: float = DEFAULT_SPECIAL_SHARE
    distribution: Any = None

    def __post_init__(self) -> None:
        validate_choice("scale", "NumberRange", self.scale, SCALES)
        if self.distribution is not None:
            if self.scale != "linear":
                raise ArgumentError("NumberRange got both a scale and a distribution. Give one of them.")
            find_distribution(self.distribution, "NumberRange")
        if not np.isfinite([self.low, self.high]).all() or self.low > self.high:
            reject("low and high", "NumberRange", "finite limits, the lower one first", (self.low, self.high))
        if self.whole and np.ceil(self.low) > np.floor(self.high):
            reject("low and high", "NumberRange", "limits with a whole number between them", (self.low, self.high))
        if not 0 <= self.special_share <= 1:
            reject("special_share", "NumberRange", "a share from 0 to 1", self.special_share)
        if not all(is_number(value) and self.low <= value <= self.high for value in self.special):
            reject("special", "NumberRange", f"numbers from {self.low:g} to {self.high:g}", self.special)

    @classmethod
    def of(cls, declared: Any, name: str, owner: str) -> NumberRange:
        """Return a range from a pair (low, high), a Python range of whole numbers, or a feature of numbers."""
        if isinstance(declared, NumberRange):
            return declared
        if isinstance(declared, str) or is_frozen(declared):
            return cls.from_distribution(declared, f"domain[{name!r}]")
        if isinstance(declared, builtins.range) and len(declared) and declared.step == 1:
            return cls(declared.start, declared.stop - 1, whole=True)
        if isinstance(declared, Continuous | Integer) and declared.bounded:
            return cls(declared.low, declared.high, whole=declared.kind == "integer")
        is_pair = isinstance(declared, tuple | list) and len(declared) == 2 and all(map(is_number, declared))
        if not is_pair:
            expected = (
                "a pair (low, high), range(low, high) for whole numbers, a NumberRange, or a distribution such as 'normal(0, 1)', "
                "for each argument"
            )
            reject(f"domain[{name!r}]", owner, expected, declared)
        return cls(float(declared[0]), float(declared[1]))

    @classmethod
    def from_distribution(cls, distribution: Any, owner: str = "NumberRange.from_distribution") -> NumberRange:
        """Return the range of a distribution; all but two billionths of the draws lie within its limits.

        Examples
        --------
        >>> part = NumberRange.from_distribution("exponential(2)")
        >>> round(part.low, 3), round(part.high, 1), round(float(part.draw(5000, np.random.default_rng(0)).mean()), 1)
        (0.0, 41.4, 2.0)
        """
        frozen = find_distribution(distribution, owner)
        low, high = find_limits(frozen)
        return cls(low, high, whole=hasattr(frozen, "pmf") and not hasattr(frozen, "pdf"), distribution=distribution)

    def with_distribution(self, distribution: Any, owner: str) -> NumberRange:
        """Return the range with a distribution, within the limits of both."""
        low, high = find_limits(find_distribution(distribution, owner))
        if max(low, self.low) > min(high, self.high):
            raise ArgumentError(
                f"{owner} draws hardly any number between {self.low:g} and {self.high:g} from {format_distribution(distribution)}. "
                "Give another distribution, or another domain."
            )
        return replace(
            self,
            low=max(low, self.low),
            high=min(high, self.high),
            scale="linear",
            special=(),
            distribution=distribution,
        )

    @property
    def is_uniform(self) -> bool:
        """Whether all numbers are equally likely."""
        return self.scale == "linear" and not len(self.special) and self.distribution is None

    @check_types
    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Return numbers of the range."""
        validate_integer("count", "NumberRange.draw", count)
        refuse_many_rows("NumberRange.draw", "count", count, 1)
        low, high = self._edges
        if self.distribution is not None:
            return self.take_quantiles(rng.random(count))
        values = rng.uniform(low, high, count) if self.scale == "linear" else self._draw_powers(count, rng)
        if self.whole:
            values = np.clip(np.rint(values), np.ceil(self.low), np.floor(self.high))
        if len(self.special):
            is_special = rng.random(count) < self.special_share
            values[is_special] = rng.choice(np.asarray(self.special, dtype=float), int(is_special.sum()))
        return values

    def _draw_powers(self, count: int, rng: np.random.Generator) -> Floats:
        smallest, greatest, negative_share = self._magnitudes
        if not greatest:
            return np.zeros(count)
        magnitudes = np.exp(rng.uniform(np.log(smallest), np.log(greatest), count))
        values = np.where(rng.random(count) < negative_share, -magnitudes, magnitudes)
        return np.clip(values, self.low, self.high)

    def take_quantiles(self, shares: Floats) -> Floats:
        """Return the number below which each share of the draws lies; special values come first, for `special_share` of them."""
        special_share = self.special_share if len(self.special) else 0.0
        values = self._take_base_quantiles(np.clip((shares - special_share) / max(1 - special_share, 1e-300), 0.0, 1.0))
        if special_share:
            is_special = shares < special_share
            numbers = (shares[is_special] / special_share * len(self.special)).astype(int)
            values[is_special] = np.asarray(self.special, dtype=float)[np.minimum(numbers, len(self.special) - 1)]
        return values

    def find_shares(self, values: Floats) -> Floats:
        """Return the shares of the draws below numbers, as if none of them was drawn as a special value."""
        grid = np.linspace(0.0, 1.0, QUANTILE_GRID)
        base_shares = np.interp(values, self._take_base_quantiles(grid), grid)
        special_share = self.special_share if len(self.special) else 0.0
        return np.asarray(special_share + (1 - special_share) * base_shares)

    def _take_base_quantiles(self, shares: Floats) -> Floats:
        if self.distribution is not None:
            frozen = find_distribution(self.distribution, "NumberRange")
            below, above = frozen.cdf(np.nextafter(self.low, -np.inf)), frozen.cdf(self.high)
            values = np.clip(frozen.ppf(below + (above - below) * shares), self.low, self.high)
        elif self.scale == "linear":
            low, high = self._edges
            values = low + (high - low) * shares
        else:
            values = self._take_power_quantiles(shares)
        return np.clip(np.rint(values), np.ceil(self.low), np.floor(self.high)) if self.whole else values

    def _take_power_quantiles(self, shares: Floats) -> Floats:
        smallest, greatest, negative_share = self._magnitudes
        if not greatest:
            return np.zeros(len(shares))
        is_negative = shares < negative_share
        above = (shares - negative_share) / (1 - negative_share) if negative_share < 1 else shares
        rank = np.where(is_negative, 1 - shares / max(negative_share, 1e-300), above)
        magnitudes = np.exp(np.log(smallest) + rank * (np.log(greatest) - np.log(smallest)))
        return np.clip(np.where(is_negative, -magnitudes, magnitudes), self.low, self.high)

    @property
    def _edges(self) -> tuple[float, float]:
        """The ends between which numbers are drawn before they are rounded."""
        return (np.ceil(self.low) - 0.5, np.floor(self.high) + 0.5) if self.whole else (self.low, self.high)

    @property
    def _magnitudes(self) -> tuple[float, float, float]:
        """The smallest and the greatest magnitude of a logarithmic range, and the share of negative numbers."""
        greatest = max(abs(self.low), abs(self.high))
        smallest = min(abs(self.low), abs(self.high))
        if self.low <= 0 <= self.high:
            smallest = greatest * 10.0**-LOG_DECADES
        return smallest, greatest, 0.0 if self.low >= 0 else 1.0 if self.high <= 0 else 0.5

    def to_feature(self, name: str) -> Continuous | Integer:
        """Return the feature of a space that has these limits."""
        if self.whole:
            return Integer(name, int(np.ceil(self.low)), int(np.floor(self.high)))
        return Continuous(name, self.low, self.high)


@dataclass(frozen=True, eq=False, repr=False)
class RangeDomain(Box):
    """A box whose columns have names and ranges of their own, and whose rows satisfy constraints.

    Attributes
    ----------
    space : Space
        The columns as features, with the constraints.
    ranges : tuple of NumberRange
        How each column is drawn.
    named : bool
        Whether the functions of a relation get the columns by name.
    """

    space: Space = None  # type: ignore[assignment]
    ranges: tuple[NumberRange, ...] = ()
    named: bool = True  # whether the functions of a relation get the columns by name

    @staticmethod
    def build(ranges: Mapping[str, Any], constraints: Sequence[Any] = (), owner: str = "RangeDomain") -> RangeDomain:
        """Return the domain of named arguments from their ranges.

        Examples
        --------
        >>> triangle = RangeDomain.build({"a": (0, 1), "b": (0, 1)}, ["a <= b"])
        >>> drawn = triangle.sample(100, np.random.default_rng(0))
        >>> triangle.names, bool((drawn[:, 0] <= drawn[:, 1]).all())
        (('a', 'b'), True)
        """
        names = list(ranges)
        if not names or not all(isinstance(name, str) and name.isidentifier() for name in names):
            reject("domain", owner, "a range for each argument by its name", ranges)
        parts = tuple(NumberRange.of(part, name, owner) for name, part in ranges.items())
        features = [part.to_feature(name) for name, part in zip(names, parts, strict=True)]
        return RangeDomain(
            low=np.array([part.low for part in parts], dtype=float),
            high=np.array([part.high for part in parts], dtype=float),
            kind=np.array([WHOLE if part.whole else NUMBER for part in parts], dtype=np.int8),
            space=Space(features, constraints=tuple(constraints)),
            ranges=parts,
        )

    @staticmethod
    def constrain(box: Box, space: Space) -> RangeDomain:
        """Return the box of a space with its constraints."""
        columns = zip(box.low.tolist(), box.high.tolist(), box.kind.tolist(), strict=True)
        ranges = tuple(NumberRange(low, high, whole=kind != NUMBER) for low, high, kind in columns)
        return RangeDomain(low=box.low, high=box.high, kind=box.kind, space=space, ranges=ranges, named=False)

    @cached_property
    def distributed(self) -> list[int]:
        """The columns of which some numbers are likelier than others."""
        return [column for column, part in enumerate(self.ranges) if not part.is_uniform]

    def same(self, other: Box) -> bool:
        """Return whether two domains have the same limits, ranges and constraints."""
        if not isinstance(other, RangeDomain):
            return not self.distributed and not self._has_constraints and super().same(other)
        return (
            super().same(other)
            and [self.ranges[column] for column in self.distributed] == [other.ranges[i] for i in other.distributed]
            and tuple(self.space.constraints) == tuple(other.space.constraints)
        )

    def meet(self, other: Box) -> Box | None:
        """Return the intersection of two domains, with the constraints of both; None if it is empty."""
        box = super().meet(other)
        if box is None:
            return None
        constraints = [*self.space.constraints]
        if isinstance(other, RangeDomain):
            constraints += [constraint for constraint in other.space.constraints if constraint not in constraints]
        space = Space(self.space.features, constraints=constraints)
        return replace(RangeDomain.constrain(box, space), named=self.named)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.space.names

    @cached_property
    def _has_constraints(self) -> bool:
        return bool(self.space.constraints)

    def accepts(self, rows: Floats) -> npt.NDArray[np.bool_]:
        """Return which rows lie within the limits and satisfy the constraints."""
        accepted = self.contains(rows) & (np.isclose(rows, np.rint(rows), atol=0) | (self.kind == NUMBER)).all(axis=1)
        if self._has_constraints and accepted.any():
            accepted[accepted] = self.space.satisfied(rows[accepted])
        return accepted

    def sample(self, count: int, rng: np.random.Generator) -> Floats:
        """Return rows drawn as the ranges say that satisfy the constraints."""
        validate_integer("count", "RangeDomain.sample", count)
        refuse_many_rows("RangeDomain.sample", "count", count, self.dimension)
        return np.ascontiguousarray(draw(self.space, count, rng, self._draw_columns))

    def _draw_columns(self, count: int, rng: np.random.Generator) -> Floats:
        return np.asfortranarray(np.column_stack([part.draw(count, rng) for part in self.ranges]))

    def narrow(self, low: Floats, high: Floats) -> Box:
        """Return the domain between closer limits; ranges become linear."""
        return replace(RangeDomain.constrain(Box(low, high, self.kind), self.space), named=self.named)


def distribute(box: Box, distributions: Mapping[str, Any], names: Sequence[str], owner: str) -> Box:
    """Return a domain whose columns with these names are drawn from distributions, within its limits."""
    if len(names) != box.dimension:
        reject("names", owner, f"{box.dimension} names, one for each input", names)
    if not isinstance(box, RangeDomain):
        features = [
            Continuous(name, low, high) if kind == NUMBER else Integer(name, int(low), int(high))
            for name, low, high, kind in zip(names, box.low.tolist(), box.high.tolist(), box.kind.tolist(), strict=True)
        ]
        box = RangeDomain.constrain(box, Space(features))
    if unknown := [str(name) for name in distributions if name not in names]:
        raise ArgumentError(f"{owner} got a distribution of {unknown[0]!r}. {suggest_name(unknown[0], list(names))}")
    ranges = [
        part.with_distribution(distributions[name], owner) if name in distributions else part
        for name, part in zip(names, box.ranges, strict=True)
    ]
    low, high = (np.array([getattr(part, end) for part in ranges], dtype=float) for end in ("low", "high"))
    return replace(box, low=low, high=high, ranges=tuple(ranges))


def parse_domain(declared: Any, constraints: Sequence[Any], owner: str) -> Box:
    """Return the domain that a user declared: limits, a space, or ranges by name, with constraints."""
    if isinstance(declared, Mapping):
        return RangeDomain.build(declared, constraints, owner)
    box = Box.of(declared, owner)
    if isinstance(declared, Space) and declared.constraints and declared.keeps_constraints:
        box = RangeDomain.constrain(box, declared)
    if constraints:
        raise ArgumentError(
            f"{owner} has constraints, which name its arguments. Give the domain by name, as in "
            'domain={"a": (0, 1), "b": (0, 1)}, constraints=["a <= b"].'
        )
    return box
