"""`dm.plan`: estimate the yield and the cost of an exploration from a short trial, and recommend its options."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._deprecation import rename_keywords
from .._text import pluralize
from .._typing import DataLike, ModelLike, SeedLike
from .._validation import check_types, to_generator
from ..morphisms.stock import derive
from ..morphisms.subject import SubjectUnderTest, build_subject
from ..runs.driver import CallCounter, drive
from ..runs.flow import ask
from ..space.features import Continuous, Feature, Integer
from ..space.options import SpaceOptions
from ..space.space import Space
from ..space.table_forms import accept_tables
from ..systems.wrap import to_classes
from .changes import thin_rows
from .explorers import EXPLORERS
from .front import Front
from .options import PlanOptions
from .run import run_exploration
from .trials import StrategyTrial, choose_trial, race

if TYPE_CHECKING:
    import pandas as pd

TRIAL_WALK_DISTANCE = 50  # steps per walk in the trial, or more if requested
TIMED_ROWS = 1000  # rows in the batch that is timed
MAX_SHARE_SEEDS = 200  # seed cases whose answers are counted
STEP_FACTORS = (0.5, 1.0, 2.0, 4.0)  # multiples of the step of each feature that are tried
DISTANCES_LISTED = (1, 2, 3, 5, 8, 12, 20, 30, 50, 100)


@dataclass(frozen=True, kw_only=True)
class ExplorationPlan:
    """The expected yield and cost of an exploration, and recommended options.

    The recommendation balances capability and cost: it has the highest product of capability and capability per cost
    among those with at least about half of the best capability.

    Attributes
    ----------
    table : DataFrame
        One row per strategy with the requested options, the best balance first: expected capability, pairs, runs, cost, balance,
        seconds, ``seconds_per_pair``.
    curve : DataFrame
        What the recommendation was chosen from: capability, cost and balance by strategy, step factor and walk distance, and the
        number of walks they were measured with.
    options : dict
        The recommended options of `explore`: ``strategy`` and, if it walks, ``walk_distance``, and ``column_steps`` if other
        steps are better.
    walk_distance, step_factor : int, float
        Those of the recommendation; if it is random target, those recommended for random walks.
    shares, spent
        The share of seed cases per answer, and the number of runs of the trial.
    """

    subject: str
    walks: int
    table: pd.DataFrame
    curve: pd.DataFrame
    options: dict[str, Any]
    walk_distance: int
    step_factor: float
    shares: dict[str, float]
    spent: int

    @property
    def best(self) -> str:
        """The recommended strategy."""
        return str(self.options["strategy"])

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
        return "\n".join([*lines, *self._describe_curve(), *self._describe_recommendation()])

    __str__ = describe

    @property
    def _walking_strategy(self) -> str:
        """The strategy that the walk distance is recommended for."""
        return "random_walk" if self.best == "random_target" else self.best

    def _describe_curve(self) -> list[str]:
        """Return the yield by walk distance, a line each."""
        curve = self.curve[
            (self.curve.strategy == self._walking_strategy) & (self.curve.step_factor == self.step_factor)
        ]
        listed = curve[curve.walk_distance.isin({*DISTANCES_LISTED, self.walk_distance})]
        best = max(curve.balance.max(), 1e-300)
        return [
            f"{self._walking_strategy} by walk distance{self._describe_steps()}:",
            *(
                f"{row.walk_distance:>5}  capability {row.capability:6.1%}  cost {row.cost:6.1f}  balance {row.balance / best:4.0%}"
                for row in listed.itertuples()
            ),
            "balance: capability times capability per cost, compared with the best distance",
        ]

    def _describe_recommendation(self) -> list[str]:
        distance = f"walk distance {self.walk_distance}{self._describe_steps()}"
        if self.best == "random_target":
            return ["recommended: random_target", f"recommended for random walks: {distance}"]
        return [f"recommended: {self.best}, {distance}"]

    def _describe_steps(self) -> str:
        return "" if self.step_factor == 1 else f", steps {self.step_factor:g} times as large"


@rename_keywords(since="0.2", steps="max_halvings", feature_steps="column_steps")
@accept_tables
@check_types
def plan(
    model: ModelLike,
    data: DataLike | None = None,
    walks: int = 1000,
    *,
    trial: int | None = None,
    max_halvings: int | None = None,
    walk_distance: int = 20,
    moves: Iterable[str] | None = None,
    seeds: DataLike | int | None = None,
    seed: SeedLike = 0,
    target: str | None = None,
    space: Space | None = None,
    kinds: Mapping[str, str] | None = None,
    column_steps: Mapping[str, float] | None = None,
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
    model, data, max_halvings, walk_distance, moves, seeds, seed, target, space
        As for `explore`.
    kinds, column_steps, bounds, orders, threshold, jump, labels, classes, trust, scalar, name
        As for `explore`.
    walks : int
        The number of walks to plan for.
    trial : int, optional
        The number of walks per strategy in the trial; by default a tenth of `walks`, 40 to 1,000. Strategies
        that are clearly worse make fewer, and those between which the choice is close make up to four times as many.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.plan(dm.subjects["Line 1"], walks=1_000).best
    'random_target'
    """
    options = PlanOptions(
        walks=walks,
        trial=trial,
        max_halvings=max_halvings,
        walk_distance=walk_distance,
        moves=None if moves is None else list(moves),
        threshold=threshold,
        jump=jump,
        labels=labels,
    )
    hints = SpaceOptions(kinds=kinds, steps=column_steps, bounds=bounds, orders=orders)
    rng = to_generator("seed", options.OWNER, seed)
    subject_options: dict[str, Any] = {"owner": options.OWNER, "trust": trust, "scalar": scalar, "name": name}
    subject_options |= {"classes": to_classes(classes, options.OWNER), "max_rows": options.max_seed_cases}
    subject = build_subject(
        model, data, target=target, space=space, space_options=hints, seeds=seeds, rng=rng, **subject_options
    )

    has_own_moves = options.moves is not None or not all(move.derived for move in subject.system.moves.values())
    has_numbers = any(feature.numeric for feature in subject.seeds.space.features)
    has_fixed_space = space is not None or isinstance(data, Space)
    scalable = has_numbers and not has_own_moves and not has_fixed_space
    farthest = max(TRIAL_WALK_DISTANCE, walk_distance)
    trials = [
        _prepare_trial(subject, strategy, factor, replace(options, walk_distance=farthest), rng)
        for strategy, explorer in EXPLORERS.items()
        for factor in (STEP_FACTORS if scalable and explorer.uses_moves else (1.0,))
    ]
    race(trials, options.trial_walks)
    chosen, distance = choose_trial(trials)
    recommended: dict[str, Any] = {"strategy": chosen.strategy}
    if chosen.strategy == "random_target":
        chosen, distance = choose_trial([trial for trial in trials if trial.strategy == "random_walk"])
    else:
        recommended["walk_distance"] = distance
        if chosen.step_factor != 1:
            features = _scale_steps(subject, chosen.step_factor).seeds.space.features
            recommended["column_steps"] = {f.name: f.step for f in features if isinstance(f, Continuous | Integer)}
    return ExplorationPlan(
        subject=subject.name,
        walks=walks,
        table=_build_table(trials, options, _measure_seconds_per_row(subject)),
        curve=_build_curve(trials),
        options=recommended,
        walk_distance=distance,
        step_factor=chosen.step_factor,
        shares=_measure_answer_shares(subject),
        spent=sum(trial.runs for trial in trials),
    )


def _prepare_trial(
    subject: SubjectUnderTest, strategy: str, factor: float, options: PlanOptions, rng: np.random.Generator
) -> StrategyTrial:
    trial_subject = subject if factor == 1 else _scale_steps(subject, factor)

    def run(walks: int) -> Front:
        return run_exploration(trial_subject, rng, replace(options, strategy=strategy, walks=walks))

    seeds, moves = len(subject.seeds), len(options.move_names or subject.system.moves)
    if strategy == "directed_walk":  # each seed case is used once with every move before any is used again
        executed: float = min(seeds, math.ceil(options.walks / max(1, moves)))
    else:
        starts = options.walks * (2 if strategy == "random_target" else 1)
        executed = seeds * -math.expm1(starts * math.log1p(-1 / seeds)) if seeds > 1 else 1
    seeds_per_walk = executed / max(1, options.walks)
    return StrategyTrial(strategy=strategy, step_factor=factor, run=run, seeds_per_walk=seeds_per_walk)


def _measure_seconds_per_row(subject: SubjectUnderTest) -> float:
    """Return the time per additional row in a large batch, without the constant time per query."""

    def time_rows(rows: int) -> float:
        counter = CallCounter()
        batch = subject.seeds.take(np.resize(np.arange(len(subject.seeds)), rows))
        drive(ask(batch), subject.sut, tally=counter, cache=None, recheck=0)
        return counter.seconds

    return max(0.0, time_rows(TIMED_ROWS) - time_rows(TIMED_ROWS // 100)) / TIMED_ROWS


def _build_table(trials: Sequence[StrategyTrial], options: PlanOptions, seconds_per_row: float) -> pd.DataFrame:
    """Return what each strategy is expected to find with the requested options."""
    import pandas as pd

    rows = []
    for trial in trials:
        if trial.step_factor != 1:
            continue
        curve = trial.measure_curve()
        place = min(options.walk_distance, len(curve.distances)) - 1
        pairs, runs = curve.pairs[place] * options.walks, curve.runs[place] * options.walks
        # walks advance together: more walks make queries longer, not more frequent
        seconds = min(
            trial.seconds * runs / max(1, trial.runs), trial.seconds + max(0.0, runs - trial.runs) * seconds_per_row
        )
        rows.append(
            {
                "strategy": trial.strategy,
                "capability": curve.capability[place],
                "pairs": pairs,
                "runs": runs,
                "cost": curve.cost[place],
                "balance": curve.balance[place],
                "seconds": seconds,
                "seconds_per_pair": seconds / pairs if pairs else math.inf,
            }
        )
    return pd.DataFrame(rows).sort_values(
        ["balance", "runs"], ascending=[False, True], kind="stable", ignore_index=True
    )


def _build_curve(trials: Sequence[StrategyTrial]) -> pd.DataFrame:
    """Return capability, cost and balance of all trials."""
    import pandas as pd

    curves = [(trial, trial.measure_curve()) for trial in trials]
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "strategy": trial.strategy,
                    "step_factor": trial.step_factor,
                    "walk_distance": curve.distances,
                    "capability": curve.capability,
                    "cost": curve.cost,
                    "balance": curve.balance,
                    "walks": trial.walks,
                }
            )
            for trial, curve in curves
        ],
        ignore_index=True,
    )


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
