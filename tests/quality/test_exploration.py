"""What exploration must find on the coded subjects, by theory and by a simulation that shares no code with it."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.space import geometry
from datamorphic.space.outputs import Outputs
from datamorphic.systems.base import Executor
from support.cases import LONG, thin

PI2 = 2 * np.pi


def log10(x):
    return np.log10(np.where(x > 0, x, np.nan))


def inside_box(x, y):
    return (x >= 1) & (x <= 2) & (y >= -0.5) & (y <= 0.4)


def inside_circle(x, y):
    return (x - 2) ** 2 + (y - 0.2) ** 2 < 0.49


def inside_triangle(x, y):
    return (y <= x - 1) & (y >= 1 - x) & (y >= 3 * x - 5)


#: the subjects once more, as numbers 0, 1, 2 and written down anew from their definitions
DEFINITIONS = {
    "Box 1": lambda x, y: inside_box(x, y) * 1,
    "Box 2": lambda x, y: np.where(inside_box(x, y), 2, y >= log10(x)),
    "Circle 1": lambda x, y: inside_circle(x, y) * 1,
    "Circle 2": lambda x, y: np.where(inside_circle(x, y), 2, y >= 0.3 * x - 0.4),
    "Line 1": lambda x, y: (0.3 * x - 0.8 >= y) * 1,
    "Line 2": lambda x, y: np.where(0.3 * x - 1 >= y, 0, np.where(y > 0.3 * x - 0.8, 1, 2)),
    "Sin 1": lambda x, y: (np.sin(x) >= y) * 1,
    "Sin 2": lambda x, y: np.where(abs(np.sin(x) - y) < 0.2, 2, np.sin(x) > y),
    "Triangle 1": lambda x, y: inside_triangle(x, y) * 1,
    "Triangle 2": lambda x, y: np.where(inside_triangle(x, y), 2, y >= log10(x)),
}


def areas(rule):
    """The shares of the domain of each class, by the midpoint rule."""
    n = 1500
    x = (np.arange(n) + 0.5) / n * PI2
    y = (np.arange(n) + 0.5) / n * 2 - 1
    with np.errstate(invalid="ignore"):
        labels = rule(x[:, None], y[None, :])
    return np.bincount(np.asarray(labels).ravel()) / n**2


@pytest.mark.parametrize("name", DEFINITIONS)
def test_random_target_finds_what_the_areas_of_the_classes_allow(name):
    # so many seeds that two walks hardly ever share one: the walks are independent
    walks = 20_000
    front = dm.explore(dm.subjects[name], strategy="random_target", walks=walks, max_halvings=1, seeds=60_000, seed=1)
    expected = 1 - (areas(DEFINITIONS[name]) ** 2).sum()
    assert abs(front.capability - expected) < 3 * np.sqrt(expected * (1 - expected) / walks)


def simulated(rule, walks, directed, seed):
    """The share of walks from uniform points, 20 steps of 0.2, that meet another class."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(0, PI2, walks), rng.uniform(-1, 1, walks)
    met = np.zeros(walks, dtype=bool)
    with np.errstate(invalid="ignore"):
        start = rule(x, y)
        for _ in range(20):
            way = np.full(walks, 1) if directed else rng.integers(4, size=walks)
            x = x + 0.2 * (way == 0) - 0.2 * (way == 2)
            y = y + 0.2 * (way == 1) - 0.2 * (way == 3)
            met |= rule(x, y) != start  # as long as it was not met, all points before were of the first class
    return met.mean()


@pytest.mark.parametrize(("name", "directed"), thin([*DEFINITIONS][:: 1 if LONG else 3], [True, False]))
def test_walks_find_what_an_independent_simulation_finds(name, directed):
    walks = 10_000
    front = dm.explore(
        dm.subjects[name],
        strategy="directed_walk" if directed else "random_walk",
        moves=["upward"] if directed else None,
        walks=walks,
        max_halvings=1,
        seeds=walks if directed else 100_000,
        seed=2,
    )
    expected = simulated(DEFINITIONS[name], 100_000, directed, seed=3)
    error = np.sqrt(expected * (1 - expected) * (1 / walks + 1 / 100_000))
    assert abs(front.capability - expected) < 3 * error


@pytest.mark.parametrize(("walks", "pairs"), [(200, 24.2), (1200, 169.3)])
def test_the_published_accounting(walks, pairs):
    """Box 1 in 000 Table 12: runs = seeds when first used + 20 a pair (3586 = 200 + 20 x 169.3 for 1200 walks)."""
    front = dm.explore(dm.subjects["Box 1"], strategy="random_target", walks=walks, seeds=200, seed=4)
    used = len(np.unique(_drawn(walks)))
    assert front.runs == used + 20 * len(front)
    assert front.mutants == 2 * len(front)
    assert front.cost == pytest.approx(front.runs / front.mutants)
    assert len(front) == pytest.approx(pairs, rel=0.35)


def _drawn(walks, seed=4):
    rng = np.random.default_rng(seed)
    rng.uniform(size=(2, 200))  # the seeds themselves
    x = rng.integers(200, size=walks)
    y = rng.integers(199, size=walks)
    return np.concatenate([x, y + (y >= x)])


class Checkers(Executor):
    """A board of squares in any space, quick to answer."""

    name = "checkers"

    def __init__(self, space):
        self.space = space
        self.scale = np.array([3.7 * feature.scale for feature in space.features])

    def answer(self, batch, scores):
        return Outputs.of(np.floor(batch.codes * self.scale + 0.4).sum(axis=1).astype(np.int64) % 3)


CONTINUOUS = [dm.Continuous("x", 0, 1, step=0.05), dm.Continuous("y", -3, 7, step=0.5)]
DISCRETE = [dm.Integer("n", 0, 300), dm.Integer("m", -5, 20), dm.Categorical("c", list("abcde"))]


@pytest.mark.parametrize(
    ("features", "share"),
    [(CONTINUOUS, 0.4), (DISCRETE, 0.3), (CONTINUOUS + DISCRETE, 0.3)],
    ids=["continuous", "discrete", "hybrid"],
)
@pytest.mark.parametrize("strategy", ["random_target", "random_walk"])
def test_all_pairs_keep_the_bound_of_their_space(features, share, strategy):
    """A million pairs in the long form, a hundredth of it else."""
    space = dm.Space(features)
    sut = Checkers(space)
    wanted = int((500_000 if LONG else 5_000) * share)
    pairs = 0
    for seed in range(9):
        front = dm.explore(
            sut,
            space,
            strategy,
            walks=180_000 if LONG else 6_000,
            seeds=5_000 if LONG else 1_000,
            seed=seed,
            refine="bisect",
            walk_distance=10,
        )
        assert (front.a_output != front.b_output).all()
        assert (sut.execute(front.a).values == front.a_output).all()
        assert (sut.execute(front.b).values == front.b_output).all()
        _assert_bound(space, front, strategy)
        pairs += len(front)
        if pairs >= wanted:
            return
    pytest.fail(f"only {pairs:,} pairs")


def _assert_bound(space, front, strategy):
    a, b = front.a.codes, front.b.codes
    real = [j for j, feature in enumerate(space.features) if feature.kind == "continuous"]
    if real:
        gaps = np.sqrt(((a - b)[:, real] ** 2).sum(axis=1))
        reach = {"random_target": np.hypot(1, 10), "random_walk": max(space.features[j].step for j in real)}[strategy]
        assert (gaps <= reach / 2**20 * (1 + 1e-6) + 1e-15).all()
    if len(real) < len(space):
        discrete = geometry.discrete_distance(space, a, b)
        if real:
            assert (discrete <= 1).all()
        else:
            between = geometry.midpoint(space, a, b)
            assert ((between == a).all(axis=1) | (between == b).all(axis=1)).all()
