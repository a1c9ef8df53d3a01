"""The loop of a hunt: groups are proposed, executed and judged, batch by batch."""

from __future__ import annotations

import time
from collections.abc import Generator as Steps
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..relations.base import VIOLATED, Mask, Verdicts
from ..relations.box import Floats
from ..relations.function import FunctionRelation
from .generator_base import Generator
from .selector_base import Picks, Selector

FIRST_BATCH_GROUPS, BATCH_GROWTH_DIVISOR, MAX_BATCH_GROUPS = (
    16,
    4,
    65_536,
)  # groups at once: to begin with; a share of what was done; at most
MAX_VIOLATIONS_KEPT = 10_000  # violating groups that are kept; all are counted
MAX_GROUPS_PLOTTED = 4_000  # groups of the first trial whose sources are kept, for the picture


class HuntQuery(NamedTuple):
    """Inputs to be answered, and how much of the budget is done."""

    inputs: Floats
    progress: float


#: asks for inputs, is sent answers and which of them there are
HuntSteps = Steps[HuntQuery, tuple[Any, Mask], Any]


class ViolatingGroup(NamedTuple):
    """A group that violates its relation: its number in its trial, its inputs and what was answered to them."""

    trial: int
    number: int
    relation: int
    inputs: tuple[Floats, ...]
    outputs: tuple[Any, ...]


@dataclass
class HuntTrial:
    """What became of one trial."""

    groups: int = 0
    violated: list[int] = field(default_factory=list)  # the numbers of violating groups, from 1
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros((1, 4), dtype=np.int64))
    generation_seconds: float = 0.0  # seconds
    seconds: float = 0.0
    first_violation_seconds: float = float("nan")  # seconds until the first violation
    calls: int = 0
    exhausted: bool = False
    first_batches: list[tuple[Picks, Verdicts]] = field(
        default_factory=list, repr=False
    )  # the first groups of the first trial


class RoundRobin:
    """Several relations in turn, each with a generator of its own."""

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
        """Be told what became of groups."""

    def clone(self, seed: Any) -> RoundRobin:
        """Return the same at its start, with another seed."""
        rng = np.random.default_rng(seed)
        # a stream each, or what one draws would depend on how many groups another makes at once
        streams = [rng] if len(self.generators) == 1 else rng.spawn(len(self.generators))
        return RoundRobin(
            [generator.clone(stream) for generator, stream in zip(self.generators, streams, strict=True)]
        )


Proposer = Selector | RoundRobin


def run_trial(
    proposer: Proposer,
    relations: tuple[FunctionRelation, ...],
    trial: int,
    budget: int,
    stop_after: int | None,
    batch: int | None,
    violations: list[ViolatingGroup],
    record: HuntTrial,
) -> HuntSteps:
    """Hunt until enough groups are violated or the budget is spent; what becomes of it is written to `record`."""
    record.counts = np.zeros((len(relations), 4), dtype=np.int64)
    start_time = time.perf_counter()
    while record.groups < budget and (stop_after is None or len(record.violated) < stop_after):
        count = min(
            max(FIRST_BATCH_GROUPS, record.groups // BATCH_GROWTH_DIVISOR),
            MAX_BATCH_GROUPS,
            budget - record.groups,
        )
        if batch is not None:
            count = min(count, batch)
        proposal_start = time.perf_counter()
        picks = proposer.propose(count)
        record.generation_seconds += time.perf_counter() - proposal_start
        verdicts = np.zeros(count, dtype=np.int8)
        margins = np.full(count, np.nan)
        batch_violations: list[tuple[int, ViolatingGroup]] = []
        for number in np.unique(picks.relation):
            rows = np.flatnonzero(picks.relation == number)
            relation = relations[number]
            draws = picks.sources[rows][:, : relation.width]
            judgement = yield from _judge_groups(relation, draws, record, budget)
            verdicts[rows], margins[rows] = judgement.verdicts, judgement.margins
            batch_violations += _collect_violations(judgement, rows, trial, record.groups, int(number))
        proposer.tell(picks, verdicts, margins)
        if trial == 0 and record.groups < MAX_GROUPS_PLOTTED:
            record.first_batches.append((picks, verdicts))
        _record_batch(record, picks, verdicts, start_time, stop_after)
        last = record.violated[-1] if record.violated else 0
        for _, violation in sorted(batch_violations, key=lambda item: item[0]):
            if violation.number <= last and len(violations) < MAX_VIOLATIONS_KEPT:
                violations.append(violation)
    record.exhausted = stop_after is None or len(record.violated) < stop_after
    record.seconds = time.perf_counter() - start_time


class _Judgement(NamedTuple):
    verdicts: Verdicts
    margins: Floats
    inputs: list[Floats]
    outputs: list[Any]


def _judge_groups(
    relation: FunctionRelation, draws: Floats, record: HuntTrial, budget: int
) -> Steps[HuntQuery, tuple[Any, Mask], _Judgement]:
    """Have the groups of a relation executed, and judge them."""
    progress = record.groups / budget
    sources = relation.source_inputs(draws)
    answers = yield from _query_inputs(sources, progress)
    outputs, sources_answered = answers
    follow_ups = relation.follow_inputs(relation.follow(draws, outputs))
    follow_up_outputs, follow_ups_answered = yield from _query_inputs(follow_ups, progress)
    inputs, outputs = [*sources, *follow_ups], [*outputs, *follow_up_outputs]
    verdicts, margins = relation.judge(inputs, outputs, sources_answered & follow_ups_answered)
    return _Judgement(verdicts, margins, inputs, outputs)


def _query_inputs(
    inputs: list[Floats], progress: float
) -> Steps[HuntQuery, tuple[Any, Mask], tuple[list[Any], Mask]]:
    """Ask for all inputs at once where they have as many columns; return the answers part by part."""
    rows = len(inputs[0])
    if len({part.shape[1] for part in inputs}) == 1 and len(inputs) > 1:
        values, answered = yield HuntQuery(np.concatenate(inputs), progress)
        parts = [values[i * rows : (i + 1) * rows] for i in range(len(inputs))]
        return parts, np.asarray(answered.reshape(len(inputs), rows).all(axis=0))
    parts, all_answered = [], np.ones(rows, dtype=bool)
    for part in inputs:
        values, answered = yield HuntQuery(part, progress)
        parts.append(values)
        all_answered &= answered
    return parts, all_answered


def _collect_violations(
    judgement: _Judgement, rows: npt.NDArray[np.intp], trial: int, groups_before: int, relation: int
) -> list[tuple[int, ViolatingGroup]]:
    violations = []
    for i in np.flatnonzero(judgement.verdicts == VIOLATED)[:MAX_VIOLATIONS_KEPT]:
        group = ViolatingGroup(
            trial,
            groups_before + int(rows[i]) + 1,
            relation,
            tuple(part[i].copy() for part in judgement.inputs),
            tuple(part[i] for part in judgement.outputs),
        )
        violations.append((group.number, group))
    return violations


def _record_batch(
    record: HuntTrial, picks: Picks, verdicts: Verdicts, start_time: float, stop_after: int | None
) -> None:
    """Write what became of a batch; groups after the one that ends the hunt were executed, and do not count."""
    violating = np.flatnonzero(verdicts == VIOLATED)
    counted = len(verdicts)
    if stop_after is not None and len(record.violated) + len(violating) >= stop_after:
        violating = violating[: stop_after - len(record.violated)]
        counted = int(violating[-1]) + 1
    if len(violating) and not record.violated:
        record.first_violation_seconds = time.perf_counter() - start_time
    record.violated += (record.groups + violating + 1).tolist()
    np.add.at(record.counts, (picks.relation[:counted], verdicts[:counted].astype(int)), 1)
    record.groups += counted
