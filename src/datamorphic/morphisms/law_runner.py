"""A test system under examination: its morphisms applied to drawn points, and what they did put in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._text import format_short
from ..errors import DatamorphicError, TestSystemError
from ..space import geometry
from ..space.encoding import UNKNOWN_CATEGORY_CODE
from ..space.features import Categorical
from ..space.outputs import Outputs
from ..space.points import Points
from ..systems.guard import GuardedSystem
from .morphism import Morphism
from .strategies import POOL_ROWS, build_pool
from .system import TestSystem

if TYPE_CHECKING:
    from ..space.space import Space

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Triples:
    """Drawn points, three a row: x, y and z."""

    codes: Numbers
    x: Points
    y: Points
    z: Points

    @classmethod
    def of(cls, space: Space, codes: Numbers) -> Triples:
        """Make them from an array of shape (rows, 3, features)."""
        x, y, z = (Points(space, codes[:, k]) for k in range(3))
        return cls(codes, x, y, z)

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True)
class LawViolation:
    """Which rows break a law, which function is to blame, and how to tell it."""

    broken_rows: Mask
    culprit: str
    explain: Callable[[int], str]
    others: tuple[str, ...] = ()  # functions that break it too


def split_words(name: str) -> list[str]:
    """Return the words of a name, whatever its style: ``up_TotalSO2`` is up, total, so2."""
    spaced_name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return "".join(c if c.isalnum() else " " for c in spaced_name).casefold().split()


def _has_sequence(part: list[str], words: list[str]) -> bool:
    return bool(part) and any(words[i : i + len(part)] == part for i in range(len(words)))


def to_plain_label(value: Any) -> Any:
    """Return a label without NumPy's wrapping, for words."""
    return value.item() if isinstance(value, np.generic) else value


class LawContext:
    """A test system with its space, and every morphism applied at most once to the same points."""

    def __init__(self, system: TestSystem) -> None:
        self.system = system
        self.space = system.known_space()
        self.declared = system.space is not None
        self._sut: GuardedSystem | None = GuardedSystem(system.sut, recheck=0) if system.sut is not None else None
        self.sut_name = system.sut.name if system.sut is not None else ""
        self._results: dict[tuple[Any, ...], tuple[tuple[Points, ...], Points | Exception]] = {}
        self._features: dict[str, int] = {}
        #: rows that points are put together from: what the seed maker made where no space is declared
        self.pool = build_pool(self.space) if self.declared else system.inferred_seeds().codes[:POOL_ROWS]

    # -- what there is to examine ----------------------------------------------------------------------

    def explain_missing_morphisms(self) -> str | None:
        """Say why nothing can be said of moves and midpoints."""
        return None if self.system.moves or self.system.midpoint else "there are no moves and no midpoint"

    def explain_missing_midpoint(self) -> str | None:
        """Say why nothing can be said of the midpoint."""
        return None if self.system.midpoint else "no binary datamorphism is called mid or midpoint"

    def explain_missing_moves(self) -> str | None:
        """Say why nothing can be said of moves."""
        return None if self.system.moves else "there are no unary datamorphisms"

    def explain_missing_steps(self) -> str | None:
        """Say why nothing can be said of steps."""
        if not self.system.moves:
            return self.explain_missing_moves()
        has_declared_step = self.declared and any(feature.step_given for feature in self.space.features)
        if has_declared_step or any(m.mark.step is not None for m in self.system.moves.values()):
            return None
        return "no step is declared, by a space or by @datamorphism(step=...)"

    def explain_missing_executor(self) -> str | None:
        """Say why nothing can be said of the system under test."""
        return None if self._sut is not None else "there is no executor"

    # -- applying --------------------------------------------------------------------------------------

    @property
    def midpoint_name(self) -> str:
        """The name of the midpoint method."""
        assert self.system.midpoint is not None
        return self.system.midpoint.name

    def apply(self, name: str, *inputs: Points) -> Points | Exception:
        """Return what a datamorphism makes of points, or the error it made."""
        key = (name, *(id(points) for points in inputs))
        if key not in self._results:
            try:
                result: Points | Exception = self.system.datamorphisms[name].morph(*inputs, lenient=True)
            except TestSystemError as error:
                result = error
            if len(self._results) > 1000:
                self._results.clear()  # single triples while shrinking
            # The inputs are kept with the result: an id is only good as long as its object lives.
            self._results[key] = inputs, result
        return self._results[key][1]

    def apply_moves(self, triples: Triples) -> Iterator[tuple[str, Points | Exception]]:
        """Yield every move with what it makes of x."""
        for name in self.system.moves:
            yield name, self.apply(name, triples.x)

    def apply_all(self, triples: Triples) -> Iterator[tuple[str, Points | Exception]]:
        """Yield every move, and the midpoint, with what they make of x and y."""
        yield from self.apply_moves(triples)
        if self.system.midpoint is not None:
            yield self.midpoint_name, self.apply(self.midpoint_name, triples.x, triples.y)

    def distance(self, a: Points, b: Points) -> Numbers:
        """Return distances by the system's own metric, or by the space's."""
        own_distance = self.system.distance
        if own_distance is None:
            with np.errstate(invalid="ignore"):
                return geometry.distance(self.space, a.codes, b.codes)
        try:
            values = np.asarray(own_distance(a.frame, b.frame), dtype=np.float64)
        except DatamorphicError:
            raise
        except Exception as error:
            raise TestSystemError(
                f"{self.system.name}.distance raised {type(error).__name__}: {error}."
            ) from error
        if values.shape != (len(a),):
            raise TestSystemError(
                f"{self.system.name}.distance must give one number a row. It gave shape {values.shape} for {len(a)} rows."
            )
        return values

    def execute(self, points: Points) -> Outputs:
        """Ask the system under test."""
        assert self._sut is not None
        return self._sut.execute(points)

    def format_failures(self) -> str:
        """Say on how many inputs the system failed, if it did."""
        failure_count = sum(self._sut.health.status_counts.values()) if self._sut is not None else 0
        return f"it failed on some inputs, {failure_count:,} times in all" if failure_count else ""

    def execute_row_by_row(self, points: Points) -> Outputs:
        """Ask the system under test row by row."""
        return Outputs.concat([self.execute(point) for point in points])

    # -- what a move is about ----------------------------------------------------------------------------

    def find_feature(self, name: str, triples: Triples) -> int:
        """Return the feature a move is about: declared, or in its name, or the one it changes most often."""
        if name not in self._features:
            morphism = self.system.moves[name]
            self._features[name] = self._guess_feature(morphism, triples)
        return self._features[name]

    def _guess_feature(self, morphism: Morphism, triples: Triples) -> int:
        if morphism.mark.feature is not None:
            return self.space.position(morphism.mark.feature)
        moved_points = self.apply(morphism.name, triples.x)
        changes = (
            np.zeros(len(self.space))
            if isinstance(moved_points, Exception)
            else self.find_changes(triples.x, moved_points).sum(axis=0)
        )
        words = split_words(morphism.name)
        candidates = [j for j, name in enumerate(self.space.names) if _has_sequence(split_words(name), words)]
        matches = [j for j in candidates if changes[j]] or (candidates if not changes.any() else [])
        if matches:
            return max(matches, key=lambda j: len(self.space.names[j]))  # "total_so2" before "so2"
        return int(np.argmax(changes))

    def find_step(self, name: str, triples: Triples) -> float | None:
        """Return how far a move may go, or None where nobody said."""
        declared_step = self.system.moves[name].mark.step
        if declared_step is not None:
            return float(declared_step)
        feature = self.space.features[self.find_feature(name, triples)]
        return self.space.reach(feature.name) if self.declared and feature.step_given else None

    def find_changes(self, before: Points, after: Points) -> Mask:
        """Tell feature by feature what differs."""
        a, b = before.codes, after.codes
        with np.errstate(invalid="ignore"):
            nearly_equal = np.isfinite(b) & (np.abs(a - b) <= 1e-12 * (np.abs(a) + np.abs(b)))
        return ~(nearly_equal | (a == b) | (np.isnan(a) & np.isnan(b)))

    def find_outside_values(self, points: Points) -> Mask:
        """Tell feature by feature what is no value of the space (bounds count only if they were declared)."""
        codes = points.codes
        outside = np.zeros(codes.shape, dtype=bool)
        for j, feature in enumerate(self.space.features):
            column = codes[:, j]
            missing = np.isnan(column)
            if not feature.nullable:
                outside[:, j] |= missing
            if isinstance(feature, Categorical):
                outside[:, j] |= column == UNKNOWN_CATEGORY_CODE
                continue
            outside[:, j] |= np.isinf(column)
            if feature.kind == "integer":
                outside[:, j] |= ~missing & (column != np.rint(column))
            if self.declared and (self.space.moves == "clip" or feature.kind == "integer"):
                slack = 1e-9 * (1 + np.abs(column))
                outside[:, j] |= (column < feature.low - slack) | (column > feature.high + slack)
        return outside

    def find_invalid_rows(self, points: Points) -> Mask:
        """Tell which rows break a constraint the space says is kept."""
        return (
            ~self.space.satisfied(points.codes)
            if self.space.keeps_constraints
            else np.zeros(len(points), dtype=bool)
        )

    def find_adjacent_rows(self, a: Points, b: Points) -> Mask:
        """Tell where no point lies between two: equal real numbers, and discrete parts at most 1 apart."""
        discrete = geometry.discrete_distance(self.space, a.codes, b.codes)
        continuous = [j for j, feature in enumerate(self.space.features) if feature.kind == "continuous"]
        x, y = a.codes[:, continuous], b.codes[:, continuous]
        gap = np.nan_to_num(np.abs(x - y))
        # A difference that is lost when added to 1 is none for the distance either.
        return (discrete <= 1) & (gap <= 1e-12 * (1 + np.nan_to_num(np.abs(x)))).all(axis=1)

    # -- words -------------------------------------------------------------------------------------------

    def format_value(self, points: Points, i: int, j: int) -> str:
        """Return one value of one point as the user writes it."""
        code, feature = points.codes[i, j], self.space.features[j]
        if np.isnan(code):
            return "missing"
        if isinstance(feature, Categorical):
            return str(feature.values[int(code)]) if 0 <= code <= feature.high else "something that is no category"
        return "something that is no number" if np.isinf(code) else format_short(code)

    def format_error(self, error: Exception, points: Points, i: int) -> str:
        """Return what a function raised, with the input it was given if that is a single one."""
        return str(error) + (f" It was given {self.format_point(points, i)}." if len(points) == 1 else "")

    def format_point(self, points: Points, i: int, features: list[int] | None = None) -> str:
        """Return a point in words, the features in `which` or all of them."""
        positions = features if features is not None else list(range(len(self.space)))
        text = ", ".join(f"{self.space.names[j]} = {self.format_value(points, i, j)}" for j in positions[:8])
        return text + (", ..." if len(positions) > 8 else "")

    def format_pair(self, x: Points, y: Points, i: int) -> str:
        """Return two points in words, with only the features in which they differ."""
        positions = np.flatnonzero(self.find_changes(x.take(slice(i, i + 1)), y.take(slice(i, i + 1)))[0]).tolist()
        if not positions:
            return f"where x and y are the same point: {self.format_point(x, i)}"
        rest = "" if len(positions) == len(self.space) else " and all else is equal"
        return f"where x has {self.format_point(x, i, positions)} and y has {self.format_point(y, i, positions)}{rest}"

    def format_changes(self, before: Points, after: Points, i: int, features: Mask | None = None) -> str:
        """Return what changed from one point to another, in words."""
        mask = (
            features
            if features is not None
            else self.find_changes(before.take(slice(i, i + 1)), after.take(slice(i, i + 1)))[0]
        )
        positions = np.flatnonzero(mask).tolist()
        parts = [
            f"{self.space.names[j]!r} from {self.format_value(before, i, j)} to {self.format_value(after, i, j)}"
            for j in positions[:4]
        ]
        more_text = f" and {len(positions) - 4} more" if len(positions) > 4 else ""
        return (", ".join(parts) or "nothing") + more_text

    def format_invalid(self, name: str, result: Points, i: int) -> str:
        """Return which constraint a morphism broke, in words."""
        constraint = next(
            c for c in self.space.constraints if not c.satisfied(self.space, result.codes[i : i + 1])[0]
        )
        return f"{name} breaks the constraint {constraint}: {self.format_point(result, i)}"

    def format_outside(self, name: str, result: Points, outside: Mask, i: int) -> str:
        """Return which value a morphism made that is none, in words."""
        j = int(np.argmax(outside[i]))
        feature = self.space.features[j]
        return (
            f"{name} set {feature.name!r} to {self.format_value(result, i, j)}; allowed is: {feature.describe()}"
        )

    def format_not_between(self, x: Points, y: Points, middle: Points, i: int) -> str:
        """Say which features of a midpoint do not lie between those of the ends."""
        low, high = np.fmin(x.codes[i], y.codes[i]), np.fmax(x.codes[i], y.codes[i])
        slack = 1e-9 * (1 + np.abs(high))
        positions = np.flatnonzero((middle.codes[i] < low - slack) | (middle.codes[i] > high + slack))
        if not positions.size:
            return ""
        parts = [
            f"it moved {self.space.names[j]!r} to {self.format_value(middle, i, j)}, which is not between "
            f"{self.format_value(x, i, j)} and {self.format_value(y, i, j)}"
            for j in positions[:2].tolist()
        ]
        return "; ".join(parts) + "; "
