"""Stock morphisms: derived moves and midpoints, metrics and filters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import suggest_name
from .._validation import validate_positive
from ..errors import DataError, TestSystemError
from ..space import geometry
from ..space.blocks import PlacedBlock
from ..space.neighbours import find_nearest
from ..space.points import Points
from ..space.space import Space
from .cases import TestSet
from .decorators import MorphismMark
from .morphism import Morphism, normalise_name
from .system import TestSystem
from .terrain import Step, Terrain, build_native_terrain

if TYPE_CHECKING:
    from ..systems.base import Executor
    from .block_moves import BlockMove

Numbers = npt.NDArray[np.float64]


def derive(space: Space, sut: Executor | None = None, name: str | None = None) -> TestSystem:
    """Return the test system of a space: ``up_<feature>``, ..., ``midpoint``."""

    def make_morphism(name: str, function: Callable[..., Points], arity: int, **options: Any) -> Morphism:
        mark = MorphismMark(kind="datamorphism", **options)
        return Morphism(name=name, mark=mark, function=function, arity=arity, location=f"derived {name}", derived=True)

    morphisms = []
    for kind, feature in space.move_names:
        options = {"feature": feature, "step": space.reach(feature) if kind in ("up", "down") else 1.0}
        move = make_morphism(f"{kind}_{feature}", lambda p, k=kind, f=feature: p.space.move(p, k, f), 1, **options)
        morphisms.append(move)
    morphisms.append(make_morphism("midpoint", lambda a, b: a.space.midpoint(a, b), 2))
    return TestSystem(name or (sut.name if sut else "space"), morphisms, space=space, sut=sut)


def build_terrain(system: TestSystem, moves: Iterable[str] | None = None) -> Terrain:
    """Return the terrain of a test system, with all moves or those named."""
    space = system.known_space()
    native_terrain = build_native_terrain(space)
    steps: dict[str, Step] = {
        name: native_terrain.moves[name] if move.derived else _to_step(system, move)
        for name, move in system.moves.items()
    } or dict(native_terrain.moves)
    if space.blocks:
        steps = _add_block_moves(space, steps, keep_values=moves is not None)
    if moves is not None:
        steps = _select_moves(steps, moves, system.name)
    own_midpoint, own_distance = system.midpoint, system.distance
    midpoint, distance, straight = native_terrain.midpoint, native_terrain.distance, True
    if own_midpoint is not None and not own_midpoint.derived:
        midpoint, straight = own_midpoint.morph, False
    if own_distance is not None:

        def distance(a: Points, b: Points) -> Numbers:
            return np.asarray(own_distance(a.frame, b.frame), dtype=np.float64)

    return Terrain(space=space, moves=steps, midpoint=midpoint, distance=distance, straight=straight)


def _add_block_moves(space: Space, steps: Mapping[str, Step], *, keep_values: bool) -> dict[str, Step]:
    """Return the moves with those of whole images and sequences; without those of single values unless they are kept.

    A walk of single pixels would need hundreds of steps to get anywhere.
    """
    from .walk_moves import BLOCK_MOVES

    value_names = {
        f"{kind}_{name}" for placed_block in space.blocks for name in placed_block.names for kind in ("up", "down")
    }
    own_steps = {name: step for name, step in steps.items() if keep_values or name not in value_names}
    block_steps = {
        f"{name}_{placed_block.block.name}": _to_block_step(placed_block, move)
        for placed_block in space.blocks
        for name, move in BLOCK_MOVES[placed_block.block.kind].items()
    }
    return own_steps | {name: step for name, step in block_steps.items() if name not in own_steps}


def _to_block_step(placed_block: PlacedBlock, move: BlockMove) -> Step:
    """Return a move of images or sequences as a step; cases that would break a constraint stay unchanged."""

    def step(points: Points, rng: np.random.Generator) -> Points:
        codes = np.array(points.codes, order="F")
        codes[:, list(placed_block.positions)] = move.apply(placed_block.block, placed_block.select(points.codes), rng)
        if points.space.keeps_constraints:
            invalid = ~points.space.satisfied(codes)
            codes[invalid] = points.codes[invalid]
        return Points(points.space, codes)

    return step


def _select_moves(steps: Mapping[str, Step], names: Iterable[str], owner: str) -> dict[str, Step]:
    """Return the moves of these names; a feature's name stands for all its moves."""
    selection: dict[str, Step] = {}
    for name in [names] if isinstance(names, str) else names:
        key = normalise_name(str(name))
        matches = [known for known in steps if normalise_name(known) == key]
        matches = matches or [known for known in steps if normalise_name(known.partition("_")[2]) == key]
        if not matches:
            raise TestSystemError(f"{owner} has no move {name!r}. {suggest_name(name, steps)}")
        selection |= {known: steps[known] for known in matches}
    if not selection:
        raise TestSystemError(f"A walk needs at least one move. {owner} has {', '.join(map(repr, steps))}.")
    return selection


def _to_step(system: TestSystem, move: Morphism) -> Step:
    """Return a declared move as a step; cases that its filter rejects stay unchanged."""
    if move.mark.filter is None:
        return lambda points, rng: move.morph(points, rng=rng)
    case_filter = system.find("case_filter", move.mark.filter)

    def step(points: Points, rng: np.random.Generator) -> Points:
        rows = np.flatnonzero(case_filter.evaluate_cases(TestSet.of_seeds(points, move.name)))
        codes = np.array(points.codes, order="F")
        if rows.size:
            codes[rows] = move.morph(points.take(rows), rng=rng).codes
        return Points(points.space, codes)

    return step


def to_test_system(source: object) -> TestSystem:
    """Return the test system of a class, an instance, a module, a space or a frame."""
    if isinstance(source, Space):
        return derive(source)
    if isinstance(source, pd.DataFrame):
        return derive(Space.from_frame(source))
    return TestSystem.collect(source)


# -- metrics: how evenly a test set covers the space -------------------------------------------------------


def nearest_distance(tests: TestSet, *, scaled: bool = True) -> Numbers:
    """Return the distance of each case to its nearest neighbour, inf if none."""
    codes = tests.inputs.codes
    return find_nearest(tests.space, codes, codes, 2, scaled=scaled)[0][:, 1]  # the nearest case is the case itself


def mean_nearest_distance(tests: TestSet, *, scaled: bool = True) -> float:
    """Return the mean distance to the nearest neighbour: large for sparse sets."""
    return float(nearest_distance(tests, scaled=scaled).mean()) if len(tests) > 1 else float("nan")


def std_nearest_distance(tests: TestSet, *, scaled: bool = True) -> float:
    """Return the deviation of the nearest distances: small for even sets."""
    return float(nearest_distance(tests, scaled=scaled).std()) if len(tests) > 1 else float("nan")


def label_balance(tests: TestSet) -> float:
    """Return the balance of the labels, from 0 (one label) to 1 (equal counts)."""
    if tests.outputs is None:
        raise DataError("Label balance needs outputs. Execute the test cases first.")
    labels = tests.outputs.take(tests.outputs.ok).values
    counts = np.unique(labels.astype(str), return_counts=True)[1]
    if len(counts) < 2:
        return 0.0
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum() / np.log(len(counts)))


# -- filters -----------------------------------------------------------------------------------------------


def too_close(tests: TestSet, limit: float, *, scaled: bool = True) -> npt.NDArray[np.bool_]:
    """Return which cases are nearer than `limit` to another one."""
    return nearest_distance(tests, scaled=scaled) < validate_positive("limit", "too_close", limit)


def thin_out(tests: TestSet, limit: float, *, scaled: bool = True) -> TestSet:
    """Return a subset in which no two cases are nearer than `limit`."""
    validate_positive("limit", "thin_out", limit)
    codes, space = tests.inputs.codes, tests.space
    alive = np.ones(len(tests), dtype=bool)
    for row in range(len(tests)):
        if alive[row]:
            later = np.flatnonzero(alive[row + 1 :]) + row + 1
            gaps = geometry.distance(space, codes[row : row + 1], codes[later], scaled)
            alive[later[gaps < limit]] = False
    return tests.filter(alive)
