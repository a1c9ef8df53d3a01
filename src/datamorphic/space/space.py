"""`Space`: the inputs of a system; its `Points` and `Path`.

The three classes refer to each other, so they share one module.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .._estimates import refuse_many_rows
from .._lazy import pd
from .._text import pluralise, suggest_name
from .._typing import DataLike
from .._validation import (
    check_types,
    is_list,
    reject,
    to_generator,
    validate_choice,
    validate_integer,
    validate_option_names,
    validate_positive,
)
from ..errors import DataError, SpaceError
from . import geometry
from .blocks import (
    Block,
    expand_blocks,
    expand_data,
    find_blocks,
    is_array_column,
    is_single_block,
    restore_data,
    restore_frame,
)
from .constraints import Constraint, Dependency, to_constraint
from .encoding import decode, encode, encode_floats, find_fault
from .features import Codes, Feature, Mask
from .frames import is_single_case, name_texts, restore_form, to_array, to_frame
from .geometry import Counts
from .inference import infer_features, validate_frame
from .sampling import draw
from .table_forms import accept_tables
from .text_feature import TEXTS, Text

RowSelection = npt.NDArray[Any] | slice | Sequence[int]
Data = TypeVar("Data", bound=DataLike)
Hints = Mapping[str, Any]


@lru_cache(maxsize=64)
def _make_column_index(names: tuple[str, ...]) -> pd.Index:
    """Return the columns of frames; making them takes longer than a frame of a small batch."""
    return pd.Index(list(names))


class Points:
    """Rows of a space as a matrix of float64 codes, one contiguous column per feature.

    Points come from `Space.points`, `Space.sample` and the moves; users do not construct them.
    """

    __slots__ = ("codes", "space")

    def __init__(self, space: Space, codes: Codes) -> None:
        self.space = space
        self.codes = np.asfortranarray(codes, dtype=np.float64)

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a frame of the user's values and dtypes."""
        return self.space.frame(self)

    def __len__(self) -> int:
        return self.codes.shape[0]

    def __iter__(self) -> Iterator[Points]:
        return (self.take(slice(i, i + 1)) for i in range(len(self)))

    def take(self, rows: RowSelection) -> Points:
        """Return some of the rows, selected by a mask, a slice or row numbers."""
        if isinstance(rows, int | np.integer):
            rows = slice(rows, rows + 1 or None)
        return Points(self.space, self.codes[rows])

    __getitem__ = take

    def column(self, name: str) -> Codes:
        """Return the codes of one feature."""
        return self.codes[:, self.space.position(name)]

    def same(self, other: Points) -> Mask:
        """Return which rows equal the same row of `other`; missing equals missing."""
        a, b = self.codes, other.codes
        equal = a == b
        if self.space.has_nullable:
            equal |= np.isnan(a) & np.isnan(b)
        return equal.all(axis=1)

    @staticmethod
    def concat(parts: Sequence[Points]) -> Points:
        """Return the rows of several sets of points of one space as one set."""
        if not parts:
            raise DataError("There is nothing to concatenate: give at least one set of points.")
        space = parts[0].space
        if any(part.space.features != space.features for part in parts):
            raise DataError("The points to concatenate come from different spaces. Encode them with one space.")
        return Points(space, np.concatenate([part.codes for part in parts]))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to rebuild the points in another process: with their texts, and without other texts of the space."""
        positions = [j for j, feature in enumerate(self.space.features) if isinstance(feature, Text)]
        if not positions:
            return Points, (self.space, self.codes)
        codes = np.unique(self.codes[:, positions])
        texts = TEXTS.decode(codes[~np.isnan(codes)].astype(np.int64).tolist())
        return _rebuild_points, (self.space.without_examples(), self.codes, texts)

    def __repr__(self) -> str:
        return f"Points({len(self):,} x {len(self.space)} features)"


def _rebuild_points(space: Space, codes: Codes, texts: list[str]) -> Points:
    TEXTS.encode(texts)
    return Points(space, codes)


@dataclass(frozen=True, eq=False, kw_only=True)
class Path:
    """A path to a target: moves, feature by feature, then midpoints with it.

    Iterating over it gives the moves in words; `walk` returns the points on the path.
    """

    space: Space
    start: Points
    target: Points
    end: Points
    counts: Counts
    midpoints: int

    def steps(self) -> Iterator[tuple[str, int]]:
        """Yield (kind of move, position of the feature), or ("midpoint", -1)."""
        missing_at_start, missing_at_target = np.isnan(self.start.codes[0]), np.isnan(self.target.codes[0])
        for j, count in enumerate(self.counts):
            if not self.space.keeps_constraints and missing_at_start[j] != missing_at_target[j]:
                yield ("fill" if missing_at_start[j] else "clear"), j
            for _ in range(abs(int(count))):
                yield ("up" if count > 0 else "down"), j
        for _ in range(self.midpoints):
            yield "midpoint", -1

    @property
    def moves(self) -> list[str]:
        """The moves in words: "up age", "down card", "midpoint"."""
        return [kind if j < 0 else f"{kind} {self.space.names[j]}" for kind, j in self.steps()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.moves)

    def __len__(self) -> int:
        return sum(1 for _ in self.steps())

    def walk(self) -> Points:
        """Return every point on the path, from the start to the end."""
        current = self.start.codes
        codes = [current]
        for kind, j in self.steps():
            if kind == "midpoint":
                current = geometry.midpoint(self.space, self.target.codes, current)
            else:
                current = geometry.move(self.space, current, j, kind)
            codes.append(current)
        return Points(self.space, np.concatenate(codes))

    @property
    def gap(self) -> float:
        """The distance from the end to the target."""
        return float(geometry.distance(self.space, self.end.codes, self.target.codes)[0])


class Space:
    """The product of some features, with moves, a midpoint and a distance.

    The methods take cases in any form (a frame, an array, one case as a dict, or `Points` for speed) and return them in
    the same form. Columns of a frame that are not features are ignored.

    Parameters
    ----------
    features : sequence of Continuous, Integer, Categorical or Text, or of blocks
        The features, and images (`Image`) or numeric sequences (`Sequence`). Their order matters for the midpoint.
    moves : {"clip", "open"}
        Whether moves of continuous features stop at the bounds or may leave them.
    constraints : sequence
        Strings (``"free <= total"``, ``"limit == balance + available"``), functions of a frame, `OneHot`, `AllowedCombinations`, or
        what `find_constraints` finds in data.
    invalid : {"avoid", "allow"}
        Whether moves and midpoints satisfy the constraints or may make invalid points (see `valid`).
    dtypes : mapping, optional
        The dtypes that frames of points get, by feature.

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
        features: Iterable[Feature | Block],
        *,
        moves: str = "clip",
        constraints: Iterable[object] | str | Constraint | Callable[..., Any] = (),
        invalid: str = "avoid",
        dtypes: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(features, Feature | Block):
            features = [features]
        if not isinstance(features, Iterable):
            raise SpaceError(f"A space takes a list of features. Got {features!r}.")
        self.features = tuple(expand_blocks(features))
        if not self.features:
            raise SpaceError("A space needs at least one feature: Continuous, Integer, Categorical or Text.")
        for feature in self.features:
            if not isinstance(feature, Feature):
                raise SpaceError(f"A space takes Continuous, Integer, Categorical and Text features. Got {feature!r}.")
        self.names = tuple(feature.name for feature in self.features)
        self._positions = {name: j for j, name in enumerate(self.names)}
        if len(self._positions) < len(self.names):
            duplicate = next(name for name in self.names if self.names.count(name) > 1)
            raise SpaceError(f"Two features are named {duplicate!r}. Rename one.")
        self.moves = validate_choice("moves", "Space", moves, ("clip", "open"))
        self.invalid = validate_choice("invalid", "Space", invalid, ("avoid", "allow"))
        #: the images and sequences, whose values are some of the features
        self.blocks = find_blocks(self.features)
        if dtypes is not None and not isinstance(dtypes, Mapping):
            reject("dtypes", "Space", "a dict of dtypes by feature", dtypes)
        self.dtypes = dict(dtypes or {})
        for placed_block in self.blocks:
            self.dtypes |= dict.fromkeys(placed_block.names, np.dtype(np.float64))
        self.has_nullable = any(feature.nullable for feature in self.features)
        if isinstance(constraints, str | Constraint) or callable(constraints) or not is_list(constraints):
            constraints = [] if constraints is None else [constraints]
        self.constraints: tuple[Constraint, ...] = tuple(
            to_constraint(constraint, self.names) for constraint in constraints
        )
        for constraint in self.constraints:
            constraint.check(self)
        self.units = self._group_tied_features()
        #: whether all features are continuous and none is nullable
        self.smooth = self.kinds["continuous"] == len(self) == len(self.units) and not self.has_nullable
        #: whether, beyond that, the codes are the user's values
        self.plain = self.smooth and all(self.dtypes.get(name, np.float64) == np.float64 for name in self.names)

    def _group_tied_features(self) -> tuple[tuple[int, ...], ...]:
        """Return the positions of the features in order, tied features as one tuple."""
        block_of: dict[int, tuple[int, ...]] = {}
        exclusive_positions: set[int] = set()
        for constraint in self.constraints if self.keeps_constraints else ():
            if not constraint.tied:
                continue
            positions = set(map(self.position, constraint.names))
            if not isinstance(constraint, Dependency):  # dependencies may form chains
                if shared := positions & exclusive_positions:
                    raise SpaceError(
                        f"Two constraints tie {self.names[min(shared)]!r} to other features. Join them in one table of "
                        "valid combinations."
                    )
                exclusive_positions |= positions
            block = tuple(sorted(positions.union(*(block_of.get(j, ()) for j in positions))))
            block_of |= dict.fromkeys(block, block)
        return tuple(dict.fromkeys(block_of.get(j, (j,)) for j in range(len(self.features))))

    @classmethod
    @accept_tables
    def from_frame(
        cls,
        frame: DataLike,
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
        """Infer a space from a frame.

        Float columns become continuous features, int columns integer ones; strings, categories and booleans become
        categorical, and columns of different texts of several words become text. Columns of arrays become images or, if the
        arrays have one axis, sequences. The bounds are those of the values and the step is a twentieth of the range. A column
        with missing values is nullable. Hints, each a dict by column, override that.

        Parameters
        ----------
        frame : DataFrame
            Typical inputs, e.g. the training data.
        kinds : dict
            ``{"age": "integer"}``; "continuous", "integer", "categorical" or "text".
        steps, bounds, orders : dict
            ``{"age": 3}``, ``{"age": (20, 80)}``, ``{"card": ["Blue", "Gold"]}``.
        target : str, optional
            The column of the label, which is not a feature.
        moves, constraints, invalid
            As for `Space`.
        """
        frame = validate_frame(name_texts(frame))
        if target is not None:
            if not isinstance(target, str) or target not in frame.columns:
                raise DataError(
                    f"The target column {target!r} is not in the frame. {suggest_name(target, frame.columns)}"
                )
            frame = frame.drop(columns=[target])
            if not len(frame.columns):
                raise DataError(f"The frame has no column but the target {target!r}. Add the columns of the features.")
        features = infer_features(
            frame,
            {} if kinds is None else kinds,
            {} if steps is None else steps,
            {} if bounds is None else bounds,
            {} if orders is None else orders,
            target,
        )
        dtypes = {name: frame[name].dtype for name in frame.columns if not is_array_column(frame[name])}
        return cls(features, moves=moves, constraints=constraints, invalid=invalid, dtypes=dtypes)

    @classmethod
    @accept_tables
    def from_arrays(cls, array: DataLike, names: Sequence[str] | None = None, **hints: Any) -> Space:
        """Infer a space from a matrix whose columns are `names`, by default x0, x1, ...

        Hints are those of `from_frame`.
        """
        matrix = to_array(array)
        if matrix.ndim != 2:
            raise DataError(
                f"Expected a matrix with one row per case. Got an array of shape {matrix.shape}; use X.reshape(-1, 1)."
            )
        validate_option_names("Space.from_arrays", hints, cls.from_frame)
        if names is not None and not is_list(names):
            reject("names", "Space.from_arrays", "a list of texts", names)
        columns = list(names) if names is not None else [f"x{j}" for j in range(matrix.shape[1])]
        if not all(isinstance(name, Hashable) for name in columns):
            reject("names", "Space.from_arrays", "a list of texts", names)
        if len(columns) != matrix.shape[1]:
            raise DataError(f"There are {len(columns)} names for {pluralise(matrix.shape[1], 'column')}.")
        return cls.from_frame(pd.DataFrame(matrix, columns=columns).infer_objects(), **hints)

    # -- the features -------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.features)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __getitem__(self, name: str) -> Feature:
        return self.features[self.position(name)]

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Space)
            and (self.features, self.moves, self.invalid) == (other.features, other.moves, other.invalid)
            and self.constraints == other.constraints
        )

    def __hash__(self) -> int:
        return hash((self.features, self.moves, self.invalid))

    def __repr__(self) -> str:
        kinds = [f"{n} {kind}" for kind, n in self.kinds.items() if n]
        kinds += [
            f"of which {placed_block.block.size} are of the {placed_block.block.noun} {placed_block.block.name!r}"
            for placed_block in self.blocks
        ]
        constraints_text = f", {pluralise(len(self.constraints), 'constraint')}" if self.constraints else ""
        return f"Space({', '.join(kinds)}{constraints_text}, moves={self.moves!r})"

    @cached_property
    def kinds(self) -> dict[str, int]:
        """The number of features of each kind."""
        return {
            kind: sum(feature.kind == kind for feature in self.features)
            for kind in ("continuous", "integer", "categorical", "text")
        }

    @cached_property
    def array_dtype(self) -> np.dtype[Any] | None:
        """The dtype of the array that NumPy makes of a frame: float64, int64, or None if not all columns are plain numbers."""
        dtypes = [self.dtypes.get(name, np.dtype(np.int64)) for name in self.names]
        if self.has_nullable or self.kinds["continuous"] + self.kinds["integer"] < len(self):
            return None
        if not self.kinds["continuous"]:
            return np.dtype(np.int64) if all(dtype == np.int64 for dtype in dtypes) else None
        exact = all(isinstance(dtype, np.dtype) and (dtype.kind in "iu" or dtype == np.float64) for dtype in dtypes)
        return np.dtype(np.float64) if exact else None

    @cached_property
    def scalars(self) -> tuple[int, ...]:
        """The positions of the features that are not values of images or sequences."""
        in_blocks = {position for placed_block in self.blocks for position in placed_block.positions}
        return tuple(position for position in range(len(self)) if position not in in_blocks)

    def position(self, name: str) -> int:
        """Return the position of a feature, or raise `SpaceError`."""
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            if not isinstance(name, str):
                reject("name", "Space", "the name of a feature", name)
            raise SpaceError(f"There is no feature {name!r}. {suggest_name(name, self.names)}") from None

    def describe(self) -> str:
        """Return a description with one line per feature and constraint."""
        rows = [(placed_block.block.name, placed_block.block.describe()) for placed_block in self.blocks]
        rows += [(self.names[position], self.features[position].describe()) for position in self.scalars]
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:<{width}}  {text}" for name, text in rows]
        return "\n".join(lines + [f"always: {constraint}" for constraint in self.constraints])

    @property
    def move_names(self) -> list[tuple[str, str]]:
        """All moves as (kind, feature): up, down; clear and fill if nullable."""
        return [
            (kind, feature.name)
            for feature in self.features
            for kind in ("up", "down", *(("clear", "fill") if feature.nullable else ()))
        ]

    def reach(self, name: str) -> float:
        """Return the longest distance of one move of a feature: its step, plus the distance that constraints add."""
        constraints = self.constraints if self.keeps_constraints else ()
        return self[name].step + sum(constraint.mending(self, name) for constraint in constraints)

    # -- user values and codes ----------------------------------------------------------------------

    @accept_tables
    @check_types
    def points(self, data: DataLike, *, lenient: bool = False) -> Points:
        """Return cases in any form as `Points`.

        With ``lenient=True`` invalid values are accepted: a number keeps its value, and an unknown category gets the
        code -1.
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
                        f"These points belong to another space: in {feature.name!r} a value {fault.problem}."
                    )
            return Points(self, data.codes)
        if self.blocks:
            data = expand_data(self.blocks, len(self), data, lenient=lenient, open_ends=self.moves == "open")
        frame = to_frame(self.names, data)
        missing = [name for name in self.names if name not in frame.columns]
        if missing:
            raise DataError(
                f"The data lack {pluralise(len(missing), 'column')} of this space: {', '.join(map(repr, missing[:6]))}"
                f"{', ...' if len(missing) > 6 else ''}. {suggest_name(missing[0], frame.columns)}"
            )
        open_ends = self.moves == "open"
        if self.smooth and (float_codes := encode_floats(self.features, frame, open_ends)) is not None:
            return Points(self, float_codes)
        codes = np.empty((len(frame), len(self)), order="F")
        for j, feature in enumerate(self.features):
            codes[:, j] = encode(feature, frame[feature.name], open_ends=open_ends, lenient=lenient)
        return Points(self, codes)

    @check_types
    def frame(self, points: Points, like: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return points as a frame, in the form of the frame `like` if given."""
        return self.decode(points.codes, like)

    def decode(self, codes: Codes, like: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return a matrix of codes as a frame of the user's values."""
        if like is None and self.plain:
            column_index = _make_column_index(self.names).view()  # a view, because users may name it
            return pd.DataFrame(np.array(codes, order="F"), columns=column_index, copy=False)
        dtypes: Any = self.dtypes if like is None else like.dtypes
        names = list(self.names) if like is None else [name for name in like.columns if name in self._positions]
        index = like.index if like is not None and len(like) == len(codes) else None
        columns = []
        for name in names:
            j = self._positions[name]
            values = decode(self.features[j], codes[:, j], dtypes.get(name))
            # By itself pandas infers a text dtype for some batches of objects and not for others.
            columns.append(pd.Series(values, index=index, dtype=object) if values.dtype == object else values)
        frame = pd.DataFrame(dict(enumerate(columns)), index=index, copy=False)
        frame.columns = _make_column_index(self.names).view() if like is None else pd.Index(names)
        return frame

    def decode_value(self, position: int, code: float) -> Any:
        """Return the value of one code of a feature."""
        value = decode(self.features[position], np.array([code], dtype=np.float64), None)[0]
        return value.item() if isinstance(value, np.generic) else value

    def _to_point_pair(self, a: DataLike, b: DataLike) -> tuple[Points, Points]:
        x, y = self.points(a), self.points(b)
        if len(x) != len(y) and 1 not in (len(x), len(y)):
            counts = f"Got {len(x):,} and {len(y):,}."
            raise DataError(f"The two sets must have the same number of rows, or one of them a single row. {counts}")
        return x, y

    def _restore_form(self, data: Data, points: Points) -> Data:
        """Return points in the form of `data`."""
        restored: Any = points
        if self.blocks and not isinstance(data, Points):
            restored = self._restore_blocks(data, points)
        elif isinstance(data, pd.DataFrame):
            restored = self.frame(points, like=data)
        elif not isinstance(data, Points):
            restored = restore_form(data, self.frame(points))
        return restored

    def _restore_blocks(self, data: Any, points: Points) -> Any:
        """Return points in the form of `data`, in a space with images or sequences."""
        if isinstance(data, pd.DataFrame):
            if not any(placed_block.block.name in data.columns for placed_block in self.blocks):
                return self.frame(points, like=data)
            return restore_frame(points.frame, self.blocks)
        if isinstance(data, Mapping | pd.Series) and any(
            placed_block.block.name in data for placed_block in self.blocks
        ):
            return restore_form(data, restore_frame(points.frame, self.blocks))
        if is_single_block(self.blocks, len(self)) and not isinstance(data, Mapping | pd.Series):
            return restore_data(self.blocks, data, points.codes)
        return restore_form(data, points.frame)

    # -- geometry -----------------------------------------------------------------------------------

    @accept_tables
    @check_types
    def distance(self, a: DataLike, b: DataLike, *, scaled: bool = False) -> Any:
        """Return the distance of each row of `a` to the same row of `b`.

        It is the Euclidean distance over the continuous features, plus the sum of absolute differences over the integers,
        plus the number of categories that differ and of token edits between texts. A value that is missing on one side only
        counts 1. ``scaled=True`` first divides every number by the range of its feature, and edits by the usual length of the
        texts, so that large units do not dominate small ones. For two single cases the result is a float.
        """
        x, y = self._to_point_pair(a, b)
        result = geometry.distance(self, x.codes, y.codes, scaled)
        return float(result[0]) if self._is_single_case(a) and self._is_single_case(b) else result

    def _is_single_case(self, data: DataLike) -> bool:
        if self.blocks and isinstance(data, np.ndarray) and data.ndim > 1:
            return len(self.blocks) == 1 and data.shape == self.blocks[0].block.shape
        return is_single_case(data)

    @accept_tables
    def midpoint(self, a: Data, b: DataLike) -> Data:
        """Return the point half-way between each row of `a` and the same row of `b`."""
        x, y = self._to_point_pair(a, b)
        midpoints = Points(self, geometry.midpoint(self, x.codes, y.codes))
        template: Any = a if len(midpoints) == len(x) else b
        return self._restore_form(template, midpoints)

    @accept_tables
    def move(self, a: Data, kind: str, feature: str) -> Data:
        """Return each row after one move: "up", "down", "clear" or "fill".

        "clear" makes a value missing, and "fill" replaces a missing value.
        """
        validate_choice("kind", "Space.move", kind, ("up", "down", "clear", "fill"))
        new_codes = geometry.move(self, self.points(a).codes, self.position(feature), kind)
        return self._restore_form(a, Points(self, new_codes))

    def up(self, a: Data, feature: str) -> Data:
        """Return each row with one feature one step higher, at its next category, or with one word more."""
        return self.move(a, "up", feature)

    def down(self, a: Data, feature: str) -> Data:
        """Return each row with one feature one step lower, at its previous category, or with one token fewer."""
        return self.move(a, "down", feature)

    @accept_tables
    def path(self, a: DataLike, b: DataLike, *, delta: float = 1e-3) -> Any:
        """Return the moves from `a` to `b`, to within `delta` if continuous.

        The result is a `Path` for one pair of cases and a list of paths for several.

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

        paths = [
            Path(space=self, start=a, target=b, end=end, counts=row_counts, midpoints=int(midpoint_count))
            for a, b, end, row_counts, midpoint_count in zip(
                Points(self, start), Points(self, target), Points(self, ends), counts, midpoints, strict=True
            )
        ]
        return paths[0] if rows == 1 else paths

    @check_types
    def sample(self, n: int, *, seed: int | np.random.Generator | None = 0, points: bool = False) -> Any:
        """Return `n` points drawn uniformly, as a frame or as `Points`.

        Texts are drawn from the examples of their feature. A nullable feature is missing in one row of ten. Points that break
        a constraint are drawn again.
        """
        validate_integer("n", "Space.sample", n)
        refuse_many_rows("Space.sample", "n", n, len(self.features))
        sample = Points(self, draw(self, n, to_generator("seed", "Space.sample", seed)))
        return sample if points else sample.frame

    # -- constraints --------------------------------------------------------------------------------

    @property
    def keeps_constraints(self) -> bool:
        """Whether there are constraints that moves and midpoints must satisfy."""
        return self.invalid == "avoid" and bool(self.constraints)

    def satisfied(self, codes: Codes) -> Mask:
        """Return which rows of a matrix of codes satisfy all constraints."""
        satisfied = np.ones(len(codes), dtype=bool)
        for constraint in self.constraints:
            satisfied &= constraint.satisfied(self, codes)
        return satisfied

    @accept_tables
    def valid(self, data: DataLike) -> Mask:
        """Return which rows satisfy all declared constraints."""
        return self.satisfied(self.points(data).codes)

    def without_examples(self) -> Space:
        """Return the space without the example texts of its features; it equals the space."""
        features = [feature.without_examples() if isinstance(feature, Text) else feature for feature in self.features]
        return Space(features, moves=self.moves, constraints=self.constraints, invalid=self.invalid, dtypes=self.dtypes)

    @check_types
    def with_constraints(self, constraints: Iterable[object]) -> Space:
        """Return the space with more constraints."""
        return Space(
            self.features,
            moves=self.moves,
            constraints=[*self.constraints, *constraints],
            invalid=self.invalid,
            dtypes=self.dtypes,
        )
