"""`Session`: one run in a store, from its beginning to its end."""

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
    """A run that is being recorded. Leave its ``with`` block when the run ends.

    Parameters
    ----------
    store : Store
        The run store.
    resume : int, optional
        The run to resume. By default a new run is started.
    verb, system : str
        The function that is run, and the name of the system.
    parameters : mapping
        Its parameters.
    seed : optional
        The seed of the run.
    rng : Generator, optional
        The generator made from the seed. Without it the run has no journal and cannot be resumed.
    model, seeds
        The model and the data. Their hashes are compared when the run is resumed.
    engine : str
        The name of the engine, for information.
    """

    def __init__(
        self,
        store: Store,
        resume: int | None,
        verb: str,
        system: str,
        parameters: Mapping[str, Any],
        *,
        seed: int,
        rng: np.random.Generator | None = None,
        model: object,
        seeds: object,
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
        """Store the result; an interrupted run can be resumed later."""
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
        """Store why the run failed, if the store can be written."""
        by_user = isinstance(error, KeyboardInterrupt | Interrupted)
        reason = str(error) if isinstance(error, DatamorphicError) else type(error).__name__
        with suppress(StoreError):  # the error that ended the run is more important
            self.store.finish(
                self.run,
                "interrupted" if by_user else "failed",
                message="stopped by the user" if by_user else reason,
                seconds=self._seconds,
            )


def describe_environment(engine: str) -> dict[str, Any]:
    """Return where a run is made.

    Environment variables are left out, because they may hold secrets.
    """
    return {
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "folder": os.getcwd(),
        "engine": engine,
    }


def _validate_same_run(
    earlier_run: Run, verb: str, parameters: Mapping[str, Any], seed: int, hashes: Mapping[str, str | None]
) -> None:
    """Raise if a run would be resumed with other settings, model or data."""
    if earlier_run.verb != verb:
        raise StoreError(f"Run {earlier_run.id} was started by {earlier_run.verb!r}, not {verb!r}.")
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
            f"Run {earlier_run.id} was started with other arguments: {earlier_arguments}. Use these, or start a new run."
        )
    for change, earlier_hash, name in (
        ("model has", earlier_run.model_hash, "model_hash"),
        ("data have", earlier_run.data_hash, "data_hash"),
    ):
        if earlier_hash != hashes[name]:
            raise StoreError(
                f"The {change} changed since run {earlier_run.id} began, so it cannot be resumed. Start a new run."
            )
