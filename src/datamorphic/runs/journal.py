"""`RunJournal`: what a run was answered, kept piece by piece, so that a killed run goes on where it stopped.

A flow is a pure function of its seed and of the answers. So nothing of its inside needs to be kept: a resumed run
starts from the seed again, is told what the journal knows, at the speed of memory, and asks the system only what is
new. Every question is compared with the one the answers were given to.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DataError, StoreError
from ..outputs import Outputs
from ..space.points import Batch, Points
from ..sut.base import Known, Wanted
from ..sut.guard import Solved
from .packing import pack, unpack
from .store import Entry, Store

OFTEN = 0.1  # seconds between two times that answers are written: less costs little to ask again


@dataclass(frozen=True)
class _Kept:
    """An answered piece that waits to be written."""

    ask: int
    piece: int
    solved: Solved
    fingerprint: str
    state: str

    @property
    def alike(self) -> tuple[Any, ...]:
        """What pieces must share to be put together and taken apart again unchanged."""
        outputs = self.solved.outputs
        # NumPy turns foreign bytes round when it joins them
        alone = None if outputs.values.dtype.isnative else self.piece
        return self.ask, outputs.values.dtype, alone, outputs.scores is None, self.solved.known


class RunJournal:
    """The answers of one run in a store.

    Parameters
    ----------
    store : Store
        Where they are.
    run : int
        The run, owned by this process.
    rng : Generator
        The source of its randomness; its state is kept with every question and must be the same again.
    spent : float
        Seconds that the run took before it was resumed.
    """

    def __init__(self, store: Store, run: int, rng: np.random.Generator, spent: float = 0.0) -> None:
        self.store, self.run = store, run
        self.unkept = ""  # why nothing more is kept, if so
        self._rng, self._spent = rng, spent
        self._live = self._written = time.monotonic()
        self._live_yet = False
        self._old = store.entries(run)
        self._next: Entry | None = None
        self._asks = 0
        self._question: dict[str, Any] = {}
        self._waiting: list[_Kept] = []
        self._progress: dict[str, Any] = {}

    # -- what the guard calls -----------------------------------------------------------------------

    def known(self, batch: Batch, scores: Wanted, pieces: int) -> Mapping[int, Solved]:
        """Return the pieces of the next question that were answered before."""
        self.write(only_if_due=True)
        ask, self._asks = self._asks, self._asks + 1
        self._question = {"fingerprint": _fingerprint(batch, scores), "state": _state(self._rng)}
        found: dict[int, Solved] = {}
        for entry in self._entries(ask):
            if {"fingerprint": entry.fingerprint, "state": entry.about.get("state")} != self._question:
                raise StoreError(
                    f"Run {self.run} cannot go on: its question {ask + 1} is not the one that was asked when it began. The "
                    "model, the data or the libraries have changed since. Start it anew."
                )
            try:
                found |= _solved(entry)
            except (DataError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise StoreError(
                    f"Run {self.run} cannot go on: what it was answered to question {ask + 1} is damaged "
                    f"({type(error).__name__}: {error}). Start it anew."
                ) from error
        if not self._live_yet and len(found) < pieces:
            self._live_yet, self._live = True, time.monotonic()
        return {piece: solved for piece, solved in found.items() if piece < pieces}

    def keep(self, piece: int, solved: Solved) -> None:
        """Keep an answered piece of the question that was asked last."""
        self._waiting.append(_Kept(self._asks - 1, piece, solved, **self._question))
        self.write(only_if_due=True)

    # -- what the run calls -------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """How long the run has taken, without what was only told again."""
        return self._spent + (time.monotonic() - self._live if self._live_yet else 0.0)

    def progress(self, **progress: Any) -> None:
        """Take note of how far the run is; written with the next answers."""
        self._progress = progress

    def write(self, *, only_if_due: bool = False) -> None:
        """Write what waits, in one transaction."""
        now = time.monotonic()
        if not self._live_yet or (only_if_due and now - self._written < OFTEN):
            return
        waiting, self._waiting = self._waiting, []  # before they are written: whatever happens then, never twice
        try:
            entries = [] if self.unkept else [_entry(group) for group in _groups(waiting)]
        except DataError as error:
            entries, self.unkept = [], str(error)
        self.store.commit(self.run, entries, seconds=self.seconds, **self._progress)
        self._written = time.monotonic()

    @property
    def replaying(self) -> bool:
        """Whether the next question was answered before, at least in part."""
        if self._next is None:
            self._next = next(self._old, None)
        return self._next is not None

    def _entries(self, ask: int) -> Iterator[Entry]:
        """Yield what the store has of a question; questions come in order."""
        while self.replaying and self._next is not None and self._next.ask <= ask:
            entry, self._next = self._next, None
            yield entry


def _groups(waiting: list[_Kept]) -> Iterator[list[_Kept]]:
    """Yield pieces that follow each other and are alike, together."""
    group: list[_Kept] = []
    for kept in sorted(waiting, key=lambda kept: (kept.ask, kept.piece)):
        if group and (kept.alike != group[0].alike or kept.piece != group[-1].piece + 1):
            yield group
            group = []
        group.append(kept)
    if group:
        yield group


def _entry(group: list[_Kept]) -> Entry:
    first = group[0]
    odd = {
        number: [kept.solved.asked_again, kept.solved.failures, kept.solved.alive]
        for number, kept in enumerate(group)
        if kept.solved.asked_again or not kept.solved.alive
    }
    known = first.solved.known
    sizes = [len(kept.solved.outputs) for kept in group]
    about = {
        "state": first.state,
        "sizes": sizes,
        "odd": odd,
        "known": [known.labels, known.score_kind],
    }
    payload = pack(Outputs.concat([kept.solved.outputs for kept in group]))
    return Entry(first.ask, first.piece, len(group), sum(sizes), first.fingerprint, payload, about)


def _solved(entry: Entry) -> dict[int, Solved]:
    """Return the pieces of an entry by their numbers."""
    outputs, start, found = unpack(entry.payload), 0, {}
    known = Known(*entry.about["known"])
    for number, size in enumerate(entry.about["sizes"]):
        again, failures, alive = entry.about["odd"].get(str(number), (0, 0, True))
        part = outputs.take(slice(start, start + size))
        found[entry.first + number] = Solved(part, again, failures, alive, known=known)
        start += size
    return found


def _fingerprint(batch: Batch, scores: Wanted) -> str:
    digest = hashlib.sha256(f"{len(batch)} {scores} ".encode())
    if isinstance(batch, Points):
        digest.update(batch.codes.tobytes(order="F"))
    else:
        digest.update(batch.frame.to_csv(index=False).encode(errors="surrogatepass"))
    return digest.hexdigest()


def _state(rng: np.random.Generator) -> str:
    """Return the state of a source of randomness as text."""
    return json.dumps(rng.bit_generator.state, default=lambda value: value.tolist())
