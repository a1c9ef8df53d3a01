"""What verbs keep in a run store: the run itself, what it found, and cases to try first the next time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError, SystemFailed, UsageError
from ..fronts.files import save
from ..fronts.front import Front
from ..runs.drive import Tally, drive
from ..space.describe import value_from_json, value_to_json
from ..space.points import Points
from ..strategies.flow import ask
from .subject import Subject

if TYPE_CHECKING:  # SQLAlchemy is loaded where a store is opened
    from ..runs.session import Session
    from ..runs.store import Store

ANSWERS = "answers"  # the first promise of every system: an answer to every case


@dataclass(frozen=True)
class Keep:
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
    words: Mapping[str, Any] = field(default_factory=dict)
    begun: Callable[[int], None] = lambda run: None


@contextmanager
def kept(
    keep: Keep,
    verb: str,
    subject: Subject,
    parameters: Mapping[str, Any],
    *,
    seed: Any,
    rng: np.random.Generator,
    model: Any,
) -> Iterator[Session]:
    """Keep a run while it goes on."""
    from ..runs.session import Session
    from ..runs.store import Store

    store = keep.store if isinstance(keep.store, Store) else Store.open(keep.store)
    try:
        session = Session(
            store, keep.resume, verb, subject.name, {**parameters, **keep.words},
            seed=seed, rng=rng, model=model, seeds=subject.seeds,
        )  # fmt: skip
        keep.begun(session.run)
        with session:
            yield session
    finally:
        if store is not keep.store:
            store.close()


def try_again(store: Store, subject: Subject, **driving: Any) -> tuple[int, int] | None:
    """Ask the cases that the system failed on in earlier runs; forget those that it answers now.

    Return how many fail still, and how many do no longer; None where none are known.
    """
    from ..runs import failures

    known, rows = [], []
    for failure in failures.recall(store, subject.name, ANSWERS):
        try:
            case = {name: value_from_json(value) for name, value in failure.case.items()}
            rows.append(subject.system.known_space().points(case))
            known.append(failure)
        except (UsageError, ValueError, TypeError):
            continue  # a case of another model of this name
    if not known:
        return None
    tally = Tally()
    try:
        outputs = drive(ask(Points.concat(rows)), subject.sut, tally=tally, progress=False, recheck=0, **driving)
    except SystemFailed:
        return len(known), 0
    forgotten = [failure.id for failure, ok in zip(known, outputs.ok, strict=True) if ok]
    failures.forget(store, forgotten)
    failures.remember(store, subject.name, ANSWERS, _cases(tally))
    return len(known) - len(forgotten), len(forgotten)


def keep_front(session: Session, front: Front) -> None:
    """Enter what an exploration found, and the cases without an answer."""
    from ..runs import failures

    def write(path: Path) -> int:
        save(front, path, aside=False)
        return len(front)

    failed = sum(front.tally.health.failed.values())
    unstable = len(front.tally.health.unstable)
    verdicts = [
        _verdict(ANSWERS, "the system answers every case", failed),
        _verdict("repeats", "the system gives the same answer when it is asked again", unstable),
    ]
    failures.remember(session.store, front.subject, ANSWERS, _cases(front.tally), session.run)
    ending: dict[str, Any] = {
        "interrupted": front.tally.interrupted,
        "summary": summary(front),
        "verdicts": verdicts,
    }
    try:
        session.finish(**ending, artifacts={"front.parquet": write})
    except DataError as error:  # labels that no file can hold: what can be kept is
        session.finish(**ending, artifacts={}, message=f"The front is not kept: {error}")


def summary(front: Front) -> dict[str, Any]:
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


def _verdict(relation: str, says: str, violated: int) -> dict[str, Any]:
    return {"relation": relation, "says": says, "verdict": "VIOLATED" if violated else "HOLDS", "cases": violated}


def _cases(tally: Tally) -> list[dict[str, Any]]:
    """Return the cases without an answer as readable rows."""
    import pandas as pd

    frame = tally.incidents
    inputs = frame.iloc[:, :-2].to_dict("records")  # status and message come last
    found = []
    for row, status, message in zip(inputs, frame.iloc[:, -2], frame.iloc[:, -1], strict=True):
        try:
            case = {str(name): None if value is pd.NA else value_to_json(value) for name, value in row.items()}
        except DataError:
            continue  # values that no file can hold
        found.append({"case": case, "verdict": status, "message": message})
    return found
