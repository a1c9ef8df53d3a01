"""What lies between a strategy and a system: counting, caching, chunks, and a guard against its misbehaviour.

`runs.drive` puts them around a system in this order, outermost first::

    Cached > Counted > Chunked > Guarded > Isolated (only with a time-out) > the system
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._checks import plural, whole_number
from ..errors import BadAnswer, SystemDied, SystemFailed, SystemHung, UsageError, told
from ..outputs import Outputs, Status
from ..space.points import Batch, Points
from ..space.rowtable import Numbers, RowTable
from .base import Executor, Wanted, Wrapper


class Counted(Wrapper):
    """Counts the rows and the batches that reach the system."""

    def __init__(self, inner: Executor) -> None:
        super().__init__(inner)
        self.calls = 0
        self.batches = 0

    def answer(self, batch: Batch, scores: Wanted) -> Outputs:
        """Pass the batch on and count it."""
        self.calls += len(batch)
        self.batches += 1
        return self.inner.answer(batch, scores)


class Chunked(Wrapper):
    """Passes large batches on in chunks, so that the system's memory stays bounded."""

    def __init__(self, inner: Executor, rows: int = 100_000) -> None:
        super().__init__(inner)
        self.rows = whole_number("rows", "Chunked", rows, 1)

    def answer(self, batch: Batch, scores: Wanted) -> Outputs:
        """Answer chunk by chunk."""
        if len(batch) <= self.rows:
            return self.inner.answer(batch, scores)
        starts = range(0, len(batch), self.rows)
        return Outputs.concat(
            [self.inner.answer(batch.take(slice(start, start + self.rows)), scores) for start in starts]
        )


class Cached(Wrapper):
    """Asks for no row twice, within a batch or across batches, as long as it remembers.

    It remembers the last `rows` different ones at least and twice as many at most: when the younger half is
    full it becomes the older, and the older is forgotten.
    """

    def __init__(self, inner: Executor, rows: int = 1_000_000) -> None:
        super().__init__(inner)
        self.rows = whole_number("rows", "Cached", rows, 1)
        self._memory = {False: _Memory(), True: _Memory()}  # without scores, and with
        self._older = {False: _Memory(), True: _Memory()}

    def answer(self, batch: Batch, scores: Wanted) -> Outputs:
        """Answer from memory what is there and ask for the rest, each different row once."""
        if not isinstance(batch, Points) or scores == "only":
            # texts and queries: their systems keep their own; guessed labels: nobody should
            return self.inner.answer(batch, scores)
        if len(self._memory[scores]) >= self.rows:
            self._older[scores], self._memory[scores] = self._memory[scores], _Memory()
        memory, older = self._memory[scores], self._older[scores]
        known_before = older.find(batch)
        rest = np.flatnonzero(known_before < 0)
        asked = batch if len(rest) == len(batch) else batch.take(rest)
        places, new = memory.add(asked)
        if new.size:
            try:
                memory.learn(self.inner.answer(asked if len(new) == len(asked) else asked.take(new), scores))
            except BaseException:
                self._memory[scores] = _Memory()  # it holds rows that now have no answer
                raise
        if asked is batch:
            return memory.take(places)
        remembered = np.flatnonzero(known_before >= 0)
        both = Outputs.concat([older.take(known_before[remembered]), memory.take(places)])
        return both.take(np.argsort(np.concatenate([remembered, rest])))


class _Memory:
    """Rows and the outputs they had, in buffers that grow by doubling."""

    def __init__(self) -> None:
        self.table: RowTable | None = None
        self._kept = Outputs.empty()  # as long as the buffers; the first `_count` rows count
        self._count = 0

    def __len__(self) -> int:
        return len(self.table) if self.table is not None else 0

    def find(self, batch: Points) -> Numbers:
        if self.table is None:
            return np.full(len(batch), -1, dtype=np.int64)
        return self.table.find(batch.codes)

    def add(self, batch: Points) -> tuple[Numbers, Numbers]:
        if self.table is None:
            self.table = RowTable(batch.codes.shape[1])
        return self.table.add(batch.codes)

    @property
    def outputs(self) -> Outputs:
        return self._kept.take(slice(0, self._count))

    def take(self, places: Numbers) -> Outputs:
        return self._kept.take(places)

    def learn(self, new: Outputs) -> None:
        kept, start, stop = self._kept, self._count, self._count + len(new)
        alike = kept.values.dtype == new.values.dtype and (kept.scores is None) == (new.scores is None)
        if stop > len(kept) or not alike:
            joined = Outputs.concat([self.outputs, new])
            self._kept = joined.take(np.arange(2 * stop) % stop)  # room for as many again
            self._kept.messages.clear()
            self._kept.messages.update(joined.messages)
        else:
            kept.values[start:stop] = new.values
            kept.status[start:stop] = new.status
            if kept.scores is not None and new.scores is not None:
                kept.scores[start:stop] = new.scores
            kept.messages.update({start + row: text for row, text in new.messages.items()})
        self._count = stop


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


class Guarded(Wrapper):
    """Lets a run go on when the system raises, hangs, dies, lies about lengths, or changes its mind.

    A batch that fails is cut in pieces until the rows at fault stand alone; they get a status and a message,
    every other row its output. After the first batch, and whenever ten times as many rows have been asked, a
    few rows are asked a second time to see whether the answers repeat.

    Parameters
    ----------
    inner : Executor
        The system.
    recheck : int
        How many rows to ask a second time; 0 for none.
    """

    #: rows that may fail, one after the other and none answered, before the whole system counts as failed
    patience = 50
    #: a first batch of fewer rows that all fail is no proof that the system does
    few = 5
    #: rows that may hang, one after the other, before the rest of a batch is given up
    most_hung = 10
    #: into how many pieces a failing batch is cut: a hanging piece costs a whole time-out, so few rounds are better
    pieces = 8

    def __init__(self, inner: Executor, recheck: int = 16) -> None:
        super().__init__(inner)
        self.recheck = whole_number("recheck", "Guarded", recheck)
        self.health = Health()
        self._alive = False
        self._failures = 0
        self._seen = 0
        self._next_recheck = 1
        self._rng = np.random.default_rng(0)

    def answer(self, batch: Batch, scores: Wanted) -> Outputs:
        """Answer every row, the failing ones with a status."""
        outputs = self._solve(batch, scores)
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

    def _solve(self, batch: Batch, scores: Wanted) -> Outputs:
        parts: list[tuple[int, Outputs]] = []  # where each solved piece begins
        todo = [(0, len(batch))]
        lone_failures = hung = 0
        whole_failed = False
        while todo:
            start, stop = todo.pop()
            piece = batch if stop - start == len(batch) else batch.take(slice(start, stop))
            try:
                answer = self.inner.answer(piece, scores)
                self._alive, hung = True, 0
                if piece is batch:
                    return answer  # as good as always
                parts.append((start, answer))
                continue
            except UsageError:
                raise  # a model that was fitted on other columns is no failing row
            except (Exception, SystemExit) as error:
                whole_failed = True
                self.health.asked_again += stop - start
                if stop - start == 1:
                    parts.append((start, _failed_row(error)))
                    lone_failures += 1
                    hung = hung + 1 if isinstance(error, SystemHung) else 0
                    self._failures += 1
                    if not self._alive and self._failures >= self.patience:
                        self._alive = self._answers_elsewhere(batch, todo, 16)
                        if not self._alive:
                            raise self._verdict(told(error), self._failures) from error
                    if hung >= self.most_hung and todo:
                        if not self._answers_elsewhere(batch, todo, 4):
                            parts.extend(_not_asked(todo, hung))
                            todo = []
                        hung = 0
                    continue
            edges = np.linspace(start, stop, min(self.pieces, stop - start) + 1).astype(int)
            todo.extend(reversed(list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))))
        parts.sort(key=lambda part: part[0])
        if not self._alive and len(batch) >= self.few:
            raise self._verdict(parts[-1][1].messages[0], len(batch))
        if whole_failed and not lone_failures:
            self.health.remark(
                f"{self.name} failed on a batch of {plural(len(batch), 'row')} and answered each of them in smaller ones."
            )
        return _joined([part for _, part in parts])

    def _answers_elsewhere(self, batch: Batch, todo: list[tuple[int, int]], tries: int) -> bool:
        """Before rows are given up, ask a few from all over what is left: data may be sorted."""
        left = np.concatenate([np.arange(*piece) for piece in todo]) if todo else np.empty(0, dtype=np.int64)
        for row in left[np.linspace(0, len(left) - 1, min(tries, len(left))).astype(int)].tolist():
            self.health.asked_again += 1
            try:
                self.inner.answer(batch.take(slice(row, row + 1)), False)
            except (Exception, SystemExit):
                continue
            return True
        return False

    def _verdict(self, last: str, rows: int) -> SystemFailed:
        return SystemFailed(
            f"{self.name} failed on every one of {plural(rows, 'row')} it was asked, the last time with "
            f"{last}. Try it by hand on one row of your data."
        )

    def _ask_again(self, batch: Batch, outputs: Outputs) -> None:
        answered = np.flatnonzero(outputs.ok)
        if not answered.size:
            return
        chosen = answered
        if len(answered) > self.recheck:
            chosen = np.unique(answered[self._rng.integers(len(answered), size=self.recheck)])
        self.health.asked_again += len(chosen)
        sample = batch.take(chosen)
        try:
            second = self.inner.answer(sample, False)
        except (Exception, SystemExit) as error:
            self.health.remark(
                f"{self.name} answered some rows once and failed on them the second time: {told(error)}"
            )
            return
        first = outputs.take(chosen)
        for row in np.flatnonzero(~first.same(second, rounding=1e-9)):
            case = sample.take(slice(row, row + 1)).frame.iloc[0].to_dict()
            self.health.unstable.append({"case": case, "first": first.values[row], "second": second.values[row]})


def _failed_row(error: BaseException) -> Outputs:
    known: dict[type, Status] = {
        SystemHung: Status.TIMEOUT,
        SystemDied: Status.DIED,
        BadAnswer: Status.MALFORMED,
    }
    status = known.get(type(error), Status.ERROR)
    return Outputs(np.array([None], dtype=object), np.array([status], dtype=np.int8), None, {0: told(error)})


def _not_asked(pieces: list[tuple[int, int]], hung: int) -> list[tuple[int, Outputs]]:
    """Rows that are given up: each would cost a whole time-out."""
    why = f"not asked: it hung on the {hung} rows before, and on others"
    rows = [row for start, stop in pieces for row in range(start, stop)]
    none, late = np.array([None], dtype=object), np.array([Status.TIMEOUT], dtype=np.int8)
    return [(row, Outputs(none, late, None, {0: why})) for row in rows]


def _joined(parts: list[Outputs]) -> Outputs:
    """Join pieces; rows that failed get a blank of the others' type, so that the labels keep theirs."""
    dtype = next((part.values.dtype for part in parts if part.ok.any()), None)
    if dtype is not None:
        parts = [part if part.ok.any() else replace(part, values=np.zeros(len(part), dtype)) for part in parts]
    return Outputs.concat(parts)
