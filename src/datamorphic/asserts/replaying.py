"""Cases that broke a relation: kept, and tried first the next time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..errors import DataError, StoreError
from ..relations.base import Groups, Relation
from ..space.describe import value_from_json, value_to_json
from ..space.points import Batch, Points, Rows
from ..space.space import Space
from ..strategies.flow import Flow, Question
from ..sut.base import Executor
from ..verbs.keeping import Keep, opened
from .profiles import Settings

if TYPE_CHECKING:  # SQLAlchemy is loaded where a store is opened
    from ..runs.failures import Failure
    from ..runs.store import Store

T = TypeVar("T")
MOST = 20  # violations of a relation that are remembered: all of them are tried the next time
OTHERS = 4  # violations that are kept beside the smallest: what mends that one may not mend them
LARGEST = 500  # rows of a batch that is kept


class Memory:
    """The violations of one system that are known.

    A cache that cannot be read or written is no reason to fail; a store that somebody named is.

    Parameters
    ----------
    settings : Settings
        They know pytest's cache, where violations are kept if no store is named.
    store : str, path or Store, optional
        The store that was named.
    system : str
        Whose violations they are.
    """

    def __init__(self, settings: Settings, store: Any, system: str) -> None:
        self._named = store is not None
        self._where: Any = store if self._named else settings.failures
        self.system = system if self._named else f"{settings.test} {system}"

    def recall(self, relation: str) -> list[Failure]:
        """Return the violations of a relation that earlier runs found, those seen last first."""
        if self._where is None or not (self._named or self._where.exists()):
            return []

        def read(store: Store) -> list[Failure]:
            from ..runs import failures

            return failures.recall(store, self.system, relation, MOST)

        return self._with_store(read) or []

    def learn(self, relation: str, tried: Sequence[tuple[Failure, bool]], found: Sequence[dict[str, Any]]) -> None:
        """Forget what holds again, remember what still does not, and what was found."""
        cases = [failure.case for failure, still in tried if still]
        cases += list(found)[: max(MOST - len(cases), 1)]
        over = [failure.id for failure, still in tried if not still]
        if self._where is None or not (cases or over):
            return

        def write(store: Store) -> None:
            from ..runs import failures

            failures.forget(store, over)
            failures.remember(store, self.system, relation, [{"case": case} for case in cases])

        self._with_store(write)

    def _with_store(self, work: Callable[[Store], T]) -> T | None:
        try:
            with opened(self._where if isinstance(self._where, Keep) else Keep(self._where)) as store:
                return work(store)
        except StoreError:
            if self._named:
                raise
            return None


@dataclass(frozen=True)
class Again:
    """A violation to be tried again.

    Attributes
    ----------
    failure : Failure
        As the store has it.
    rows : Points
        The cases it is made of.
    follow_up : Points or Rows, optional
        The very follow-up cases; where there are none the relation makes them anew.
    seed : int
        Where the relation's randomness started.
    place : int
        0 for the smallest that was found, more for the others.
    """

    failure: Failure
    rows: Points
    follow_up: Batch | None
    seed: int
    place: int = 0


def try_again(relation: Relation, sut: Executor, known: Sequence[Again]) -> Flow[list[Groups]]:
    """Put known violations to the system once more, and return of each what violates the relation still."""
    found = []
    for each in known:
        if each.follow_up is None:
            fitted = relation.fitted_to(sut, each.rows)  # the very values that violated it are tried again
            groups = yield from fitted.check(each.rows, np.random.default_rng(each.seed))
        else:
            applies = np.asarray(relation.applies(each.rows.frame), dtype=bool)
            before = yield Question(each.rows, note=relation.name)
            after = yield Question(each.follow_up, note=relation.name)
            groups = relation.judge(np.arange(len(before)), each.rows, each.follow_up, before, after, applies)
        found.append(groups.violations)
    return found


# -- violations as the store has them --------------------------------------------------------------------------


def cases_of(relation: Relation, smallest: Groups | None, others: Groups, seed: int) -> list[dict[str, Any]]:
    """Return violations as JSON has them: the smallest, and some others; without those that no file can hold.

    What makes its follow-ups in the usual way is kept with the very follow-up, since chance may make another one; a
    promise about batches with its batch; and of one feature both of its values are tried again.
    """
    found: list[tuple[Batch, Batch | None]]
    if relation.whole:
        found = [] if smallest is None or smallest.among is None else [(smallest.among, None)]
    else:
        groups = [*([] if smallest is None else [smallest.take(slice(0, 1))]), others.take(slice(0, OTHERS))]
        found = [
            (each.source.take(slice(row, row + 1)), each.follow_up.take(slice(row, row + 1)))
            for each in groups
            for row in range(len(each))
        ]
    cases = []
    for rows, follow_up in found:
        try:
            case: dict[str, Any] = {"rows": _written(rows), "seed": seed}
            if type(relation).check is Relation.check and follow_up is not None:
                case["follow_up"] = _written(follow_up)
            elif isinstance(follow_up, Points):
                case["rows"] += _written(follow_up)
        except DataError:
            continue
        if len(case["rows"]) <= LARGEST and case not in cases:
            cases.append(case)
    return [case | {"place": place} for place, case in enumerate(cases)]


def restored(failure: Failure, space: Space) -> Again | None:
    """Return a violation in a space; None if it is none of this space, but of one that the name once stood for."""
    import pandas as pd

    try:
        rows = [_read(row) for row in failure.case["rows"]]
        if any(set(row) != set(space.names) for row in rows):
            return None
        points = Points.concat([space.points(row) for row in rows])
        follow_up: Batch | None = None
        if "follow_up" in failure.case:
            (made,) = (_read(row) for row in failure.case["follow_up"])
            try:
                follow_up = space.points(made)
            except DataError:  # it leaves the space
                follow_up = Rows(pd.DataFrame([made]))
        return Again(failure, points, follow_up, int(failure.case["seed"]), int(failure.case["place"]))
    except Exception:  # whatever values that were meant for something else may raise
        return None


def _written(batch: Batch) -> list[dict[str, Any]]:
    records = batch.frame.astype(object).to_dict("records")
    return [
        {str(name): None if _missing(value) else value_to_json(value) for name, value in row.items()}
        for row in records
    ]


def _read(row: Any) -> dict[str, Any]:
    return {name: value_from_json(value) for name, value in row.items()}


def _missing(value: Any) -> bool:
    import pandas as pd

    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)
