"""Wrappers that count and cache what reaches a system.

`runs.driver` wraps a system in this order, outermost first::

    CachingSystem > CountingSystem > GuardedSystem > the lanes of an engine, which reach the system
"""

from __future__ import annotations

import copy

import numpy as np

from .._validation import validate_integer
from ..space.hashing import Numbers, RowTable
from ..space.outputs import Outputs
from ..space.points import Batch, Points
from .base import Executor, ScoreRequest, Wrapper


class CountingSystem(Wrapper):
    """Counts the rows and batches that reach a system."""

    def __init__(self, inner: Executor) -> None:
        super().__init__(inner)
        self.calls = 0
        self.batches = 0

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Count the batch and pass it on."""
        self.calls += len(batch)
        self.batches += 1
        return self.inner.answer(batch, scores)


class CachingSystem(Wrapper):
    """Queries each row once as long as it is remembered.

    At least the last `rows` different rows are remembered and at most twice as many. When the newer half is full, it
    replaces the older half.
    """

    def __init__(self, inner: Executor, rows: int = 1_000_000) -> None:
        super().__init__(inner)
        self.rows = validate_integer("rows", "CachingSystem", rows, 1)
        self._memory = {False: _AnswerMemory(), True: _AnswerMemory()}  # without and with scores
        self._older = {False: _AnswerMemory(), True: _AnswerMemory()}

    def place_before(self, system: Executor) -> CachingSystem:
        """Return the same memory before another wrapper of the system."""
        twin = copy.copy(self)
        twin.inner = system
        return twin

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Answer known rows from memory, and query every other row once."""
        if not isinstance(batch, Points) or scores == "only":
            # systems of other inputs have caches of their own; derived labels must not be cached
            return self.inner.answer(batch, scores)
        if len(self._memory[scores]) >= self.rows:
            self._older[scores], self._memory[scores] = self._memory[scores], _AnswerMemory()
        memory, older = self._memory[scores], self._older[scores]
        older_places = older.find(batch)
        unknown_rows = np.flatnonzero(older_places < 0)
        unknown_batch = batch if len(unknown_rows) == len(batch) else batch.take(unknown_rows)
        places, new_rows = memory.add(unknown_batch)
        if new_rows.size:
            new_batch = unknown_batch if len(new_rows) == len(unknown_batch) else unknown_batch.take(new_rows)
            try:
                memory.learn(self.inner.answer(new_batch, scores))
            except BaseException:
                self._memory[scores] = memory.without_unanswered_rows()
                raise
        if unknown_batch is batch:
            return memory.take(places)
        known_rows = np.flatnonzero(older_places >= 0)
        combined = Outputs.concat([older.take(older_places[known_rows]), memory.take(places)])
        return combined.take(np.argsort(np.concatenate([known_rows, unknown_rows])))


class _AnswerMemory:
    """Rows and their outputs, in buffers that grow by doubling."""

    def __init__(self) -> None:
        self.table: RowTable | None = None
        self._buffer = Outputs.empty()  # only the first `_count` rows are in use
        self._count = 0

    def __len__(self) -> int:
        return len(self.table) if self.table is not None else 0

    def without_unanswered_rows(self) -> _AnswerMemory:
        """Return a memory without the rows that were added after the last answers."""
        memory = _AnswerMemory()
        if self.table is not None and self._count:
            codes = self.table.get_rows(self._count)
            memory.table = RowTable(codes.shape[1])
            memory.table.add(codes)
            memory._buffer, memory._count = self._buffer, self._count
        return memory

    def find(self, batch: Points) -> Numbers:
        if self.table is None:
            return np.full(len(batch), -1, dtype=np.int64)
        return self.table.find(batch.codes)

    def add(self, batch: Points) -> tuple[Numbers, Numbers]:
        if self.table is None:
            self.table = RowTable(batch.codes.shape[1])
        return self.table.add(batch.codes)

    def take(self, places: Numbers) -> Outputs:
        return self._buffer.take(places)

    def learn(self, new_outputs: Outputs) -> None:
        buffer, start, stop = self._buffer, self._count, self._count + len(new_outputs)
        has_same_scores = (buffer.scores is None) == (new_outputs.scores is None)
        if stop > len(buffer) or buffer.values.dtype != new_outputs.values.dtype or not has_same_scores:
            combined = Outputs.concat([buffer.take(slice(0, start)), new_outputs])
            self._buffer = combined.take(np.arange(2 * stop) % stop)  # twice the space needed now
            self._buffer.messages.clear()
            self._buffer.messages.update(combined.messages)
        else:
            buffer.values[start:stop] = new_outputs.values
            buffer.status[start:stop] = new_outputs.status
            if buffer.scores is not None and new_outputs.scores is not None:
                buffer.scores[start:stop] = new_outputs.scores
            buffer.messages.update({start + row: text for row, text in new_outputs.messages.items()})
        self._count = stop
