"""What the columns of trees may hold by the word of their model, and the codes of categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import is_number

if TYPE_CHECKING:
    import pandas as pd

ANOTHER = "another"  # what stands for all values that no tree asks for


@dataclass(frozen=True)
class Domain:
    """What a column may hold by the word of its model, and what becomes of all else.

    Attributes
    ----------
    missing : tuple
        Texts and numbers that stand for a missing value.
    intervals : tuple
        For columns of numbers, where valid ones lie: the lower end and whether it belongs to them, the upper end and
        whether it does. All are valid if empty.
    others : {"kept", "missing", "refused"}
        Whether numbers elsewhere, or values that are none of the categories, are kept as they are, count as missing, or
        have no answer. Categories that are kept get a code that is in no set.
    """

    missing: tuple[Any, ...] = ()
    intervals: tuple[tuple[float, bool, float, bool], ...] = ()
    others: str = "kept"

    def gone(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Tell which numbers stand for a missing value."""
        told = [each for each in self.missing if not isinstance(each, str)]
        return np.isin(values, np.array(told, dtype=values.dtype))

    def outside(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Tell which numbers are not valid; missing ones are."""
        inside = np.isnan(values) | (not self.intervals)
        for low, with_low, high, with_high in self.intervals:
            least, most = values.dtype.type(low), values.dtype.type(high)
            above = values >= least if with_low else values > least
            inside |= above & (values <= most if with_high else values < most)
        return ~inside


def codes_among(column: pd.Series[Any], values: Sequence[Any]) -> npt.NDArray[np.float64]:
    """Return the places of a column's values among some, NaN where they are none of them."""
    import pandas as pd

    places = pd.Index(pd.Series(list(values), dtype=object)).get_indexer(column.astype(object))
    return np.where(places < 0, np.nan, places)


def without(frame: pd.DataFrame, column: int, values: Sequence[Any]) -> pd.DataFrame:
    """Return a frame in which some values of a column, are missing."""
    own = frame.iloc[:, column]
    gone = own.isin(list(values))
    return frame.assign(**{str(own.name): own.astype(object).mask(gone)}) if gone.any() else frame


class _Another(int):
    """A number that stands for all that no tree asks for."""

    def __str__(self) -> str:
        return ANOTHER


def with_others(values: Sequence[Any], column: pd.Series[Any], feature: Any) -> tuple[Any, ...]:
    """Return categories with others that the column may hold, and one for all the rest: the trees ask for none of these.

    So words for a leaf name them, and rows can be made of them.
    """
    dtype = getattr(column.dtype, "categories", ())
    may = list(getattr(feature, "values", dtype))
    known = [*values, *(each for each in may if each not in values)]
    if all(isinstance(each, str) for each in known):
        name = ANOTHER
        while name in known:
            name = "yet " + name
        return (*known, name)
    largest = max((each for each in known if is_number(each)), default=0)
    return (*known, _Another(int(largest) + 1))
