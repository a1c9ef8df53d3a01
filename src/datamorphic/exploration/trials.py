"""Trial walks: what each strategy finds and costs, for every walk distance and several sizes of steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..space.features import Codes
from .front import Front

MIN_CAPABILITY_SHARE = 0.53  # of the best capability: a half, and a margin for the error of the trial
MIN_RACE_SHARE = 0.35  # the same after a few walks, whose error is larger
#: of the best capability: if the choice depends on where between them the limit is, it needs more walks
DOUBTFUL_SHARES = (0.45, 0.6)
MIN_BALANCE_SHARE = 0.9  # two choices are about as good if their balances differ by less
EXTRA_ROUND_SHARE, MAX_EXTRA_ROUNDS = 0.5, 6
ROUND_SHARES = (0.25, 0.25, 0.5)  # of the walks of a trial; what is clearly worse is left out of later rounds
ELIMINATION_DEVIATIONS = 2.0  # by which the balance of a trial must differ to be clearly worse


@dataclass(frozen=True, kw_only=True)
class TrialCurve:
    """Capability and cost of a strategy by walk distance; one entry, of distance 0, for random target."""

    distances: npt.NDArray[np.integer[Any]]
    capability: Codes
    runs: Codes  # per walk, with the seed cases
    pairs: Codes  # per walk

    @property
    def cost(self) -> Codes:
        """The number of runs per new test case; infinite without a pair."""
        return np.divide(self.runs, 2 * self.pairs, out=np.full(len(self.pairs), np.inf), where=self.pairs > 0)

    @property
    def balance(self) -> Codes:
        """The product of capability and capability per cost."""
        return self.capability**2 / self.cost


@dataclass(kw_only=True, eq=False)
class StrategyTrial:
    """Trial walks of one strategy with one size of steps."""

    strategy: str
    step_factor: float  # a multiple of the steps of the space
    run: Callable[[int], tuple[Front, float]]  # makes so many walks, and says how long they took
    seeds_per_walk: float  # seed cases that are executed per walk of the planned exploration
    fronts: list[Front] = field(default_factory=list)
    seconds: float = 0.0  # of all walks so far

    @property
    def walks(self) -> int:
        """The number of walks so far."""
        return sum(front.walks for front in self.fronts)

    @property
    def runs(self) -> int:
        """The number of runs so far."""
        return sum(front.runs for front in self.fronts)

    def make_walks(self, count: int) -> None:
        """Make some more walks."""
        front, seconds = self.run(count)
        self.fronts.append(front)
        self.seconds += seconds

    def measure_curve(self) -> TrialCurve:
        """Return capability and cost for every maximum distance up to that of the trial.

        A walk ends where it meets a border, so the first steps of a long walk are a short walk.
        """
        longest = 0 if self.strategy == "random_target" else int(self.fronts[0].settings["walk_distance"])
        met, pairs, narrowing, ended = np.zeros((4, longest + 1))
        for front in self.fronts:
            pair_counts = np.bincount(front.walk, minlength=len(front.walk_runs))
            narrowing_runs = np.bincount(front.walk, front.pair_runs, len(front.walk_runs))
            steps = (front.walk_runs - narrowing_runs).astype(np.intp)  # random target takes none
            for sums, weights in ((met, pair_counts > 0), (pairs, pair_counts), (narrowing, narrowing_runs)):
                sums += np.bincount(steps, weights, longest + 1)
            ended += np.bincount(steps, minlength=longest + 1)
        # Step k is taken by the walks that did not end before it.
        steps_taken = np.cumsum(np.concatenate([[0], self.walks - np.cumsum(ended)[:-1]]))
        first = min(1, longest)
        return TrialCurve(
            distances=np.arange(first, longest + 1),
            capability=np.cumsum(met)[first:] / self.walks,
            runs=self.seeds_per_walk + (steps_taken + np.cumsum(narrowing))[first:] / self.walks,
            pairs=np.cumsum(pairs)[first:] / self.walks,
        )


def race(trials: Sequence[StrategyTrial], walks: int) -> None:
    """Make the walks of all trials in rounds, and stop those that are clearly worse than the best.

    Random walks are also compared among themselves: their distance is recommended in any case. More walks are made if the
    choice depends on whether a trial has half of the best capability, and its walks do not tell.
    """
    running = list(trials)
    for share in ROUND_SHARES:
        for trial in running:
            trial.make_walks(max(1, round(share * walks)))
        walking = [trial for trial in running if trial.strategy == "random_walk"]
        contenders = [
            *_select_contenders(running, MIN_RACE_SHARE),
            *_select_contenders(running),
            *(_select_contenders(walking) if walking else ()),
        ]
        running = [trial for trial in running if trial in contenders]
    for _ in range(MAX_EXTRA_ROUNDS):
        for trial in _find_doubtful_trials(trials):
            trial.make_walks(max(1, round(EXTRA_ROUND_SHARE * walks)))


def choose_trial(trials: Sequence[StrategyTrial]) -> tuple[StrategyTrial, int]:
    """Return the trial with the best balance of capability and cost, and the distance at which it has it.

    Choices with too little capability are ignored.
    """
    best, balance = _find_best(trials)
    return trials[best], int(trials[best].measure_curve().distances[np.argmax(balance)])


def _find_best(trials: Sequence[StrategyTrial], capability_share: float = MIN_CAPABILITY_SHARE) -> tuple[int, Codes]:
    """Return the place of the trial with the best balance, and its balance by distance."""
    balances = _measure_balances(trials, capability_share)
    best = int(np.argmax([balance.max() for balance in balances]))
    return best, balances[best]


def _find_doubtful_trials(trials: Sequence[StrategyTrial]) -> list[StrategyTrial]:
    """Return the trials of which more walks are needed to choose one; none if the choice is clear."""
    (first, balance), (second, lower_balance) = (_find_best(trials, share) for share in DOUBTFUL_SHARES)
    if lower_balance.max() >= MIN_BALANCE_SHARE * balance.max():
        return []
    most_capable = int(np.argmax([trial.measure_curve().capability.max() for trial in trials]))
    return [trials[place] for place in sorted({first, second, most_capable})]


def _measure_balances(trials: Sequence[StrategyTrial], capability_share: float) -> list[Codes]:
    """Return the balance of every trial by distance; 0 where its capability is too low."""
    curves = [trial.measure_curve() for trial in trials]
    enough = capability_share * max(curve.capability.max() for curve in curves)
    return [np.where(curve.capability >= enough, curve.balance, 0.0) for curve in curves]


def _select_contenders(
    trials: Sequence[StrategyTrial], capability_share: float = MIN_CAPABILITY_SHARE
) -> list[StrategyTrial]:
    """Return the trials that may be the best, as far as their walks tell.

    The balance is proportional to the third power of the share of walks that find a pair, apart from the runs.
    """
    tops = np.array([balance.max() for balance in _measure_balances(trials, capability_share)])
    if not tops.any():
        return list(trials)
    margins = []
    for trial in trials:
        share = (trial.measure_curve().capability.max() * trial.walks + 1) / (trial.walks + 2)
        margins.append(ELIMINATION_DEVIATIONS * 3 * math.sqrt((1 - share) / (share * trial.walks)))
    highest, lowest = tops * np.exp(margins), tops * np.exp(-np.array(margins))
    return [trial for trial, high in zip(trials, highest, strict=True) if high >= lowest.max()]
