"""`RunJournal`: the stored answers of a run, so that a killed run can be resumed.

A flow is a pure function of its seed and of the answers, so its internal state need not be stored. A resumed run starts
from the seed again, gets the stored answers at the speed of memory, and queries the system only for new ones. Every query
is compared with the one that was stored.

What depends on time is stored, too, with the next query: measurements (`RunJournal.recall`) and the ends of time limits
(`RunJournal.limit`). So a resumed run decides as the first one did, however slow that was.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from .._clock import read_clock
from ..errors import BudgetSpent, DataError, OutOfBudget, StoreError
from ..space.outputs import Outputs
from ..space.points import Batch, Points
from ..space.serialisation import value_from_json, value_to_json
from ..systems.base import ScoreRequest, SystemTraits
from ..systems.guard import SolvedPiece
from ..systems.training import TrainingBatch
from .deadline import DeadlinePassed, TimeLimit, hold_deadlines, uninterrupted
from .run import JournalEntry
from .store import Store

WRITE_INTERVAL_SECONDS = 0.1  # shorter work costs little to repeat
HEADER_FORMAT = struct.Struct(">II")  # length of the description, checksum of the rest
#: kinds of events: something was measured, a time limit ended its block, a query was given up
MEASURED, DEADLINE, OVERDUE = "measured", "deadline", "overdue"
REPLAY_TIME_FACTOR, MIN_REPLAY_SECONDS = 3.0, 5.0  # that a time limit allows more while answers are read from a store
PLAIN_DTYPE_PATTERN = re.compile(r"[<>|=]?[iufbU]\d+")  # types of labels that are stored as in memory

Value = TypeVar("Value")


@dataclass(frozen=True)
class _PendingPiece:
    """An answered piece that waits to be written."""

    ask: int
    piece: int
    result: SolvedPiece
    fingerprint: str
    state: str
    events: list[Any]  # what was measured before the query
    seconds: float  # of the run, when it was answered

    @property
    def merge_key(self) -> tuple[Any, ...]:
        """What pieces must share to be stored as one and separated again unchanged."""
        outputs = self.result.outputs
        # NumPy changes the byte order of non-native arrays when it joins them
        separate_key = None if outputs.values.dtype.isnative else self.piece
        return self.ask, outputs.values.dtype, separate_key, outputs.scores is None, self.result.traits


class RunJournal:
    """The answers of one run in a store, which is owned by this process.

    The state of its source of randomness is stored with every query and must be the same in a resumed run. `earlier_seconds`
    is the duration of the run before it was resumed.
    """

    def __init__(self, store: Store, run: int, rng: np.random.Generator, earlier_seconds: float = 0.0) -> None:
        self.store, self.run = store, run
        self.stop_reason = ""  # why nothing more is stored, if so
        self._rng, self._earlier_seconds = rng, earlier_seconds
        self._live_since = self._last_write = read_clock()
        self._is_live = False
        self._stored_entries = store.entries(run)
        self._next_entry: JournalEntry | None = None
        self._query_count = 0
        self._current_query: dict[str, Any] = {}
        self._current_events: list[Any] = []
        self._pending: list[_PendingPiece] = []
        self._progress: dict[str, Any] = {}
        self._part: tuple[float, float, int, int] = (0.0, 1.0, 0, 0)
        self._replayed_seconds = 0.0  # of the run, when the last replayed query was answered
        self._events: list[Any] = []  # since the last query with answers, as they are stored with the next one
        self._limits: list[RecordedLimit] = []  # whose blocks are running, the outermost first
        self.is_cut_off = False  # whether the last query was given up before it was answered

    # -- called by the guard ------------------------------------------------------------------------

    def find_pieces(self, batch: Batch, scores: ScoreRequest, pieces: int) -> Mapping[int, SolvedPiece]:
        """Return the pieces of the next query that were answered before."""
        self.write(only_if_due=True)
        self._raise_stored_deadline()
        ask, self._query_count = self._query_count, self._query_count + 1
        self._current_query = {"fingerprint": _compute_fingerprint(batch, scores), "state": _format_state(self._rng)}
        self._current_events = self._events
        solved_pieces: dict[int, SolvedPiece] = {}
        for entry in self._take_entries(ask):
            self._events = []
            self._replayed_seconds = float(entry.about.get("seconds", self._replayed_seconds))
            if {"fingerprint": entry.fingerprint, "state": entry.about.get("state")} != self._current_query:
                raise self._build_difference()
            try:
                solved_pieces |= _read_pieces(entry)
            except (DataError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise StoreError(
                    f"Run {self.run} cannot be resumed: the stored answers to query {ask + 1} are damaged "
                    f"({type(error).__name__}: {error}). Start a new run."
                ) from error
        self.is_cut_off = False
        if not self._is_live and len(solved_pieces) < pieces:
            self._raise_stored_deadline()
            self.is_cut_off = self._peek_event() == [OVERDUE]
            if not self.replaying:
                self._is_live, self._live_since = True, read_clock()
        return {piece: result for piece, result in solved_pieces.items() if piece < pieces}

    def keep(self, piece: int, result: SolvedPiece) -> None:
        """Store an answered piece of the last query."""
        if not self._is_live:
            return  # it was not answered before, and queries after it were: it will not be answered from the store, either
        if self._current_events is self._events:
            self._events = []
        ask, events, seconds = self._query_count - 1, self._current_events, self.seconds
        self._pending.append(_PendingPiece(ask, piece, result, **self._current_query, events=events, seconds=seconds))
        self.write(only_if_due=True)

    # -- called by the run --------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """The duration of the run: that of its first part while answers are read from the store."""
        return self._earlier_seconds + read_clock() - self._live_since if self._is_live else self._replayed_seconds

    def exclude(self, seconds: float) -> None:
        """Do not count some seconds that have passed."""
        self._live_since += seconds

    def recall(self, measure: Callable[[], Value]) -> Value:
        """Return what was measured at this place before the run was resumed, or measure it now.

        For all that depends on time and decides about later queries. The value must be JSON-serialisable.
        """
        self._raise_stored_deadline()
        event = self._peek_event()
        if event is None:
            event = [MEASURED, measure()]
        elif event[0] != MEASURED:
            raise self._build_difference()
        self._events.append(event)
        return event[1]

    def limit(self, seconds: float | None) -> RecordedLimit:
        """Return a `TimeLimit` that ends its block at the same place if the run is resumed."""
        return RecordedLimit(self, seconds)

    def give_up_query(self) -> None:
        """Note that the last query was not answered in time."""
        self._events.append([OVERDUE])

    def note_progress(self, *, done: float | None, runs: int, calls: int) -> None:
        """Set the progress to be written with the next answers."""
        share_before, share, runs_before, calls_before = self._part
        self._progress = {
            "done": None if done is None else share_before + share * done,
            "runs": runs_before + runs,
            "calls": calls_before + calls,
        }

    def begin_part(self, share_before: float, share: float, runs: int, calls: int) -> None:
        """Take later progress as that of a part: a share of the run, after runs and calls of earlier parts."""
        self._part = share_before, share, runs, calls

    def write(self, *, only_if_due: bool = False) -> None:
        """Write pending pieces in one transaction."""
        now = read_clock()
        if not self._is_live or (only_if_due and now - self._last_write < WRITE_INTERVAL_SECONDS):
            return
        with hold_deadlines():
            pending, self._pending = self._pending, []  # before writing, so that an error never writes them twice
            try:
                entries = [] if self.stop_reason else [_build_entry(group) for group in _group_pieces(pending)]
            except DataError as error:
                entries, self.stop_reason = [], str(error)
            self.store.commit(self.run, entries, seconds=self.seconds, **self._progress)
            self._last_write = read_clock()

    @property
    def replaying(self) -> bool:
        """Whether the next query was answered before, at least in part."""
        if self._next_entry is None:
            self._next_entry = next(self._stored_entries, None)
        return self._next_entry is not None

    def _take_entries(self, ask: int) -> Iterator[JournalEntry]:
        """Yield the stored entries of a query; queries come in order."""
        while self.replaying and self._next_entry is not None and self._next_entry.ask <= ask:
            entry, self._next_entry = self._next_entry, None
            yield entry

    def _peek_event(self) -> list[Any] | None:
        """Return what was noted at this place before the run was resumed; None if nothing was."""
        if not self.replaying or self._next_entry is None:
            return None
        stored_events, place = self._next_entry.about.get("events", ()), len(self._events)
        return list(stored_events[place]) if place < len(stored_events) else None

    def _build_difference(self) -> StoreError:
        return StoreError(
            f"Run {self.run} cannot be resumed: its query {self._query_count} differs from the stored one. The "
            "model, the data, the libraries or the processor have changed since. Start a new run."
        )

    def _raise_stored_deadline(self) -> None:
        """Raise `DeadlinePassed` if a time limit ended its block here before the run was resumed."""
        event = self._peek_event()
        if event is not None and event[0] == DEADLINE:
            if event[1] >= len(self._limits):
                raise self._build_difference()
            raise DeadlinePassed(self._limits[event[1]])

    def note_deadline(self, depth: int) -> None:
        """Note that a time limit has ended its block; the number of queries until then is that of the first run."""
        event = self._peek_event()
        if event is None:
            event = [DEADLINE, depth, self._query_count]
        elif event[:2] != [DEADLINE, depth]:
            raise self._build_difference()
        self._events.append(event)
        self._query_count = event[2]

    def is_deadline_due(self, depth: int) -> bool:
        """Return whether a time limit ended its block before the run was resumed, and not yet now."""
        event = self._peek_event()
        return event is not None and event[:2] == [DEADLINE, depth]


class RecordedLimit:
    """A `TimeLimit` in a stored run; a resumed run ends the block where the first one did, and nowhere else."""

    def __init__(self, journal: RunJournal, seconds: float | None) -> None:
        self._journal, self.passed = journal, False
        if seconds is not None and journal.replaying:
            seconds = MIN_REPLAY_SECONDS + REPLAY_TIME_FACTOR * seconds
        self._timer = TimeLimit(seconds)

    @uninterrupted
    def __enter__(self) -> Self:
        self._depth = len(self._journal._limits)
        self._journal._limits.append(self)
        self._timer.__enter__()
        return self

    @uninterrupted
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del self._journal._limits[self._depth :]
        try:
            self._timer.__exit__(kind, error, trace)
        except OutOfBudget:
            self.passed = True
        ended_before = isinstance(error, DeadlinePassed) and error.limit is self
        if not self.passed and (error is None or ended_before or isinstance(error, Exception)):
            self.passed = self._journal.is_deadline_due(self._depth)
        if self.passed:
            self._journal.note_deadline(self._depth)
            raise BudgetSpent("the time is up") from None


def _group_pieces(pending: list[_PendingPiece]) -> Iterator[list[_PendingPiece]]:
    """Yield groups of consecutive pieces that can be stored as one."""
    group: list[_PendingPiece] = []
    for piece in sorted(pending, key=lambda piece: (piece.ask, piece.piece)):
        if group and (piece.merge_key != group[0].merge_key or piece.piece != group[-1].piece + 1):
            yield group
            group = []
        group.append(piece)
    if group:
        yield group


def _build_entry(group: list[_PendingPiece]) -> JournalEntry:
    first, results = group[0], [pending_piece.result for pending_piece in group]
    unusual_pieces = {
        number: [result.repeated_rows, result.failures, result.alive]
        for number, result in enumerate(results)
        if result.repeated_rows or not result.alive
    }
    traits, sizes = first.result.traits, [len(result.outputs) for result in results]
    return JournalEntry(
        ask=first.ask,
        first=first.piece,
        pieces=len(group),
        rows=sum(sizes),
        fingerprint=first.fingerprint,
        payload=pack_outputs(Outputs.concat([result.outputs for result in results])),
        about={
            "state": first.state,
            "events": first.events,
            "seconds": max(pending_piece.seconds for pending_piece in group),
            "sizes": sizes,
            "odd": unusual_pieces,
            "known": [traits.labels, traits.score_kind],
        },
    )


def _read_pieces(entry: JournalEntry) -> dict[int, SolvedPiece]:
    """Return the pieces of an entry by their numbers."""
    outputs, start, pieces = unpack_outputs(entry.payload), 0, {}
    traits = SystemTraits(*entry.about["known"])
    for number, size in enumerate(entry.about["sizes"]):
        repeated_rows, failures, alive = entry.about["odd"].get(str(number), (0, 0, True))
        part = outputs.take(slice(start, start + size))
        pieces[entry.first + number] = SolvedPiece(
            outputs=part, repeated_rows=repeated_rows, failures=failures, alive=alive, traits=traits
        )
        start += size
    return pieces


def _compute_fingerprint(batch: Batch, scores: ScoreRequest) -> str:
    digest = hashlib.sha256(f"{len(batch)} {scores} ".encode())
    if isinstance(batch, Points):
        digest.update(batch.codes.tobytes(order="F"))
    elif isinstance(batch, TrainingBatch):
        for part in batch.iter_bytes():
            digest.update(part)
    else:
        digest.update(batch.frame.to_csv(index=False).encode(errors="surrogatepass"))
    return digest.hexdigest()


def _format_state(rng: np.random.Generator) -> str:
    """Return the state of a random generator as text."""
    return json.dumps(rng.bit_generator.state, default=lambda value: value.tolist())


# -- outputs as bytes, which are data only and never evaluated --------------------------------------------------------


def pack_outputs(outputs: Outputs) -> bytes:
    """Return outputs as compressed bytes; mixed labels are stored as typed JSON."""
    import pyarrow as pa

    values = outputs.values
    description: dict[str, Any] = {"rows": len(outputs), "dtype": values.dtype.str, "parts": []}
    parts: list[Any] = []
    if values.dtype == object:
        labelled_values = zip(values.tolist(), outputs.ok.tolist(), strict=True)
        description["values"] = [value_to_json(value, "label") if ok else None for value, ok in labelled_values]
    elif PLAIN_DTYPE_PATTERN.fullmatch(values.dtype.str):
        parts.append(values)
    else:
        raise DataError(f"Labels of dtype {values.dtype} cannot be stored. Use strings or numbers.")
    if outputs.status.any():
        description["status"] = True
        parts.append(outputs.status)
    if outputs.scores is not None:
        description["scores"] = outputs.scores.shape[1]
        parts.append(outputs.scores)
    if outputs.messages:
        description["messages"] = {str(row): text for row, text in outputs.messages.items()}
    raw = [np.ascontiguousarray(part).tobytes() for part in parts]
    description["parts"] = [len(part) for part in raw]
    body = b"".join(raw)
    head = json.dumps(description).encode()
    content = head + (pa.compress(body, codec="zstd", asbytes=True) if body else b"")
    return HEADER_FORMAT.pack(len(head), zlib.crc32(content)) + content


def unpack_outputs(data: bytes) -> Outputs:
    """Return the outputs from bytes made by `pack_outputs`."""
    import pyarrow as pa

    try:
        length, checksum = HEADER_FORMAT.unpack_from(data)
        if zlib.crc32(data[HEADER_FORMAT.size :]) != checksum:
            raise DataError("the checksum differs")
        stop = HEADER_FORMAT.size + length
        description = json.loads(data[HEADER_FORMAT.size : stop])
        sizes = [int(size) for size in description["parts"]]
        body = pa.decompress(data[stop:], sum(sizes), codec="zstd", asbytes=True) if sum(sizes) else b""
        rows, edges = int(description["rows"]), np.cumsum([0, *sizes]).tolist()
        pieces = iter(body[a:b] for a, b in pairwise(edges))
        values: npt.NDArray[Any]
        if "values" in description:
            values = np.empty(len(description["values"]), dtype=object)
            values[:] = [None if label is None else value_from_json(label) for label in description["values"]]
        elif PLAIN_DTYPE_PATTERN.fullmatch(description["dtype"]):
            values = np.frombuffer(next(pieces), dtype=np.dtype(description["dtype"])).copy()
        else:
            raise DataError(f"the type of labels is {description['dtype']!r}")
        status, scores = np.zeros(rows, np.int8), None
        if description.get("status"):
            status = np.frombuffer(next(pieces), dtype=np.int8).copy()
        if "scores" in description:
            scores = np.frombuffer(next(pieces), dtype=np.float64).reshape(rows, int(description["scores"])).copy()
        messages = {int(row): str(text) for row, text in description.get("messages", {}).items()}
        if not len(values) == len(status) == rows or not all(0 <= row < rows for row in messages):
            raise DataError(f"there are {len(values)} labels for {rows} rows, or messages for others")
        return Outputs(values, status, scores, messages)
    except DataError as error:
        raise DataError(f"The stored answers of a run are damaged: {error}.") from None
    except (Exception, MemoryError) as error:  # forged bytes may make the readers raise anything
        raise DataError(f"The stored answers of a run are damaged: {type(error).__name__}: {error}.") from error
