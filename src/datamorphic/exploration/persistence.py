"""What verbs keep in a run store: the run itself, what it found, and cases to try first the next time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation import reject
from ..errors import DataError, Interrupted, UsageError
from ..morphisms.subject import SubjectUnderTest
from ..morphisms.system import TestSystem
from ..runs.driver import MAX_INCIDENT_ROWS, CallCounter, drive
from ..runs.flow import ask
from ..space.outputs import Status
from ..space.points import Points
from ..space.serialize import value_from_json, value_to_json
from .front import Front
from .io import write_front

if TYPE_CHECKING:  # SQLAlchemy is loaded where a store is opened
    from ..runs.session import Session
    from ..runs.store import Store

FRONT_FILE = "front.parquet"  # what an exploration found, among the files of its run
ANSWERS_RELATION = "answers"  # the first promise of every system: an answer to every case


@dataclass(frozen=True)
class KeepOptions:
    """Where a run is to be kept.

    Attributes
    ----------
    store : str, path or Store
        The run store.
    resume : int, optional
        The run to go on with; a new one by default.
    words : mapping
        How the run was asked for, so that it can be asked for again: the words of a command line.
    begun : callable, optional
        Told the number of the run, once it has one.
    """

    store: str | os.PathLike[str] | Store
    resume: int | None = None
    request: Mapping[str, Any] = field(default_factory=dict)
    on_begin: Callable[[int], None] = lambda run: None


def resolve_seed(seed: Any, keep: KeepOptions) -> int:
    """Return a seed that can be kept and given again; a run that goes on has the one it began with."""
    if seed is None and keep.resume is not None:
        with open_store(keep) as store:
            seed = store.run(keep.resume).seed
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
    if not isinstance(seed, Integral):
        reject("seed", "explore", "a whole number, or None for any, for a run that is kept", seed)
    return int(seed)


@contextmanager
def keep_run(
    keep: KeepOptions,
    verb: str,
    subject: SubjectUnderTest,
    parameters: Mapping[str, Any],
    *,
    seed: Any,
    rng: np.random.Generator,
    model: Any,
    engine: str = "serial",
) -> Iterator[Session]:
    """Keep a run while it goes on."""
    from ..runs.session import Session

    with open_store(keep) as store:
        session = Session(
            store, keep.resume, verb, subject.name, {**parameters, **keep.request},
            seed=seed, rng=rng, model=model, seeds=subject.seeds, engine=engine,
        )  # fmt: skip
        keep.on_begin(session.run)
        with session:
            yield session


@contextmanager
def open_store(keep: KeepOptions) -> Iterator[Store]:
    """Open a store, unless it is open already: then it is its owner's to close."""
    from ..runs.store import Store

    if isinstance(keep.store, Store):
        yield keep.store
    else:
        with Store.open(keep.store) as store:
            yield store


def find_system_name(model: Any, name: str | None, keep: KeepOptions) -> str:
    """Return the name under which failures of a system are kept: as it was asked for, its own, or that of its code."""
    request = keep.request.get("words", {})
    if requested_name := request.get("model") or request.get("subject") or name:
        return str(requested_name)
    if isinstance(model, str | os.PathLike):
        return os.path.abspath(model)
    if isinstance(model, TestSystem):
        return model.name
    code = model if hasattr(model, "__qualname__") else type(model)
    return f"{code.__module__}.{code.__qualname__}"


def retry_failures(store: Store, name: str, subject: SubjectUnderTest, **driving: Any) -> tuple[int, int] | None:
    """Ask the cases that the system failed on in earlier runs; forget those that it answers now.

    Return how many fail still, and how many do no longer; None where none are known.
    """
    from ..runs import failures

    space = subject.system.known_space()
    known_failures, rows = [], []
    for failure in failures.recall(store, name, ANSWERS_RELATION, MAX_INCIDENT_ROWS):
        if failure.case.keys() != set(space.names):
            continue  # a case of another model of this name
        try:
            rows.append(space.points({name: value_from_json(value) for name, value in failure.case.items()}))
            known_failures.append(failure)
        except (UsageError, ValueError, TypeError):
            continue
    if not known_failures:
        return None
    tally = CallCounter()
    try:
        outputs = drive(
            ask(Points.concat(rows)), subject.sut, tally=tally, progress=False, recheck=0, alive=True, **driving
        )
    except Interrupted:
        return None  # the run that follows will notice
    is_answered = np.isin(outputs.status, (Status.OK, Status.NEW_LABEL))
    fixed_ids = [failure.id for failure, ok in zip(known_failures, is_answered, strict=True) if ok]
    failures.forget(store, fixed_ids)
    failures.remember(store, name, ANSWERS_RELATION, _list_failed_cases(tally))
    return len(known_failures) - len(fixed_ids), len(fixed_ids)


def keep_front(session: Session, name: str, front: Front) -> None:
    """Enter what an exploration found, and the cases without an answer."""
    from ..runs import failures

    def write_artifact(path: Path) -> int:
        write_front(front, path, query_seeds=False)
        return len(front)

    counts = front.tally.health.status_counts
    failed_rows = sum(count for status, count in counts.items() if status != Status.NEW_LABEL)
    unstable_count = len(front.tally.health.unstable_cases)
    verdicts = [
        _build_verdict(ANSWERS_RELATION, "the system answers every case", failed_rows),
        _build_verdict("repeats", "the system gives the same answer when it is asked again", unstable_count),
    ]
    failures.remember(session.store, name, ANSWERS_RELATION, _list_failed_cases(front.tally), session.run)
    end_values: dict[str, Any] = {
        "interrupted": front.tally.interrupted,
        "summary": summarize_front(front),
        "verdicts": verdicts,
    }
    stop_reason = session.journal.stop_reason if session.journal is not None else ""
    try:
        session.finish(**end_values, artifacts={FRONT_FILE: write_artifact}, message=stop_reason)
    except (DataError, UnicodeError) as error:  # labels that no file can hold: what can be kept is
        session.finish(**end_values, artifacts={}, message=f"The front is not kept: {error}")


def summarize_front(front: Front) -> dict[str, Any]:
    """Return what was found and what it cost, in figures."""
    return {
        "strategy": front.strategy,
        "walks": front.walks,
        "pairs": len(front),
        "mutants": front.mutants,
        "runs": front.runs,
        "calls": front.calls,
        "capability": front.capability,
        "cost": front.cost if len(front) else None,
        "lost": front.lost,
        "unfinished": front.unfinished,
        "exhausted": front.exhausted,
        "borders": {str(kind): int(count) for kind, count in front.border_counts.items()},
        "notes": list(front.notes),
    }


def _build_verdict(relation: str, statement: str, violation_count: int) -> dict[str, Any]:
    return {
        "relation": relation,
        "says": statement,
        "verdict": "VIOLATED" if violation_count else "HOLDS",
        "cases": violation_count,
    }


def _list_failed_cases(tally: CallCounter) -> list[dict[str, Any]]:
    """Return the cases without an answer as readable rows."""
    import pandas as pd

    frame = tally.incidents
    inputs = frame.iloc[:, :-2].to_dict("records")  # status and message come last
    cases = []
    for row, status, message in zip(inputs, frame.iloc[:, -2], frame.iloc[:, -1], strict=True):
        if status == Status.NEW_LABEL.name:
            continue  # an answer, if one that nobody expected
        try:
            case = {str(name): None if value is pd.NA else value_to_json(value) for name, value in row.items()}
        except DataError:
            continue  # values that no file can hold
        cases.append({"case": case, "verdict": status, "message": message})
    return cases
