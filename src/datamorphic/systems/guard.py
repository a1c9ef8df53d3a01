"""`GuardedSystem`: every row gets an output, even if the system raises, hangs or dies.

A query is cut into pieces in a way that does not depend on who answers them, because models do not give bitwise equal
answers in batches of different sizes. The pieces are distributed over lanes. A lane is a way to reach the system: the
system itself, a process, or a worker of a cluster. The answers are joined in the order of the pieces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import pairwise
from queue import SimpleQueue
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .._clock import measure_slowdown, read_clock
from .._text import pluralise, redact
from .._validation import validate_integer
from ..errors import Interrupted, SystemDied, SystemFailed, SystemHung, UsageError, format_error_line
from ..space.outputs import Outputs, Status
from ..space.points import Batch
from .base import AnswerOrError, Executor, ScoreRequest, SystemTraits, Wrapper
from .coerce import STATUS_BY_ERROR

RowNumbers = npt.NDArray[np.int64]
DEFAULT_TRAITS = SystemTraits()

MAX_FAILED_ROWS = 50  # failures before the first answer after which the system counts as failed
MIN_ROWS_TO_GIVE_UP = 5  # a system is not given up after fewer failing rows
MAX_HUNG_ROWS = 10  # consecutive rows that hang before the rest of a piece is given up
PARTS_PER_FAILING_PIECE = 8  # many, since every round with a hanging row costs a whole time-out
FAILURES = (Status.ERROR, Status.TIMEOUT, Status.DIED, Status.MALFORMED, Status.REFUSED)  # no answer at all
MAX_IDLE_SLOWDOWN = 2.0  # of computing: on a busier machine, a row that seems to hang is queried again
MIN_TASK_SECONDS = 0.1  # of work per task sent to another process or machine


@dataclass
class Health:
    """What a guard noticed about a system."""

    repeated_rows: int = 0  # queried again, to find the rows at fault or to see whether answers repeat
    status_counts: Counter[Status] = field(default_factory=Counter)  # rows per status other than OK
    unstable_cases: list[dict[str, Any]] = field(default_factory=list)  # each with two different answers
    remarks: list[str] = field(default_factory=list)  # other observations
    call_note: str = ""  # how the system is called, if not in the form it was fitted with

    def add(self, other: Health) -> None:
        """Add what was noticed in another part of the same run."""
        self.repeated_rows += other.repeated_rows
        self.status_counts += other.status_counts
        self.unstable_cases += other.unstable_cases
        self.call_note = self.call_note or other.call_note
        for remark in other.remarks:
            self.add_remark(remark)

    def add_remark(self, text: str) -> None:
        """Add a remark unless it is there already."""
        if text not in self.remarks:
            self.remarks.append(text)


@dataclass(frozen=True, kw_only=True)
class SolvedPiece:
    """A piece of a batch with an output for every row."""

    outputs: Outputs
    repeated_rows: int = 0  # queried again to find those at fault
    failures: int = 0  # rows that failed on their own
    alive: bool = True  # whether the system answered anything
    give_up_reason: str = ""  # why the rest was given up, if nothing was answered
    traits: SystemTraits = DEFAULT_TRAITS  # what the system knew about its answers afterwards


class PieceJournal(Protocol):
    """Stores answered pieces, so that a resumed run does not query them again."""

    def find_pieces(self, batch: Batch, scores: ScoreRequest, pieces: int) -> Mapping[int, SolvedPiece]:
        """Return the pieces of the next batch that were answered before."""
        ...

    def keep(self, piece: int, result: SolvedPiece) -> None:
        """Store an answered piece of that batch."""
        ...


class GuardedSystem(Wrapper):
    """Lets a run continue when a system raises, hangs, dies or gives bad answers.

    A piece that fails is cut until the rows at fault are alone. They get a status and a message, every other row its
    output. After the first batch, and whenever ten times as many rows have been queried, a few rows are queried again to see
    whether the answers repeat. When it is stopped, pieces under way are finished and stored, then `Interrupted` is raised.
    """

    def __init__(
        self,
        inner: Executor,
        recheck: int = 16,  # rows to query again; 0 for none
        *,
        alive: bool = False,  # whether the system is known to answer, so that it never counts as failed
        rows: int | None = None,  # per piece; by default what the system prefers
        lanes: Sequence[Executor] = (),  # each used by one thread at a time; by default the system itself
        journal: PieceJournal | None = None,
        is_stopped: Callable[[], bool] = bool,  # tells whether to begin no further piece
        on_piece: Callable[[int, Outputs], None]
        | None = None,  # called when a piece is answered or read from the journal
    ) -> None:
        super().__init__(inner)
        self.recheck = validate_integer("recheck", "GuardedSystem", recheck)
        self.rows = validate_integer("batch", "a run", rows if rows is not None else inner.batch_rows, 1)
        self.health = Health()
        self.max_pieces = 0
        self._lanes, self._journal, self._is_stopped = list(lanes) or [inner], journal, is_stopped
        self._on_piece = on_piece or (lambda piece, outputs: None)
        self._threads: ThreadPoolExecutor | None = None
        self._failures = self._row_count = 0
        self._alive = alive
        self._next_recheck = 1
        self._seconds_per_piece: float | None = None  # seconds a piece takes
        self._doubtful_piece: tuple[int, SolvedPiece] | None = None  # nothing of it was answered, nor anything before
        self._rng = np.random.default_rng(0)

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Answer every row, failing ones with a status."""
        outputs = self._solve_batch(batch, scores)
        if outputs.status.any():
            statuses, counts = np.unique(outputs.status[outputs.status != 0], return_counts=True)
            self.health.status_counts.update(dict(zip(map(Status, statuses), counts.tolist(), strict=True)))
        self._row_count += len(batch)
        if scores != "only" and self.recheck and self._row_count >= self._next_recheck:
            self._next_recheck = 10 * self._row_count
            self._recheck_rows(batch, outputs)
        return outputs

    def close(self) -> None:
        """Shut down the threads that wait for lanes."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None

    def _solve_batch(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        cuts = self._find_cuts(len(batch))
        self.max_pieces = max(self.max_pieces, len(cuts))
        results = dict(self._journal.find_pieces(batch, scores, len(cuts))) if self._journal else {}
        self._alive |= any(result.alive for result in results.values())
        for piece, result in results.items():
            self._on_piece(piece, result.outputs)
        todo = [piece for piece in range(len(cuts)) if piece not in results]
        while todo:
            for piece, result in self._distribute_pieces(batch, todo, scores):
                self._alive |= result.alive
                if result.give_up_reason:
                    self._doubtful_piece = (piece, result)
                    continue
                results[piece] = result
                if self._journal:
                    self._journal.keep(piece, result)
                self._on_piece(piece, result.outputs)
            todo = [piece for piece in todo if piece not in results]
            if self._doubtful_piece is not None:
                self._alive = self._alive or self._is_answering_other_pieces(batch, cuts, *self._doubtful_piece)
                self._doubtful_piece = None
        self.health.call_note = self._lanes[0].call_note or self.health.call_note
        parts = [results[piece] for piece in range(len(cuts))]
        self.health.repeated_rows += sum(part.repeated_rows for part in parts)
        self._failures += sum(part.failures for part in parts)
        for part in parts:
            part.traits.apply_to(self.inner)
            if part.repeated_rows and not part.failures:
                rows = pluralise(len(part.outputs), "row")
                self.health.add_remark(
                    f"{self.name} failed on a batch of {rows} and answered each of them in smaller ones."
                )
        return _join_outputs([part.outputs for part in parts])

    def _distribute_pieces(
        self, batch: Batch, todo: list[int], scores: ScoreRequest
    ) -> Iterator[tuple[int, SolvedPiece]]:
        """Solve pieces on the lanes, and yield each as soon as it is solved."""
        if len(todo) == 1:
            groups = [todo]
        else:
            groups = [chunk.tolist() for chunk in np.array_split(todo, self._count_tasks(len(todo)))]
        if len(self._lanes) == 1:
            for group in groups:
                self._raise_if_stopped()
                if self._doubtful_piece is not None:
                    return  # first find out whether the system answers anything
                yield from self._solve_group(self._lanes[0], batch, group, scores)
            return
        if self._threads is None:
            self._threads = ThreadPoolExecutor(len(self._lanes), thread_name_prefix="datamorphic")
        free_lanes: SimpleQueue[Executor] = SimpleQueue()
        for lane in self._lanes:
            free_lanes.put(lane)

        def solve_group(group: list[int]) -> list[tuple[int, SolvedPiece]]:
            if self._is_stopped() or self._doubtful_piece is not None:
                return []
            lane = free_lanes.get()
            try:
                return self._solve_group(lane, batch, group, scores)
            finally:
                free_lanes.put(lane)

        pending = {self._threads.submit(solve_group, group) for group in groups}
        try:
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    yield from future.result()
        finally:
            for future in pending:
                future.cancel()
        self._raise_if_stopped()

    def _count_tasks(self, pieces: int) -> int:
        """Return the number of tasks: each large enough to be worth sending, and the same number for every lane."""
        if not self._lanes[0].far or self._seconds_per_piece is None:
            return pieces
        task_count = min(pieces, max(1, int(pieces * self._seconds_per_piece / MIN_TASK_SECONDS)))
        return task_count if task_count < len(self._lanes) else task_count - task_count % len(self._lanes)

    def _raise_if_stopped(self) -> None:
        if self._is_stopped():
            raise Interrupted("interrupted")

    def _solve_group(
        self, lane: Executor, batch: Batch, group: list[int], scores: ScoreRequest
    ) -> list[tuple[int, SolvedPiece]]:
        alive, failures, started_at = self._alive, self._failures, read_clock()
        cuts = self._find_cuts(len(batch))
        pieces = [batch if len(cuts) == 1 else batch.take(slice(*cuts[number])) for number in group]
        answers = lane.answers(pieces, scores)
        results = [
            solve(lane, piece, scores, answer, alive=alive, failures=failures, raise_if_stopped=self._raise_if_stopped)
            for piece, answer in zip(pieces, answers, strict=True)
        ]
        self._seconds_per_piece = max(read_clock() - started_at, 1e-6) / len(group)
        traits = SystemTraits.from_system(lane)
        return [(number, replace(result, traits=traits)) for number, result in zip(group, results, strict=True)]

    def _find_cuts(self, rows: int) -> list[tuple[int, int]]:
        """Return where pieces of equal sizes begin and end; their number is even, for two lanes."""
        pieces = -(-rows // self.rows)
        pieces += pieces % 2 if 1 < pieces < rows else 0
        return _cut(0, rows, pieces)

    def _is_answering_other_pieces(
        self, batch: Batch, cuts: list[tuple[int, int]], failed_piece: int, result: SolvedPiece
    ) -> bool:
        """Return whether the system answers rows of other pieces; else raise. Sorted data may fail piecewise."""
        other_rows = _list_rows([cut for number, cut in enumerate(cuts) if number != failed_piece])
        if _is_answering_elsewhere(self._lanes[0], batch, other_rows, 16, self._raise_if_stopped):
            return True
        self._failures += result.failures
        problem = f"{self.name} failed on all {pluralise(self._failures, 'row')} it was queried with"
        hint = self.inner.hint or "Try it on one row of your data."
        raise SystemFailed(f"{problem}. The last error was {result.give_up_reason}. {hint}")

    def _recheck_rows(self, batch: Batch, outputs: Outputs) -> None:
        chosen_rows = np.flatnonzero(outputs.ok)
        if not chosen_rows.size:
            return
        if len(chosen_rows) > self.recheck:
            chosen_rows = np.unique(chosen_rows[self._rng.integers(len(chosen_rows), size=self.recheck)])
        self.health.repeated_rows += len(chosen_rows)
        sample, first = batch.take(chosen_rows), outputs.take(chosen_rows)
        second = self._solve_batch(sample, False)
        failed_rows = np.flatnonzero(~second.ok)
        if failed_rows.size:
            reason = second.messages.get(int(failed_rows[0]), Status(second.status[failed_rows[0]]).name)
            problem = "answered some rows at first and failed on them when queried again"
            self.health.add_remark(f"{self.name} {problem}: {reason}")
        for row in np.flatnonzero(second.ok & ~first.same(second, rounding=1e-9)):
            case = sample.take(slice(row, row + 1)).frame.iloc[0].to_dict()
            self.health.unstable_cases.append({"case": case, "first": first.values[row], "second": second.values[row]})


def solve(
    system: Executor,
    batch: Batch,
    scores: ScoreRequest,
    first: AnswerOrError,
    *,
    alive: bool = True,
    failures: int = 0,
    raise_if_stopped: Callable[[], None] = lambda: None,
) -> SolvedPiece:
    """Return a batch with an output for every row.

    `first` is the outcome of querying the whole batch. `alive` and `failures` say whether the system has ever answered, and
    if not, how many rows have failed. `raise_if_stopped` is called before each further query: a system that dies or hangs
    takes long to start again.
    """
    if isinstance(first, Outputs):
        return _accept_outputs(first, alive=alive)
    parts: list[tuple[int, Outputs]] = []  # each with its first row
    todo = [(0, len(batch))]
    repeated_rows = failed_rows = hung_rows = 0
    answered, reason = False, ""
    while todo:
        start, stop = todo.pop()
        part = batch if stop - start == len(batch) else batch.take(slice(start, stop))
        if part is not batch:
            raise_if_stopped()
        answer = first if part is batch else _query_part(system, part, scores)
        if isinstance(answer, SystemDied) and (part is batch or len(part) == 1):
            raise_if_stopped()
            answer = _query_part(system, part, scores)  # processes also die for other reasons, so try twice
        if isinstance(answer, SystemHung) and len(part) == 1 and measure_slowdown() > MAX_IDLE_SLOWDOWN:
            raise_if_stopped()
            answer = _query_part(system, part, scores)  # other programs may have kept it from answering
        if isinstance(answer, UsageError | SystemFailed):
            raise answer  # wrong use, such as other columns, or a server that is down is not a failing row
        if isinstance(answer, Outputs):
            alive = answered = True
            hung_rows = 0
            parts.append((start, answer))
            continue
        repeated_rows += len(part)
        if len(part) > 1:
            todo.extend(reversed(_cut(start, stop, min(PARTS_PER_FAILING_PIECE, len(part)))))
            continue
        parts.append((start, _build_failed_row(answer)))
        failed_rows += 1
        hung_rows = hung_rows + 1 if isinstance(answer, SystemHung) else 0
        if not alive and failures + failed_rows >= MAX_FAILED_ROWS:
            alive = _is_answering_elsewhere(system, batch, _list_rows(todo), 16, raise_if_stopped)
            if not alive:
                parts, reason = [], redact(format_error_line(answer))
                break
        if hung_rows >= MAX_HUNG_ROWS and todo:
            if not _is_answering_elsewhere(system, batch, _list_rows(todo), 4, raise_if_stopped):
                message = f"skipped: the system hung on the {hung_rows} rows before it, and on others"
                skipped_row = _build_failed_row(SystemHung(message))  # to save its time-out
                parts.extend((row, skipped_row) for row in _list_rows(todo).tolist())
                todo = []
            hung_rows = 0
    outputs = _join_outputs([part for _, part in sorted(parts, key=lambda part: part[0])])
    if not reason and not alive and len(batch) >= MIN_ROWS_TO_GIVE_UP:
        reason = outputs.messages[len(batch) - 1]
    return SolvedPiece(
        outputs=outputs, repeated_rows=repeated_rows, failures=failed_rows, alive=answered, give_up_reason=reason
    )


def _accept_outputs(outputs: Outputs, *, alive: bool) -> SolvedPiece:
    """Return the outputs of a batch; a system that reports its failures row by row may have answered none of them."""
    if alive or not np.isin(outputs.status, FAILURES).all():
        return SolvedPiece(outputs=outputs)
    reason = outputs.messages.get(len(outputs) - 1, Status(outputs.status[-1]).name)
    return SolvedPiece(
        outputs=outputs,
        failures=len(outputs),
        alive=False,
        give_up_reason=reason if len(outputs) >= MIN_ROWS_TO_GIVE_UP else "",
    )


def _cut(start: int, stop: int, pieces: int) -> list[tuple[int, int]]:
    if pieces == 1:  # most batches: a tenth of the time of a small one
        return [(start, stop)]
    return list(pairwise(np.linspace(start, stop, pieces + 1).astype(int).tolist()))


def _list_rows(pieces: list[tuple[int, int]]) -> RowNumbers:
    return np.concatenate([np.empty(0, dtype=np.int64), *(np.arange(*piece) for piece in pieces)])


def _query_part(system: Executor, part: Batch, scores: ScoreRequest) -> AnswerOrError:
    return system.answers([part], scores)[0]


def _is_answering_elsewhere(
    system: Executor, batch: Batch, remaining_rows: RowNumbers, sample_size: int, raise_if_stopped: Callable[[], None]
) -> bool:
    """Return whether the system answers any of a few rows, spread evenly: sorted data may fail in succession."""
    count = len(remaining_rows)
    rows = remaining_rows[np.linspace(0, count - 1, min(sample_size, count)).astype(int)].tolist()
    for row in rows:
        raise_if_stopped()
        answer = _query_part(system, batch.take(slice(row, row + 1)), False)
        if isinstance(answer, Outputs) and answer.status[0] not in FAILURES:
            return True
    return False


def _build_failed_row(error: BaseException) -> Outputs:
    status = STATUS_BY_ERROR.get(type(error), Status.ERROR)
    # an error of foreign code may hold a URL with a password, and messages go into files and reports
    message = redact(format_error_line(error))
    return Outputs(np.array([None], dtype=object), np.array([status], dtype=np.int8), None, {0: message})


def _join_outputs(parts: list[Outputs]) -> Outputs:
    """Join parts; failed rows get a blank value of the type of the others, or labels would lose their type."""
    dtype = next((part.values.dtype for part in parts if part.ok.any()), None)
    if dtype is not None:
        parts = [part if part.ok.any() else replace(part, values=np.zeros(len(part), dtype)) for part in parts]
    return Outputs.concat(parts)
