"""Random walks on the plane as Morphy makes them: some of its draws keep the direction of the step before.

It draws one of n + 1 numbers for n directions, and the last number changes nothing. A walk begins with the first direction. The
start of a walk is drawn from all cases but the last.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..data.subjects import PLANE

STEPS_PER_WALK = 20
BISECTIONS_PER_PAIR = 20
MOVES = np.array([[0.0, -0.2], [0.0, 0.2], [0.2, 0.0], [-0.2, 0.0]])
WAVE_SHARE = 0.05  # of a growing pool: walks of a wave do not see each other's pairs

Points = npt.NDArray[np.float64]
Rule = Callable[[npt.NDArray[np.float64], npt.NDArray[np.float64]], npt.NDArray[np.str_]]


def walk_plane(
    rule: Rule, walks: int, seeds: int, rng: np.random.Generator, *, growing: bool = False
) -> dict[str, float]:
    """Return the walks, runs and mutants of a random walk from random seed cases.

    Examples
    --------
    >>> from datamorphic.data.subjects import RULES
    >>> walk_plane(RULES["Sin 2"], 100, 50, np.random.default_rng(0)) == walk_plane(RULES["Sin 2"], 100, 50, np.random.default_rng(0))
    True
    """
    low, high = (
        np.array([feature.low for feature in PLANE.features]),
        np.array([feature.high for feature in PLANE.features]),
    )
    pool = low + (high - low) * rng.random((seeds, len(low)))
    used = np.zeros(seeds, dtype=bool)  # seed cases that were executed
    runs = pairs = done = 0
    while done < walks:
        wave = min(walks - done, max(1, int(WAVE_SHARE * len(pool)))) if growing else walks
        starts = rng.integers(0, len(pool) - 1, wave)
        used[starts[starts < seeds]] = True
        steps, ends = _walk(rule, pool[starts], rng)
        runs += steps + BISECTIONS_PER_PAIR * len(ends[0])
        pairs += len(ends[0])
        done += wave
        if growing:
            pool = np.concatenate([pool, *_bisect(rule, *ends)])
    return {"walks": float(walks), "runs": float(runs + used.sum()), "mutants": float(2 * pairs)}


def _walk(rule: Rule, starts: Points, rng: np.random.Generator) -> tuple[int, tuple[Points, Points]]:
    """Return the steps of all walks together, and both ends of the last step of those that changed the answer."""
    places, answers = starts.copy(), np.asarray(rule(starts[:, 0], starts[:, 1]))
    directions, walking = np.zeros(len(starts), dtype=np.intp), np.arange(len(starts))
    steps, before, after = 0, [], []
    for _ in range(STEPS_PER_WALK):
        drawn = rng.integers(0, len(MOVES) + 1, len(walking))
        directions[walking] = np.where(drawn < len(MOVES), drawn, directions[walking])
        moved = places[walking] + MOVES[directions[walking]]
        changed = np.asarray(rule(moved[:, 0], moved[:, 1])) != answers[walking]
        steps += len(walking)
        before.append(places[walking[changed]])
        after.append(moved[changed])
        places[walking] = moved
        walking = walking[~changed]
    return steps, (np.concatenate(before), np.concatenate(after))


def _bisect(rule: Rule, a: Points, b: Points) -> tuple[Points, Points]:
    """Return pairs on both sides of the border, halved as often as published."""
    for _ in range(BISECTIONS_PER_PAIR):
        middle = (a + b) / 2
        same = (np.asarray(rule(middle[:, 0], middle[:, 1])) == np.asarray(rule(a[:, 0], a[:, 1])))[:, None]
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    return a, b
