"""`Space`: the inputs a system can be given, and how one gets from one of them to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from .._text import pluralize, suggest_name
from .._validation import to_generator, validate_choice, validate_integer, validate_positive
from ..errors import DataError, SpaceError
from . import geometry
from .constraints import Constraint, to_constraint
from .decoding import decode
from .encoding import encode, encode_floats, find_fault
from .features import Codes, Feature
from .frames import is_single_case, restore_form, to_frame
from .path import Path
from .points import Points

if TYPE_CHECKING:
    import pandas as pd

Mask = npt.NDArray[np.bool_]
Data = TypeVar("Data")
Hints = Mapping[str, Any]


class Space:
    """The product of some features, with moves, a midpoint and a distance.

    Everything takes and gives back what the caller works with: a frame, an array, one case as a dict, or
    `Points` (the codes themselves, for speed). Columns of a frame that are no features are left aside.

    Parameters
    ----------
    features : sequence of Continuous, Integer or Categorical
        In the order that counts for the midpoint.
    moves : {"clip", "open"}
        Whether moves of continuous features stop at the bounds or are free to leave them.
    constraints : sequence
        Strings (``"free <= total"``), functions of a frame, `OneHot`, `Combinations`.
    invalid : {"avoid", "allow"}
        Whether moves and midpoints keep the constraints, or may make invalid points (see `valid`).

    Examples
    --------
    >>> from datamorphic import Categorical, Continuous, Integer, Space
    >>> space = Space([Continuous("x", 0, 6.28, step=0.2), Integer("n", 0, 10), Categorical("c", ["a", "b"])])
    >>> a, b = {"x": 1.0, "n": 2, "c": "a"}, {"x": 2.0, "n": 5, "c": "b"}
    >>> space.distance(a, b)
    5.0
    >>> space.midpoint(a, b)
    {'x': 1.5, 'n': 3, 'c': 'b'}
    >>> space.up(a, "n")
    {'x': 1.0, 'n': 3, 'c': 'a'}
    """

    def __init__(
        self,
        features: Iterable[Feature],
        *,
        moves: str = "clip",
        constraints: Iterable[object] = (),
        invalid: str = "avoid",
        dtypes: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(features, Feature):
            features = [features]
        if not isinstance(features, Iterable):
            raise SpaceError(f"A space is made of a list of features. Got {features!r}.")
        self.features = tuple(features)
        if not self.features:
            raise SpaceError("A space needs at least one feature: Continuous, Integer or Categorical.")
        for feature in self.features:
            if not isinstance(feature, Feature):
                raise SpaceError(
                    f"A space is made of Continuous, Integer and Categorical features. Got {feature!r}."
                )
        self.names = tuple(feature.name for feature in self.features)
        self._positions = {name: j for j, name in enumerate(self.names)}
        if len(self._positions) < len(self.names):
            duplicate = next(name for name in self.names if self.names.count(name) > 1)
            raise SpaceError(f"Two features are named {duplicate!r}. Rename one.")
        self.moves = validate_choice("moves", "Space", moves, ("clip", "open"))
        self.invalid = validate_choice("invalid", "Space", invalid, ("avoid", "allow"))
        self.dtypes = dict(dtypes or {})
        self.has_nullable = any(feature.nullable for feature in self.features)
        if isinstance(constraints, str | Constraint) or callable(constraints):
            constraints = [constraints]
        self.constraints: tuple[Constraint, ...] = tuple(map(to_constraint, constraints or ()))
        for constraint in self.constraints:
            constraint.check(self)
        self.units = self._group_tied_features()
        #: whether there are real numbers only, none of them missing
        self.smooth = self.kinds["continuous"] == len(self) == len(self.units) and not self.has_nullable
        #: whether, beyond that, codes are the user's values as they are
        self.plain = self.smooth and all(self.dtypes.get(name, float) == np.float64 for name in self.names)

    def _group_tied_features(self) -> tuple[tuple[int, ...], ...]:
        """The features in order, those that a constraint ties together as one."""
        block_of: dict[int, tuple[int, ...]] = {}
        if self.keeps_constraints:
            for constraint in self.constraints:
                if constraint.tied:
                    block = tuple(sorted(self.position(name) for name in constraint.names))
                    for j in block:
                        if j in block_of:
                            raise SpaceError(
                                f"Two constraints tie {self.names[j]!r} to other features. Join them in one table "
                                "of valid combinations."
                            )
                        block_of[j] = block
        return tuple(dict.fromkeys(block_of.get(j, (j,)) for j in range(len(self.features))))

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        kinds: Hints | None = None,
        steps: Hints | None = None,
        bounds: Hints | None = None,
        orders: Hints | None = None,
        target: str | None = None,
        moves: str = "clip",
        constraints: Iterable[object] = (),
        invalid: str = "avoid",
    ) -> Space:
        """Read a frame as a space.

        Floats become continuous, ints integer, and text, categories and booleans categorical features; the
        bounds are those of the values, the step a twentieth of the range, and a column with missing values
        is nullable. The hints, each a dict by column, override that.

        Parameters
        ----------
        frame : DataFrame
            Typical inputs, e.g. the training data.
        kinds : dict
            ``{"age": "integer"}``; "continuous", "integer" or "categorical".
        steps, bounds, orders : dict
            ``{"age": 3}``, ``{"age": (20, 80)}``, ``{"card": ["Blue", "Gold"]}``.
        target : str, optional
            The column that holds the label and is no feature.
        moves, constraints, invalid
            As for `Space`.
        """
        from .inference import infer_features, validate_frame

        validate_frame(frame)
        if target is not None:
            if not isinstance(target, str) or target not in frame.columns:
                raise DataError(
                    f"The target column {target!r} is not in the frame. {suggest_name(target, frame.columns)}"
                )
            frame = frame.drop(columns=[target])
            if not len(frame.columns):
                raise DataError(
                    f"The frame has one column, the target {target!r}, and no feature. Give it features."
                )
        features = infer_features(frame, kinds or {}, steps or {}, bounds or {}, orders or {}, target)
        dtypes = {name: frame[name].dtype for name in frame.columns}
        return cls(features, moves=moves, constraints=constraints, invalid=invalid, dtypes=dtypes)

    @classmethod
    def from_arrays(cls, array: Any, names: Sequence[str] | None = None, **hints: Any) -> Space:
        """Read a matrix as a space, its columns named x0, x1, ... or as given; hints as in `from_frame`."""
        import pandas as pd

        try:
            array = np.asarray(array)
        except ValueError:
            raise DataError("The rows of the array have different lengths. Each case needs all values.") from None
        if array.ndim != 2:
            raise DataError(
                f"A matrix with one row a case is expected. Got an array of shape {array.shape}; use X.reshape(-1, 1)."
            )
        columns = list(names) if names is not None else [f"x{j}" for j in range(array.shape[1])]
        if len(columns) != array.shape[1]:
            raise DataError(f"There are {len(columns)} names for {pluralize(array.shape[1], 'column')}.")
        return cls.from_frame(pd.DataFrame(array, columns=columns).infer_objects(), **hints)

    # -- what it is ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.features)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __getitem__(self, name: str) -> Feature:
        return self.features[self.position(name)]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Space)
            and (self.features, self.moves, self.invalid) == (other.features, other.moves, other.invalid)
            and self.constraints == other.constraints
        )

    def __hash__(self) -> int:
        return hash((self.features, self.moves, self.invalid))

    def __repr__(self) -> str:
        kinds = [f"{n} {kind}" for kind, n in self.kinds.items() if n]
        constraints_text = f", {pluralize(len(self.constraints), 'constraint')}" if self.constraints else ""
        return f"Space({', '.join(kinds)}{constraints_text}, moves={self.moves!r})"

    @property
    def kinds(self) -> dict[str, int]:
        """How many features there are of each kind."""
        return {
            kind: sum(feature.kind == kind for feature in self.features)
            for kind in ("continuous", "integer", "categorical")
        }

    def position(self, name: str) -> int:
        """Return the place of a feature, or say that there is none of that name."""
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            raise SpaceError(f"There is no feature {name!r}. {suggest_name(name, self.names)}") from None

    def describe(self) -> str:
        """Return one line a feature."""
        width = max(map(len, self.names))
        lines = [f"{feature.name:<{width}}  {feature.describe()}" for feature in self.features]
        return "\n".join(lines + [f"always: {constraint}" for constraint in self.constraints])

    @property
    def move_names(self) -> list[tuple[str, str]]:
        """Every move there is, as (kind, feature): up and down, and clear and fill where it may be missing."""
        return [
            (kind, feature.name)
            for feature in self.features
            for kind in ("up", "down", *(("clear", "fill") if feature.nullable else ()))
        ]

    def reach(self, name: str) -> float:
        """Return how far one move of a feature can lead: its step, and what keeping the constraints adds."""
        extra_distances = (
            [constraint.mending(name) for constraint in self.constraints] if self.keeps_constraints else []
        )
        return self[name].step + sum(extra_distances)

    # -- user values and codes ----------------------------------------------------------------------

    def points(self, data: Any, *, lenient: bool = False) -> Points:
        """Return frames, arrays, dicts or sequences of values as `Points`.

        With ``lenient=True`` values that do not fit are let through: a number keeps its value, what is no
        category gets the code -1.
        """
        if isinstance(data, Points):
            if data.space is not self and data.space.features != self.features:
                raise DataError("These points belong to another space. Convert them: space.points(other.frame).")
            if data.space is self or lenient:
                return data
            for j, feature in enumerate(self.features):  # points of an open space may lie outside a clipped one
                fault = find_fault(feature, data.codes[:, j], open_ends=self.moves == "open")
                if fault is not None:
                    raise DataError(
                        f"These points belong to another space: in {feature.name!r} a value {fault[1]}."
                    )
            return Points(self, data.codes)
        frame = to_frame(self, data)
        missing = [name for name in self.names if name not in frame.columns]
        if missing:
            raise DataError(
                f"The data lack {pluralize(len(missing), 'column')} of this space: {', '.join(map(repr, missing[:6]))}"
                f"{', ...' if len(missing) > 6 else ''}. {suggest_name(missing[0], frame.columns)}"
            )
        open_ends = self.moves == "open"
        if self.smooth and (float_codes := encode_floats(self.features, frame, open_ends)) is not None:
            return Points(self, float_codes)
        codes = np.empty((len(frame), len(self)), order="F")
        for j, feature in enumerate(self.features):
            codes[:, j] = encode(feature, frame[feature.name], open_ends=open_ends, lenient=lenient)
        return Points(self, codes)

    def frame(self, points: Points, like: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return points as a frame, with the dtypes, column order and index of `like` where it is given."""
        return self.decode(points.codes, like)

    def decode(self, codes: Codes, like: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return a matrix of codes as a frame of user values."""
        import pandas as pd

        if like is None and self.plain:  # in one piece
            return pd.DataFrame(np.array(codes, order="F"), columns=list(self.names), copy=False)
        dtypes: Any = self.dtypes if like is None else like.dtypes
        names = self.names if like is None else [name for name in like.columns if name in self._positions]
        index = like.index if like is not None and len(like) == len(codes) else None
        columns = {}
        for name in names:
            j = self._positions[name]
            values = decode(self.features[j], codes[:, j], dtypes.get(name))
            # left alone, pandas makes text of some batches of objects and not of others
            columns[name] = pd.Series(values, index=index, dtype=object) if values.dtype == object else values
        return pd.DataFrame(columns, index=index, copy=False)

    def _to_point_pair(self, a: Any, b: Any) -> tuple[Points, Points]:
        x, y = self.points(a), self.points(b)
        if len(x) != len(y) and 1 not in (len(x), len(y)):
            counts = f"Got {len(x):,} and {len(y):,}."
            raise DataError(f"The two sets must have as many rows, or one of them a single row. {counts}")
        return x, y

    # -- geometry -----------------------------------------------------------------------------------

    def distance(self, a: Any, b: Any, *, scaled: bool = False) -> Any:
        """Return the distance of each row of `a` to the same row of `b` (a float for two single cases).

        Euclidean over the continuous features, plus the sum of absolute differences over the integers, plus
        the number of categories that differ; a value missing on one side only counts 1. ``scaled=True``
        first divides every number by the range of its feature, so that large units do not swamp small ones.
        """
        x, y = self._to_point_pair(a, b)
        result = geometry.distance(self, x.codes, y.codes, scaled)
        return float(result[0]) if is_single_case(a) and is_single_case(b) else result

    def midpoint(self, a: Data, b: Any) -> Data:
        """Return the point half-way between each row of `a` and the same row of `b`."""
        x, y = self._to_point_pair(a, b)
        midpoints = Points(self, geometry.midpoint(self, x.codes, y.codes))
        template = a if len(midpoints) == len(x) else b
        return restore_form(self, template, midpoints)

    def move(self, a: Data, kind: str, feature: str) -> Data:
        """Return each row after one move: "up", "down", "clear" (to missing) or "fill" (from missing)."""
        validate_choice("kind", "Space.move", kind, ("up", "down", "clear", "fill"))
        position = self.position(feature)
        new_codes = geometry.move(self, self.points(a).codes, position, kind)
        return restore_form(self, a, Points(self, new_codes))

    def up(self, a: Data, feature: str) -> Data:
        """Return each row with one feature a step higher, or at its next category."""
        return self.move(a, "up", feature)

    def down(self, a: Data, feature: str) -> Data:
        """Return each row with one feature a step lower, or at its previous category."""
        return self.move(a, "down", feature)

    def path(self, a: Any, b: Any, *, delta: float = 1e-3) -> Any:
        """Return the moves that lead from `a` to `b`: exactly, or to within `delta` if a feature is continuous.

        One pair of cases gives a `Path`, several give a list of them.

        Examples
        --------
        >>> from datamorphic import Categorical, Integer, Space
        >>> space = Space([Integer("n", 0, 10, step=3), Categorical("c", ["a", "b", "c"])])
        >>> space.path({"n": 1, "c": "a"}, {"n": 8, "c": "c"}).moves
        ['up n', 'up n', 'up c', 'up c', 'midpoint']
        """
        delta = validate_positive("delta", "Space.path", delta)
        x, y = self._to_point_pair(a, b)
        rows = len(y) if len(x) == 1 else len(x)
        start, target = (np.broadcast_to(p.codes, (rows, len(self))) for p in (x, y))
        ends, counts, midpoints = geometry.plan_paths(self, start, target, delta)

        def take_row(codes: Codes, i: int) -> Points:
            return Points(self, codes[i : i + 1])

        paths = [
            Path(self, take_row(start, i), take_row(target, i), take_row(ends, i), counts[i], int(midpoints[i]))
            for i in range(rows)
        ]
        return paths[0] if rows == 1 else paths

    def sample(self, n: int, *, seed: int | np.random.Generator | None = 0, points: bool = False) -> Any:
        """Return `n` points drawn uniformly, as a frame (or as `Points` with ``points=True``).

        A nullable feature is missing in one row of ten. Points that break a constraint are drawn anew.
        """
        from .sampling import draw

        validate_integer("n", "Space.sample", n)
        sample = Points(self, draw(self, n, to_generator("seed", "Space.sample", seed)))
        return sample if points else sample.frame

    # -- constraints --------------------------------------------------------------------------------

    @property
    def keeps_constraints(self) -> bool:
        """Whether there are constraints that moves and midpoints must keep."""
        return self.invalid == "avoid" and bool(self.constraints)

    def satisfied(self, codes: Codes) -> Mask:
        """Tell which rows of a matrix of codes keep all constraints."""
        satisfied = np.ones(len(codes), dtype=bool)
        for constraint in self.constraints:
            satisfied &= constraint.satisfied(self, codes)
        return satisfied

    def valid(self, data: Any) -> Mask:
        """Tell which rows keep all declared constraints."""
        return self.satisfied(self.points(data).codes)
