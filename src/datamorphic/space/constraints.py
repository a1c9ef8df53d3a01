"""Constraints between features, declared by the user and kept by moves and midpoints.

A constraint may be given as an object from here, as a string (``"free <= total"``), or as a function of a
frame that answers row by row. Strings are parsed, never evaluated.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._text import pluralize
from ..errors import DataError, SpaceError
from .encoding import encode
from .features import Codes, Feature
from .hashing import RowTable

if TYPE_CHECKING:
    import pandas as pd

    from .space import Space

Mask = npt.NDArray[np.bool_]


class Constraint:
    """Base: what holds, which features it names, and how a move is mended."""

    #: features whose values only make sense together: the midpoint takes all of them from one end
    tied: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The features it names."""
        return ()

    def check(self, space: Space) -> None:
        """Raise `SpaceError` if this cannot be a constraint of `space`."""
        for name in self.names:
            space.position(name)

    def satisfied(self, space: Space, codes: Codes) -> Mask:
        """Tell which rows keep it."""
        raise NotImplementedError

    def mend(self, space: Space, codes: Codes, moved: int) -> None:
        """Change other features, in place, so that a move of feature number `moved` keeps it."""

    def mending(self, name: str) -> float:
        """Return how far, in distance, mending a move of a feature may lead at most."""
        return 0.0

    def settle(self, space: Space, codes: Codes, rng: np.random.Generator) -> None:
        """Change freshly drawn rows, in place, to keep it where blind luck would take too long."""


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_COMPARISON = re.compile(r"^\s*(.+?)\s*(<=|>=|==|!=|<|>)\s*(.+?)\s*$")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Compare(Constraint):
    """One numeric feature against another, or against a number; a missing value satisfies it.

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
        """Read ``"a <= b"`` or ``"a <= 3"``."""
        match = _COMPARISON.match(text)
        if not match:
            raise SpaceError(
                f"The constraint {text!r} is not understood. Write two features, or a feature and a number, "
                'around one of <=, >=, <, >, ==, !=, as in "free <= total".'
            )
        left, relation, right = match.groups()
        if _is_number(left) and not _is_number(right):
            left, relation, right = right, relation.translate(str.maketrans("<>", "><")), left
        if _is_number(right) and np.isnan(float(right)):
            raise SpaceError(
                f"The constraint {text!r} compares with nan, which is neither more nor less than anything."
            )
        return cls(left, relation, float(right) if _is_number(right) else right)

    @property
    def names(self) -> tuple[str, ...]:
        """The features it names."""
        return (self.left, self.right) if isinstance(self.right, str) else (self.left,)

    def check(self, space: Space) -> None:
        """Comparisons are for numbers: categories have no size."""
        super().check(space)
        for name in self.names:
            if space[name].kind == "categorical":
                raise SpaceError(
                    f"The constraint {self} compares {name!r}, which is categorical. "
                    "Compare numbers, or use Combinations for categories."
                )

    def satisfied(self, space: Space, codes: Codes) -> Mask:
        """Tell which rows keep it."""
        left = codes[:, space.position(self.left)]
        right = codes[:, space.position(self.right)] if isinstance(self.right, str) else self.right
        satisfied: Mask = _OPERATORS[self.relation](left, right) | np.isnan(left) | np.isnan(right)
        return satisfied

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"


@dataclass(frozen=True)
class OneHot(Constraint):
    """Exactly one of some two-valued features is on. Moving one up turns the others off.

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
        """The features it names."""
        return tuple(self.group)

    def check(self, space: Space) -> None:
        """Each feature has two values, and there are two features at least."""
        super().check(space)
        if len(set(self.names)) < 2:
            raise SpaceError(f"A one-hot group needs two different features at least. Got {list(self.names)}.")
        for name in self.names:
            feature = space[name]
            if feature.kind == "continuous" or feature.high - feature.low != 1:
                raise SpaceError(
                    f"The one-hot feature {name!r} must have two values, as Integer({name!r}, 0, 1) has. "
                    f"It is a {feature.describe()}."
                )

    def _positions(self, space: Space) -> list[int]:
        return [space.position(name) for name in self.names]

    def satisfied(self, space: Space, codes: Codes) -> Mask:
        """Tell which rows keep it."""
        on_count = np.zeros(len(codes), dtype=np.int64)
        for j in self._positions(space):
            on_count += codes[:, j] == space.features[j].high
        return on_count == 1

    def mend(self, space: Space, codes: Codes, moved: int) -> None:
        """Turn the others off where `moved` was turned on."""
        positions = self._positions(space)
        if moved in positions:
            turned_on = codes[:, moved] == space.features[moved].high
            for j in positions:
                if j != moved:
                    codes[turned_on, j] = space.features[j].low

    def mending(self, name: str) -> float:
        """Turning one on turns one off."""
        return 1.0 if name in self.names else 0.0

    def settle(self, space: Space, codes: Codes, rng: np.random.Generator) -> None:
        """Turn one of them on."""
        positions = self._positions(space)
        on_place = rng.integers(len(positions), size=len(codes))
        for place, j in enumerate(positions):
            feature = space.features[j]
            codes[:, j] = np.where(on_place == place, feature.high, feature.low)

    def __str__(self) -> str:
        return "one of " + ", ".join(self.names)


class Combinations(Constraint):
    """A table of the combinations that are valid, e.g. which city lies in which country.

    Parameters
    ----------
    table : DataFrame
        One row a valid combination; its columns are features that are not continuous.
    """

    tied = True

    def __init__(self, table: pd.DataFrame) -> None:
        import pandas as pd

        if not isinstance(table, pd.DataFrame):
            raise SpaceError(
                f"Valid combinations are given as a DataFrame, one row each. Got {type(table).__name__}."
            )
        if not len(table) or not len(table.columns):
            raise SpaceError("The table of valid combinations is empty: no point could be valid. Give rows to it.")
        self.table = table.drop_duplicates().reset_index(drop=True)
        self._prepared: dict[tuple[Feature, ...], tuple[Codes, RowTable]] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Combinations) and self._comparison_key() == other._comparison_key()

    def __hash__(self) -> int:
        return hash(self.names)

    def _comparison_key(self) -> tuple[Any, ...]:
        return self.names, list(self.table.astype(object).itertuples(index=False, name=None))

    def __getstate__(self) -> dict[str, Any]:
        return {"table": self.table, "_prepared": {}}

    @property
    def names(self) -> tuple[str, ...]:
        """The features it names."""
        return tuple(self.table.columns)

    def check(self, space: Space) -> None:
        """The combinations are of discrete features, and of values these have."""
        super().check(space)
        for name in self.names:
            if space[name].kind == "continuous":
                raise SpaceError(
                    f"A table of valid combinations cannot list {name!r}: it is continuous. "
                    "Use a comparison or a function instead."
                )
        self._encode_table(space)

    def _encode_table(self, space: Space) -> tuple[Codes, RowTable]:
        features = tuple(space[name] for name in self.names)
        if features not in self._prepared:
            columns = [encode(feature, self.table[feature.name], open_ends=False) for feature in features]
            lookup = RowTable(len(columns))
            lookup.add(np.column_stack(columns))
            self._prepared[features] = np.column_stack(columns), lookup
        return self._prepared[features]

    def satisfied(self, space: Space, codes: Codes) -> Mask:
        """Tell which rows keep it."""
        _, lookup = self._encode_table(space)
        return lookup.find(codes[:, [space.position(name) for name in self.names]]) >= 0

    def settle(self, space: Space, codes: Codes, rng: np.random.Generator) -> None:
        """Take one of the valid combinations."""
        table, _ = self._encode_table(space)
        rows = table[rng.integers(len(table), size=len(codes))]
        for column, name in enumerate(self.names):
            codes[:, space.position(name)] = rows[:, column]

    def __str__(self) -> str:
        return f"{pluralize(len(self.table), 'valid combination')} of {', '.join(self.names)}"


@dataclass(frozen=True)
class Rule(Constraint):
    """Any condition: a function of a frame that answers True or False row by row."""

    function: Callable[[pd.DataFrame], Any]
    name: str = ""

    def satisfied(self, space: Space, codes: Codes) -> Mask:
        """Tell which rows keep it."""
        if not len(codes):
            return np.zeros(0, dtype=bool)
        frame = space.decode(codes)
        try:
            answer = self.function(frame)
        except Exception as error:
            raise DataError(
                f"The constraint {self} raised {type(error).__name__}: {error}. "
                f"It is given a frame with the columns {', '.join(space.names[:6])} ..."
            ) from error
        import pandas as pd

        try:
            # a comparison with a missing value is missing itself: satisfied, as in `Compare`
            satisfied = pd.array(answer, dtype="boolean").to_numpy(dtype=bool, na_value=True)
        except (TypeError, ValueError):
            satisfied = np.zeros(0, dtype=bool)
        if satisfied.shape != (len(codes),):
            raise DataError(
                f"The constraint {self} must answer True or False for each of {pluralize(len(codes), 'row')}. "
                f"It gave {type(answer).__name__} of shape {np.shape(answer)}."
            )
        return satisfied

    def __str__(self) -> str:
        return self.name or getattr(self.function, "__name__", "rule")


def to_constraint(source: object) -> Constraint:
    """Return a constraint from an object, a string or a function."""
    if isinstance(source, Constraint):
        return source
    if isinstance(source, str):
        return Compare.parse(source)
    if callable(source):
        return Rule(source)
    raise SpaceError(
        f"A constraint must be a string such as 'a <= b', a function of a frame, OneHot or Combinations. Got {source!r}."
    )
