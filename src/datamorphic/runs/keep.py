"""Keeping runs in a store: what all capabilities share."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import SeedLike, SupportsRuns
from .._validation import reject
from .fingerprint import compute_data_hash, compute_model_hash
from .versions import read_versions

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from .run import Run
    from .session import Session
    from .store import Store


@dataclass(frozen=True)
class StoreOptions:
    """Where and how to keep a run."""

    store: str | os.PathLike[str] | SupportsRuns
    resume: int | None = None  # the run to resume; None for a new one
    request: Mapping[str, Any] = field(default_factory=dict)  # arguments on the command line, to request it again
    on_begin: Callable[[int], None] = lambda run: None  # called with the number of the run


def resolve_seed(seed: SeedLike, keep: StoreOptions) -> int:
    """Return an integer seed that can be stored; a resumed run keeps its own."""
    if seed is None and keep.resume is not None:
        with open_store(keep) as store:
            seed = store.run(keep.resume).seed
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
    if not isinstance(seed, Integral):
        reject("seed", "a run", "a whole number, so that the run can be repeated, or None for any", seed)
    return int(seed)


@contextmanager
def keep_run(
    keep: StoreOptions,
    verb: str,
    system: str,
    parameters: Mapping[str, Any],
    *,
    seed: int,
    model: object,
    seeds: object,
    rng: np.random.Generator | None = None,
    engine: str = "serial",
) -> Iterator[Session]:
    """Open a session that records a run until the block ends.

    If the run is resumed, its parameters, its seed and hashes of `model` and of the data (`seeds`) must be the same. `rng` is
    the generator made from the seed; without it the run has no journal and cannot be resumed.
    """
    from .session import Session, validate_same_run

    with open_store(keep) as store:
        parameters = {**parameters, **keep.request}
        hashes = {"model_hash": compute_model_hash(model), "data_hash": compute_data_hash(seeds)}
        if keep.resume is None:
            environment = describe_environment(engine)
            settings: dict[str, Any] = {"versions": read_versions(), "environment": environment, **hashes}
            session = Session(store, store.begin(verb, system, parameters, seed=seed, **settings), rng, 0.0, False)
        else:
            validate_same_run(store.run(keep.resume), verb, parameters, seed, hashes)
            session = Session(store, keep.resume, rng, store.claim(keep.resume).seconds, True)
        keep.on_begin(session.run)
        try:
            yield session
        except BaseException as error:
            session.record_error(error)
            raise
        finally:
            store.release(session.run)


def describe_environment(engine: str) -> dict[str, Any]:
    """Return where a run is made, without environment variables, which may hold secrets."""
    return {
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "folder": os.getcwd(),
        "engine": engine,
    }


@contextmanager
def open_store(keep: StoreOptions) -> Iterator[Store]:
    """Open the store for a block; a store that is already open stays open."""
    from .store import Store

    if isinstance(keep.store, Store):
        yield keep.store
    else:
        with Store.open(keep.store) as store:  # type: ignore[arg-type]  # `open` rejects other types
            yield store


# -- comparing runs ------------------------------------------------------------------------------------------------

#: arguments on the command line that parameters do not repeat
REQUEST_SETTINGS = ("model", "data", "subject", "target", "seeds")


def compare_settings(first: Run, second: Run) -> dict[str, tuple[Any, Any]]:
    """Return the settings that differ between two runs, each with both values."""
    names = ("verb", "system", "seed", "model_hash", "data_hash")
    pairs = {name: (getattr(first, name), getattr(second, name)) for name in names}
    for group in ("parameters", "versions", "environment"):
        before, after = _flatten_request(getattr(first, group)), _flatten_request(getattr(second, group))
        pairs |= {name: (before.get(name), after.get(name)) for name in sorted(before.keys() | after.keys())}
    return {name: values for name, values in pairs.items() if values[0] != values[1]}


def _flatten_request(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with the request replaced by those of its arguments that say something new."""
    request = settings.get("words", {})
    return {name: value for name, value in settings.items() if name != "words"} | {
        name: request[name] for name in REQUEST_SETTINGS if request.get(name) is not None
    }
