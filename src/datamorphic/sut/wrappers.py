"""What lies between a strategy and a guarded system: counting and caching.

`runs.drive` puts them around a system in this order, outermost first::

    Cached > Counted > Guarded > the lanes of an engine: the system itself, or others that reach it elsewhere
"""

from __future__ import annotations

import numpy as np

from .._checks import whole_number
from ..outputs import Outputs
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
