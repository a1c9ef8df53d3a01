"""`Session`: one run in a store, from its beginning to its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .._clock import read_clock
from ..errors import DataError, DatamorphicError, Interrupted, StoreError
from .journal import RunJournal
from .run import FINISHED_RUN, Run
from .store import Store
from .tables import to_safe_json_value


class StorableResult(Protocol):
    """A result that says how its run ended, and what a store keeps of it."""

    @property
    def interrupted(self) -> bool:
        """Whether the user ended the run before it was complete."""

    def stored_summary(self) -> Mapping[str, Any]:
        """Return the figures that a list of stored runs shows."""

    def stored_verdicts(self) -> Iterable[Mapping[str, Any]]:
        """Return one dict per relation, law or check."""

    def stored_files(self) -> Mapping[str, Callable[[Path], int]]:
        """Return functions that write the files of a run, by their names."""


class Session:
    """A run that is being recorded, with a journal if there is a generator; `keep_run` opens it."""

    def __init__(
        self, store: Store, run: int, rng: np.random.Generator | None, earlier_seconds: float, resumed: bool
    ) -> None:
        self.store, self.run, self.resumed = store, run, resumed
        self._ended, self._started_at = False, read_clock()
        self.journal = None if rng is None else RunJournal(store, run, rng, earlier_seconds)

    @property
    def _seconds(self) -> float:
        elapsed_seconds = read_clock() - self._started_at
        # a run that queries nothing has a journal without answers
        return elapsed_seconds if self.journal is None else self.journal.seconds or elapsed_seconds

    def finish(self, result: StorableResult, message: str = "") -> None:
        """Store how the run of a result ended, and its figures, verdicts and files.

        This is where all runs become finished or interrupted. If a file cannot hold some labels, only JSON files are kept.
        """
        state = "interrupted" if result.interrupted else "finished"
        # a result that states its duration, and the store, say the same; a resumed run has taken longer than its last part
        seconds = self._seconds if self.resumed else getattr(result, "seconds", self._seconds)
        message = message or ("" if self.journal is None else self.journal.stop_reason)
        results: dict[str, Any] = {
            "summary": result.stored_summary(),
            "verdicts": list(result.stored_verdicts()),
            "seconds": seconds,
        }
        files = result.stored_files()
        try:
            self.store.finish(self.run, state, **results, artifacts=files, message=message)
        except (DataError, UnicodeError) as error:
            documents = {name: write for name, write in files.items() if name.endswith(".json")}
            message = f"{', '.join(files.keys() - documents.keys())} is not kept: {error}"
            self.store.finish(self.run, state, **results, artifacts=documents, message=message)
        self._ended = True

    def record_error(self, error: BaseException) -> None:
        """Store why the run failed, if it has no result and the store can be written."""
        state, reason = "failed", str(error) if isinstance(error, DatamorphicError) else type(error).__name__
        if isinstance(error, KeyboardInterrupt | Interrupted):
            state, reason = "interrupted", "stopped by the user"
        with suppress(StoreError):  # the error that ended the run is more important
            if not self._ended:
                self.store.finish(self.run, state, message=reason, seconds=self._seconds)


def validate_same_run(
    earlier_run: Run, verb: str, parameters: Mapping[str, Any], seed: int, hashes: Mapping[str, str | None]
) -> None:
    """Raise if a run would be resumed with other settings, model or data."""
    if earlier_run.verb != verb:
        raise StoreError(f"Run {earlier_run.id} was started by {earlier_run.verb!r}, not {verb!r}.")
    if earlier_run.state == "finished":
        raise StoreError(FINISHED_RUN.format(earlier_run.id))
    changes = {} if earlier_run.seed == seed else {"seed": earlier_run.seed}
    for name, value in to_safe_json_value(dict(parameters)).items():
        if earlier_run.parameters.get(name) != value:
            changes.setdefault(name, earlier_run.parameters.get(name))
    if changes.keys() <= {"seeds"} and earlier_run.data_hash != hashes["data_hash"]:
        counts = f" ({changes['seeds']} seed cases then, {parameters['seeds']} now)" if changes else ""
        raise StoreError(
            f"The data have changed since run {earlier_run.id} began{counts}, so it cannot be resumed. Use the same data, "
            "or start a new run."
        )
    if changes:
        text = ", ".join(f"{name}={value!r}" for name, value in list(changes.items())[:4])
        raise StoreError(
            f"Run {earlier_run.id} was started with other arguments: {text}. Use these, or start a new run."
        )
    if earlier_run.model_hash != hashes["model_hash"]:
        raise StoreError(
            f"The model has changed since run {earlier_run.id} began, so it cannot be resumed. Start a new run."
        )
