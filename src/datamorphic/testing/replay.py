"""Keep violations of relations, and replay them first the next time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._lazy import pd
from .._typing import FilePath
from ..errors import DataError, StoreError
from ..relations.algebra.base import JudgedGroups, Relation, SystemRelation
from ..runs.flow import Flow, Query
from ..runs.keep import StoreOptions, open_store
from ..space.encoding import is_missing
from ..space.points import Batch, Points, Rows
from ..space.serialisation import value_from_json, value_to_json
from ..space.space import Space
from ..systems.base import Executor
from .profiles import Settings

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ..runs.failures import Failure
    from ..runs.store import Store

MAX_REMEMBERED_VIOLATIONS = 20  # per relation; all of them are replayed the next time
MAX_EXTRA_VIOLATIONS = 4  # kept besides the smallest one: a fix of that may not fix these
MAX_BATCH_ROWS = 500  # of a batch that is kept


class Memory:
    """The known violations of one system, in a store or, without one, in the file that the settings name.

    A cache that cannot be read or written is ignored. A named store that cannot be used raises an error.
    """

    def __init__(self, settings: Settings, store: FilePath | Store | None, system: str) -> None:
        self._location: Any = settings.failures if store is None else store
        self._ignored_errors = (StoreError,) if store is None else ()
        self.system = f"{settings.test} {system}" if store is None else system

    def recall(self, relation: str) -> list[Failure]:
        """Return the violations of a relation that earlier runs found, the latest first."""
        if self._location is None or (self._ignored_errors and not self._location.exists()):
            return []
        from ..runs import failures

        with suppress(*self._ignored_errors), self._open() as store:
            return failures.recall(store, self.system, relation, MAX_REMEMBERED_VIOLATIONS)
        return []

    def update(
        self, relation: str, replay_results: Sequence[tuple[Failure, bool]], new_cases: Sequence[dict[str, Any]]
    ) -> None:
        """Forget violations that no longer occur; remember the others and the new ones."""
        cases = [failure.case for failure, violated in replay_results if violated]
        cases += list(new_cases)[: max(MAX_REMEMBERED_VIOLATIONS - len(cases), 1)]
        fixed_ids = [failure.id for failure, violated in replay_results if not violated]
        if self._location is None or not (cases or fixed_ids):
            return
        from ..runs import failures

        with suppress(*self._ignored_errors), self._open() as store:
            failures.forget(store, fixed_ids)
            failures.remember(store, self.system, relation, [{"case": case} for case in cases])

    def _open(self) -> AbstractContextManager[Store]:
        return open_store(self._location if isinstance(self._location, StoreOptions) else StoreOptions(self._location))


@dataclass(frozen=True)
class ReplayCase:
    """A violation to be replayed."""

    failure: Failure
    rows: Points  # the source cases
    follow_up: Batch | None  # without stored follow-up cases, the relation makes new ones
    seed: int  # of the relation
    place: int = 0  # the rank among the violations of one run; 0 is the smallest


def replay_violations(
    relation: SystemRelation, sut: Executor, replay_cases: Sequence[ReplayCase]
) -> Flow[list[JudgedGroups]]:
    """Query known violations again, and return the groups of each that still violate."""
    violations = []
    for case in replay_cases:
        if case.follow_up is None or not isinstance(relation, Relation):
            fitted_relation = relation.fitted_to(sut, case.rows)  # so that the values that violated it are tried again
            groups = yield from fitted_relation.check(case.rows, np.random.default_rng(case.seed))
        else:
            applies = np.asarray(relation.applies(case.rows.frame), dtype=bool)
            before = yield Query(case.rows, note=relation.name)
            after = yield Query(case.follow_up, note=relation.name)
            groups = relation.judge(np.arange(len(before)), case.rows, case.follow_up, before, after, applies)
        violations.append(groups.violations)
    return violations


def to_stored_cases(
    relation: SystemRelation, smallest: JudgedGroups | None, others: JudgedGroups, seed: int
) -> list[dict[str, Any]]:
    """Return violations as JSON: the smallest and some others.

    An ordinary violation is kept with its follow-up, since a random relation may make another one. A relation of batches is
    kept with its batch. For a relation of one feature, both values of the feature are tried again.
    """
    pairs: list[tuple[Batch, Batch | None]]
    if relation.whole:
        pairs = [] if smallest is None or smallest.batch is None else [(smallest.batch, None)]
    else:
        groups = [] if smallest is None else [smallest.take(slice(0, 1))]
        groups.append(others.take(slice(0, MAX_EXTRA_VIOLATIONS)))
        # several follow-ups are judged together, so they are made again from the source
        pairs = [
            (
                group.source.take(slice(row, row + 1)),
                None if group.further else group.follow_up.take(slice(row, row + 1)),
            )
            for group in groups
            for row in range(len(group))
        ]
    cases = []
    for rows, follow_up in pairs:
        try:
            case: dict[str, Any] = {"rows": _to_records(rows), "seed": seed}
            if relation.keeps_follow_ups and follow_up is not None:
                case["follow_up"] = _to_records(follow_up)
            elif isinstance(follow_up, Points) and not relation.draws_inputs:
                case["rows"] += _to_records(follow_up)
        except DataError:
            continue
        if len(case["rows"]) <= MAX_BATCH_ROWS and case not in cases:
            cases.append(case)
    return [case | {"place": place} for place, case in enumerate(cases)]


def restore_case(failure: Failure, space: Space) -> ReplayCase | None:
    """Return a stored violation as points of a space; None if it does not fit."""
    try:
        rows = [_from_record(row) for row in failure.case["rows"]]
        if any(set(row) != set(space.names) for row in rows):
            return None
        points = Points.concat([space.points(row) for row in rows])
        follow_up: Batch | None = None
        if "follow_up" in failure.case:
            (follow_up_row,) = (_from_record(row) for row in failure.case["follow_up"])
            try:
                follow_up = space.points(follow_up_row)
            except DataError:  # the follow-up is outside the space
                follow_up = Rows(pd.DataFrame([follow_up_row]))
        return ReplayCase(failure, points, follow_up, int(failure.case["seed"]), int(failure.case["place"]))
    except Exception:  # values of another format may raise anything
        return None


def _to_records(batch: Batch) -> list[dict[str, Any]]:
    return [
        {str(name): None if is_missing(value) else value_to_json(value) for name, value in row.items()}
        for row in batch.frame.astype(object).to_dict("records")
    ]


def _from_record(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value_from_json(value) for name, value in row.items()}
