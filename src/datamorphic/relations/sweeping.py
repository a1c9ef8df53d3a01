"""Cases with every value of one feature, all else equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import OutOfBudget
from ..outputs import Outputs
from ..space.features import Codes
from ..space.points import Points
from ..strategies.flow import Flow, Question
from .base import Mask

MOST_VALUES = 16  # of a number that are tried on each case
MOST_CATEGORIES = 50
AT_ONCE = 5_000  # rows a question: between two of them a budget is looked at


@dataclass(frozen=True, eq=False)
class Swept:
    """Cases, each with every value of one feature: a row a case, a column a value, the case's own among them.

    Attributes
    ----------
    inputs : Points
        The cases.
    values : ndarray
        The codes of the feature, in rising order along each row.
    own : ndarray of int
        In which column each case stands as it is.
    outputs : Outputs
        The answers, row after row.
    valid : ndarray of bool
        Which combinations the constraints of the space allow.
    """

    inputs: Points
    values: Codes
    own: npt.NDArray[np.intp]
    outputs: Outputs
    valid: Mask
    feature: int

    @property
    def shape(self) -> tuple[int, int]:
        """How many cases, and values of each."""
        return self.values.shape[0], self.values.shape[1]

    def grid(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return something known of every answer as a matrix of cases by values."""
        return column.reshape(*self.shape, *column.shape[1:])

    @property
    def known(self) -> Mask:
        """Which answers are there and count."""
        return self.grid(self.outputs.ok) & self.valid

    def points(self, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> Points:
        """Return some of the cases that were asked."""
        codes = self.inputs.codes[rows].copy()
        codes[:, self.feature] = self.values[rows, columns]
        return Points(self.inputs.space, codes)

    def answers(self, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> Outputs:
        """Return the answers to some of them."""
        return self.outputs.take(rows * self.shape[1] + columns)


def sweep(
    inputs: Points, feature: str, tried: Codes | None = None, *, scores: bool = False, note: str = ""
) -> Flow[Swept]:
    """Ask every case with every value of a feature; if the budget is spent before that, those it was asked for.

    `tried` are the values, by default those that `values_of` finds among the cases.
    """
    space, column = inputs.space, inputs.space.position(feature)
    inputs = inputs.take(~np.isnan(inputs.codes[:, column]))
    tried = values_of(inputs, feature) if tried is None else tried
    own = inputs.codes[:, column]
    values = np.sort(np.column_stack([np.broadcast_to(tried, (len(own), len(tried))), own]), axis=1)
    places = np.argmax(values == own[:, None], axis=1)
    width = values.shape[1]
    some = max(1, AT_ONCE // width)
    answers: list[Outputs] = []
    done = 0
    for start in range(0, len(inputs), some):
        part = slice(start, start + some)
        codes = np.repeat(inputs.codes[part], width, axis=0)
        codes[:, column] = values[part].ravel()
        done_share = min(start / max(len(inputs), 1), 1.0)
        try:
            asked = yield Question(Points(space, codes), scores=scores, done=done_share, note=note)
        except OutOfBudget:
            if not answers:
                raise
            break
        answers.append(asked)
        done += len(values[part])
    inputs, values, places = inputs.take(slice(0, done)), values[:done], places[:done]
    valid = np.ones(values.shape, dtype=bool)
    if space.keeps_constraints:
        codes = np.repeat(inputs.codes, width, axis=0)
        codes[:, column] = values.ravel()
        valid = space.satisfied(codes).reshape(values.shape)
    return Swept(inputs, values, places, Outputs.concat(answers), valid, column)


def values_of(inputs: Points, feature: str) -> Codes:
    """Return the values of a feature that are worth trying: all of few, else some of those that occur, and the bounds."""
    column = inputs.space.position(feature)
    about, own = inputs.space.features[column], inputs.codes[:, column]
    own = own[~np.isnan(own)]
    if about.kind == "continuous":
        met = np.quantile(own, np.linspace(0, 1, MOST_VALUES - 2), method="nearest") if len(own) else np.empty(0)
        return np.unique(np.concatenate([met, [end for end in (about.low, about.high) if np.isfinite(end)]]))
    low, high = (
        end if np.isfinite(end) else edge
        for end, edge in ((about.low, own.min(initial=0)), (about.high, own.max(initial=0)))
    )
    most = MOST_CATEGORIES if about.kind == "categorical" else MOST_VALUES
    return np.unique(np.round(np.linspace(low, high, int(min(high - low + 1, most)))).astype(np.float64))
