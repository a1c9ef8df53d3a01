"""`RunJournal`: the stored answers of a run, so that a killed run can be resumed.

A flow is a pure function of its seed and of the answers, so its internal state need not be stored. A resumed run starts
from the seed again, gets the stored answers at the speed of memory, and queries the system only for new ones. Every query
is compared with the one that was stored.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .._clock import read_clock
from ..errors import DataError, StoreError
from ..space.outputs import Outputs
from ..space.points import Batch, Points
from ..space.serialize import value_from_json, value_to_json
from ..systems.base import ScoreRequest, SystemTraits
from ..systems.guard import SolvedPiece
from .run import JournalEntry
from .store import Store

WRITE_INTERVAL_SECONDS = 0.1  # shorter work costs little to repeat
HEADER_FORMAT = struct.Struct(">II")  # length of the description, checksum of the rest
PLAIN_DTYPE_PATTERN = re.compile(r"[<>|=]?[iufbU]\d+")  # types of labels that are stored as in memory


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
        self._pending: list[_PendingPiece] = []
        self._progress: dict[str, Any] = {}
        self._part: tuple[float, float, int, int] = (0.0, 1.0, 0, 0)

    # -- called by the guard ------------------------------------------------------------------------

    def find_pieces(self, batch: Batch, scores: ScoreRequest, pieces: int) -> Mapping[int, SolvedPiece]:
        """Return the pieces of the next query that were answered before."""
        self.write(only_if_due=True)
        ask, self._query_count = self._query_count, self._query_count + 1
        self._current_query = {"fingerprint": _compute_fingerprint(batch, scores), "state": _format_state(self._rng)}
        solved_pieces: dict[int, SolvedPiece] = {}
        for entry in self._take_entries(ask):
            if {"fingerprint": entry.fingerprint, "state": entry.about.get("state")} != self._current_query:
                raise StoreError(
                    f"Run {self.run} cannot be resumed: its query {ask + 1} differs from the stored one. The "
                    "model, the data, the libraries or the processor have changed since. Start a new run."
                )
            try:
                solved_pieces |= _read_pieces(entry)
            except (DataError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise StoreError(
                    f"Run {self.run} cannot be resumed: the stored answers to query {ask + 1} are damaged "
                    f"({type(error).__name__}: {error}). Start a new run."
                ) from error
        if not self._is_live and len(solved_pieces) < pieces:
            self._is_live, self._live_since = True, read_clock()
        return {piece: result for piece, result in solved_pieces.items() if piece < pieces}

    def keep(self, piece: int, result: SolvedPiece) -> None:
        """Store an answered piece of the last query."""
        self._pending.append(_PendingPiece(self._query_count - 1, piece, result, **self._current_query))
        self.write(only_if_due=True)

    # -- called by the run --------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """The duration of the run without replayed queries."""
        return self._earlier_seconds + (read_clock() - self._live_since if self._is_live else 0.0)

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
