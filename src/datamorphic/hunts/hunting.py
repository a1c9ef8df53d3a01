"""The loop of a hunt: groups are proposed, executed and judged, batch by batch."""

from __future__ import annotations

import time
from collections.abc import Generator as Steps
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..groups.base import Generator
from ..groups.selection import Picks, Selector
from ..relations.base import VIOLATED, Mask, Verdicts
from ..relations.boxes import Floats
from ..relations.numeric import FunctionRelation

FIRST, SHARE, MOST = 16, 4, 65_536  # groups at once: to begin with; a share of what was done; at most
KEPT = 10_000  # violating groups that are kept; all are counted
SHOWN = 4_000  # groups of the first trial whose sources are kept, for the picture


class Ask(NamedTuple):
    """Inputs to be answered, and how much of the budget is done."""

    inputs: Floats
    done: float


#: asks for inputs, is sent answers and which of them there are
Asking = Steps[Ask, tuple[Any, Mask], Any]


class Violation(NamedTuple):
    """A group that violates its relation: its number in its trial, its inputs and what was answered to them."""

    trial: int
    number: int
    relation: int
    inputs: tuple[Floats, ...]
    outputs: tuple[Any, ...]


@dataclass
class Trial:
    """What became of one trial."""

    groups: int = 0
    violated: list[int] = field(default_factory=list)  # the numbers of violating groups, from 1
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros((1, 4), dtype=np.int64))
    generating: float = 0.0  # seconds
    seconds: float = 0.0
    first_after: float = float("nan")  # seconds until the first violation
    calls: int = 0
    exhausted: bool = False
    shown: list[tuple[Picks, Verdicts]] = field(
        default_factory=list, repr=False
    )  # the first groups of the first trial


class Turns:
    """Several relations in turn, each with a generator of its own."""

    def __init__(self, generators: list[Generator]) -> None:
        self.generators = generators
        self.relations = tuple(each.relation for each in generators if isinstance(each.relation, FunctionRelation))
        self.name = generators[0].name
        self.count = 0

    def propose(self, count: int = 1) -> Picks:
        """Return the next groups, relation after relation."""
        which = (self.count + np.arange(count)) % len(self.generators)
        width = max(each.layout.width for each in self.generators)
        made = np.zeros((count, width))
        for number, each in enumerate(self.generators):
            rows = np.flatnonzero(which == number)
            if len(rows):
                made[rows, : each.layout.width] = each.propose(len(rows)).sources
        self.count += count
        return Picks(which.astype(np.int64), made)

    def tell(self, picks: Picks, verdicts: Verdicts, room: Floats | None = None) -> None:
        """Be told what became of groups."""

    def again(self, seed: Any) -> Turns:
        """Return the same at its start, with another seed."""
        rng = np.random.default_rng(seed)
        # a stream each, or what one draws would depend on how many groups another makes at once
        streams = [rng] if len(self.generators) == 1 else rng.spawn(len(self.generators))
        return Turns([each.again(stream) for each, stream in zip(self.generators, streams, strict=True)])


Proposing = Selector | Turns


def hunting(
    proposing: Proposing,
    relations: tuple[FunctionRelation, ...],
    trial: int,
    budget: int,
    stop_after: int | None,
    batch: int | None,
    kept: list[Violation],
    record: Trial,
) -> Asking:
    """Hunt until enough groups are violated or the budget is spent; what becomes of it is written to `record`."""
    record.counts = np.zeros((len(relations), 4), dtype=np.int64)
    began = time.perf_counter()
    while record.groups < budget and (stop_after is None or len(record.violated) < stop_after):
        count = min(max(FIRST, record.groups // SHARE), MOST, budget - record.groups)
        if batch is not None:
            count = min(count, batch)
        at = time.perf_counter()
        picks = proposing.propose(count)
        record.generating += time.perf_counter() - at
        verdicts = np.zeros(count, dtype=np.int8)
        room = np.full(count, np.nan)
        found: list[tuple[int, Violation]] = []
        for number in np.unique(picks.relation):
            rows = np.flatnonzero(picks.relation == number)
            relation = relations[number]
            drawn = picks.sources[rows][:, : relation.width]
            judged = yield from _judged(relation, drawn, record, budget)
            verdicts[rows], room[rows] = judged.verdicts, judged.room
            found += _found(judged, rows, trial, record.groups, int(number))
        proposing.tell(picks, verdicts, room)
        if trial == 0 and record.groups < SHOWN:
            record.shown.append((picks, verdicts))
        _write(record, picks, verdicts, began, stop_after)
        last = record.violated[-1] if record.violated else 0
        for _, violation in sorted(found, key=lambda each: each[0]):
            if violation.number <= last and len(kept) < KEPT:
                kept.append(violation)
    record.exhausted = stop_after is None or len(record.violated) < stop_after
    record.seconds = time.perf_counter() - began


class _Judged(NamedTuple):
    verdicts: Verdicts
    room: Floats
    inputs: list[Floats]
    outputs: list[Any]


def _judged(
    relation: FunctionRelation, drawn: Floats, record: Trial, budget: int
) -> Steps[Ask, tuple[Any, Mask], _Judged]:
    """Have the groups of a relation executed, and judge them."""
    done = record.groups / budget
    sources = relation.source_inputs(drawn)
    answers = yield from _answered(sources, done)
    outputs, there = answers
    follow = relation.follow_inputs(relation.follow(drawn, outputs))
    more, further = yield from _answered(follow, done)
    inputs, outputs = [*sources, *follow], [*outputs, *more]
    verdicts, room = relation.judge(inputs, outputs, there & further)
    return _Judged(verdicts, room, inputs, outputs)


def _answered(inputs: list[Floats], done: float) -> Steps[Ask, tuple[Any, Mask], tuple[list[Any], Mask]]:
    """Ask for all inputs at once where they have as many columns; return the answers part by part."""
    rows = len(inputs[0])
    if len({each.shape[1] for each in inputs}) == 1 and len(inputs) > 1:
        values, there = yield Ask(np.concatenate(inputs), done)
        parts = [values[i * rows : (i + 1) * rows] for i in range(len(inputs))]
        return parts, np.asarray(there.reshape(len(inputs), rows).all(axis=0))
    parts, all_there = [], np.ones(rows, dtype=bool)
    for each in inputs:
        values, there = yield Ask(each, done)
        parts.append(values)
        all_there &= there
    return parts, all_there


def _found(
    judged: _Judged, rows: npt.NDArray[np.intp], trial: int, before: int, relation: int
) -> list[tuple[int, Violation]]:
    found = []
    for i in np.flatnonzero(judged.verdicts == VIOLATED)[:KEPT]:
        group = Violation(
            trial,
            before + int(rows[i]) + 1,
            relation,
            tuple(each[i].copy() for each in judged.inputs),
            tuple(each[i] for each in judged.outputs),
        )
        found.append((group.number, group))
    return found


def _write(record: Trial, picks: Picks, verdicts: Verdicts, began: float, stop_after: int | None) -> None:
    """Write what became of a batch; groups after the one that ends the hunt were executed, and do not count."""
    broken = np.flatnonzero(verdicts == VIOLATED)
    used = len(verdicts)
    if stop_after is not None and len(record.violated) + len(broken) >= stop_after:
        broken = broken[: stop_after - len(record.violated)]
        used = int(broken[-1]) + 1
    if len(broken) and not record.violated:
        record.first_after = time.perf_counter() - began
    record.violated += (record.groups + broken + 1).tolist()
    np.add.at(record.counts, (picks.relation[:used], verdicts[:used].astype(int)), 1)
    record.groups += used
