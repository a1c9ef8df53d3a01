"""A test system under examination: its morphisms applied to drawn points, and what they did put in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import short
from ..errors import DatamorphicError, TestSystemError
from ..outputs import Outputs
from ..space import geometry
from ..space.columns import UNKNOWN
from ..space.features import Categorical
from ..space.points import Points
from ..sut.guard import Guarded
from .morphism import Morphism
from .search import POOL, pool_of
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
class Finding:
    """Which rows break a law, which function is to blame, and how to tell it."""

    bad: Mask
    culprit: str
    explain: Callable[[int], str]
    others: tuple[str, ...] = ()  # functions that break it too


def words_of(name: str) -> list[str]:
    """Return the words of a name, whatever its style: ``up_TotalSO2`` is up, total, so2."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return "".join(c if c.isalnum() else " " for c in spaced).casefold().split()


def _within(part: list[str], whole: list[str]) -> bool:
    return bool(part) and any(whole[i : i + len(part)] == part for i in range(len(whole)))


def plain_label(value: Any) -> Any:
    """Return a label without NumPy's wrapping, for words."""
    return value.item() if isinstance(value, np.generic) else value


class Examined:
    """A test system with its space, and every morphism applied at most once to the same points."""

    def __init__(self, system: TestSystem) -> None:
        self.system = system
        self.space = system.known_space()
        self.declared = system.space is not None
        self._sut: Guarded | None = Guarded(system.sut, recheck=0) if system.sut is not None else None
        self.sut_name = system.sut.name if system.sut is not None else ""
        self._applied: dict[tuple[Any, ...], tuple[tuple[Points, ...], Points | Exception]] = {}
        self._features: dict[str, int] = {}
        #: rows that points are put together from: what the seed maker made where no space is declared
        self.pool = pool_of(self.space) if self.declared else system.inferred_seeds().codes[:POOL]

    # -- what there is to examine ----------------------------------------------------------------------

    def lacks_morphisms(self) -> str | None:
        """Say why nothing can be said of moves and midpoints."""
        return None if self.system.moves or self.system.midpoint else "there are no moves and no midpoint"

    def lacks_midpoint(self) -> str | None:
        """Say why nothing can be said of the midpoint."""
        return None if self.system.midpoint else "no binary datamorphism is called mid or midpoint"

    def lacks_moves(self) -> str | None:
        """Say why nothing can be said of moves."""
        return None if self.system.moves else "there are no unary datamorphisms"

    def lacks_steps(self) -> str | None:
        """Say why nothing can be said of steps."""
        if not self.system.moves:
            return self.lacks_moves()
        given = self.declared and any(feature.step_given for feature in self.space.features)
        if given or any(m.mark.step is not None for m in self.system.moves.values()):
            return None
        return "no step is declared, by a space or by @datamorphism(step=...)"

    def lacks_executor(self) -> str | None:
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
        if key not in self._applied:
            try:
                result: Points | Exception = self.system.datamorphisms[name].morph(*inputs, lenient=True)
            except TestSystemError as error:
                result = error
            if len(self._applied) > 1000:
                self._applied.clear()  # single triples while shrinking
            # The inputs are kept with the result: an id is only good as long as its object lives.
            self._applied[key] = inputs, result
        return self._applied[key][1]

    def moves(self, t: Triples) -> Iterator[tuple[str, Points | Exception]]:
        """Yield every move with what it makes of x."""
        for name in self.system.moves:
            yield name, self.apply(name, t.x)

    def everything(self, t: Triples) -> Iterator[tuple[str, Points | Exception]]:
        """Yield every move, and the midpoint, with what they make of x and y."""
        yield from self.moves(t)
        if self.system.midpoint is not None:
            yield self.midpoint_name, self.apply(self.midpoint_name, t.x, t.y)

    def distance(self, a: Points, b: Points) -> Numbers:
        """Return distances by the system's own metric, or by the space's."""
        own = self.system.distance
        if own is None:
            with np.errstate(invalid="ignore"):
                return geometry.distance(self.space, a.codes, b.codes)
        try:
            values = np.asarray(own(a.frame, b.frame), dtype=np.float64)
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

    def remark(self) -> str:
        """Say on how many inputs the system failed, if it did."""
        failed = sum(self._sut.health.failed.values()) if self._sut is not None else 0
        return f"it failed on some inputs, {failed:,} times in all" if failed else ""

    def one_by_one(self, points: Points) -> Outputs:
        """Ask the system under test row by row."""
        return Outputs.concat([self.execute(point) for point in points])

    # -- what a move is about ----------------------------------------------------------------------------

    def feature_of(self, name: str, t: Triples) -> int:
        """Return the feature a move is about: declared, or in its name, or the one it changes most often."""
        if name not in self._features:
            morphism = self.system.moves[name]
            self._features[name] = self._guess_feature(morphism, t)
        return self._features[name]

    def _guess_feature(self, morphism: Morphism, t: Triples) -> int:
        if morphism.mark.feature is not None:
            return self.space.position(morphism.mark.feature)
        applied = self.apply(morphism.name, t.x)
        changes = (
            np.zeros(len(self.space)) if isinstance(applied, Exception) else self.changed(t.x, applied).sum(axis=0)
        )
        words = words_of(morphism.name)
        named = [j for j, name in enumerate(self.space.names) if _within(words_of(name), words)]
        moved = [j for j in named if changes[j]] or (named if not changes.any() else [])
        if moved:
            return max(moved, key=lambda j: len(self.space.names[j]))  # "total_so2" before "so2"
        return int(np.argmax(changes))

    def step_of(self, name: str, t: Triples) -> float | None:
        """Return how far a move may go, or None where nobody said."""
        declared = self.system.moves[name].mark.step
        if declared is not None:
            return float(declared)
        feature = self.space.features[self.feature_of(name, t)]
        return self.space.reach(feature.name) if self.declared and feature.step_given else None

    def changed(self, before: Points, after: Points) -> Mask:
        """Tell feature by feature what differs."""
        a, b = before.codes, after.codes
        with np.errstate(invalid="ignore"):
            near = np.isfinite(b) & (np.abs(a - b) <= 1e-12 * (np.abs(a) + np.abs(b)))
        return ~(near | (a == b) | (np.isnan(a) & np.isnan(b)))

    def outside(self, points: Points) -> Mask:
        """Tell feature by feature what is no value of the space (bounds count only if they were declared)."""
        codes = points.codes
        outside = np.zeros(codes.shape, dtype=bool)
        for j, feature in enumerate(self.space.features):
            column = codes[:, j]
            missing = np.isnan(column)
            if not feature.nullable:
                outside[:, j] |= missing
            if isinstance(feature, Categorical):
                outside[:, j] |= column == UNKNOWN
                continue
            outside[:, j] |= np.isinf(column)
            if feature.kind == "integer":
                outside[:, j] |= ~missing & (column != np.rint(column))
            if self.declared and (self.space.moves == "clip" or feature.kind == "integer"):
                slack = 1e-9 * (1 + np.abs(column))
                outside[:, j] |= (column < feature.low - slack) | (column > feature.high + slack)
        return outside

    def invalid(self, points: Points) -> Mask:
        """Tell which rows break a constraint the space says is kept."""
        return (
            ~self.space.satisfied(points.codes)
            if self.space.keeps_constraints
            else np.zeros(len(points), dtype=bool)
        )

    def nothing_between(self, a: Points, b: Points) -> Mask:
        """Tell where no point lies between two: equal real numbers, and discrete parts at most 1 apart."""
        discrete = geometry.discrete_distance(self.space, a.codes, b.codes)
        real = [j for j, feature in enumerate(self.space.features) if feature.kind == "continuous"]
        x, y = a.codes[:, real], b.codes[:, real]
        apart = np.nan_to_num(np.abs(x - y))
        # A difference that is lost when added to 1 is none for the distance either.
        return (discrete <= 1) & (apart <= 1e-12 * (1 + np.nan_to_num(np.abs(x)))).all(axis=1)

    # -- words -------------------------------------------------------------------------------------------

    def value(self, points: Points, i: int, j: int) -> str:
        """Return one value of one point as the user writes it."""
        code, feature = points.codes[i, j], self.space.features[j]
        if np.isnan(code):
            return "missing"
        if isinstance(feature, Categorical):
            return str(feature.values[int(code)]) if 0 <= code <= feature.high else "something that is no category"
        return "something that is no number" if np.isinf(code) else short(code)

    def told_error(self, error: Exception, points: Points, i: int) -> str:
        """Return what a function raised, with the input it was given if that is a single one."""
        return str(error) + (f" It was given {self.told(points, i)}." if len(points) == 1 else "")

    def told(self, points: Points, i: int, which: list[int] | None = None) -> str:
        """Return a point in words, the features in `which` or all of them."""
        chosen = which if which is not None else list(range(len(self.space)))
        shown = ", ".join(f"{self.space.names[j]} = {self.value(points, i, j)}" for j in chosen[:8])
        return shown + (", ..." if len(chosen) > 8 else "")

    def told_pair(self, x: Points, y: Points, i: int) -> str:
        """Return two points in words, with only the features in which they differ."""
        apart = np.flatnonzero(self.changed(x.take(slice(i, i + 1)), y.take(slice(i, i + 1)))[0]).tolist()
        if not apart:
            return f"where x and y are the same point: {self.told(x, i)}"
        rest = "" if len(apart) == len(self.space) else " and all else is equal"
        return f"where x has {self.told(x, i, apart)} and y has {self.told(y, i, apart)}{rest}"

    def changes(self, before: Points, after: Points, i: int, which: Mask | None = None) -> str:
        """Return what changed from one point to another, in words."""
        mask = (
            which
            if which is not None
            else self.changed(before.take(slice(i, i + 1)), after.take(slice(i, i + 1)))[0]
        )
        chosen = np.flatnonzero(mask).tolist()
        told = [
            f"{self.space.names[j]!r} from {self.value(before, i, j)} to {self.value(after, i, j)}"
            for j in chosen[:4]
        ]
        more = f" and {len(chosen) - 4} more" if len(chosen) > 4 else ""
        return (", ".join(told) or "nothing") + more

    def told_invalid(self, name: str, made: Points, i: int) -> str:
        """Return which constraint a morphism broke, in words."""
        broken = next(c for c in self.space.constraints if not c.satisfied(self.space, made.codes[i : i + 1])[0])
        return f"{name} breaks the constraint {broken}: {self.told(made, i)}"

    def told_outside(self, name: str, made: Points, outside: Mask, i: int) -> str:
        """Return which value a morphism made that is none, in words."""
        j = int(np.argmax(outside[i]))
        feature = self.space.features[j]
        return f"{name} set {feature.name!r} to {self.value(made, i, j)}; allowed is: {feature.describe()}"

    def not_between(self, x: Points, y: Points, middle: Points, i: int) -> str:
        """Say which features of a midpoint do not lie between those of the ends."""
        low, high = np.fmin(x.codes[i], y.codes[i]), np.fmax(x.codes[i], y.codes[i])
        slack = 1e-9 * (1 + np.abs(high))
        wrong = np.flatnonzero((middle.codes[i] < low - slack) | (middle.codes[i] > high + slack))
        if not wrong.size:
            return ""
        told = [
            f"it moved {self.space.names[j]!r} to {self.value(middle, i, j)}, which is not between "
            f"{self.value(x, i, j)} and {self.value(y, i, j)}"
            for j in wrong[:2].tolist()
        ]
        return "; ".join(told) + "; "
