"""Relations of every model: an answer depends on the case alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ...runs.flow import Flow, Query
from ...space.outputs import Outputs
from ...space.points import Batch, Points, Rows
from ...systems.base import Executor, Function
from ...systems.estimator import Estimator
from ..algebra.base import INAPPLICABLE, JudgedGroups, Relation

Places = npt.NDArray[np.intp]
ROW_ORDER_COUNT = 5  # other orders in which a batch is queried
MAX_SINGLE_CASES = 40  # queried one by one, each with a call of its own


class _BatchRelation(Relation):
    """A relation about how a batch is queried; its cases bypass the cache."""

    whole = True  # shrinking removes rows

    def query(self, batch: Batch) -> Flow[Outputs]:
        """Query a batch without the cache."""
        return (yield Query(batch, note=self.name, fresh=True))

    def judge_rows(self, inputs: Points, before: Outputs, rows: Places, after: list[Outputs]) -> JudgedGroups:
        """Judge the answers to rows of a batch that was queried in other ways."""
        source = inputs.take(rows)
        return self.judge(rows, source, source, before.take(rows), Outputs.concat(after))


class Repeats(_BatchRelation):
    """A case that is queried twice gets the same answer."""

    name = "repeats"
    statement = "the same case gets the same answer when it is queried again"

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Query everything twice."""
        before = yield from self.query(inputs)
        after = yield from self.query(inputs)
        return self.judge(np.arange(len(inputs)), inputs, inputs, before, after)


class RowOrder(_BatchRelation):
    """The order of the rows in a batch does not matter."""

    name = "row order"
    statement = "a case gets the same answer at any position in a batch"

    def __init__(self, order_count: int = ROW_ORDER_COUNT) -> None:
        self.order_count = order_count

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Query the rows in several orders, one of them reversed."""
        n, after = len(inputs), []
        before = yield from self.query(inputs)
        for order in [np.arange(n)[::-1], *(rng.permutation(n) for _ in range(self.order_count - 1))]:
            answers = yield from self.query(inputs.take(order))
            after.append(answers.take(np.argsort(order)))
        return self.judge_rows(inputs, before, np.tile(np.arange(n), self.order_count), after)


class Batches(_BatchRelation):
    """A case gets the same answer alone, in a small batch and in a large one."""

    name = "batches"
    statement = "a case gets the same answer alone and in a batch"

    def __init__(self, single_cases: int = MAX_SINGLE_CASES) -> None:
        self.single_cases = single_cases

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Query all rows at once, then in parts, then some of them one by one."""
        n, after = len(inputs), []
        before = yield from self.query(inputs)
        parts = [np.arange(start, min(start + 7, n)) for start in range(0, n, 7)] if n > 7 else []
        single_rows = np.sort(rng.permutation(n)[: self.single_cases])
        parts = [*parts[: self.single_cases], *single_rows[:, None]]
        for part in parts:
            after.append((yield from self.query(inputs.take(part))))
        return self.judge_rows(inputs, before, np.concatenate(parts), after)


class _FrameRelation(_BatchRelation):
    """A relation about how cases are written as a frame."""

    whole = False
    MAX_CASES = 50  # a system that rejects the batch is queried row by row, which is slow

    def system(self, sut: Executor) -> Executor:
        """Return the bare system: its wrapper would put the columns in order again."""
        return sut.bare if isinstance(sut, Estimator) else sut

    def find_obstacle(self, sut: Executor, inputs: Points) -> str:
        """Return why the relation does not apply: the system does not read frames."""
        if inputs.space.blocks:
            return "the inputs hold images or sequences, which are not columns of a frame"
        if isinstance(sut, Function):
            if sut.style == "array":
                return "it takes arrays, so it knows columns by position"
            return "it takes one case at a time" if sut.scalar else ""
        if isinstance(sut, Estimator):
            arrays = sut.columns is None and sut.width is not None
            return "the model was fitted on arrays, so it knows columns by position" if arrays else ""
        return "the system is not queried with frames"

    def rewrite(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return the same cases in another frame."""
        raise NotImplementedError

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Query the cases as they are, and in another frame."""
        count = min(len(inputs), self.MAX_CASES)
        rows = np.linspace(0, len(inputs) - 1, count).astype(np.intp)  # data may be sorted by label
        inputs = inputs.take(rows)
        frame = inputs.frame
        follow_up = Rows(self.rewrite(frame, rng))
        before = yield from self.query(Rows(frame))
        after = yield from self.query(follow_up)
        groups = self.judge(rows, inputs, follow_up, before, after)
        if before.ok.any() and not after.ok.any():
            groups.verdicts[:] = INAPPLICABLE  # the system rejects the frame, so nobody gets a wrong answer
        return groups


class ColumnOrder(_FrameRelation):
    """Columns are read by name, not by position."""

    name = "column order"
    statement = "a case gets the same answer when its columns are in another order"

    def find_obstacle(self, sut: Executor, inputs: Points) -> str:
        """Return why the relation does not apply: a single column has one order."""
        return "there is only one column" if len(inputs.space) == 1 else super().find_obstacle(sut, inputs)

    def rewrite(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return the columns in reverse order."""
        return frame[frame.columns[::-1]]


class RowLabels(_FrameRelation):
    """The index of a frame does not matter; filtering or sorting changes it."""

    name = "row labels"
    statement = "a case gets the same answer when the frame has another index"

    def rewrite(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return the rows with the index of a filtered and shuffled frame."""
        return frame.set_axis(rng.permutation(10 * len(frame))[: len(frame)], axis=0)


class NumberTypes(_FrameRelation):
    """Integers may be written as floats, as files and joins do."""

    name = "number types"
    statement = "a case gets the same answer when its integers are written as floats"

    def find_obstacle(self, sut: Executor, inputs: Points) -> str:
        """Return why the relation does not apply: no column has integers."""
        reason = super().find_obstacle(sut, inputs)
        has_floats_only = inputs.space.kinds["continuous"] == len(inputs.space)
        if not reason and (has_floats_only or not self._find_integer_columns(inputs.frame)):
            reason = "no column has integers"
        return reason

    def _find_integer_columns(self, frame: pd.DataFrame) -> list[Any]:
        return [name for name, dtype in frame.dtypes.items() if isinstance(dtype, np.dtype) and dtype.kind in "iu"]

    def rewrite(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return the frame with integers as floats."""
        return frame.astype(dict.fromkeys(self._find_integer_columns(frame), np.float64))


#: the relations that every fitted model must satisfy, by name
PREDICTOR_RELATIONS: dict[str, Relation] = {
    relation.name: relation
    for relation in (Repeats(), RowOrder(), Batches(), ColumnOrder(), RowLabels(), NumberTypes())
}
