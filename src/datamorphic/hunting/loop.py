"""The loop of a hunt: propose, execute and judge groups, batch by batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from collections.abc import Generator as Steps
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from .._clock import read_clock
from .._estimates import WorkPace
from .._typing import SeedLike
from ..relations.algebra.base import VIOLATED, Mask, Verdicts
from ..relations.algebra.box import Floats
from ..relations.algebra.function import FunctionRelation, GroupAnswers
from ..runs.progress import Progress
from .generator_base import Generator
from .options import DEFAULT_MAX_SECONDS, HuntOptions
from .result import HuntTrial, ViolatingGroup
from .selector_base import Picks, Selector

FIRST_BATCH_GROUPS = 16
BATCH_GROWTH_DIVISOR = 4  # a batch has at most a quarter of the groups so far: few are executed in vain
MAX_BATCH_GROUPS = 65_536
MAX_VIOLATIONS_KEPT = 10_000  # all are counted
LEAVE_BUDGET_OUT = f"leave budget out: the hunt then ends after {DEFAULT_MAX_SECONDS:g} seconds"
MAX_GROUPS_PLOTTED = 4_000  # of the first trial


class HuntQuery(NamedTuple):
    """Inputs to be answered, and the share of the budget that is spent."""

    inputs: Floats
    progress: float


#: yields inputs, is sent the outputs and a mask of the inputs that were answered
HuntSteps = Steps[HuntQuery, tuple[Any, Mask], Any]


class RoundRobin:
    """Proposes groups of several relations in turn, each by its own generator."""

    def __init__(self, generators: list[Generator]) -> None:
        self.generators = generators
        self.relations = tuple(
            generator.relation for generator in generators if isinstance(generator.relation, FunctionRelation)
        )
        self.name = generators[0].name
        self.count = 0

    def propose(self, count: int = 1) -> Picks:
        """Return the next groups, relation after relation."""
        relation_numbers = (self.count + np.arange(count)) % len(self.generators)
        width = max(generator.layout.width for generator in self.generators)
        sources = np.zeros((count, width))
        for number, generator in enumerate(self.generators):
            rows = np.flatnonzero(relation_numbers == number)
            if len(rows):
                sources[rows, : generator.layout.width] = generator.propose(len(rows)).sources
        self.count += count
        return Picks(relation_numbers.astype(np.int64), sources)

    def tell(self, picks: Picks, verdicts: Verdicts, margins: Floats | None = None) -> None:
        """Take the verdicts of proposed groups; these generators do not learn from them."""

    def clone(self, seed: SeedLike) -> RoundRobin:
        """Return a copy at its start, with another seed."""
        rng = np.random.default_rng(seed)
        # One stream per generator. With a shared one, draws would depend on the size of the batches.
        streams = [rng] if len(self.generators) == 1 else rng.spawn(len(self.generators))
        return RoundRobin([generator.clone(stream) for generator, stream in zip(self.generators, streams, strict=True)])


Proposer = Selector | RoundRobin


class HuntMonitor:
    """Shows the progress of a hunt, ends it when its time is over, and refuses one that cannot end.

    The time starts with the first batch that is executed, so that compiling does not count. `recall` makes a run that is
    resumed decide as before.
    """

    def __init__(
        self,
        options: HuntOptions,
        display: Progress,
        measure_seconds: Callable[[], float] = read_clock,
        recall: Callable[[Callable[[], bool]], bool] = lambda measure: measure(),
    ) -> None:
        self.options, self.display = options, display
        self._pace = WorkPace("hunt", {"trials": options.trials, "budget": options.max_groups}, remedy=LEAVE_BUDGET_OUT)
        self._measure_seconds, self._recall = measure_seconds, recall
        self._started_at: float | None = None

    def start_clock(self) -> None:
        """Start to measure the time, if it is not measured yet."""
        if self._started_at is None:
            self._started_at = self._measure_seconds()

    @property
    def share_of_time(self) -> float:
        """The share of the time that is over; 0 if the budget is a number of groups."""
        if self.options.max_seconds is None or self._started_at is None:
            return 0.0
        return (self._measure_seconds() - self._started_at) / self.options.max_seconds

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.options.max_seconds is not None and self._recall(lambda: self.share_of_time >= 1.0)

    def show(self, trial: int, groups: int) -> None:
        """Show how many groups of a trial were executed."""
        trials = self.options.trials
        share = (trial + groups / self.options.max_groups) / trials
        if self.options.max_seconds is None and self._started_at is not None:  # by then all is compiled
            self._pace.note(share)
        text = f"trial {trial + 1:,} of {trials:,}, {groups:,} groups"
        self.display.show(text, min(max(share, self.share_of_time), 1.0))


class JudgedBatch(NamedTuple):
    """The relation and the verdict of each group of a batch, and the violating groups."""

    relations: npt.NDArray[np.int64]
    verdicts: Verdicts
    violations: list[ViolatingGroup]


#: judges the next groups of a trial, as many as it is called with; yields queries
BatchJudge = Callable[[int], Steps[Any, Any, JudgedBatch]]


class Trial:
    """One trial of a hunt: its record, and the loop that goes on until there is enough."""

    def __init__(self, number: int, seed: int, monitor: HuntMonitor, violations: list[ViolatingGroup]) -> None:
        self.number, self.seed, self.monitor, self.options = number, seed, monitor, monitor.options
        self.record, self.violations = HuntTrial(), violations  # those of all trials

    def make_rng(self, *places: int) -> np.random.Generator:
        """Return random numbers of the trial, or of a place in it."""
        return np.random.default_rng([self.seed, self.number, *places])

    @property
    def is_plotted(self) -> bool:
        """Whether the next groups are among those that reports plot."""
        return self.number == 0 and self.record.groups < MAX_GROUPS_PLOTTED

    def run(self, judge: BatchJudge, relation_count: int, budget: int) -> Steps[Any, Any, None]:
        """Hunt until there are enough violations, or the budget of groups or the time is spent."""
        record = self.record
        enough = math.inf if self.options.stop_after is None else self.options.stop_after
        record.counts = np.zeros((relation_count, 4), dtype=np.int64)
        start_time = read_clock()
        while record.groups < budget and not self.monitor.is_over and len(record.violated) < enough:
            self.monitor.show(self.number, record.groups)
            batch = yield from judge(self._choose_batch_size(budget))
            self._record_batch(batch, start_time)
        record.exhausted = len(record.violated) < enough
        record.seconds = read_clock() - start_time

    def _choose_batch_size(self, budget: int) -> int:
        groups, limit = self.record.groups, self.options.batch
        size = min(max(FIRST_BATCH_GROUPS, groups // BATCH_GROWTH_DIVISOR), MAX_BATCH_GROUPS, budget - groups)
        return size if limit is None else min(size, limit)

    def _record_batch(self, batch: JudgedBatch, start_time: float) -> None:
        """Add a batch to the record; groups after the one that ends the trial were executed but do not count."""
        record, stop_after = self.record, self.options.stop_after
        violating = np.flatnonzero(batch.verdicts == VIOLATED)
        counted = len(batch.verdicts)
        if stop_after is not None and len(record.violated) + len(violating) >= stop_after:
            violating = violating[: stop_after - len(record.violated)]
            counted = int(violating[-1]) + 1
        if len(violating) and not record.violated:
            record.first_violation_seconds = read_clock() - start_time
        record.violated += (record.groups + violating + 1).tolist()
        np.add.at(record.counts, (batch.relations[:counted], batch.verdicts[:counted].astype(int)), 1)
        record.groups += counted
        last = record.violated[-1] if record.violated else 0
        for violation in sorted(batch.violations, key=lambda violation: violation.number):
            if violation.number <= last and len(self.violations) < MAX_VIOLATIONS_KEPT:
                self.violations.append(violation)


def judge_proposed(trial: Trial, proposer: Proposer, count: int) -> HuntSteps:
    """Judge the next groups that a proposer chooses."""
    record = trial.record
    proposal_start = read_clock()
    picks = proposer.propose(count)
    record.generation_seconds += read_clock() - proposal_start
    trial.monitor.start_clock()
    verdicts = np.zeros(count, dtype=np.int8)
    margins = np.full(count, np.nan)
    violations: list[ViolatingGroup] = []
    for number in np.unique(picks.relation):
        rows = np.flatnonzero(picks.relation == number)
        relation = proposer.relations[number]
        draws = picks.sources[rows][:, : relation.width]
        judgement = yield from _judge_groups(relation, draws, record.groups / trial.options.max_groups)
        verdicts[rows], margins[rows], inputs, outputs = judgement
        violations += [
            ViolatingGroup(
                trial=trial.number,
                number=int(record.groups + rows[i] + 1),
                relation=int(number),
                inputs=tuple(part[i].copy() for part in inputs),
                outputs=tuple(part[i] for part in outputs),
            )
            for i in np.flatnonzero(verdicts[rows] == VIOLATED)[:MAX_VIOLATIONS_KEPT]
        ]
    proposer.tell(picks, verdicts, margins)
    if trial.is_plotted:
        record.first_batches.append((picks, verdicts))
    return JudgedBatch(picks.relation, verdicts, violations)


def _judge_groups(
    relation: FunctionRelation, draws: Floats, progress: float
) -> Steps[HuntQuery, tuple[Any, Mask], GroupAnswers]:
    """Query the inputs of the groups of a relation, and judge them."""
    steps = relation.query_groups(draws)
    try:
        inputs = next(steps)
        while True:
            inputs = steps.send((yield HuntQuery(inputs, progress)))
    except StopIteration as stop:
        return cast("GroupAnswers", stop.value)
