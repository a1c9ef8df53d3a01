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
from ..space.outputs import Outputs
from ..space.points import Batch, Points
from ..systems.base import ScoreRequest, SystemTraits
from ..systems.guard import SolvedPiece
from .output_codec import pack_outputs, unpack_outputs
from .store import JournalEntry, Store

WRITE_INTERVAL_SECONDS = 0.1  # seconds between two times that answers are written: less costs little to ask again


@dataclass(frozen=True)
class _PendingPiece:
    """An answered piece that waits to be written."""

    ask: int
    piece: int
    result: SolvedPiece
    fingerprint: str
    state: str

    @property
    def merge_key(self) -> tuple[Any, ...]:
        """What pieces must share to be put together and taken apart again unchanged."""
        outputs = self.result.outputs
        # NumPy turns foreign bytes round when it joins them
        separate_key = None if outputs.values.dtype.isnative else self.piece
        return self.ask, outputs.values.dtype, separate_key, outputs.scores is None, self.result.traits


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

    def __init__(self, store: Store, run: int, rng: np.random.Generator, earlier_seconds: float = 0.0) -> None:
        self.store, self.run = store, run
        self.stop_reason = ""  # why nothing more is kept, if so
        self._rng, self._earlier_seconds = rng, earlier_seconds
        self._live_since = self._last_write = time.monotonic()
        self._is_live = False
        self._stored_entries = store.entries(run)
        self._next_entry: JournalEntry | None = None
        self._query_count = 0
        self._current_query: dict[str, Any] = {}
        self._pending: list[_PendingPiece] = []
        self._progress: dict[str, Any] = {}

    # -- what the guard calls -----------------------------------------------------------------------

    def find_pieces(self, batch: Batch, scores: ScoreRequest, pieces: int) -> Mapping[int, SolvedPiece]:
        """Return the pieces of the next question that were answered before."""
        self.write(only_if_due=True)
        ask, self._query_count = self._query_count, self._query_count + 1
        self._current_query = {
            "fingerprint": _compute_fingerprint(batch, scores),
            "state": _format_state(self._rng),
        }
        solved_pieces: dict[int, SolvedPiece] = {}
        for entry in self._take_entries(ask):
            if {"fingerprint": entry.fingerprint, "state": entry.about.get("state")} != self._current_query:
                raise StoreError(
                    f"Run {self.run} cannot go on: its question {ask + 1} is not the one that was asked when it began. The "
                    "model, the data or the libraries have changed since. Start it anew."
                )
            try:
                solved_pieces |= _read_pieces(entry)
            except (DataError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise StoreError(
                    f"Run {self.run} cannot go on: what it was answered to question {ask + 1} is damaged "
                    f"({type(error).__name__}: {error}). Start it anew."
                ) from error
        if not self._is_live and len(solved_pieces) < pieces:
            self._is_live, self._live_since = True, time.monotonic()
        return {piece: result for piece, result in solved_pieces.items() if piece < pieces}

    def keep(self, piece: int, result: SolvedPiece) -> None:
        """Keep an answered piece of the question that was asked last."""
        self._pending.append(_PendingPiece(self._query_count - 1, piece, result, **self._current_query))
        self.write(only_if_due=True)

    # -- what the run calls -------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """How long the run has taken, without what was only told again."""
        return self._earlier_seconds + (time.monotonic() - self._live_since if self._is_live else 0.0)

    def progress(self, **progress: Any) -> None:
        """Take note of how far the run is; written with the next answers."""
        self._progress = progress

    def write(self, *, only_if_due: bool = False) -> None:
        """Write what waits, in one transaction."""
        now = time.monotonic()
        if not self._is_live or (only_if_due and now - self._last_write < WRITE_INTERVAL_SECONDS):
            return
        pending, self._pending = self._pending, []  # before they are written: whatever happens then, never twice
        try:
            entries = [] if self.stop_reason else [_build_entry(group) for group in _group_pieces(pending)]
        except DataError as error:
            entries, self.stop_reason = [], str(error)
        self.store.commit(self.run, entries, seconds=self.seconds, **self._progress)
        self._last_write = time.monotonic()

    @property
    def replaying(self) -> bool:
        """Whether the next question was answered before, at least in part."""
        if self._next_entry is None:
            self._next_entry = next(self._stored_entries, None)
        return self._next_entry is not None

    def _take_entries(self, ask: int) -> Iterator[JournalEntry]:
        """Yield what the store has of a question; questions come in order."""
        while self.replaying and self._next_entry is not None and self._next_entry.ask <= ask:
            entry, self._next_entry = self._next_entry, None
            yield entry


def _group_pieces(pending: list[_PendingPiece]) -> Iterator[list[_PendingPiece]]:
    """Yield pieces that follow each other and are alike, together."""
    group: list[_PendingPiece] = []
    for kept in sorted(pending, key=lambda pending_piece: (pending_piece.ask, pending_piece.piece)):
        if group and (kept.merge_key != group[0].merge_key or kept.piece != group[-1].piece + 1):
            yield group
            group = []
        group.append(kept)
    if group:
        yield group


def _build_entry(group: list[_PendingPiece]) -> JournalEntry:
    first = group[0]
    unusual_pieces = {
        number: [pending_piece.result.repeated_rows, pending_piece.result.failures, pending_piece.result.alive]
        for number, pending_piece in enumerate(group)
        if pending_piece.result.repeated_rows or not pending_piece.result.alive
    }
    traits = first.result.traits
    sizes = [len(pending_piece.result.outputs) for pending_piece in group]
    about = {
        "state": first.state,
        "sizes": sizes,
        "odd": unusual_pieces,
        "known": [traits.labels, traits.score_kind],
    }
    payload = pack_outputs(Outputs.concat([pending_piece.result.outputs for pending_piece in group]))
    return JournalEntry(first.ask, first.piece, len(group), sum(sizes), first.fingerprint, payload, about)


def _read_pieces(entry: JournalEntry) -> dict[int, SolvedPiece]:
    """Return the pieces of an entry by their numbers."""
    outputs, start, pieces = unpack_outputs(entry.payload), 0, {}
    traits = SystemTraits(*entry.about["known"])
    for number, size in enumerate(entry.about["sizes"]):
        repeated_rows, failures, alive = entry.about["odd"].get(str(number), (0, 0, True))
        part = outputs.take(slice(start, start + size))
        pieces[entry.first + number] = SolvedPiece(part, repeated_rows, failures, alive, traits=traits)
        start += size
    return pieces


def _compute_fingerprint(batch: Batch, scores: ScoreRequest) -> str:
    digest = hashlib.sha256(f"{len(batch)} {scores} ".encode())
    if isinstance(batch, Points):
        digest.update(batch.codes.tobytes(order="F"))
    else:
        digest.update(batch.frame.to_csv(index=False).encode(errors="surrogatepass"))
    return digest.hexdigest()


def _format_state(rng: np.random.Generator) -> str:
    """Return the state of a source of randomness as text."""
    return json.dumps(rng.bit_generator.state, default=lambda value: value.tolist())
