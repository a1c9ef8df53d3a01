"""`Session`: one run in a store, from its beginning to its end, whatever that is."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from ..errors import DatamorphicError, Interrupted, StoreError
from .identity import data_hash, model_hash
from .journal import RunJournal
from .store import Run, Store, safe
from .versions import versions


class Session:
    """A run that is being kept: entered when the run begins, left when it ends.

    Parameters
    ----------
    store : Store
        Where.
    resume : int, optional
        The run to go on with; a new one by default.
    verb, system : str
        What is done, and to what.
    parameters : mapping
        How.
    seed : optional
        Where randomness starts.
    rng : Generator, optional
        What it has become by now; without one the run has no journal, and cannot be resumed.
    model, seeds
        To recognise when the run goes on.
    engine : str
        Who computes, for the record.
    """

    def __init__(
        self,
        store: Store,
        resume: int | None,
        verb: str,
        system: str,
        parameters: Mapping[str, Any],
        *,
        seed: Any,
        rng: np.random.Generator | None = None,
        model: Any,
        seeds: Any,
        engine: str = "serial",
    ) -> None:
        self.store, self.resumed = store, resume is not None
        self._ended, self._began = False, time.monotonic()
        hashes = {"model_hash": model_hash(model), "data_hash": data_hash(seeds)}
        spent = 0.0
        if resume is None:
            about: dict[str, Any] = {"versions": versions(), "environment": environment(engine), **hashes}
            self.run = store.begin(verb, system, parameters, seed=seed, **about)
        else:
            _check_same(store.run(resume), verb, parameters, seed, hashes)
            before = store.claim(resume)
            self.run, spent = before.id, before.seconds
        self.journal = None if rng is None else RunJournal(store, self.run, rng, spent)

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._began if self.journal is None else self.journal.seconds

    def finish(
        self,
        *,
        interrupted: bool = False,
        summary: Mapping[str, Any],
        verdicts: Iterable[Mapping[str, Any]] = (),
        artifacts: Mapping[str, Callable[[Path], int]],
        message: str = "",
    ) -> None:
        """Enter what came out; a run that was interrupted can go on later."""
        self.store.finish(
            self.run,
            "interrupted" if interrupted else "finished",
            summary=summary,
            verdicts=verdicts,
            artifacts=artifacts,
            seconds=self._seconds,
            message=message,
        )
        self._ended = True

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is not None and not self._ended:
                self._end(error)
        finally:
            self.store.release(self.run)

    def _end(self, error: BaseException) -> None:
        """Enter why the run did not come to its end, if the store can be written at all."""
        by_user = isinstance(error, KeyboardInterrupt | Interrupted)
        told = str(error) if isinstance(error, DatamorphicError) else type(error).__name__
        with suppress(StoreError):  # it would say less than the error that ended the run
            self.store.finish(
                self.run,
                "interrupted" if by_user else "failed",
                message="stopped by the user" if by_user else told,
                seconds=self._seconds,
            )


def environment(engine: str) -> dict[str, Any]:
    """Return what is worth knowing of where a run is made; no variables of the environment, which hold secrets."""
    return {
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "folder": os.getcwd(),
        "engine": engine,
    }


def _check_same(
    before: Run, verb: str, parameters: Mapping[str, Any], seed: Any, hashes: Mapping[str, str | None]
) -> None:
    """Raise if a run would go on as another one."""
    if before.verb != verb:
        raise StoreError(f"Run {before.id} is of the verb {before.verb!r}, not {verb!r}.")
    other = [name for name, value in safe(dict(parameters)).items() if before.parameters.get(name) != value]
    if before.seed != seed:
        other.insert(0, "seed")
    if other:
        told = ", ".join(f"{name}={before.parameters.get(name, before.seed)!r}" for name in other[:4])
        raise StoreError(
            f"Run {before.id} was begun with other arguments: {told}. Give these, or start a new run."
        )
    for what, now in hashes.items():
        then = getattr(before, what)
        if then != now:
            thing = what.partition("_")[0]
            verb_form = "have" if thing == "data" else "has"
            raise StoreError(
                f"The {thing} {verb_form} changed since run {before.id} began: it can go on only with the same. "
                "Start a new run."
            )
