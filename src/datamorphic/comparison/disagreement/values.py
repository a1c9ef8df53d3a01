"""Values of one feature on which two implementations may differ, and what lies between two numbers.

Numbers get a fine grid: quantiles of the data, round numbers, usual edges of bins, the ends of the range and beyond, each with
its neighbours. `bisect_codes` goes to the last float: two neighbouring floats with a jump between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...space.features import LARGEST_INTEGER, Categorical, Codes, Feature, Mask
from ...space.points import Points

#: Numbers at which people cut ages, counts, amounts, durations and scores.
USUAL_EDGES = [
    *(
        0,
        1,
        2,
        3,
        5,
        7,
        10,
        12,
        14,
        16,
        18,
        20,
        21,
        24,
        25,
        30,
        31,
        35,
        40,
        45,
        50,
        55,
        60,
        65,
        70,
        75,
        80,
        85,
        90,
        100,
    ),
    *(120, 150, 180, 200, 250, 300, 365, 500, 600, 650, 700, 720, 750, 800, 850, 1_000, 2_000, 5_000, 10_000, 25_000),
    *(50_000, 100_000, 1_000_000, 2**24),
]
QUANTILE_COUNT = 25
MAX_ROUND_NUMBERS = 60  # within the range of the data
MAX_CATEGORIES = 50
#: From the ends of the range of the data, in widths of the range.
OUTER_WIDTHS = (0.01, 0.1, 1.0, 10.0)
HUGE_WIDTHS = 1e6
FAR_WIDTHS = 5.0  # from where a value is far outside of the data
EDGE_SHARE = 1e-6  # of the range of data with full precision
MAX_DECIMALS = 6  # of data that were rounded; more are full precision
MAX_DIGITS_TO_BE_PLAUSIBLE = 3  # of a value of a column with full precision
MAX_BISECTIONS = 70  # all floats lie within 64
ROWS_PER_BISECTION = 3_000  # of one step of all lanes
MAX_INNER_NUMBERS = 31  # per lane and step


@dataclass(frozen=True, eq=False, kw_only=True)
class FeatureGrid:
    """What the data say about one feature, and the values to try."""

    feature: Feature
    values: Codes  # of the given rows, ascending, without missing values
    grid: Codes  # to try, ascending
    decimals: int | None  # of the data; None if they have full precision

    @property
    def is_number(self) -> bool:
        """Whether values have an order and differences."""
        return self.feature.numeric

    @property
    def is_whole(self) -> bool:
        """Whether only whole numbers are inputs."""
        return self.feature.kind == "integer"

    @property
    def low(self) -> float:
        """The smallest value of the data."""
        return float(self.values[0]) if len(self.values) else 0.0

    @property
    def high(self) -> float:
        """The largest value of the data."""
        return float(self.values[-1]) if len(self.values) else 0.0

    @property
    def width(self) -> float:
        """The range of the data; 1 if there is only one value."""
        return self.high - self.low or 1.0

    @property
    def one_value(self) -> float:
        """The distance of neighbouring values of the data, by their decimals: a narrower range is an edge."""
        return 10.0**-self.decimals if self.decimals is not None else EDGE_SHARE * self.width

    def count_between(self, low: float, high: float) -> int:
        """Return how many of the given rows have a value in a range."""
        return int(np.searchsorted(self.values, high, "right") - np.searchsorted(self.values, low, "left"))

    def is_far(self, value: float) -> bool:
        """Return whether a number is far outside of the data."""
        return value < self.low - FAR_WIDTHS * self.width or value > self.high + FAR_WIDTHS * self.width

    def has_plausible_value(self, low: float, high: float) -> bool:
        """Return whether a range has a value with the decimals of the data or, for data of full precision, a short one."""
        value = find_roundest(low, high, near=low)
        if self.decimals is not None:
            return bool(low <= np.round((low + high) / 2, self.decimals) <= high) or (
                count_decimals(value) <= self.decimals
            )
        return (
            value == 0
            or len(f"{abs(value):.15g}".replace(".", "").strip("0").lstrip("0")) <= MAX_DIGITS_TO_BE_PLAUSIBLE
        )


def describe_values(points: Points, position: int) -> FeatureGrid:
    """Return what given rows say about a feature, with a grid of values to try."""
    feature = points.space.features[position]
    values = np.sort(points.codes[:, position])
    values = values[np.isfinite(values)]
    decimals = None
    if isinstance(feature, Categorical):
        grid = np.arange(min(len(feature.values), MAX_CATEGORIES), dtype=np.float64)
    elif feature.kind == "text":
        grid = np.unique(values)[:MAX_CATEGORIES]
    else:
        decimals = 0 if feature.kind == "integer" else find_decimals(values)
        with np.errstate(all="ignore"):  # of huge numbers
            grid = build_grid(values, whole=feature.kind == "integer", decimals=decimals)
    return FeatureGrid(feature=feature, values=values, grid=grid, decimals=decimals)


def build_grid(values: Codes, *, whole: bool, decimals: int | None) -> Codes:
    """Return a grid of numbers for a feature with such values, ascending.

    Examples
    --------
    >>> grid = build_grid(np.array([20.0, 30.0, 61.0]), whole=True, decimals=0)
    >>> {17, 18, 19, 24, 25, 26, 62, 65}.issubset(grid.tolist())
    True
    """
    if not len(values):
        return np.array([0.0])
    low, high = float(values[0]), float(values[-1])
    width = high - low or max(abs(low), 1.0)
    quantiles = np.quantile(values, np.linspace(0, 1, QUANTILE_COUNT), method="nearest")
    step = find_round_step(width / MAX_ROUND_NUMBERS)
    round_numbers = np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step
    round_numbers = np.round(round_numbers, max(0, -int(np.floor(np.log10(step)))) + 1)
    edges = np.array(USUAL_EDGES, dtype=np.float64)
    edges = edges[(edges >= low - width) & (edges <= high + width)]
    outer = [end + side * share * width for share in OUTER_WIDTHS for end, side in ((low, -1), (high, 1))]
    outer += [end + side * HUGE_WIDTHS * width for end, side in ((low, -1), (high, 1))]
    anchors = np.concatenate([quantiles, edges, [low, high, 0.0]])
    if whole:
        numbers = np.concatenate([anchors, round_numbers, np.rint(outer), anchors - 1, anchors + 1, [-1.0]])
        numbers = np.rint(numbers)
        return np.unique(numbers[np.abs(numbers) < LARGEST_INTEGER])
    last_place = 10.0 ** -(decimals if decimals is not None else 3)
    near = [np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), edges + 1e-6, edges - 1e-6]
    near += [quantiles + last_place, quantiles + last_place / 2, quantiles + last_place / 3, edges - last_place / 2]
    near += [np.round(quantiles, places) for places in (0, 1, 2)]
    near += [np.floor(quantiles) + 0.5, quantiles.astype(np.float32).astype(np.float64)]
    numbers = np.concatenate([anchors, round_numbers, outer, *near, [-1.0, -0.5, 0.5]])
    return np.unique(numbers[np.isfinite(numbers)])


def find_round_step(size: float) -> float:
    """Return the smallest of 1, 2 or 5 times a power of ten that is at least `size`.

    Examples
    --------
    >>> find_round_step(0.3), find_round_step(12), find_round_step(1)
    (0.5, 20.0, 1.0)
    """
    power = 10.0 ** np.floor(np.log10(size))
    return float(next(power * digit for digit in (1, 2, 5, 10) if power * digit >= size * (1 - 1e-9)))


def find_decimals(values: Codes) -> int | None:
    """Return how many decimals the values have; None if they have full precision.

    Examples
    --------
    >>> find_decimals(np.array([1.5, 2.25])), find_decimals(np.array([1 / 3]))
    (2, None)
    """
    for decimals in range(MAX_DECIMALS + 1):
        if np.array_equal(np.round(values, decimals), values):
            return decimals
    return None


def count_decimals(value: float) -> int:
    """Return how many decimals a number needs.

    Examples
    --------
    >>> [count_decimals(value) for value in (3.0, 0.25, 1e-7, 1e22)]
    [0, 2, 7, 0]
    """
    text = f"{value:.17f}".rstrip("0") if abs(value) >= 1e22 else np.format_float_positional(value, trim="-")
    return len(text.partition(".")[2])


def find_roundest(low: float, high: float, near: float) -> float:
    """Return the number with the fewest decimals in a range: of these, the one nearest to `near`.

    Examples
    --------
    >>> find_roundest(24.6, 26.2, near=50), find_roundest(0.301, 0.3089, near=0), find_roundest(100.1, np.inf, near=7)
    (26.0, 0.301, 101.0)
    """
    target = min(max(near, low), high)
    if low <= near <= high and np.isfinite(near) and count_decimals(near) == 0:
        return float(near)
    for decimals in range(17):
        scale = 10.0**decimals
        with np.errstate(all="ignore"):
            candidates = [np.ceil(target * scale) / scale, np.floor(target * scale) / scale]
        candidates = [float(number) for number in candidates if low <= number <= high]
        if candidates:
            return min(candidates, key=lambda number: abs(number - near))
    return float(target)


# -- bisection -----------------------------------------------------------------------------------------------------


def to_ordinals(numbers: Codes) -> npt.NDArray[np.int64]:
    """Return the position of floats in the order of all floats, so that neighbours differ by 1."""
    bits = (np.ascontiguousarray(numbers, dtype=np.float64) + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, np.iinfo(np.int64).min - bits)


def from_ordinals(ordinals: npt.NDArray[np.int64]) -> Codes:
    """Return the floats at some positions."""
    bits = np.where(ordinals >= 0, ordinals, np.iinfo(np.int64).min - ordinals)
    return np.ascontiguousarray(bits).view(np.float64)


def find_inner_numbers(left: Codes, right: Codes, whole: Mask, count: int) -> Codes:
    """Return `count` numbers between others, evenly spaced in the order of floats; of whole numbers, whole ones.

    The result has one row per pair. Where there is nothing between, the numbers equal an end.
    """
    a, b = to_ordinals(left)[:, None], to_ordinals(right)[:, None]
    shares = np.arange(1, count + 1)
    # two steps, since the difference of two ordinals may exceed 64 bits
    half_size = (b >> 1) - (a >> 1)
    steps = half_size // (count + 1) * 2 * shares + (half_size % (count + 1)) * 2 * shares // (count + 1)
    steps = np.where(half_size == 0, (b - a) // 2, steps)
    numbers = from_ordinals(a + steps)
    with np.errstate(invalid="ignore", over="ignore"):
        whole_numbers = np.floor(left[:, None] + (right - left)[:, None] * (shares / (count + 1)))
    return np.where(whole[:, None], whole_numbers, numbers)


def bisect_codes(
    left: Codes,
    right: Codes,
    whole: Mask,
    decide: Callable[[Codes, npt.NDArray[np.intp]], tuple[Any, Any]],
    *,
    signals: tuple[Codes, Codes] | None = None,
    smallest_jump: float = 0.0,
) -> tuple[Codes, Codes]:
    """Return neighbouring numbers between which something changes, for all lanes at once.

    `decide` gets numbers and the lanes that they belong to. It returns which of them belong to the left side (NaN ends a
    lane), and a signal for each. A lane with `signals` of its ends is given up when they differ by less than `smallest_jump`:
    then nothing jumps. Several numbers are tried per lane and step, since most systems answer a large batch nearly as fast.

    Examples
    --------
    >>> def is_below(numbers, lanes):
    ...     return numbers < np.array([0.1, 40])[lanes], np.zeros(len(numbers))
    >>> ends = bisect_codes(np.zeros(2), np.array([1.0, 100]), np.array([False, True]), is_below)
    >>> [end.tolist() for end in ends]
    [[0.09999999999999999, 39.0], [0.1, 40.0]]
    """
    left, right = left.astype(np.float64), right.astype(np.float64)
    left_signals, right_signals = (np.zeros(len(left)), np.full(len(left), np.inf)) if signals is None else signals
    left_signals, right_signals = left_signals.copy(), right_signals.copy()
    active = np.arange(len(left))
    for _ in range(MAX_BISECTIONS):
        count = int(np.clip(ROWS_PER_BISECTION // max(1, len(active)), 1, MAX_INNER_NUMBERS))
        numbers = find_inner_numbers(left[active], right[active], whole[active], count)
        inside = (numbers > left[active][:, None]) & (numbers < right[active][:, None])
        is_open = inside.any(axis=1)
        active, numbers, inside = active[is_open], numbers[is_open], inside[is_open]
        if not len(active):
            break
        flat_sides, flat_signals = decide(numbers[inside], np.repeat(active, inside.sum(axis=1)))
        sides, inner_signals = np.full(numbers.shape, -1.0), np.zeros(numbers.shape)
        sides[inside], inner_signals[inside] = flat_sides, flat_signals
        going_on = np.ones(len(active), dtype=bool)
        for place, lane in enumerate(active.tolist()):
            columns = np.flatnonzero(inside[place])
            lane_sides = sides[place, columns]
            rights = np.flatnonzero(lane_sides != 1)
            first = int(rights[0]) if len(rights) else len(columns)
            if first < len(columns):
                if np.isnan(lane_sides[first]):
                    going_on[place] = False
                    continue
                right[lane], right_signals[lane] = numbers[place, columns[first]], inner_signals[place, columns[first]]
            if first > 0:
                left[lane], left_signals[lane] = (
                    numbers[place, columns[first - 1]],
                    inner_signals[place, columns[first - 1]],
                )
        if signals is not None:
            with np.errstate(invalid="ignore"):
                going_on &= ~(np.abs(left_signals - right_signals)[active] <= smallest_jump)
        active = active[going_on]
    return left, right
