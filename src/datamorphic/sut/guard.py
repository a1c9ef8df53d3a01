"""`Guarded`: a system may raise, hang, lie or die; every row gets an output all the same.

What it is asked is cut into pieces, which never depends on who answers them: models are not bitwise the same in
batches of other sizes. The pieces are spread over lanes, each a way to reach the system (itself, a process, a worker
of a cluster), and put together in their order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import pairwise
from queue import SimpleQueue
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .._checks import plural, redacted, whole_number
from ..errors import BadAnswer, Interrupted, SystemDied, SystemFailed, SystemHung, UsageError, told
from ..outputs import Outputs, Status
from ..space.points import Batch
from .base import Answer, Executor, Known, Wanted, Wrapper

Rows = npt.NDArray[np.int64]
KNOWN = Known()

PATIENCE = 50  # rows that may fail, one after the other and none answered, before the system counts as failed
FEW = 5  # a first batch of fewer rows that all fail is no proof that the system does
MOST_HUNG = 10  # rows that may hang, one after the other, before the rest of a piece is given up
CUTS = 8  # of a failing piece: a hanging one costs a whole time-out, so few rounds are better
WORTH_SENDING = 0.1  # seconds of work that make the way to another process or machine worth it


@dataclass
class Health:
    """What a guard noticed about a system.

    Attributes
    ----------
    asked_again : int
        Rows asked once more: to find the rows at fault, and to see whether answers repeat.
    failed : dict
        How many rows had each status but OK.
    unstable : list
        Cases that got two different answers, each with both of them.
    remarks : list of str
        What else was odd, in words.
    """

    asked_again: int = 0
    failed: dict[Status, int] = field(default_factory=dict)
    unstable: list[dict[str, Any]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def remark(self, text: str) -> None:
        """Note something once."""
        if text not in self.remarks:
            self.remarks.append(text)


@dataclass(frozen=True)
class Solved:
    """A piece of a batch with an output for every row.

    Attributes
    ----------
    outputs : Outputs
        One a row.
    asked_again : int
        Rows asked once more to find those at fault.
    failures : int
        Rows that failed on their own.
    alive : bool
        Whether the system answered anything.
    hopeless : str
        Why the rest was given up, where nothing was answered; else empty.
    known : Known
        What the system was known to answer after this: some find out only when they are asked.
    """

    outputs: Outputs
    asked_again: int = 0
    failures: int = 0
    alive: bool = True
    hopeless: str = ""
    known: Known = KNOWN

    @property
    def only_in_parts(self) -> bool:
        """Whether every row was answered, but not all at once."""
        return bool(self.asked_again) and not self.failures


class Journal(Protocol):
    """What keeps answered pieces, so that a run that was killed asks nothing twice."""

    def known(self, batch: Batch, scores: Wanted, pieces: int) -> Mapping[int, Solved]:
        """Return the pieces of the next batch that were answered before."""
        ...

    def keep(self, piece: int, solved: Solved) -> None:
        """Keep an answered piece of that batch."""
        ...


class Guarded(Wrapper):
    """Lets a run go on when the system raises, hangs, dies, lies about lengths, or changes its mind.

    A piece that fails is cut until the rows at fault stand alone; they get a status and a message, every other
    row its output. After the first batch, and whenever ten times as many rows have been asked, a few rows are
    asked a second time to see whether the answers repeat.

    Parameters
    ----------
    inner : Executor
        The system.
    recheck : int
        How many rows to ask a second time; 0 for none.
    alive : bool
        Whether the system is known to answer, so that no number of failures is proof that it does not.
    rows : int, optional
        How many a piece has; by default what the system likes.
    lanes : sequence of Executor, optional
        Ways to reach the system, each used by one thread at a time; by default the system itself.
    journal : Journal, optional
        Where answered pieces are kept.
    stopped : callable, optional
        Tells whether to begin no further piece; what was begun is finished and kept, then `Interrupted` is raised.
    """

    def __init__(
        self,
        inner: Executor,
        recheck: int = 16,
        *,
        alive: bool = False,
        rows: int | None = None,
        lanes: Sequence[Executor] = (),
        journal: Journal | None = None,
        stopped: Callable[[], bool] = bool,
    ) -> None:
        super().__init__(inner)
        self.recheck = whole_number("recheck", "Guarded", recheck)
        self.rows = whole_number("batch", "Guarded", rows if rows is not None else inner.batch_rows, 1)
        self.health = Health()
        self.most_pieces = 0
        self._lanes, self._journal, self._stopped = list(lanes) or [inner], journal, stopped
        self._threads: ThreadPoolExecutor | None = None
        self._failures = self._seen = 0
        self._alive = alive
        self._next_recheck = 1
        self._pace: float | None = None  # seconds a piece takes
        self._doubtful: tuple[int, Solved] | None = None  # a piece of which nothing was answered, as ever before
        self._rng = np.random.default_rng(0)

    def answer(self, batch: Batch, scores: Wanted) -> Outputs:
        """Answer every row, the failing ones with a status."""
        outputs = self._solved(batch, scores)
        if outputs.status.any():
            for status, count in zip(
                *np.unique(outputs.status[outputs.status != 0], return_counts=True), strict=True
            ):
                self.health.failed[Status(status)] = self.health.failed.get(Status(status), 0) + int(count)
        self._seen += len(batch)
        if scores != "only" and self.recheck and self._seen >= self._next_recheck:
            self._next_recheck = 10 * self._seen
            self._ask_again(batch, outputs)
        return outputs

    def close(self) -> None:
        """Let go of the threads that wait for lanes."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None

    def _solved(self, batch: Batch, scores: Wanted) -> Outputs:
        cuts = self._cuts(len(batch))
        self.most_pieces = max(self.most_pieces, len(cuts))
        found = dict(self._journal.known(batch, scores, len(cuts))) if self._journal else {}
        self._alive |= any(solved.alive for solved in found.values())
        todo = [piece for piece in range(len(cuts)) if piece not in found]
        while todo:
            for piece, solved in self._spread(batch, todo, scores):
                self._alive |= solved.alive
                if solved.hopeless:
                    self._doubtful = (piece, solved)
                    continue
                found[piece] = solved
                if self._journal:
                    self._journal.keep(piece, solved)
            todo = [piece for piece in todo if piece not in found]
            if self._doubtful is not None:
                self._alive = self._alive or self._answers_somewhere(batch, cuts, *self._doubtful)
                self._doubtful = None
        parts = [found[piece] for piece in range(len(cuts))]
        self.health.asked_again += sum(part.asked_again for part in parts)
        self._failures += sum(part.failures for part in parts)
        for part in parts:
            part.known.tell(self.inner)
            if part.only_in_parts:
                self.health.remark(
                    f"{self.name} failed on a batch of {plural(len(part.outputs), 'row')} and answered each of them in "
                    "smaller ones."
                )
        return _joined([part.outputs for part in parts])

    def _spread(self, batch: Batch, todo: list[int], scores: Wanted) -> Iterator[tuple[int, Solved]]:
        """Give pieces to the lanes and yield each with its outputs as they come."""
        groups = [each.tolist() for each in np.array_split(todo, self._tasks(len(todo)))]
        if len(self._lanes) == 1:
            for group in groups:
                self._go_on()
                if self._doubtful is not None:
                    return  # whether it answers anything at all is to be seen first
                yield from self._work(self._lanes[0], batch, group, scores)
            return
        if self._threads is None:
            self._threads = ThreadPoolExecutor(len(self._lanes), thread_name_prefix="datamorphic")
        free: SimpleQueue[Executor] = SimpleQueue()
        for lane in self._lanes:
            free.put(lane)

        def work(group: list[int]) -> list[tuple[int, Solved]]:
            if self._stopped() or self._doubtful is not None:
                return []
            lane = free.get()
            try:
                return self._work(lane, batch, group, scores)
            finally:
                free.put(lane)

        under_way: set[Future[list[tuple[int, Solved]]]] = {self._threads.submit(work, group) for group in groups}
        try:
            while under_way:
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    yield from future.result()
        finally:
            for future in under_way:
                future.cancel()
        self._go_on()

    def _tasks(self, pieces: int) -> int:
        """Return in how many tasks pieces are handed out: each worth its way, and as many for one lane as for another."""
        if not self._lanes[0].far or self._pace is None:
            return pieces
        worth = min(pieces, max(1, int(pieces * self._pace / WORTH_SENDING)))
        return worth if worth < len(self._lanes) else worth - worth % len(self._lanes)

    def _go_on(self) -> None:
        if self._stopped():
            raise Interrupted("interrupted")

    def _work(self, lane: Executor, batch: Batch, group: list[int], scores: Wanted) -> list[tuple[int, Solved]]:
        alive, failures, began = self._alive, self._failures, time.monotonic()
        cuts = self._cuts(len(batch))
        pieces = [self._piece(batch, cuts, number) for number in group]
        answers = lane.answers(pieces, scores)
        solved = [
            solve(lane, piece, scores, answer, alive=alive, failures=failures)
            for piece, answer in zip(pieces, answers, strict=True)
        ]
        self._pace = max(time.monotonic() - began, 1e-6) / len(group)
        known = Known.of(lane)
        return [(number, replace(each, known=known)) for number, each in zip(group, solved, strict=True)]

    def _cuts(self, rows: int) -> list[tuple[int, int]]:
        """Return where pieces begin and end: of one size, and an even number, so that two lanes get as much each."""
        pieces = -(-rows // self.rows)
        pieces += pieces % 2 if 1 < pieces < rows else 0
        return _cut(0, rows, pieces)

    def _piece(self, batch: Batch, cuts: list[tuple[int, int]], number: int) -> Batch:
        return batch if len(cuts) == 1 else batch.take(slice(*cuts[number]))

    def _answers_somewhere(self, batch: Batch, cuts: list[tuple[int, int]], failed: int, solved: Solved) -> bool:
        """Look at the other pieces when one is hopeless, data may be sorted, or say that the system has failed."""
        others = _rows([cut for number, cut in enumerate(cuts) if number != failed])
        if _answers_elsewhere(self._lanes[0], batch, others, 16):
            return True
        self._failures += solved.failures
        raise SystemFailed(
            f"{self.name} failed on every one of {plural(self._failures, 'row')} it was asked, the last time with "
            f"{solved.hopeless}. Try it by hand on one row of your data."
        )

    def _ask_again(self, batch: Batch, outputs: Outputs) -> None:
        answered = np.flatnonzero(outputs.ok)
        if not answered.size:
            return
        chosen = answered
        if len(answered) > self.recheck:
            chosen = np.unique(answered[self._rng.integers(len(answered), size=self.recheck)])
        self.health.asked_again += len(chosen)
        sample, first = batch.take(chosen), outputs.take(chosen)
        second = self._solved(sample, False)
        failed = np.flatnonzero(~second.ok)
        if failed.size:
            why = second.messages.get(int(failed[0]), Status(second.status[failed[0]]).name)
            self.health.remark(f"{self.name} answered some rows once and failed on them the second time: {why}")
        for row in np.flatnonzero(second.ok & ~first.same(second, rounding=1e-9)):
            case = sample.take(slice(row, row + 1)).frame.iloc[0].to_dict()
            self.health.unstable.append({"case": case, "first": first.values[row], "second": second.values[row]})


def solve(
    system: Executor, batch: Batch, scores: Wanted, first: Answer, *, alive: bool = True, failures: int = 0
) -> Solved:
    """Return a batch with an output for every row, from what came of asking it whole.

    `alive` and `failures` tell whether the system has ever answered, and how many rows have failed if not.
    """
    if isinstance(first, Outputs):
        return Solved(first)
    parts: list[tuple[int, Outputs]] = []  # where each solved part begins
    todo = [(0, len(batch))]
    again = lone = hung = 0
    answered = False
    while todo:
        start, stop = todo.pop()
        part = batch if stop - start == len(batch) else batch.take(slice(start, stop))
        answer = first if part is batch else _asked(system, part, scores)
        if isinstance(answer, SystemDied) and (part is batch or len(part) == 1):
            answer = _asked(system, part, scores)  # a process may be lost for other reasons: it is tried twice
        if isinstance(answer, UsageError):
            raise answer  # a model that was fitted on other columns is no failing row
        if isinstance(answer, Outputs):
            alive = answered = True
            hung = 0
            parts.append((start, answer))
            continue
        again += len(part)
        if len(part) > 1:
            todo.extend(reversed(_cut(start, stop, min(CUTS, len(part)))))
            continue
        parts.append((start, _failed_row(answer)))
        lone += 1
        hung = hung + 1 if isinstance(answer, SystemHung) else 0
        if not alive and failures + lone >= PATIENCE:
            alive = _answers_elsewhere(system, batch, _rows(todo), 16)
            if not alive:
                return Solved(Outputs.empty(), again, lone, False, redacted(told(answer)))
        if hung >= MOST_HUNG and todo:
            if not _answers_elsewhere(system, batch, _rows(todo), 4):
                parts.extend(_not_asked(_rows(todo), hung))
                todo = []
            hung = 0
    outputs = _joined([part for _, part in sorted(parts, key=lambda part: part[0])])
    hopeless = "" if alive or len(batch) < FEW else outputs.messages[len(batch) - 1]
    return Solved(outputs, again, lone, answered, hopeless)


def _cut(start: int, stop: int, pieces: int) -> list[tuple[int, int]]:
    return list(pairwise(np.linspace(start, stop, pieces + 1).astype(int).tolist()))


def _rows(pieces: list[tuple[int, int]]) -> Rows:
    return np.concatenate([np.empty(0, dtype=np.int64), *(np.arange(*piece) for piece in pieces)])


def _asked(system: Executor, part: Batch, scores: Wanted) -> Answer:
    return system.answers([part], scores)[0]


def _answers_elsewhere(system: Executor, batch: Batch, left: Rows, tries: int) -> bool:
    """Before rows are given up, ask a few from all over what is left: data may be sorted."""
    rows = left[np.linspace(0, len(left) - 1, min(tries, len(left))).astype(int)].tolist()
    return any(isinstance(_asked(system, batch.take(slice(row, row + 1)), False), Outputs) for row in rows)


def _failed_row(error: BaseException) -> Outputs:
    known: dict[type, Status] = {
        SystemHung: Status.TIMEOUT,
        SystemDied: Status.DIED,
        BadAnswer: Status.MALFORMED,
    }
    status = known.get(type(error), Status.ERROR)
    # what somebody's code raises may hold a URL with a password in it, and messages go into files and reports
    message = redacted(told(error))
    return Outputs(np.array([None], dtype=object), np.array([status], dtype=np.int8), None, {0: message})


def _not_asked(rows: Rows, hung: int) -> list[tuple[int, Outputs]]:
    """Rows that are given up: each would cost a whole time-out."""
    why = f"not asked: it hung on the {hung} rows before, and on others"
    none, late = np.array([None], dtype=object), np.array([Status.TIMEOUT], dtype=np.int8)
    return [(row, Outputs(none, late, None, {0: why})) for row in rows.tolist()]


def _joined(parts: list[Outputs]) -> Outputs:
    """Join parts; rows that failed get a blank of the others' type, so that the labels keep theirs."""
    dtype = next((part.values.dtype for part in parts if part.ok.any()), None)
    if dtype is not None:
        parts = [part if part.ok.any() else replace(part, values=np.zeros(len(part), dtype)) for part in parts]
    return Outputs.concat(parts)
