"""`LawContext`: a test system prepared for the check of its laws."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._text import format_short, to_text
from ..errors import DatamorphicError, TestSystemError
from ..space import geometry
from ..space.encoding import UNKNOWN_CATEGORY_CODE
from ..space.features import Categorical, Mask
from ..space.outputs import Outputs
from ..space.points import Points
from ..space.text_feature import Text
from .morphism import Morphism
from .strategies import POOL_ROWS, build_pool
from .system import TestSystem

if TYPE_CHECKING:
    from ..core.execute import Execution
    from ..space.space import Space

Numbers = npt.NDArray[np.float64]
MAX_CACHED_RESULTS = 1000
MAX_LISTED_FEATURES = 8
MAX_LISTED_CHANGES = 4


class Triples:
    """Rows of three points each, x, y and z, from an array of shape (rows, 3, features)."""

    def __init__(self, space: Space, codes: Numbers) -> None:
        self.codes = codes
        self.x, self.y, self.z = (Points(space, codes[:, k]) for k in range(3))

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True)
class LawViolation:
    """A law that is broken, or none if no row is marked."""

    broken_rows: Mask  # which triples break the law
    culprit: str  # the function that breaks it
    explain: Callable[[int], str]  # returns the counter-example of a row in words
    others: tuple[str, ...] = ()  # other functions that break the law too


def split_words(name: str) -> list[str]:
    """Return the words of a name in any style: ``up_TotalSO2`` is up, total, so2."""
    spaced_name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return "".join(c if c.isalnum() else " " for c in spaced_name).casefold().split()


def _has_sequence(part: list[str], words: list[str]) -> bool:
    return bool(part) and any(words[i : i + len(part)] == part for i in range(len(words)))


class LawContext:
    """A test system whose morphisms are applied only once to the same points."""

    def __init__(self, system: TestSystem, execution: Execution[TestSystem] | None = None) -> None:
        self.system, self._execution = system, execution
        self.space = system.known_space()
        self.declared = system.space is not None
        self._is_alive = False  # whether the system under test has answered anything
        self.sut_name = system.sut.name if system.sut is not None else ""
        self._results: dict[tuple[Any, ...], tuple[tuple[Points, ...], Points | Exception]] = {}
        self._features: dict[str, int] = {}
        #: rows from which points are combined; without a declared space, those of the seed maker
        self.pool = build_pool(self.space) if self.declared else system.inferred_seeds().codes[:POOL_ROWS]

    # -- which laws apply ------------------------------------------------------------------------------

    def explain_missing(self, need: str) -> str:
        """Return why laws that need something do not apply, or "" if they do."""
        system = self.system
        if need == "morphisms" and not (system.moves or system.midpoint):
            return "there are no moves and no midpoint"
        if need == "midpoint" and not system.midpoint:
            return "no binary datamorphism is called mid or midpoint"
        if need in ("moves", "steps") and not system.moves:
            return "there are no unary datamorphisms"
        has_space_step = self.declared and any(feature.step_given for feature in self.space.features)
        if need == "steps" and not has_space_step and all(m.mark.step is None for m in system.moves.values()):
            return "no step is declared, by a space or by @datamorphism(step=...)"
        return "there is no executor" if need == "executor" and self.system.sut is None else ""

    # -- applying morphisms ----------------------------------------------------------------------------

    @property
    def midpoint_name(self) -> str:
        """The name of the midpoint function."""
        assert self.system.midpoint is not None
        return self.system.midpoint.name

    def apply(self, name: str, *inputs: Points) -> Points | Exception:
        """Return the points that a datamorphism makes of points, or the error it raised."""
        key = (name, *(id(points) for points in inputs))
        if key not in self._results:
            try:
                result: Points | Exception = self.system.datamorphisms[name].morph(*inputs, lenient=True)
            except TestSystemError as error:
                result = error
            if len(self._results) > MAX_CACHED_RESULTS:
                self._results.clear()  # shrinking checks many single triples
            # The inputs are kept too, since an id is unique only as long as its object exists.
            self._results[key] = inputs, result
        return self._results[key][1]

    def apply_moves(self, triples: Triples) -> Iterator[tuple[str, Points | Exception]]:
        """Yield every move with its result for x."""
        for name in self.system.moves:
            yield name, self.apply(name, triples.x)

    def apply_all(self, triples: Triples) -> Iterator[tuple[str, Points | Exception]]:
        """Yield every move, and the midpoint, with its result."""
        yield from self.apply_moves(triples)
        if self.system.midpoint is not None:
            yield self.midpoint_name, self.apply(self.midpoint_name, triples.x, triples.y)

    def distance(self, a: Points, b: Points) -> Numbers:
        """Return distances by the function of the test system, or else by its space."""
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
                f"{self.system.name}.distance raised {type(error).__name__}: {to_text(error)}."
            ) from error
        if values.shape != (len(a),):
            raise TestSystemError(
                f"{self.system.name}.distance must return one number per row. It returned shape {values.shape} "
                f"for {len(a)} rows."
            )
        return values

    def execute(self, points: Points) -> Outputs:
        """Return the answers of the system under test to a batch."""
        assert self._execution is not None
        assert self.system.sut is not None
        # without a cache, which would hide that answers differ
        outputs = self._execution.query(
            points, self.system.sut, recheck=0, cache=None, alive=self._is_alive, progress=False
        )
        self._is_alive |= bool(outputs.ok.any())
        return outputs

    @property
    def failure_count(self) -> int:
        """How often the system under test failed."""
        return 0 if self._execution is None else sum(self._execution.counter.health.status_counts.values())

    def continue_search(self) -> None:
        """Raise `OutOfBudget` if the time is spent or the user ends the check."""
        if self._execution is not None:
            self._execution.is_going_on()

    # -- features and steps of moves ---------------------------------------------------------------------

    def find_feature(self, name: str, triples: Triples) -> int:
        """Return the feature of a move: declared, in its name, or changed most often."""
        if name not in self._features:
            self._features[name] = self._guess_feature(self.system.moves[name], triples)
        return self._features[name]

    def _guess_feature(self, morphism: Morphism, triples: Triples) -> int:
        if morphism.mark.feature is not None:
            return self.space.position(morphism.mark.feature)
        moved_points, changes = self.apply(morphism.name, triples.x), np.zeros(len(self.space))
        if isinstance(moved_points, Points):
            changes = self.find_changes(triples.x, moved_points).sum(axis=0)
        words = split_words(morphism.name)
        candidates = [j for j, name in enumerate(self.space.names) if _has_sequence(split_words(name), words)]
        matches = [j for j in candidates if changes[j]] or (candidates if not changes.any() else [])
        if matches:
            return max(matches, key=lambda j: len(self.space.names[j]))  # "total_so2" rather than "so2"
        return int(np.argmax(changes))

    def find_step(self, name: str, triples: Triples) -> float | None:
        """Return the declared length of a move, or None if none is declared."""
        declared_step = self.system.moves[name].mark.step
        if declared_step is not None:
            return float(declared_step)
        feature = self.space.features[self.find_feature(name, triples)]
        return self.space.reach(feature.name) if self.declared and feature.step_given else None

    def find_changes(self, before: Points, after: Points) -> Mask:
        """Return which features differ, per row."""
        a, b = before.codes, after.codes
        with np.errstate(invalid="ignore"):
            nearly_equal = np.isfinite(b) & (np.abs(a - b) <= 1e-12 * (np.abs(a) + np.abs(b)))
        return ~(nearly_equal | (a == b) | (np.isnan(a) & np.isnan(b)))

    def find_outside_values(self, points: Points) -> Mask:
        """Return which values lie outside the space; only declared bounds count."""
        outside = np.zeros(points.codes.shape, dtype=bool)
        for feature, column, result in zip(self.space.features, points.codes.T, outside.T, strict=True):
            missing = np.isnan(column)
            if not feature.nullable:
                result |= missing
            if isinstance(feature, Text):
                continue
            if isinstance(feature, Categorical):
                result |= column == UNKNOWN_CATEGORY_CODE
                continue
            result |= np.isinf(column)
            if feature.kind == "integer":
                result |= ~missing & (column != np.rint(column))
            if self.declared and (self.space.moves == "clip" or feature.kind == "integer"):
                slack = 1e-9 * (1 + np.abs(column))
                result |= (column < feature.low - slack) | (column > feature.high + slack)
        return outside

    def find_adjacent_rows(self, a: Points, b: Points) -> Mask:
        """Return between which rows no other point lies.

        Their real numbers are equal and their discrete parts at most 1 apart.
        """
        discrete = geometry.discrete_distance(self.space, a.codes, b.codes)
        continuous = [j for j, feature in enumerate(self.space.features) if feature.kind == "continuous"]
        x, y = a.codes[:, continuous], b.codes[:, continuous]
        gap = np.nan_to_num(np.abs(x - y))
        # A difference that is lost when added to 1 is lost in the distance too.
        return (discrete <= 1) & (gap <= 1e-12 * (1 + np.nan_to_num(np.abs(x)))).all(axis=1)

    # -- text --------------------------------------------------------------------------------------------

    def format_value(self, points: Points, i: int, j: int) -> str:
        """Return one value of one point as text."""
        code, feature = points.codes[i, j], self.space.features[j]
        if np.isnan(code):
            return "missing"
        if isinstance(feature, Text):
            return repr(format_short(feature.decode_texts(points.codes[i : i + 1, j])[0]))
        if isinstance(feature, Categorical):
            return str(feature.values[int(code)]) if 0 <= code <= feature.high else "a value that is not a category"
        return "a value that is not a number" if np.isinf(code) else format_short(code)

    def format_point(self, points: Points, i: int, features: list[int] | None = None) -> str:
        """Return a point as text: all features, or those at the positions `features`."""
        positions = features if features is not None else list(range(len(self.space)))
        parts = [f"{self.space.names[j]} = {self.format_value(points, i, j)}" for j in positions]
        return ", ".join(parts[:MAX_LISTED_FEATURES]) + (", ..." if len(parts) > MAX_LISTED_FEATURES else "")

    def format_pair(self, x: Points, y: Points, i: int) -> str:
        """Return two points as text, with only the features in which they differ."""
        positions = np.flatnonzero(self.find_changes(x.take(slice(i, i + 1)), y.take(slice(i, i + 1)))[0]).tolist()
        if not positions:
            return f"where x and y are the same point: {self.format_point(x, i)}"
        rest = "" if len(positions) == len(self.space) else " and all else is equal"
        return f"where x has {self.format_point(x, i, positions)} and y has {self.format_point(y, i, positions)}{rest}"

    def format_changes(self, before: Points, after: Points, i: int, features: Mask | None = None) -> str:
        """Return the changes from one point to another as text."""
        if features is None:
            features = self.find_changes(before.take(slice(i, i + 1)), after.take(slice(i, i + 1)))[0]
        positions = np.flatnonzero(features).tolist()
        parts = [
            f"{self.space.names[j]!r} from {self.format_value(before, i, j)} to {self.format_value(after, i, j)}"
            for j in positions[:MAX_LISTED_CHANGES]
        ]
        more_text = f" and {len(positions) - MAX_LISTED_CHANGES} more" if len(positions) > MAX_LISTED_CHANGES else ""
        return (", ".join(parts) or "nothing") + more_text
