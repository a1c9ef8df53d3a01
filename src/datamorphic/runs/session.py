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
from .fingerprint import compute_data_hash, compute_model_hash
from .journal import RunJournal
from .store import Run, Store, to_safe_json_value
from .versions import read_versions


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
        self._ended, self._started_at = False, time.monotonic()
        hashes = {"model_hash": compute_model_hash(model), "data_hash": compute_data_hash(seeds)}
        earlier_seconds = 0.0
        if resume is None:
            details: dict[str, Any] = {
                "versions": read_versions(),
                "environment": describe_environment(engine),
                **hashes,
            }
            self.run = store.begin(verb, system, parameters, seed=seed, **details)
        else:
            _validate_same_run(store.run(resume), verb, parameters, seed, hashes)
            earlier_run = store.claim(resume)
            self.run, earlier_seconds = earlier_run.id, earlier_run.seconds
        self.journal = None if rng is None else RunJournal(store, self.run, rng, earlier_seconds)

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._started_at if self.journal is None else self.journal.seconds

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
                self._record_error(error)
        finally:
            self.store.release(self.run)

    def _record_error(self, error: BaseException) -> None:
        """Enter why the run did not come to its end, if the store can be written at all."""
        by_user = isinstance(error, KeyboardInterrupt | Interrupted)
        reason = str(error) if isinstance(error, DatamorphicError) else type(error).__name__
        with suppress(StoreError):  # it would say less than the error that ended the run
            self.store.finish(
                self.run,
                "interrupted" if by_user else "failed",
                message="stopped by the user" if by_user else reason,
                seconds=self._seconds,
            )


def describe_environment(engine: str) -> dict[str, Any]:
    """Return what is worth knowing of where a run is made; no variables of the environment, which hold secrets."""
    return {
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "folder": os.getcwd(),
        "engine": engine,
    }


def _validate_same_run(
    earlier_run: Run, verb: str, parameters: Mapping[str, Any], seed: Any, hashes: Mapping[str, str | None]
) -> None:
    """Raise if a run would go on as another one."""
    if earlier_run.verb != verb:
        raise StoreError(f"Run {earlier_run.id} is of the verb {earlier_run.verb!r}, not {verb!r}.")
    changed_names = [
        name
        for name, value in to_safe_json_value(dict(parameters)).items()
        if earlier_run.parameters.get(name) != value
    ]
    if earlier_run.seed != seed:
        changed_names.insert(0, "seed")
    if changed_names:
        earlier_arguments = ", ".join(
            f"{name}={earlier_run.parameters.get(name, earlier_run.seed)!r}" for name in changed_names[:4]
        )
        raise StoreError(
            f"Run {earlier_run.id} was begun with other arguments: {earlier_arguments}. Give these, or start a new run."
        )
    for hash_name, current_hash in hashes.items():
        earlier_hash = getattr(earlier_run, hash_name)
        if earlier_hash != current_hash:
            noun = hash_name.partition("_")[0]
            verb_form = "have" if noun == "data" else "has"
            raise StoreError(
                f"The {noun} {verb_form} changed since run {earlier_run.id} began: it can go on only with the same. "
                "Start a new run."
            )
