"""The effectiveness of the strategies by formula: capability and cost from shares of classes, border length and steps.

`docs/method/fronts.md` has the assumptions and the proofs. In short, for starts that are uniform in a plane domain of area A, moves
of length s up, down, left and right, walks of n steps, and a border of length B:

- random target meets a border with probability 1 - sum(p * p), whatever the border;
- a step crosses the border with probability s W / A, where W is the mean width of the border across the two axes: 2 B / pi for borders
  without a preferred direction;
- a directed walk crosses it with at most n times that probability, exactly so where crossings are at least n s apart;
- a random walk crosses it with 2 B s / (pi A) times sum(E|S_k| / k), k = 1 ... n, where S_k is the place after k steps of length 1,
  apart from bends of the border and other borders within its reach.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._validation import reject, validate_integer, validate_positive

Floats = npt.NDArray[np.float64]
FORMULA_COLUMNS = ["strategy", "capability", "cost"]


def predict_effectiveness(
    shares: Iterable[float],
    border_length: float,
    area: float,
    *,
    step: float,
    walk_distance: int = 20,
    halvings: int = 20,
    seeds_per_walk: float = 0.0,
    width: float | None = None,
) -> pd.DataFrame:
    """Predict capability and cost of the three strategies in a plane domain, by formula.

    Parameters
    ----------
    shares : iterable of float
        The share of each class of the area; they sum to 1.
    border_length, area : float
        The length of all borders in the domain, and the area of the domain.
    step : float
        The length of a move.
    walk_distance : int
        The largest number of steps per walk.
    halvings : int
        How often a pair is halved.
    seeds_per_walk : float
        The number of seed cases that are executed per walk; 0 if there are far fewer seed cases than walks.
    width : float, optional
        The mean width of the border across the two axes, each part of it counted. By default it is that of a border without a
        preferred direction, 2 / pi of its length.

    Returns
    -------
    DataFrame
        A row per strategy: ``strategy``, ``capability``, ``cost``. Directed walks go in all four directions in turn.

    Examples
    --------
    >>> table = predict_effectiveness([0.5, 0.5], border_length=2, area=4, step=0.1, walk_distance=10)
    >>> table.capability.round(3).tolist()
    [0.5, 0.318, 0.145]
    """
    steps = validate_integer("walk_distance", "predict_effectiveness", walk_distance, 1)
    length = validate_positive("border_length", "predict_effectiveness", border_length)
    whole = validate_positive("area", "predict_effectiveness", area)
    move = validate_positive("step", "predict_effectiveness", step)
    mean_width = 2 * length / math.pi if width is None else validate_positive("width", "predict_effectiveness", width)
    rates = {"directed_walk": move * mean_width / whole, "random_walk": 2 * move * length / (math.pi * whole)}
    seeds = dict.fromkeys(("random_target", *rates), seeds_per_walk)
    return predict_from_first_step(shares, rates, steps, halvings, seeds, planar=True)


def predict_from_first_step(
    shares: Iterable[float],
    rates: Mapping[str, float],
    walk_distance: int,
    halvings: int = 20,
    seeds_per_walk: Mapping[str, float] = MappingProxyType({}),
    *,
    planar: bool = False,
) -> pd.DataFrame:
    """Predict capability and cost from the shares of classes, and from how often the first step of walks crosses a border.

    `rates` has the strategies that walk. In a plane, the capability of random walks is that at straight borders; elsewhere, that of
    walks is the upper bound: as many times the rate as there are steps.
    """
    areas = np.array(list(shares), dtype=np.float64)
    if not len(areas) or (areas < 0).any() or not math.isclose(areas.sum(), 1, abs_tol=1e-6):
        reject("shares", "predict_effectiveness", "the shares of the classes, from 0 to 1, which sum to 1", shares)
    rows = [("random_target", np.array([1 - float((areas**2).sum())]))]
    for strategy, rate in rates.items():
        is_reaching = planar and strategy == "random_walk"
        steps = measure_reach(walk_distance) if is_reaching else np.arange(1, walk_distance + 1)
        rows.append((strategy, np.minimum(1, rate * steps)))
    table = [
        (
            strategy,
            float(curve[-1]),
            predict_cost(curve, halvings, seeds_per_walk.get(strategy, 0.0), has_steps=strategy != "random_target"),
        )
        for strategy, curve in rows
    ]
    return pd.DataFrame(table, columns=FORMULA_COLUMNS)


def measure_reach(walk_distance: int) -> Floats:
    """Return how much more than one step the walks of 1, 2, ... steps of a random walk in the plane reach over a straight border.

    These are the sums of E|S_k| / k, where S_k is the place after k steps. They grow as the square root of pi times the number of
    steps.

    Examples
    --------
    >>> measure_reach(3).round(3).tolist()
    [1.0, 1.604, 2.133]
    """
    side = 2 * walk_distance + 1
    offsets = np.arange(side) - walk_distance
    distances = np.hypot(offsets[:, None], offsets[None, :])
    places = (distances == 0).astype(np.float64)
    terms = []
    for count in range(1, walk_distance + 1):
        spread = np.zeros_like(places)
        for axis in (0, 1):
            for shift in (-1, 1):
                spread += np.roll(places, shift, axis) / 4
        places = spread
        terms.append(float((places * distances).sum()) / count)
    reach: Floats = np.cumsum(terms)
    return reach


def predict_cost(
    capabilities: Sequence[float] | Floats, halvings: int = 20, seeds_per_walk: float = 0.0, *, has_steps: bool = True
) -> float:
    """Return the runs per new test case of walks whose capability is known for every distance up to theirs.

    A step is taken by the walks that no earlier step ended, so a walk of n steps takes the sum of 1 - C_k steps, k = 0 ... n - 1, where
    C_k is the capability of k steps. A pair takes the halvings, and is two new test cases.

    Examples
    --------
    >>> predict_cost([0.5], has_steps=False), predict_cost([0.1, 0.19], halvings=10)
    (10.0, 10.0)
    """
    capability = float(capabilities[-1])
    if not capability:
        return math.inf
    steps = 1 + sum(1 - float(share) for share in capabilities[:-1]) if has_steps else 0.0
    return (seeds_per_walk + steps + halvings * capability) / (2 * capability)
