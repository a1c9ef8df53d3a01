"""Morphisms nobody has to write: moves and midpoint from a space, stock metrics and filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import positive
from ..cases import TestSet
from ..errors import DataError
from ..space import geometry
from ..space.space import Space
from .marks import Mark
from .morphism import Morphism
from .system import TestSystem

if TYPE_CHECKING:
    from ..sut.base import Executor

Numbers = npt.NDArray[np.float64]
PAIRS_AT_ONCE = 2_000_000  # bounds the memory of all-pairs distances


def derive(space: Space, sut: Executor | None = None, name: str | None = None) -> TestSystem:
    """Return the test system every space has: ``up_<feature>``, ``down_<feature>`` and ``midpoint``."""
    morphisms = []
    for kind, feature in space.move_names:
        mark = Mark("datamorphism", feature=feature, step=space.reach(feature) if kind in ("up", "down") else 1.0)
        morphisms.append(_native(f"{kind}_{feature}", mark, lambda p, k=kind, f=feature: p.space.move(p, k, f), 1))
    morphisms.append(_native("midpoint", Mark("datamorphism"), lambda a, b: a.space.midpoint(a, b), 2))
    return TestSystem(name or (sut.name if sut else "space"), morphisms, space=space, sut=sut)


def as_test_system(source: Any) -> TestSystem:
    """Return the test system of whatever was given: one, its source, a space, or a frame."""
    import pandas as pd

    if isinstance(source, Space):
        return derive(source)
    if isinstance(source, pd.DataFrame):
        return derive(Space.from_frame(source))
    return TestSystem.collect(source)


def _native(name: str, mark: Mark, function: object, arity: int) -> Morphism:
    return Morphism(name, mark, function, arity, f"derived {name}", native=True)  # type: ignore[arg-type]


# -- stock metrics: how a test set is spread -------------------------------------------------------------


def nearest_distance(tests: TestSet, *, scaled: bool = True) -> Numbers:
    """Return for each case its distance to the nearest other one; inf for a case that is alone."""
    codes, space = tests.inputs.codes, tests.space
    n = len(codes)
    if n < 2:
        return np.full(n, np.inf)
    if space.kinds["continuous"] == len(space) and not space.has_nullable:
        from scipy.spatial import cKDTree

        scale = np.array([feature.scale if scaled else 1.0 for feature in space.features])
        return np.asarray(cKDTree(codes * scale).query(codes * scale, k=2)[0][:, 1])
    nearest = np.empty(n)
    rows = max(1, PAIRS_AT_ONCE // n)
    for start in range(0, n, rows):
        some = np.arange(start, min(start + rows, n))
        left, right = np.repeat(some, n), np.tile(np.arange(n), len(some))
        gaps = geometry.distance(space, codes[left], codes[right], scaled).reshape(len(some), n)
        gaps[np.arange(len(some)), some] = np.inf
        nearest[some] = gaps.min(axis=1)
    return nearest


def mean_nearest_distance(tests: TestSet, *, scaled: bool = True) -> float:
    """Return the mean distance of a case to its nearest other: how thinly the set covers the space."""
    return float(nearest_distance(tests, scaled=scaled).mean()) if len(tests) > 1 else float("nan")


def std_nearest_distance(tests: TestSet, *, scaled: bool = True) -> float:
    """Return the standard deviation of the nearest distances: how evenly the set covers the space."""
    return float(nearest_distance(tests, scaled=scaled).std()) if len(tests) > 1 else float("nan")


def label_balance(tests: TestSet) -> float:
    """Return how evenly the outputs fall on the labels: 1 for all alike often, 0 for one label only."""
    if tests.outputs is None:
        raise DataError("Label balance needs outputs. Execute the test cases first.")
    labels = tests.outputs.take(tests.outputs.ok).values
    counts = np.unique(labels.astype(str), return_counts=True)[1]
    if len(counts) < 2:
        return 0.0
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum() / np.log(len(counts)))


# -- stock filters -----------------------------------------------------------------------------------------


def too_close(tests: TestSet, limit: float, *, scaled: bool = True) -> npt.NDArray[np.bool_]:
    """Tell which cases lie nearer than `limit` to another one."""
    return nearest_distance(tests, scaled=scaled) < positive("limit", "too_close", limit)


def thin_out(tests: TestSet, limit: float, *, scaled: bool = True) -> TestSet:
    """Return a largest-first-come subset in which no two cases are nearer than `limit`."""
    positive("limit", "thin_out", limit)
    codes, space = tests.inputs.codes, tests.space
    alive = np.ones(len(tests), dtype=bool)
    for row in range(len(tests)):
        if alive[row]:
            later = np.flatnonzero(alive[row + 1 :]) + row + 1
            gaps = geometry.distance(space, codes[row : row + 1], codes[later], scaled)
            alive[later[gaps < limit]] = False
    return tests.filter(alive)
