"""`dm.plan`: estimate the yield and the cost of an exploration from a short trial."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import pluralize
from .._typing import DataLike, ModelLike, SeedLike
from .._validation import to_generator
from ..morphisms.stock import derive
from ..morphisms.subject import SubjectUnderTest, build_subject
from ..runs.driver import CallCounter, drive
from ..runs.flow import ask
from ..space.features import Continuous, Feature, Integer
from ..space.options import SpaceOptions
from ..space.space import Space
from ._utils import thin_rows
from .explorers import EXPLORERS
from .front import Front
from .options import PlanOptions
from .runner import run_exploration

if TYPE_CHECKING:
    import pandas as pd

MIN_TRIAL_DISTANCE = 30  # maximum steps of a random walk in the trial, or more if requested
MAX_COST_RATIO = 1.1  # walk distances up to this multiple of the lowest cost are cheap enough
TIMED_ROWS = 1000  # rows in the batch that is timed
MAX_SHARE_SEEDS = 200  # seed cases whose answers are counted
STEP_FACTORS = (0.5, 1.0, 2.0, 4.0)  # multiples of the step of each feature that are tried


@dataclass(frozen=True, kw_only=True)
class ExplorationPlan:
    """The expected yield and cost of an exploration.

    Attributes
    ----------
    table : DataFrame
        One row per strategy, the cheapest first: expected capability, pairs, runs, cost, seconds, ``seconds_per_pair``.
    walk_distance : int
        The longest distance of random walks that needs nearly the fewest runs per border point.
    step_factor : float
        The best multiple of the steps of the space; 1 where moves are declared.
    shares, spent
        The share of seed cases per answer, and the number of runs of the trial.
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
        """The strategy with the fewest runs per pair."""
        return str(self.table["strategy"].iloc[0])

    def describe(self) -> str:
        """Return the plan as text."""
        shares = sorted(self.shares.items(), key=lambda item: -item[1])
        answers = ", ".join(f"{label} {share:.0%}" for label, share in shares[:6])
        lines = [
            f"{self.subject}, {pluralize(self.walks, 'walk')}, from a trial of {pluralize(self.spent, 'run')}",
            f"answers to the seed cases: {answers}{', ...' if len(shares) > 6 else ''}",
        ]
        for row in self.table.itertuples():
            cost = f"cost {row.cost:.1f}" if row.capability else "no pair in the trial"
            lines.append(
                f"{row.strategy:<14} capability {row.capability:6.1%}  about {row.pairs:,.0f} pairs, "
                f"{row.runs:,.0f} runs, {_format_time(row.seconds)}, {cost}"
            )
        lines.append(f"cheapest: {self.best}; for random walks: walk distance {self.walk_distance}")
        if self.step_factor != 1:
            lines[-1] += f", steps {self.step_factor:g} times as large"
        return "\n".join(lines)

    __str__ = describe


def plan(
    model: ModelLike,
    data: DataLike | None = None,
    walks: int = 1000,
    *,
    trial: int | None = None,
    steps: int = 20,
    walk_distance: int = 20,
    moves: Iterable[str] | None = None,
    seeds: DataLike | int | None = None,
    seed: SeedLike = 0,
    target: str | None = None,
    space: Space | None = None,
    kinds: Mapping[str, str] | None = None,
    feature_steps: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    orders: Mapping[str, Sequence[Any]] | None = None,
    threshold: float | None = None,
    jump: float | None = None,
    labels: str = "auto",
    classes: Sequence[Any] | None = None,
    trust: bool = False,
    scalar: bool = False,
    name: str | None = None,
) -> ExplorationPlan:
    """Try every strategy on a few walks, and return the expected yield and cost of `walks` walks.

    Parameters
    ----------
    model, data, steps, walk_distance, moves, seeds, seed, target, space
        As for `explore`.
    kinds, feature_steps, bounds, orders, threshold, jump, labels, classes, trust, scalar, name
        As for `explore`.
    walks : int
        The number of walks to plan for.
    trial : int, optional
        The number of walks per strategy in the trial; by default a twentieth of `walks`, 20 to 100.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.plan(dm.subjects["Sin 2"], walks=10_000).best
    'random_target'
    """
    options = PlanOptions(
        walks=walks,
        trial=trial,
        steps=steps,
        walk_distance=walk_distance,
        moves=None if moves is None else list(moves),
        threshold=threshold,
        jump=jump,
        labels=labels,
        target=target,
        classes=classes,
        hints=SpaceOptions(kinds=kinds, steps=feature_steps, bounds=bounds, orders=orders),
    )
    rng = to_generator("seed", options.OWNER, seed)
    subject_options: dict[str, Any] = {"owner": options.OWNER, "trust": trust, "scalar": scalar, "name": name}
    subject_options["classes"] = options.classes
    subject = build_subject(
        model, data, target=target, space=space, space_options=options.hints, seeds=seeds, rng=rng, **subject_options
    )

    def run_trial(strategy: str, distance: int = walk_distance, trial_subject: SubjectUnderTest = subject) -> Front:
        trial_options = replace(options, strategy=strategy, walks=options.trial_walks, walk_distance=distance)
        return run_exploration(trial_subject, rng, trial_options)

    fronts = {strategy: run_trial(strategy) for strategy in EXPLORERS}
    shares = _measure_answer_shares(subject)
    farthest = max(MIN_TRIAL_DISTANCE, walk_distance)
    trials = {1.0: run_trial("random_walk", farthest)}
    has_own_moves = options.moves is not None or not all(move.derived for move in subject.system.moves.values())
    numeric_count = sum(feature.numeric for feature in subject.seeds.space.features)
    if not has_own_moves and numeric_count:
        trials |= {f: run_trial("random_walk", farthest, _scale_steps(subject, f)) for f in STEP_FACTORS if f != 1}
    factor = min(trials, key=lambda f: trials[f].cost)
    if trials[factor].cost_interval()[1] >= trials[1.0].cost_interval()[0]:
        factor = 1.0  # the difference may be chance
    return ExplorationPlan(
        subject=subject.name,
        walks=walks,
        table=_build_table(fronts, walks, _measure_seconds_per_row(subject)),
        walk_distance=_find_best_distance(trials[factor]),
        step_factor=factor,
        shares=shares,
        spent=sum(front.runs for front in (*fronts.values(), *trials.values())),
    )


def _measure_seconds_per_row(subject: SubjectUnderTest) -> float:
    """Return the time per additional row in a large batch, without the constant time per query."""

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
        # walks advance together: more walks make queries longer, not more frequent
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
    """Return the best maximum number of steps per walk, from the steps at which walks of a trial met a border.

    Equal pairs count once: walks from the same start often meet the same border after a step or two.
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
    """Return the subject with the steps of its features multiplied by `factor`."""

    def scale_feature(feature: Feature) -> Feature:
        if isinstance(feature, Continuous):
            return replace(feature, step=feature.step * factor)
        if isinstance(feature, Integer):
            return replace(feature, step=max(1, round(feature.step * factor)))
        return feature

    old = subject.seeds.space
    features = map(scale_feature, old.features)
    space = Space(features, moves=old.moves, constraints=old.constraints, invalid=old.invalid, dtypes=old.dtypes)
    return replace(subject, system=derive(space, subject.sut), seeds=space.points(subject.seeds.frame))


def _measure_answer_shares(subject: SubjectUnderTest) -> dict[str, float]:
    """Return the share of each answer among some seed cases."""
    sample = subject.seeds.take(thin_rows(len(subject.seeds), MAX_SHARE_SEEDS))
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
