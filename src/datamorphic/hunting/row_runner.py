"""Hunt violations among rows of data, for cases that cannot be drawn, such as texts, queries and routes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._clock import read_clock
from ..errors import ArgumentError
from ..relations.base import INAPPLICABLE, VIOLATED, JudgedGroups, Relation
from ..relations.change import ChangeRelation
from ..relations.image import BlockRelation
from ..relations.patterns.relation import PatternRelation
from ..runs.flow import Flow
from ..space.points import Batch, Points
from ..systems.base import Executor
from .loop import MAX_GROUPS_PLOTTED, MAX_VIOLATIONS_KEPT, HuntMonitor, choose_batch_size, keep_violations, record_batch
from .options import HuntOptions
from .result import HuntTrial, ViolatingGroup
from .selector_base import Picks

#: the name of this way to choose sources, in place of that of a generator
ROWS = "rows"


def uses_rows(relations: Sequence[object], options: HuntOptions, inputs: Points | None) -> bool:
    """Return whether sources are rows of the data: on request, for texts and images, and if a relation needs it.

    Relations made of patterns, and those that try all values of a column, judge cases that cannot be drawn.
    """
    if isinstance(options.generator, str) and options.generator == ROWS:
        if inputs is None:
            raise ArgumentError("The generator 'rows' takes sources from data. Give them: hunt(..., data=...).")
        return True
    if inputs is None or options.generator is not None or options.selector is not None:
        return False
    has_text = any(feature.kind == "text" for feature in inputs.space.features)
    return has_text or any(_needs_rows(relation) for relation in relations)


def _needs_rows(relation: object) -> bool:
    if isinstance(relation, PatternRelation | BlockRelation):
        return True
    return isinstance(relation, Relation) and not relation.whole and type(relation).follow_up is Relation.follow_up


def prepare_executor(relations: Sequence[object], executor: Executor) -> Executor:
    """Return the system as the relations query it: with probabilities, if one of them compares those."""
    changes = [relation for relation in relations if isinstance(relation, ChangeRelation)]
    return changes[0].system(executor) if changes else executor


def fit_relations(relations: Sequence[Any], executor: Executor, inputs: Points) -> tuple[Relation, ...]:
    """Return relations with what they need to know of the system; raise if one cannot be judged row by row."""
    fitted_relations = []
    for relation in relations:
        if not isinstance(relation, Relation) or relation.whole:
            raise ArgumentError(
                f"The relation {getattr(relation, 'name', relation)!r} is not about rows of data. Choose another "
                "generator than 'rows', or check it with dm.check."
            )
        if reason := relation.find_obstacle(executor, inputs):
            raise ArgumentError(f"The relation {relation.name!r} does not apply to {executor.name}: {reason}")
        fitted_relations.append(relation.fitted_to(executor, inputs))
    return tuple(fitted_relations)


def run_row_trial(
    relations: Sequence[Relation],
    inputs: Points,
    trial: int,
    options: HuntOptions,
    violations: list[ViolatingGroup],
    record: HuntTrial,
    monitor: HuntMonitor,
) -> Flow[None]:
    """Hunt in a random order of the rows, relations in turn, until every row was tried with every relation.

    Outcomes are written to `record` batch by batch, and violating groups appended to `violations`.
    """
    order = np.random.default_rng([options.seed, trial]).permutation(len(inputs))
    budget, stop_after = min(options.max_groups, len(order) * len(relations)), options.stop_after
    record.counts = np.zeros((len(relations), 4), dtype=np.int64)
    start_time = read_clock()
    monitor.start_clock()
    while record.groups < budget and not monitor.is_over and (stop_after is None or len(record.violated) < stop_after):
        monitor.show(trial, record.groups)
        count = choose_batch_size(record.groups, budget, options.batch)
        groups = record.groups + np.arange(count)
        relation_numbers, rows = groups % len(relations), order[groups // len(relations)]
        verdicts = np.full(count, INAPPLICABLE, dtype=np.int8)  # of the rows that a relation leaves out
        batch_violations: list[ViolatingGroup] = []
        for number in np.unique(relation_numbers):
            places = np.flatnonzero(relation_numbers == number)
            rng = np.random.default_rng([options.seed, trial, int(groups[0]), int(number)])
            judged = yield from relations[number].check(inputs.take(rows[places]), rng)
            places = places[judged.rows]
            verdicts[places] = judged.verdicts
            if trial == 0 and record.groups < MAX_GROUPS_PLOTTED:
                record.first_rows.append((int(number), groups[places] + 1, judged))
            batch_violations += [
                _to_violating_group(judged, i, trial, int(groups[places[i]]) + 1, int(number))
                for i in np.flatnonzero(judged.verdicts == VIOLATED)[:MAX_VIOLATIONS_KEPT]
            ]
        record_batch(record, Picks(relation_numbers, np.zeros((count, 0))), verdicts, start_time, stop_after)
        keep_violations(violations, batch_violations, record)
    record.exhausted = stop_after is None or len(record.violated) < stop_after
    record.seconds = read_clock() - start_time


def _to_violating_group(judged: JudgedGroups, place: int, trial: int, number: int, relation: int) -> ViolatingGroup:
    """Return a group with the values of its rows; follow-ups may lie outside the space, so there are no codes."""
    pairs = [(judged.source, judged.before), (judged.follow_up, judged.after), *judged.further]
    return ViolatingGroup(
        trial=trial,
        number=number,
        relation=relation,
        inputs=tuple(_read_row(batch, place) for batch, _ in pairs),
        outputs=tuple(outputs.values[place] for _, outputs in pairs),
    )


def _read_row(batch: Batch, place: int) -> Any:
    """Return the values of a row as an array of objects."""
    frame = batch.take(np.array([place])).frame
    values = np.empty(frame.shape[1], dtype=object)
    for column in range(frame.shape[1]):
        values[column] = frame.iloc[:, column].tolist()[0]
    return values
