"""Promises of anything that predicts: an answer belongs to its case, whatever else is asked and however it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..runs.flow import Flow, Query
from ..space.outputs import Outputs
from ..space.points import Batch, Points, Rows
from ..systems.base import Executor, Function
from ..systems.estimator import Estimator
from .base import INAPPLICABLE, JudgedGroups, Relation, index_by_name

if TYPE_CHECKING:
    import pandas as pd

ROW_ORDER_COUNT = 5  # other orders in which a batch is asked
MAX_SINGLE_CASES = 40  # cases that are asked one by one: each is a call


class _BatchRelation(Relation):
    """A promise about how a batch is asked; its cases are asked anew, whatever is remembered of them."""

    whole = True  # a smaller example is a smaller batch

    def query(self, batch: Batch) -> Flow[Outputs]:
        """Ask a batch that no cache answers."""
        return (yield Query(batch, note=self.name, fresh=True))


class Repeats(_BatchRelation):
    """A case that is asked twice gets the same answer."""

    name = "repeats"
    says = "the same case gets the same answer when it is asked again"

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Ask everything twice."""
        before = yield from self.query(inputs)
        after = yield from self.query(inputs)
        return self.judge(np.arange(len(inputs)), inputs, inputs, before, after)


class RowOrder(_BatchRelation):
    """The order of the rows of a batch makes no difference to any of them."""

    name = "row order"
    says = "a case gets the same answer wherever it stands in a batch"

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Ask the rows in several orders, backwards among them."""
        n = len(inputs)
        before = yield from self.query(inputs)
        orders = [np.arange(n)[::-1], *(rng.permutation(n) for _ in range(ROW_ORDER_COUNT - 1))]
        after = []
        for order in orders:
            answers = yield from self.query(inputs.take(order))
            after.append(answers.take(np.argsort(order)))
        rows = np.tile(np.arange(n), len(orders))
        return self.judge(rows, inputs.take(rows), inputs.take(rows), before.take(rows), Outputs.concat(after))


class Batches(_BatchRelation):
    """A case gets the same answer alone, in a small batch and in a large one."""

    name = "batches"
    says = "a case gets the same answer alone as among others"

    def __init__(self, single_cases: int = MAX_SINGLE_CASES) -> None:
        self.single_cases = single_cases

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Ask all rows at once, then in parts, then some of them one by one."""
        n = len(inputs)
        before = yield from self.query(inputs)
        parts = [np.arange(start, min(start + 7, n)) for start in range(0, n, 7)] if n > 7 else []
        parts = parts[: self.single_cases] + [
            np.array([row]) for row in np.sort(rng.permutation(n)[: self.single_cases])
        ]
        after = []
        for part in parts:
            after.append((yield from self.query(inputs.take(part))))
        rows = np.concatenate(parts)
        return self.judge(rows, inputs.take(rows), inputs.take(rows), before.take(rows), Outputs.concat(after))


class _FrameRelation(_BatchRelation):
    """A promise about how cases are written down: systems that read frames get the same cases in another frame."""

    whole = False
    MAX_CASES = 50  # cases: a system that refuses is asked row by row

    def system(self, sut: Executor) -> Executor:
        """Return the system as it is: what wraps a model would put its columns in order again."""
        return sut.bare if isinstance(sut, Estimator) else sut

    def why_not(self, sut: Executor, inputs: Points) -> str:
        """Return why it does not apply to systems that read no frames."""
        if isinstance(sut, Function):
            return "it takes one case at a time" if sut.scalar else ""
        if isinstance(sut, Estimator):
            arrays = sut.columns is None and sut.width is not None
            return "the model was fitted on arrays: it knows columns by their place" if arrays else ""
        return "the system is not asked with frames"

    def rewrite(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return the same cases in another frame."""
        raise NotImplementedError

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Ask for the cases as they are, and written in another way."""
        inputs = inputs.take(slice(0, self.MAX_CASES))
        frame = inputs.frame
        follow_up = Rows(self.rewrite(frame, rng))
        before = yield from self.query(Rows(frame))
        after = yield from self.query(follow_up)
        groups = self.judge(np.arange(len(inputs)), inputs, follow_up, before, after)
        if before.ok.any() and not after.ok.any():
            groups.verdicts[:] = INAPPLICABLE  # it refuses, and loudly: nobody gets a wrong answer
        return groups


class ColumnOrder(_FrameRelation):
    """Columns are read by their names, not by their places."""

    name = "column order"
    says = "a case gets the same answer when its columns stand in another order"

    def why_not(self, sut: Executor, inputs: Points) -> str:
        """Return why it does not apply: one column has one order."""
        return "there is one column only" if len(inputs.space) == 1 else super().why_not(sut, inputs)

    def rewrite(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return the columns in the opposite order: no column but one in the middle stays in its place."""
        return frame[frame.columns[::-1]]


class RowLabels(_FrameRelation):
    """The labels of rows mean nothing: a frame that was filtered or sorted has others."""

    name = "row labels"
    says = "a case gets the same answer when the rows of the frame have other labels"

    def rewrite(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return the rows with labels as a filtered, shuffled frame has them."""
        return frame.set_axis(rng.permutation(10 * len(frame))[: len(frame)], axis=0)


class NumberTypes(_FrameRelation):
    """Whole numbers are the same numbers when a file or a join has made floats of them."""

    name = "number types"
    says = "a case gets the same answer when its whole numbers are written as floats"

    def why_not(self, sut: Executor, inputs: Points) -> str:
        """Return why it does not apply: no column has whole numbers."""
        return super().why_not(sut, inputs) or (
            "" if self._find_integer_columns(inputs.frame) else "no column has whole numbers"
        )

    def _find_integer_columns(self, frame: pd.DataFrame) -> list[Any]:
        return [name for name, dtype in frame.dtypes.items() if isinstance(dtype, np.dtype) and dtype.kind in "iu"]

    def rewrite(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return the frame with floats for ints."""
        return frame.astype(dict.fromkeys(self._find_integer_columns(frame), np.float64))


#: the relations that every fitted model is asked to keep, by name
PREDICTOR_RELATIONS = index_by_name([Repeats(), RowOrder(), Batches(), ColumnOrder(), RowLabels(), NumberTypes()])
