"""The effectiveness of the strategies on the coded classifiers: measured, by formula from the border, and integrated."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..data.subjects import PLANE, RULES
from ..exploration.effectiveness import predict_cost, predict_effectiveness
from ..exploration.run import explore
from ..space.features import Continuous
from ..space.space import Space
from .explorations import CodedExecutor
from .intervals import estimate_mean, estimate_share, label_figure
from .rows import DISPLAY_NAMES, OurFigure, Row
from .workload import Job, Scale, Workbench, make_seed_sequence

if TYPE_CHECKING:
    from ..exploration.front import Front

Floats = npt.NDArray[np.float64]
LOW, HIGH = (
    np.array([getattr(feature, end) for feature in PLANE.features], dtype=np.float64) for end in ("low", "high")
)
AREA = float(np.prod(HIGH - LOW))
HALVINGS = DISTANCE = 20
STEPS = (0.2, 0.02)  # as published, and so short that bends of the border hardly matter
STRATEGIES = ("random_target", "directed_walk", "random_walk")
POINTS, ANGLES, LINES, POINTS_PER_LINE = 1 << 17, 16, 300, 1500
LATTICE_POINTS, MIN_LATTICES = 500_000, 8
SEEDS_PER_WALK = 10  # so that few walks start from the same
STEP_NOTE = (
    "Steps of {}, at most twenty; measured, then by formula from shares of classes and border length, then integrated."
)


def spread_points(count: int, low: Floats = LOW, high: Floats = HIGH) -> Floats:
    """Return evenly spread points of a rectangle, by the additive recurrence of the plastic number."""
    root = 1.32471795724474602596
    shares = (0.5 + np.arange(1, count + 1)[:, None] / np.array([root, root**2])) % 1
    points: Floats = low + shares * (high - low)
    return points


def label_places(subject: str, x: Floats, y: Floats) -> npt.NDArray[np.str_]:
    """Return the answers of a coded classifier."""
    return RULES[subject](x, y)


@cache
def measure_shares(subject: str) -> tuple[float, ...]:
    """Return the share of each class of the domain."""
    x, y = spread_points(POINTS).T
    counts = np.unique(label_places(subject, x, y), return_counts=True)[1]
    return tuple((counts / POINTS).tolist())


@cache
def measure_border_length(subject: str) -> float:
    """Return the length of the borders within the domain, by Crofton's formula.

    That is half pi times the mean, over directions, of the width of the border across the direction, which lines of that direction
    count. The directions avoid the axes, along which borders may run.
    """
    middle, radius = (LOW + HIGH) / 2, float(np.hypot(*(HIGH - LOW))) / 2
    offsets = radius * (2 * (np.arange(LINES) + 0.5) / LINES - 1)
    along = radius * (2 * (np.arange(POINTS_PER_LINE) + 0.5) / POINTS_PER_LINE - 1)
    widths = []
    for angle in (np.arange(ANGLES) + 0.5) * math.pi / ANGLES:
        cos, sin = math.cos(angle), math.sin(angle)
        x = middle[0] + cos * along[None, :] - sin * offsets[:, None]
        y = middle[1] + sin * along[None, :] + cos * offsets[:, None]
        inside = (x >= LOW[0]) & (x <= HIGH[0]) & (y >= LOW[1]) & (y <= HIGH[1])
        labels = label_places(subject, x, y)
        crossings = (labels[:, 1:] != labels[:, :-1]) & inside[:, 1:] & inside[:, :-1]
        widths.append(crossings.sum() * 2 * radius / LINES)
    return math.pi / 2 * float(np.mean(widths))


@cache
def measure_border_width(subject: str) -> float:
    """Return the mean width of the borders across the two axes, each part of them counted."""
    x, y = (
        low + (high - low) * (np.arange(POINTS_PER_LINE) + 0.5) / POINTS_PER_LINE
        for low, high in zip(LOW, HIGH, strict=True)
    )
    labels = label_places(subject, *np.meshgrid(x, y, indexing="ij"))
    counts = [(labels[1:] != labels[:-1]).sum(), (labels[:, 1:] != labels[:, :-1]).sum()]
    across = np.array(counts) / POINTS_PER_LINE * (HIGH - LOW)[::-1]
    return float(across.mean())


# -- integration: the capability for any border, without walks ----------------------------------------------------------


@cache
def integrate_capability(subject: str, strategy: str, step: float, walk_distance: int = DISTANCE) -> tuple[float, ...]:
    """Return the capability of walks of 1, 2, ... steps from uniform starts; one figure for random target."""
    if strategy == "random_target":
        return (1 - math.fsum(share**2 for share in measure_shares(subject)),)
    integrate: Callable[..., list[float]] = _integrate_directed if strategy == "directed_walk" else _integrate_random
    return tuple(integrate(subject, step, walk_distance))


def _integrate_directed(subject: str, step: float, walk_distance: int) -> list[float]:
    """Walk from evenly spread points in the four directions."""
    x, y = spread_points(POINTS // 4).T
    met = np.zeros((4, len(x)), dtype=bool)
    start, capability = label_places(subject, x, y), []
    for count in range(1, walk_distance + 1):
        for row, (right, up) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
            met[row] |= label_places(subject, x + right * count * step, y + up * count * step) != start
        capability.append(float(met.mean()))
    return capability


def _integrate_random(subject: str, step: float, walk_distance: int) -> list[float]:
    """Follow all paths of random walks from lattices with evenly spread origins, by the recursion over the next step.

    The probability to meet a border within k steps is the mean, over the four moves, of 1 where the move crosses it, and otherwise of
    the probability to meet it within k - 1 steps from there.
    """
    columns, rows = (np.arange(-walk_distance, math.ceil(size / step) + walk_distance) * step for size in HIGH - LOW)
    lattices = max(MIN_LATTICES, LATTICE_POINTS // (len(columns) * len(rows)))
    origins = spread_points(lattices, LOW, LOW + step)
    total, weight = np.zeros(walk_distance), 0
    for origin in origins:
        x, y = np.meshgrid(origin[0] + columns, origin[1] + rows, indexing="ij")
        labels = np.unique(label_places(subject, x, y), return_inverse=True)[1].reshape(x.shape)
        inside = np.zeros(x.shape, dtype=bool)
        inside[walk_distance:-walk_distance, walk_distance:-walk_distance] = True
        inside &= (x >= LOW[0]) & (x <= HIGH[0]) & (y >= LOW[1]) & (y <= HIGH[1])
        weight += int(inside.sum())
        met = np.zeros(x.shape)
        for count in range(walk_distance):
            new = np.zeros(x.shape)
            for axis in (0, 1):
                for shift in (-1, 1):  # what leaves the lattice is too far from the domain to matter
                    new += np.where(np.roll(labels, shift, axis) != labels, 1, np.roll(met, shift, axis)) / 4
            met = new
            total[count] += met[inside].sum()
    return (total / weight).tolist()


# -- the study -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UniformWalks(Job):
    """Walks from starts that are uniform in the domain, each from its own."""

    subject: str
    strategy: str
    step: float
    walks: int

    @property
    def weight(self) -> int:
        """The number of walks."""
        return self.walks

    def repetitions(self, scale: Scale) -> int:
        """Return 1: walks from starts of their own are independent."""
        return 1

    def _derive_seed(self, seed: int, repetition: int) -> int:
        return int(make_seed_sequence(self, seed, repetition).generate_state(1)[0])

    def _compute_figures(self, seed: int) -> dict[str, float]:
        front = measure_walks(self.subject, self.strategy, self.step, self.walks, seed)
        figures = label_figure("share that find", estimate_capability(front, self.strategy))
        low, high = front.cost_interval()
        runs = front.runs - front.seeds_used  # starts of their own are no part of the formula
        cost = runs / front.mutants if front.mutants else math.inf
        margin = (high - low) / 2 if math.isfinite(high) else math.nan
        return figures | label_figure("runs per case", OurFigure(cost, margin, front.walks))


def estimate_capability(front: Front, strategy: str) -> OurFigure:
    """Return the capability in percent; the four directed walks from a start are not independent, but starts are."""
    if strategy != "directed_walk":
        return estimate_share(len(front), front.walks)
    starts = np.bincount(front.walk // 4, minlength=front.walks // 4) / 4
    return estimate_mean(starts.tolist()).times(100)


def measure_walks(subject: str, strategy: str, step: float, walks: int, seed: int) -> Front:
    """Return the front of walks from uniform starts; directed walks take the four directions in turn."""
    ends = zip(PLANE.names, LOW.tolist(), HIGH.tolist(), strict=True)
    space = Space([Continuous(name, low, high, step=step) for name, low, high in ends], moves="open")
    starts = walks // 4 if strategy == "directed_walk" else SEEDS_PER_WALK * walks
    executor = CodedExecutor(subject)
    executor.space = space
    return explore(
        executor,
        space=space,
        seeds=space.sample(starts, seed=seed),
        strategy=strategy,
        walks=walks,
        walk_distance=DISTANCE,
        max_halvings=HALVINGS,
        refine="bisect",
        seed=seed,
        progress=False,
    )


def build_table(bench: Workbench) -> list[Row]:
    """Build the comparison of capability and cost: measured, by formula, and integrated."""
    walks = 4_000 * bench.scale.repetitions
    rows = []
    for step in STEPS:
        for subject in bench.scale.subjects:
            formula = predict(subject, step)
            for strategy in STRATEGIES if step == STEPS[0] else STRATEGIES[1:]:
                job = UniformWalks(subject, strategy, step, walks)
                label = f"{subject}, {DISPLAY_NAMES[strategy]}, step {step:g}"
                note = STEP_NOTE.format(f"{step:g}")
                curve = integrate_capability(subject, strategy, step)
                integrated = predict_cost(curve, HALVINGS, has_steps=strategy != "random_target")
                by_length = formula.loc[strategy]
                rows += [
                    bench.estimate(job, "share that find").to_row(label, "capability, measured", note),
                    OurFigure(100 * by_length.capability).to_row(label, "capability, formula", note),
                    OurFigure(100 * curve[-1]).to_row(label, "capability, integrated", note),
                    bench.estimate(job, "runs per case").to_row(label, "cost, measured", note),
                    OurFigure(by_length.cost).to_row(label, "cost, formula", note),
                    OurFigure(integrated).to_row(label, "cost, integrated", note),
                ]
    return rows


def predict(subject: str, step: float) -> Any:
    """Return capability and cost by formula, by strategy."""
    shares, length = measure_shares(subject), measure_border_length(subject)
    width = measure_border_width(subject)
    table = predict_effectiveness(
        shares, length, AREA, step=step, walk_distance=DISTANCE, halvings=HALVINGS, width=width
    )
    return table.set_index("strategy")
