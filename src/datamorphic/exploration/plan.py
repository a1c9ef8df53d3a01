"""``dm.plan``: what an exploration will find and cost, and how to ask for it, from a short try."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import pluralize
from .._validation import to_generator, validate_integer
from ..morphisms.stock import derive
from ..morphisms.subject import SubjectUnderTest, build_subject
from ..runs.driver import CallCounter, drive
from ..runs.flow import ask
from ..space.features import Continuous, Feature, Integer
from ..space.space import Space
from .front import Front
from .runner import choose_border, run_exploration

if TYPE_CHECKING:
    import pandas as pd

MIN_TRIAL_DISTANCE = 30  # steps a walk of the try has at least
MAX_COST_RATIO = 1.1  # of the least cost is cheap enough
TIMED_ROWS = 1000  # whose answers are timed
STEP_FACTORS = (0.5, 1.0, 2.0, 4.0)  # of the steps that are tried


@dataclass(frozen=True)
class ExplorationPlan:
    """What to expect of an exploration.

    Attributes
    ----------
    table : DataFrame
        One row a strategy, the cheapest first: expected capability, pairs, runs, cost, seconds and
        ``seconds_per_pair``.
    best : str
        The strategy that finds a pair with the fewest runs.
    walk_distance : int
        The longest random walks that find a border point with nearly the fewest runs.
    step_factor : float
        By what to multiply the steps of the space for that; 1 where the moves are declared.
    shares : dict
        The share of the seeds that got each answer.
    """

    subject: str
    walks: int
    table: pd.DataFrame
    walk_distance: int
    step_factor: float
    shares: dict[str, float]
    spent: int

    @property
    def best(self) -> str:
        """The strategy that finds a pair with the fewest runs."""
        return str(self.table["strategy"].iloc[0])

    def describe(self) -> str:
        """Return the plan in words."""
        shares = sorted(self.shares.items(), key=lambda item: -item[1])
        answers = ", ".join(f"{label} {share:.0%}" for label, share in shares[:6])
        lines = [
            f"{self.subject}, {pluralize(self.walks, 'walk')}, from a try of {pluralize(self.spent, 'run')}",
            f"answers to the seeds: {answers}{', ...' if len(shares) > 6 else ''}",
        ]
        for row in self.table.itertuples():
            cost = f"cost {row.cost:.1f}" if row.capability else "no pair in the try"
            lines.append(
                f"{row.strategy:<14} capability {row.capability:6.1%}  about {row.pairs:,.0f} pairs, "
                f"{row.runs:,.0f} runs, {_format_time(row.seconds)}, {cost}"
            )
        lines.append(f"cheapest: {self.best}; for random walks: walk distance {self.walk_distance}")
        if self.step_factor != 1:
            lines[-1] += f", steps {self.step_factor:g} times as large"
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()


def plan(
    model: Any,
    data: Any = None,
    walks: int = 1000,
    *,
    trial: int | None = None,
    steps: int = 20,
    walk_distance: int = 20,
    moves: Iterable[str] | None = None,
    seeds: Any = None,
    seed: Any = 0,
    target: str | None = None,
    space: Space | None = None,
    threshold: float | None = None,
    jump: float | None = None,
    labels: str = "auto",
    trust: bool = False,
    scalar: bool = False,
    name: str | None = None,
) -> ExplorationPlan:
    """Try every strategy on a few walks and return what `walks` of them will find and cost.

    Parameters
    ----------
    model, data, steps, walk_distance, moves, seeds, seed, target, space, threshold, jump, labels, trust, scalar, name
        As for `explore`.
    walks : int
        For how many walks to plan.
    trial : int, optional
        How many walks of each strategy to make for it; by default a twentieth of `walks`, 20 to 100.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.plan(dm.subjects["Sin 2"], walks=10_000).best
    'random_target'
    """
    validate_integer("walks", "plan", walks)
    trial = min(100, max(20, walks // 20)) if trial is None else validate_integer("trial", "plan", trial, low=10)
    rng = to_generator("seed", "plan", seed)
    wrap_options: dict[str, Any] = {"trust": trust, "scalar": scalar, "name": name}
    subject = build_subject(model, data, target=target, space=space, seeds=seeds, rng=rng, **wrap_options)

    def run_trial(
        strategy: str, distance: int = walk_distance, trial_subject: SubjectUnderTest = subject
    ) -> Front:
        border = choose_border(threshold, jump, labels)
        return run_exploration(
            trial_subject,
            rng,
            strategy=strategy,
            walks=trial,
            steps=steps,
            walk_distance=distance,
            moves=moves,
            border=border,
        )

    fronts = {name: run_trial(name) for name in ("random_target", "directed_walk", "random_walk")}
    shares = _measure_answer_shares(subject)
    farthest = max(MIN_TRIAL_DISTANCE, walk_distance)
    trials = {1.0: run_trial("random_walk", farthest)}
    has_own_moves = moves is not None or not all(move.derived for move in subject.system.moves.values())
    numeric_count = len(subject.seeds.space) - subject.seeds.space.kinds["categorical"]
    if not has_own_moves and numeric_count:
        trials |= {f: run_trial("random_walk", farthest, _scale_steps(subject, f)) for f in STEP_FACTORS if f != 1}
    factor = min(trials, key=lambda f: trials[f].cost)
    if trials[factor].cost_interval()[1] >= trials[1.0].cost_interval()[0]:
        factor = 1.0  # may be chance
    spent_runs = sum(front.runs for front in (*fronts.values(), *trials.values()))
    table = _build_table(fronts, walks, _measure_seconds_per_row(subject))
    return ExplorationPlan(
        subject.name, walks, table, _find_best_distance(trials[factor]), factor, shares, spent_runs
    )


def _measure_seconds_per_row(subject: SubjectUnderTest) -> float:
    """Return what one more row costs in a large batch; a question costs something whatever its size."""

    def time_rows(rows: int) -> float:
        counter = CallCounter()
        batch = subject.seeds.take(np.resize(np.arange(len(subject.seeds)), rows))
        drive(ask(batch), subject.sut, tally=counter, cache=None, recheck=0)
        return counter.seconds

    return max(0.0, time_rows(TIMED_ROWS) - time_rows(TIMED_ROWS // 100)) / TIMED_ROWS


def _build_table(fronts: dict[str, Front], walks: int, seconds_per_row: float) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for name, front in fronts.items():
        expected = front.estimate(walks)
        # walks advance together: more of them ask longer questions, not more
        seconds = min(expected.seconds, front.seconds + max(0.0, expected.runs - front.runs) * seconds_per_row)
        rows.append(
            {
                "strategy": name,
                "capability": front.capability,
                "pairs": expected.pairs,
                "runs": expected.runs,
                "cost": expected.runs / (2 * expected.pairs) if expected.pairs else math.inf,
                "seconds": seconds,
                "seconds_per_pair": seconds / expected.pairs if expected.pairs else math.inf,
            }
        )
    return pd.DataFrame(rows).sort_values(["cost", "runs"], kind="stable", ignore_index=True)


def _find_best_distance(front: Front) -> int:
    """Return after how many steps a walk should end, from when the walks of a try met a border.

    Pairs that are the same (walks from one start meet the same border after a step or two) count once.
    """
    narrowing_runs = np.bincount(front.walk, front.pair_runs, front.walks)
    walking_runs = front.walk_runs - narrowing_runs
    distinct = np.zeros(front.walks, dtype=bool)
    distinct[front.walk[np.unique(front.a.codes, axis=0, return_index=True)[1]]] = True
    met = np.isin(np.arange(front.walks), front.walk)
    costs = {}
    for steps in range(1, int(front.settings["walk_distance"]) + 1):
        met_in_time = met & (walking_runs <= steps)
        if (new := met_in_time & distinct).any():
            costs[steps] = (np.minimum(walking_runs, steps).sum() + narrowing_runs[met_in_time].sum()) / new.sum()
    if not costs:
        return int(front.settings["walk_distance"])
    return max(steps for steps, cost in costs.items() if cost <= MAX_COST_RATIO * min(costs.values()))


def _scale_steps(subject: SubjectUnderTest, factor: float) -> SubjectUnderTest:
    """Return the subject with larger or smaller steps."""

    def scale_feature(feature: Feature) -> Feature:
        if isinstance(feature, Continuous):
            return replace(feature, step=feature.step * factor)
        if isinstance(feature, Integer):
            return replace(feature, step=max(1, round(feature.step * factor)))
        return feature

    old_space = subject.seeds.space
    space = Space(
        map(scale_feature, old_space.features),
        moves=old_space.moves,
        constraints=old_space.constraints,
        invalid=old_space.invalid,
        dtypes=old_space.dtypes,
    )
    seeds = space.points(subject.seeds.frame)
    return replace(subject, system=derive(space, subject.sut), seeds=seeds)


def _measure_answer_shares(subject: SubjectUnderTest) -> dict[str, float]:
    """Return the share of each answer among some seeds."""
    sample = subject.seeds.take(np.linspace(0, len(subject.seeds) - 1, min(200, len(subject.seeds))).astype(int))
    outputs = drive(ask(sample), subject.sut)
    values = outputs.take(outputs.ok).values
    if values.dtype.kind == "f" and len(set(values.tolist())) > 20:
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        return {f"below {low:.4g}": 0.25, f"below {middle:.4g}": 0.5, f"below {high:.4g}": 0.75}
    names, counts = np.unique([str(value) for value in values.tolist()], return_counts=True)
    return dict(zip(names.tolist(), (counts / max(1, len(values))).tolist(), strict=True))


def _format_time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
