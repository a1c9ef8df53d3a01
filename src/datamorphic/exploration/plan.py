"""`dm.plan`: estimate the yield and the cost of an exploration from a short trial, and recommend its options."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._lazy import pd
from .._text import pluralise
from .._validation import validate_integer
from ..core.capability import capability
from ..core.execute import Execution
from ..core.result import Result
from ..errors import OutOfBudget
from ..morphisms.stock import derive
from ..morphisms.subject import SubjectUnderTest
from ..reporting.junit import JUnitCase
from ..runs.driver import CallCounter
from ..runs.flow import ask
from ..space.features import Continuous, Feature, Integer
from ..space.space import Space
from .changes import thin_rows
from .effectiveness import predict_from_first_step
from .explorers import EXPLORERS
from .front import Front
from .options import DEFAULT_HALVINGS, PlanOptions
from .run import run_exploration
from .trials import StrategyTrial, choose_trial, race

TRIAL_WALK_DISTANCE = 50  # steps per walk in the trial, or more if requested
TIMED_ROWS = 1000  # rows in the batch that is timed
MAX_SHARE_SEEDS = 200  # seed cases whose answers are counted
TABLE_COLUMNS = ["strategy", "capability", "pairs", "runs", "cost", "balance", "seconds", "seconds_per_pair"]
CURVE_COLUMNS = ["strategy", "step_factor", "walk_distance", "capability", "cost", "balance", "walks"]
STEP_FACTORS = (0.5, 1.0, 2.0, 4.0)  # multiples of the step of each feature that are tried


@dataclass(frozen=True, kw_only=True)
class ExplorationPlan(Result):
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
    planar: bool = False  # whether the inputs are two real numbers, where random walks have a formula
    unfinished: tuple[str, ...] = ()  # what the budget, or the user, left untried
    interrupted: bool = False  # whether the user ended the trial

    _PAGE: ClassVar[str] = "exploration.plan_page:build_page"
    _SUMMARY: ClassVar[tuple[str, ...]] = ("best", "walk_distance", "step_factor", "spent")

    @property
    def best(self) -> str:
        """The recommended strategy; empty if the trial ended before any walk."""
        return str(self.options.get("strategy", ""))

    @property
    def complete(self) -> bool:
        """Whether all walks of the trial were made."""
        return not self.unfinished

    @property
    def headline(self) -> str:
        """The recommendation in one line."""
        if not self.best:
            return "no walk of the trial was finished"
        return f"{self.best} is recommended for {pluralise(self.walks, 'walk')}"

    def predict(self, walk_distance: int | None = None, halvings: int = DEFAULT_HALVINGS) -> pd.DataFrame:
        """Predict capability and cost by formula, without walks.

        Random target finds as many pairs as two random answers differ. Walks find, at most, as many times what their first step
        finds as they have steps; in the plane, random walks are predicted for straight borders. `docs/method/fronts.md` has
        the assumptions and proofs.

        Parameters
        ----------
        walk_distance : int, optional
            The largest number of steps per walk. The default is that of the recommendation.
        halvings : int
            How often a pair is halved.

        Returns
        -------
        DataFrame
            A row per strategy: ``strategy``, ``capability``, ``cost``, without the runs of seed cases.
        """
        distance = self.walk_distance if walk_distance is None else walk_distance
        validate_integer("walk_distance", "predict", distance, 1)
        validate_integer("halvings", "predict", halvings, 0)
        first_steps = self.curve[(self.curve["step_factor"] == 1) & (self.curve["walk_distance"] == 1)]
        rates = dict(zip(first_steps["strategy"], first_steps["capability"].astype(float), strict=True))
        return predict_from_first_step(self.shares.values(), rates, distance, halvings, planar=self.planar)

    def document(self) -> dict[str, Any]:
        """Return the plan as a JSON-serialisable dict."""
        names = ("subject", "walks", "best", "walk_distance", "step_factor", "options", "shares", "spent")
        return self._collect(*names, "complete", "unfinished", strategies=self.table, curve=self.curve)

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return the plan as one test case, which passes if the trial was finished."""
        outcome: Any = "passed" if self.complete else "skipped"
        return [JUnitCase(name="plan", outcome=outcome, message=", ".join(self.unfinished), output=self.headline)]

    def __str__(self) -> str:
        return self.describe()


@capability(PlanOptions)
def plan(options: PlanOptions, execution: Execution[SubjectUnderTest]) -> ExplorationPlan:
    """Try every strategy on a few walks, and return the expected yield and cost of `walks` walks.

    Returns
    -------
    ExplorationPlan
        With ``.best``, ``.options`` for `explore`, ``.table`` and ``.curve``.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.plan(dm.subjects["Line 1"], walks=1_000).best
    'random_target'
    """
    trials = _prepare_trials(options, execution)
    execution.attempt("the walks of the trial", lambda: race(trials, options.trial_walks), None)
    seconds_per_row = execution.attempt("the time per row", lambda: _measure_seconds_per_row(execution), 0.0)
    no_shares: dict[str, float] = {}
    shares = execution.attempt("the answers to the seed cases", lambda: _measure_answer_shares(execution), no_shares)
    tried = [trial for trial in trials if trial.walks]
    recommended, walk_distance, step_factor = _recommend(tried, execution.subject, options.walk_distance)
    return ExplorationPlan(
        subject=execution.subject.name,
        walks=options.walks,
        table=_build_table(tried, options, seconds_per_row),
        curve=_build_curve(tried),
        options=recommended,
        walk_distance=walk_distance,
        step_factor=step_factor,
        shares=shares,
        planar=execution.subject.seeds.space.kinds["continuous"] == len(execution.subject.seeds.space) == 2,
        spent=sum(trial.runs for trial in trials),
        unfinished=tuple(execution.unfinished),
        interrupted=execution.counter.interrupted,
    )


def _recommend(
    trials: Sequence[StrategyTrial], subject: SubjectUnderTest, requested_distance: int
) -> tuple[dict[str, Any], int, float]:
    """Return the options to explore with, and the walk distance and step factor that are best for walks."""
    if not trials:
        return {}, requested_distance, 1.0
    chosen, distance = choose_trial(trials)
    recommended: dict[str, Any] = {"strategy": chosen.strategy}
    if chosen.strategy == "random_target":
        walking_trials = [trial for trial in trials if trial.strategy == "random_walk"]
        if not walking_trials:
            return recommended, requested_distance, 1.0
        chosen, distance = choose_trial(walking_trials)
        return recommended, distance, chosen.step_factor
    recommended["walk_distance"] = distance
    if chosen.step_factor != 1:
        features = _scale_steps(subject, chosen.step_factor).seeds.space.features
        recommended["column_steps"] = {f.name: f.step for f in features if isinstance(f, Continuous | Integer)}
    return recommended, distance, chosen.step_factor


def _prepare_trials(options: PlanOptions, execution: Execution[SubjectUnderTest]) -> list[StrategyTrial]:
    """Return one trial per strategy and, if steps can be changed, per size of steps."""
    subject = execution.subject
    has_own_moves = options.moves is not None or not all(move.derived for move in subject.system.moves.values())
    has_numbers = any(feature.numeric for feature in subject.seeds.space.features)
    has_fixed_space = options.space is not None or isinstance(options.data, Space)
    is_scalable = has_numbers and not has_own_moves and not has_fixed_space
    trial_options = replace(
        options,
        walk_distance=max(TRIAL_WALK_DISTANCE, options.walk_distance),
        trial=options.trial_walks,
        data=None,  # the subject has the data: they need not be read again
        target=None,
        seeds=None,
    )
    return [
        _prepare_trial(execution, strategy, factor, trial_options)
        for strategy, explorer in EXPLORERS.items()
        if options.strategy in (strategy, "auto")
        for factor in (STEP_FACTORS if is_scalable and explorer.uses_moves else (1.0,))
    ]


def _prepare_trial(
    execution: Execution[SubjectUnderTest], strategy: str, factor: float, options: PlanOptions
) -> StrategyTrial:
    subject = execution.subject
    trial_subject = subject if factor == 1 else _scale_steps(subject, factor)

    def run(walks: int) -> tuple[Front, float]:
        walk_options = replace(options, strategy=strategy, walks=walks, budget=execution.remaining_budget)
        front = run_exploration(trial_subject, execution.rng, walk_options, execution.drive)
        if front.tally.exhausted:
            raise OutOfBudget("the budget is spent")
        return front, execution.recall(lambda: front.seconds)

    seeds, moves = len(subject.seeds), len(options.move_names or subject.system.moves)
    if strategy == "directed_walk":  # each seed case is used once with every move before any is used again
        executed: float = min(seeds, math.ceil(options.planned_walks / max(1, moves)))
    else:
        starts = options.planned_walks * (2 if strategy == "random_target" else 1)
        executed = seeds * -math.expm1(starts * math.log1p(-1 / seeds)) if seeds > 1 else 1
    seeds_per_walk = executed / max(1, options.planned_walks)
    return StrategyTrial(strategy=strategy, step_factor=factor, run=run, seeds_per_walk=seeds_per_walk)


def _measure_seconds_per_row(execution: Execution[SubjectUnderTest]) -> float:
    """Return the time per additional row in a large batch, without the constant time per query."""
    subject = execution.subject

    def time_rows(rows: int) -> float:
        counter = CallCounter()
        batch = subject.seeds.take(np.resize(np.arange(len(subject.seeds)), rows))
        execution.drive(ask(batch), subject.sut, tally=counter, cache=None, recheck=0)
        return execution.recall(lambda: counter.seconds)

    return max(0.0, time_rows(TIMED_ROWS) - time_rows(TIMED_ROWS // 100)) / TIMED_ROWS


def _build_table(trials: Sequence[StrategyTrial], options: PlanOptions, seconds_per_row: float) -> pd.DataFrame:
    """Return what each strategy is expected to find with the requested options."""
    rows = []
    for trial in trials:
        if trial.step_factor != 1:
            continue
        curve = trial.measure_curve()
        place = min(options.walk_distance, len(curve.distances)) - 1
        pairs, runs = curve.pairs[place] * options.planned_walks, curve.runs[place] * options.planned_walks
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
    return pd.DataFrame(rows, columns=TABLE_COLUMNS).sort_values(
        ["balance", "runs"], ascending=[False, True], kind="stable", ignore_index=True
    )


def _build_curve(trials: Sequence[StrategyTrial]) -> pd.DataFrame:
    """Return capability, cost and balance of all trials."""
    if not trials:
        return pd.DataFrame(columns=CURVE_COLUMNS)
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


def _measure_answer_shares(execution: Execution[SubjectUnderTest]) -> dict[str, float]:
    """Return the share of each answer among some seed cases."""
    seeds = execution.subject.seeds
    outputs = execution.query(seeds.take(thin_rows(len(seeds), MAX_SHARE_SEEDS)), execution.subject.sut)
    values = outputs.take(outputs.ok).values
    if values.dtype.kind == "f" and len(set(values.tolist())) > 20:
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        return {f"below {low:.4g}": 0.25, f"below {middle:.4g}": 0.5, f"below {high:.4g}": 0.75}
    names, counts = np.unique([str(value) for value in values.tolist()], return_counts=True)
    return dict(zip(names.tolist(), (counts / max(1, len(values))).tolist(), strict=True))
