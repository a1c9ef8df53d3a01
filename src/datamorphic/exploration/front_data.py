"""`FrontData`: the border pairs that an exploration found, and the figures that follow from them."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .._estimates import refuse_many_rows
from .._lazy import pd
from .._stats import compute_wilson_interval
from .._text import pluralise
from .._validation import check_types, is_number, reject, validate_integer, validate_seed
from ..errors import Interrupted, SystemFailed
from ..runs.driver import CallCounter, drive
from ..runs.flow import Flow
from ..space.features import Codes
from ..space.neighbours import measure_nearest
from ..space.outputs import Outputs, Status
from ..space.points import Points
from ..space.space import Space
from ..systems.base import Executor
from .borders import Border, SideIndex, border_from_name, name_borders
from .changes import Answers, Rows, thin_rows

FlowResult = TypeVar("FlowResult")
EXTRA_CALLS_DIVISOR = 4  # extra calls: at most the calls of the exploration divided by this
MIN_EXTRA_CALLS = 100  # extra calls that are always allowed
MAX_PLAUSIBILITY_DISTANCES = 1_000_000_000  # with more distances, the plausibility of some pairs is not computed


@dataclass(frozen=True)
class FrontEstimate:
    """The expected yield and cost of a number of walks."""

    walks: int
    pairs: float
    runs: float
    seconds: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FrontData:
    """The border pairs of an exploration and what finding them cost.

    `Front` documents the attributes and adds what can be done with them. Modules that work on fronts take this class,
    so that `Front` can import them.
    """

    subject: str
    strategy: str
    a: Points
    b: Points
    a_output: Answers
    b_output: Answers
    kinds: Sequence[str]
    distance: Codes
    part: Rows
    walk: Rows
    pair_runs: Rows
    walked_by: Answers
    walk_runs: Rows
    seeds: Points
    seeds_used: int
    calls: int
    seconds: float
    lost: int = 0
    slopes: int = 0
    unfinished: int = 0
    exhausted: bool = False
    choices: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    tally: CallCounter = field(default_factory=CallCounter)  # counts model calls, failures and repeated queries
    sut: Executor | None = None  # the system, where it is attached
    seed_answers: Outputs | None = None
    seed_leads: npt.NDArray[np.float64] | None = None  # how far these answers were ahead in the scores
    walk_starts: Rows | None = None

    def __len__(self) -> int:
        return len(self.distance)

    def __repr__(self) -> str:
        yield_text = f"{pluralise(len(self), 'pair')} from {pluralise(self.walks, 'walk')}"
        return f"{type(self).__name__}({self.subject}, {self.strategy}: {yield_text}, {self.runs:,} runs)"

    @property
    def space(self) -> Space:
        """The space of the cases."""
        return self.a.space

    @property
    def incidents(self) -> pd.DataFrame:
        """The inputs without a valid answer, with the reason."""
        return self.tally.incidents

    @property
    def interrupted(self) -> bool:
        """Whether the user ended the run before it was complete."""
        return self.tally.interrupted

    # -- pairs -------------------------------------------------------------------------------------------------

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """The pairs as a frame: a.<feature>, b.<feature>, a_output, b_output, distance, and how each was found."""
        a, b = self.a.frame.add_prefix("a."), self.b.frame.add_prefix("b.")
        names = ("a_output", "b_output", "distance", "plausibility", "borders", "walk", "walked_by")
        rest = pd.DataFrame({name: getattr(self, name) for name in names})
        return pd.concat([a, b, rest.rename(columns={"borders": "border", "walked_by": "strategy"})], axis=1)

    @cached_property
    def plausibility(self) -> Codes:
        """The distance of each pair from the nearest real row, numbers divided by their ranges; 0 is a real row.

        NaN for the pairs that are not in `measured`.
        """
        distances = np.full(len(self), np.nan)
        rows = self.measured
        codes, inverse = np.unique(self.a.codes[rows], axis=0, return_inverse=True)
        distances[rows] = measure_nearest(self.space, codes, self.seeds.codes)[inverse.ravel()]
        return distances

    @property
    def measured(self) -> Rows:
        """The numbers of the pairs whose plausibility is computed: all, or as many as time allows, evenly chosen."""
        all_pairs = self.space.smooth or len(self) * len(self.seeds) <= MAX_PLAUSIBILITY_DISTANCES
        return thin_rows(len(self), len(self) if all_pairs else MAX_PLAUSIBILITY_DISTANCES // len(self.seeds))

    @cached_property
    def borders(self) -> list[str]:
        """The names of the two classes that meet at each pair.

        These are `kinds`, except that the answers 1 and "1" have different names where both occur.
        """
        border = self.restore_border()
        kinds, _ = SideIndex(border).number_kinds(*self.read_states(border))
        names = name_borders(kinds, self.kinds, list(zip(self.a_output, self.b_output, strict=True)))
        return [names[kind] for kind in kinds.tolist()]

    @cached_property
    def border_counts(self) -> pd.Series[int]:
        """The number of pairs per border, largest first."""
        return pd.Series(self.borders, dtype=object).value_counts()

    def restore_border(self) -> Border:
        """Return a border of the kind that the pairs were found with."""
        return border_from_name(str(self.settings["border_kind"]), self.settings.get("border_value"))

    def read_states(self, border: Border) -> tuple[Codes, Codes, Rows]:
        """Return the answers at both ends as numbers of the border, and the label that each pair is about."""
        a, b = (border.read(Outputs.of(values)) for values in (self.a_output, self.b_output))
        return a, b, self.part

    # -- yield and cost ----------------------------------------------------------------------------------------

    @property
    def walks(self) -> int:
        """The number of finished walks."""
        return len(self.walk_runs) - self.unfinished

    @property
    def mutants(self) -> int:
        """The number of new test cases: two per pair."""
        return 2 * len(self)

    @property
    def runs(self) -> int:
        """The number of test cases executed, each counted once: used seed cases and generated cases."""
        return self.seeds_used + int(self.walk_runs.sum())

    @property
    def capability(self) -> float:
        """The share of walks that found a pair."""
        return len(np.unique(self.walk)) / self.walks if self.walks else 0.0

    @property
    def cost(self) -> float:
        """The number of runs per new test case; infinite without a pair."""
        return self.runs / self.mutants if len(self) else math.inf

    @check_types
    def capability_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the Wilson interval of the capability."""
        _validate_confidence(confidence, "Front.capability_interval")
        return compute_wilson_interval(len(np.unique(self.walk)), self.walks, confidence)

    @check_types
    def cost_interval(self, confidence: float = 0.95, samples: int = 2000, seed: int = 0) -> tuple[float, float]:
        """Return the bootstrap interval of the cost, from resampled walks and a fixed number of seed cases."""
        _validate_confidence(confidence, "Front.cost_interval")
        validate_integer("samples", "Front.cost_interval", samples, low=1)
        validate_seed("seed", "Front.cost_interval", seed)
        if not len(self):
            return math.inf, math.inf
        walk_count = len(self.walk_runs)
        pairs_per_walk = np.bincount(self.walk, minlength=walk_count)
        # walks with the same numbers of runs and pairs are exchangeable: drawing their counts is drawing walks
        walk_types, counts = np.unique(np.column_stack([self.walk_runs, pairs_per_walk]), axis=0, return_counts=True)
        refuse_many_rows("Front.cost_interval", "samples", samples, len(counts))
        draws = np.random.default_rng(seed).multinomial(walk_count, counts / walk_count, size=samples)
        runs, mutants = draws @ walk_types[:, 0] + self.seeds_used, 2 * (draws @ walk_types[:, 1])
        quantiles = [0.5 - confidence / 2, 0.5 + confidence / 2]
        with np.errstate(divide="ignore"):
            low, high = np.quantile(runs / mutants, quantiles, method="nearest")
        return float(low), float(high)

    @check_types
    def estimate(self, walks: int) -> FrontEstimate:
        """Return the expected yield and cost of `walks` walks of the same kind."""
        validate_integer("walks", "Front.estimate", walks)
        share, pool = walks / self.walks if self.walks else 0.0, len(self.seeds)
        # the number of different seed cases that so many starts use, extrapolated from those used here
        log_unused_share = math.log(1 - min(self.seeds_used / pool, 1 - 0.5 / pool)) if pool else 0.0
        if self.strategy == "directed_walk":  # each seed case is used once before any is used again
            seeds = min(pool, self.seeds_used * share)
        else:
            seeds = pool * -math.expm1(log_unused_share * share)
        runs = seeds + float(self.walk_runs.sum()) * share
        seconds = self.seconds * runs / self.runs if self.runs else 0.0
        return FrontEstimate(walks, len(self) * share, runs, seconds)


def count_borders(front: FrontData) -> dict[str, int]:
    """Return the number of pairs per border, largest first, as `FrontData.border_counts` does with pandas."""
    return dict(Counter(front.borders).most_common())


def _validate_confidence(value: float, owner: str) -> None:
    if not is_number(value) or not 0 < value < 1:
        reject("confidence", owner, "a number between 0 and 1, neither included", value)


def get_extra_call_limit(front: FrontData, limit: int) -> int:
    """Return the number of rows beyond its exploration to query the system with, at most `limit`.

    It is 0 where no system is attached, or where the system hung or died before.
    """
    status_counts = front.tally.health.status_counts
    if front.sut is None or Status.TIMEOUT in status_counts or Status.DIED in status_counts:
        return 0
    return min(limit, max(MIN_EXTRA_CALLS, front.calls // EXTRA_CALLS_DIVISOR))


def query_quietly(front: FrontData, flow: Flow[FlowResult], system: Executor | None = None) -> FlowResult | None:
    """Run a flow on the system of a front, or on a variant of it, and return its result, or None if the system fails.

    The calls do not count as calls of the front. What the system prints goes to stderr. A system that was explored with a
    time-out runs in a process of its own here, too.
    """
    assert front.sut is not None
    try:
        with redirect_stdout(sys.stderr):
            return drive(flow, system or front.sut, progress=False, recheck=0, timeout=front.tally.timeout)
    except (SystemFailed, Interrupted):
        return None
