"""Constraints between features, which moves and midpoints satisfy.

A constraint is an object of this module, a string (``"free <= total"``), or a function of a frame that returns one
boolean per row. Strings are parsed, never evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import pluralize
from ..errors import DataError, SpaceError
from .encoding import encode
from .features import Codes, Feature, Mask
from .hashing import RowTable

if TYPE_CHECKING:
    import pandas as pd

    from .space import Space


class Constraint:
    """Base class: a condition on rows, and how to satisfy it again after a move.

    `Space` calls `check` when it is made. `satisfied` is called on every batch of new points, `mend` before it after a
    move, and `settle` before it after a random draw.
    """

    #: whether the features only make sense together: a midpoint takes the values of all of them from one end
    tied: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The features that the constraint depends on."""
        return ()

    def check(self, space: Space) -> None:
        """Raise `SpaceError` unless the constraint fits the features of `space`."""
        self._locate(space)

    def _locate(self, space: Space) -> list[int]:
        """Return the positions of the features that the constraint depends on."""
        return [space.position(name) for name in self.names]

    def satisfied(self, space: Space, codes: Codes) -> Mask:
        """Return which rows satisfy the constraint."""
        raise NotImplementedError

    def mend(self, space: Space, codes: Codes, moved: int) -> None:
        """Change other features in place, to satisfy it after a move of `moved`."""

    def mending(self, name: str) -> float:
        """Return the largest distance that `mend` adds to a move of the feature `name`."""
        return 0.0

    def settle(self, space: Space, codes: Codes, rng: np.random.Generator) -> None:
        """Change randomly drawn rows in place so that more of them satisfy the constraint."""


_OPERATORS = {"<=": le, ">=": ge, "==": eq, "!=": ne, "<": lt, ">": gt}
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

    def check(self, space: Space) -> None:
        """Raise `SpaceError` if a feature is unknown or categorical."""
        super().check(space)
        for name in self.names:
            if space[name].kind == "categorical":
                raise SpaceError(
                    f"The constraint {self} compares {name!r}, which is categorical. "
                    "Compare numbers, or use Combinations for categories."
                )

    def satisfied(self, space: Space, codes: Codes) -> Mask:
        """Return which rows satisfy the constraint."""
        left = codes[:, space.position(self.left)]
        right = codes[:, space.position(self.right)] if isinstance(self.right, str) else self.right
        return _OPERATORS[self.relation](left, right) | np.isnan(left) | np.isnan(right)

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"


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

    def check(self, space: Space) -> None:
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

    def satisfied(self, space: Space, codes: Codes) -> Mask:
        """Return which rows satisfy the constraint."""
        on_count = np.zeros(len(codes), dtype=np.int64)
        for j in self._locate(space):
            on_count += codes[:, j] == space.features[j].high
        return on_count == 1

    def mend(self, space: Space, codes: Codes, moved: int) -> None:
        """Turn the other features off where `moved` was turned on."""
        positions = self._locate(space)
        if moved in positions:
            turned_on = codes[:, moved] == space.features[moved].high
            for j in positions:
                if j != moved:
                    codes[turned_on, j] = space.features[j].low

    def mending(self, name: str) -> float:
        """Return 1 for a feature of the group: turning it on turns another one off."""
        return float(name in self.names)

    def settle(self, space: Space, codes: Codes, rng: np.random.Generator) -> None:
        """Turn on one feature of the group in every row."""
        positions = self._locate(space)
        on_place = rng.integers(len(positions), size=len(codes))
        for place, j in enumerate(positions):
            feature = space.features[j]
            codes[:, j] = np.where(on_place == place, feature.high, feature.low)

    def __str__(self) -> str:
        return "one of " + ", ".join(self.names)


class Combinations(Constraint):
    """A table of the valid combinations of values, e.g. of cities and their countries.

    Parameters
    ----------
    table : DataFrame
        One row per valid combination. Its columns are features that are not continuous.
    """

    tied = True

    def __init__(self, table: pd.DataFrame) -> None:
        import pandas as pd

        if not isinstance(table, pd.DataFrame):
            raise SpaceError(f"Combinations take a DataFrame with one row per combination. Got {type(table).__name__}.")
        if not len(table) or not len(table.columns):
            raise SpaceError("The table of valid combinations is empty, so no point is valid. Add rows to it.")
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
        """The features that the constraint depends on."""
        return tuple(self.table.columns)

    def check(self, space: Space) -> None:
        """Raise an error unless the table lists values of discrete features."""
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
            codes = np.column_stack(
                [encode(feature, self.table[feature.name], open_ends=False) for feature in features]
            )
            self._prepared[features] = codes, RowTable(len(features))
            self._prepared[features][1].add(codes)
        return self._prepared[features]

    def satisfied(self, space: Space, codes: Codes) -> Mask:
        """Return which rows satisfy the constraint."""
        _, lookup = self._encode_table(space)
        return lookup.find(codes[:, self._locate(space)]) >= 0

    def settle(self, space: Space, codes: Codes, rng: np.random.Generator) -> None:
        """Set every row to one of the valid combinations."""
        table, _ = self._encode_table(space)
        codes[:, self._locate(space)] = table[rng.integers(len(table), size=len(codes))]

    def __str__(self) -> str:
        return f"{pluralize(len(self.table), 'valid combination')} of {', '.join(self.names)}"


@dataclass(frozen=True)
class Rule(Constraint):
    """A condition given as a function of a frame that returns True or False per row."""

    function: Callable[[pd.DataFrame], Any]
    name: str = ""

    def satisfied(self, space: Space, codes: Codes) -> Mask:
        """Return which rows satisfy the constraint."""
        if not len(codes):
            return np.zeros(0, dtype=bool)
        frame = space.decode(codes)
        try:
            answer = self.function(frame)
        except Exception as error:
            raise DataError(
                f"The constraint {self} raised {type(error).__name__}: {error}. "
                f"It was called with a frame with the columns {', '.join(space.names[:6])} ..."
            ) from error
        import pandas as pd

        try:
            # A comparison with a missing value is missing itself. It counts as satisfied, as in `Compare`.
            satisfied = pd.array(answer, dtype="boolean").to_numpy(dtype=bool, na_value=True)
        except (TypeError, ValueError):
            satisfied = np.zeros(0, dtype=bool)
        if satisfied.shape != (len(codes),):
            raise DataError(
                f"The constraint {self} must return True or False for each of {pluralize(len(codes), 'row')}. "
                f"It returned {type(answer).__name__} of shape {np.shape(answer)}."
            )
        return satisfied

    def __str__(self) -> str:
        return self.name or getattr(self.function, "__name__", "rule")


def to_constraint(source: object) -> Constraint:
    """Return the constraint that an object, a string or a function declares."""
    if isinstance(source, Constraint):
        return source
    if isinstance(source, str):
        return Compare.parse(source)
    if callable(source):
        return Rule(source)
    raise SpaceError(
        f"A constraint must be a string such as 'a <= b', a function of a frame, OneHot or Combinations. Got {source!r}."
    )
