"""Keep in a run store the cases on which a system failed, and read and compare stored fronts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._lazy import pd
from ..errors import DataError, Interrupted, StoreError, UsageError
from ..morphisms.subject import SubjectUnderTest
from ..runs.driver import MAX_INCIDENT_ROWS, CallCounter, drive
from ..runs.engine_base import Engine
from ..runs.flow import ask
from ..runs.keep import compare_settings
from ..space.outputs import Status
from ..space.points import Points
from ..space.serialisation import value_from_json, value_to_json
from .front import ANSWERS_RELATION, FRONT_FILE, Front
from .options import WalkOptions

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ..runs.run import Run
    from ..runs.session import Session
    from ..runs.store import Store
    from .diff.diff import Difference


def retry_failures(
    store: Store, name: str, subject: SubjectUnderTest, engine: Engine, options: WalkOptions
) -> tuple[int, int] | None:
    """Query the cases on which the system failed in earlier runs, and forget those that it answers now.

    Return how many still fail and how many do not; None where no failed case is known.
    """
    from ..runs import failures

    space = subject.system.known_space()
    known_failures, rows = [], []
    for failure in failures.recall(store, name, ANSWERS_RELATION, MAX_INCIDENT_ROWS):
        if failure.case.keys() != set(space.names):
            continue  # a case of another model with the same name
        try:
            rows.append(space.points({name: value_from_json(value) for name, value in failure.case.items()}))
            known_failures.append(failure)
        except (UsageError, ValueError, TypeError):
            continue
    if not known_failures:
        return None
    flow, tally = ask(Points.concat(rows)), CallCounter()
    driving: dict[str, Any] = {"engine": engine, "timeout": options.timeout, "batch": options.batch}
    try:
        outputs = drive(flow, subject.sut, tally=tally, progress=False, recheck=0, alive=True, **driving)
    except Interrupted:
        return None  # the exploration that follows will stop too
    is_answered = np.isin(outputs.status, (Status.OK, Status.NEW_LABEL))
    fixed_ids = [failure.id for failure, ok in zip(known_failures, is_answered, strict=True) if ok]
    failures.forget(store, fixed_ids)
    failures.remember(store, name, ANSWERS_RELATION, _list_failed_cases(tally))
    return len(known_failures) - len(fixed_ids), len(fixed_ids)


def remember_failures(session: Session, name: str, front: Front) -> None:
    """Store the cases without an answer, to be tried first the next time."""
    from ..runs import failures

    failures.remember(session.store, name, ANSWERS_RELATION, _list_failed_cases(front.tally), session.run)


def _list_failed_cases(tally: CallCounter) -> list[dict[str, Any]]:
    """Return the cases without an answer, as the store keeps them."""
    if not tally.has_incidents:
        return []
    frame = tally.incidents
    inputs = frame.iloc[:, :-2].to_dict("records")  # status and message come last
    cases = []
    for row, status, message in zip(inputs, frame.iloc[:, -2], frame.iloc[:, -1], strict=True):
        if status == Status.NEW_LABEL.name:
            continue  # it is an answer, though an unexpected one
        try:
            case = {str(name): None if value is pd.NA else value_to_json(value) for name, value in row.items()}
        except DataError:
            continue  # the values cannot be written
        cases.append({"case": case, "verdict": status, "message": message})
    return cases


def load_front(store: Store, run: int) -> Front:
    """Return the front that a stored run found."""
    with store.fetch(run, FRONT_FILE) as path:
        return Front.load(path)


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """Two stored explorations side by side."""

    first: Run
    second: Run
    changes: dict[str, tuple[Any, Any]]  # the settings that differ, each with both values
    difference: Difference | None = None  # the changes of the border; None if the fronts cannot be compared
    reason: str = ""  # the reason why they cannot be compared, or empty


def compare_runs(
    store: Store, first: int, second: int, attach: Callable[[Front, Run], Front] | None = None
) -> RunComparison:
    """Compare the settings and the fronts of two stored explorations; `attach` returns a front with its system, if it can."""
    runs: dict[str, Any] = {"first": store.run(first), "second": store.run(second)}
    runs["changes"] = compare_settings(**runs)
    try:
        fronts = [load_front(store, run) for run in (first, second)]
        if attach is not None:
            fronts = [attach(front, runs[name]) for name, front in zip(("first", "second"), fronts, strict=True)]
    except StoreError as error:
        return RunComparison(**runs, reason=str(error))
    for run, front in zip((first, second), fronts, strict=True):
        if not len(front):
            return RunComparison(**runs, reason=f"Run {run} found no pairs. Give it more walks.")
    return RunComparison(**runs, difference=fronts[0].diff(fronts[1]))
