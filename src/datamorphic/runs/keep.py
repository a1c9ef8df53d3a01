"""Keeping runs in a store: what all capabilities share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import SeedLike, SupportsRuns
from .._validation import reject

if TYPE_CHECKING:  # SQLAlchemy is loaded when a store is opened
    from .session import Session
    from .store import Store


@dataclass(frozen=True)
class KeepOptions:
    """Where and how to keep a run.

    Attributes
    ----------
    store : str, path or Store
        The run store.
    resume : int, optional
        The run to resume. By default a new run is started.
    request : mapping
        How the run was requested on the command line, so that it can be requested again.
    on_begin : callable, optional
        Called with the number of the run as soon as it has one.
    """

    store: str | os.PathLike[str] | SupportsRuns
    resume: int | None = None
    request: Mapping[str, Any] = field(default_factory=dict)
    on_begin: Callable[[int], None] = lambda run: None


def resolve_seed(seed: SeedLike, keep: KeepOptions) -> int:
    """Return an integer seed that can be stored; a resumed run keeps its own."""
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

    The parameters are those of `Session`.
    """
    from .session import Session

    with open_store(keep) as store:
        session = Session(
            store,
            keep.resume,
            verb,
            system,
            {**parameters, **keep.request},
            seed=seed,
            rng=rng,
            model=model,
            seeds=seeds,
            engine=engine,
        )
        keep.on_begin(session.run)
        with session:
            yield session


@contextmanager
def open_store(keep: KeepOptions) -> Iterator[Store]:
    """Open the store for a block; a store that is already open stays open."""
    from .store import Store

    if isinstance(keep.store, Store):
        yield keep.store
    else:
        with Store.open(keep.store) as store:  # type: ignore[arg-type]  # `open` rejects other types
            yield store
