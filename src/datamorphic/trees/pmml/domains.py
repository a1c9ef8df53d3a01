"""The values that a model allows in its columns, and the codes of categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._validation import is_number

if TYPE_CHECKING:
    from ...space.features import Feature

OTHER_CATEGORY = "another"  # stands for all values that no tree compares


@dataclass(frozen=True)
class Domain:
    """The values that a model allows in a column, and what happens to others."""

    missing: tuple[Any, ...] = ()  # texts and numbers that stand for a missing value
    # the valid intervals of numbers: lower end, whether it is included, upper end, whether it is included; none: all
    intervals: tuple[tuple[float, bool, float, bool], ...] = ()
    # whether others are "kept" (categories get a code that is in no set), count as "missing", or are "refused"
    invalid_policy: str = "kept"

    def find_missing(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which numbers stand for a missing value."""
        markers = [marker for marker in self.missing if not isinstance(marker, str)]
        return np.isin(values, np.array(markers, dtype=values.dtype))

    def find_invalid(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which numbers are invalid; missing ones are valid."""
        inside = np.isnan(values) | (not self.intervals)
        for low, with_low, high, with_high in self.intervals:
            low_end, high_end = values.dtype.type(low), values.dtype.type(high)
            above = values >= low_end if with_low else values > low_end
            inside |= above & (values <= high_end if with_high else values < high_end)
        return ~inside


def encode_categories(column: pd.Series[Any], values: Sequence[Any]) -> npt.NDArray[np.float64]:
    """Return the index of each value of a column in `values`; NaN for others."""
    places = pd.Index(pd.Series(list(values), dtype=object)).get_indexer(column.astype(object))
    return np.where(places < 0, np.nan, places)


def replace_with_missing(frame: pd.DataFrame, column: int, values: Sequence[Any]) -> pd.DataFrame:
    """Return a frame in which some values of a column are replaced by missing ones."""
    series = frame.iloc[:, column]
    is_marker = series.isin(list(values))
    return frame.assign(**{str(series.name): series.astype(object).mask(is_marker)}) if is_marker.any() else frame


class _OtherCategory(int):
    """A number that stands for all categories that no tree compares."""

    def __str__(self) -> str:
        return OTHER_CATEGORY


def add_other_categories(values: Sequence[Any], column: pd.Series[Any], feature: Feature | None) -> tuple[Any, ...]:
    """Add the categories that no tree compares, and one for all the rest, for rules and made rows."""
    possible_values = list(getattr(feature, "values", getattr(column.dtype, "categories", ())))
    categories = [*values, *(value for value in possible_values if value not in values)]
    if all(isinstance(category, str) for category in categories):
        name = OTHER_CATEGORY
        while name in categories:
            name = "yet " + name
        return (*categories, name)
    largest = max((category for category in categories if is_number(category)), default=0)
    return (*categories, _OtherCategory(int(largest) + 1))
