"""Sweeps: cases with every value of one feature, all else equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import OutOfBudget
from ...runs.flow import Flow, Query
from ...space.features import Codes
from ...space.outputs import Outputs
from ...space.points import Points
from .base import Mask

MAX_VALUES_PER_NUMBER = 16  # tried on each case
MAX_CATEGORIES = 50
MAX_ROWS_PER_QUERY = 5_000  # the budget is checked between queries


@dataclass(frozen=True, eq=False, kw_only=True)
class Sweep:
    """Cases with every value of one feature: one row per case."""

    inputs: Points
    values: Codes  # the codes of the feature, ascending along each row
    own_columns: npt.NDArray[np.intp]  # the column of each case's own value
    outputs: Outputs  # row by row
    valid: Mask  # which combinations the constraints of the space allow
    feature: int  # the position of the feature

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of cases and of values per case."""
        return self.values.shape[0], self.values.shape[1]

    def grid(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a property of all answers as a matrix of cases by values."""
        return column.reshape(*self.shape, *column.shape[1:])

    @property
    def answered(self) -> Mask:
        """Which combinations are valid and have an answer."""
        return self.grid(self.outputs.ok) & self.valid

    def points(self, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> Points:
        """Return some of the queried cases."""
        codes = self.inputs.codes[rows].copy()
        codes[:, self.feature] = self.values[rows, columns]
        return Points(self.inputs.space, codes)

    def answers(self, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> Outputs:
        """Return the answers to some of the queried cases."""
        return self.outputs.take(rows * self.shape[1] + columns)


def sweep(
    inputs: Points, feature: str, feature_values: Codes | None = None, *, scores: bool = False, note: str = ""
) -> Flow[Sweep]:
    """Query every case with every value of a feature, as the budget allows.

    `feature_values` are the values to try, by default those of `find_sweep_values`.
    """
    space, column = inputs.space, inputs.space.position(feature)
    inputs = inputs.take(~np.isnan(inputs.codes[:, column]))
    feature_values = find_sweep_values(inputs, feature) if feature_values is None else feature_values
    own_values = inputs.codes[:, column]
    common_values = np.broadcast_to(feature_values, (len(own_values), len(feature_values)))
    values = np.sort(np.column_stack([common_values, own_values]), axis=1)
    own_columns = np.argmax(values == own_values[:, None], axis=1)
    width = values.shape[1]
    cases_per_query = max(1, MAX_ROWS_PER_QUERY // width)
    answers: list[Outputs] = []
    done = 0
    for start in range(0, len(inputs), cases_per_query):
        part = slice(start, start + cases_per_query)
        codes = np.repeat(inputs.codes[part], width, axis=0)
        codes[:, column] = values[part].ravel()
        done_share = min(start / max(len(inputs), 1), 1.0)
        try:
            outputs = yield Query(Points(space, codes), scores=scores, progress=done_share, note=note)
        except OutOfBudget:
            if not answers:
                raise
            break
        answers.append(outputs)
        done += len(values[part])
    inputs, values, own_columns = inputs.take(slice(0, done)), values[:done], own_columns[:done]
    valid = np.ones(values.shape, dtype=bool)
    if space.keeps_constraints:
        codes = np.repeat(inputs.codes, width, axis=0)
        codes[:, column] = values.ravel()
        valid = space.satisfied(codes).reshape(values.shape)
    outputs = Outputs.concat(answers)
    return Sweep(inputs=inputs, values=values, own_columns=own_columns, outputs=outputs, valid=valid, feature=column)


def find_sweep_values(inputs: Points, feature: str) -> Codes:
    """Return the values of a feature to try: all, or some with the bounds."""
    column = inputs.space.position(feature)
    spec, own_values = inputs.space.features[column], inputs.codes[:, column]
    own_values = own_values[~np.isnan(own_values)]
    if spec.kind == "text":
        return np.unique(own_values)[:MAX_CATEGORIES]
    if spec.kind == "continuous":
        ends = [end for end in (spec.low, spec.high) if np.isfinite(end)]
        if len(own_values):
            ends += list(np.quantile(own_values, np.linspace(0, 1, MAX_VALUES_PER_NUMBER - 2), method="nearest"))
        return np.unique(np.array(ends, dtype=np.float64))
    low, high = (
        end if np.isfinite(end) else edge
        for end, edge in ((spec.low, own_values.min(initial=0)), (spec.high, own_values.max(initial=0)))
    )
    max_values = MAX_CATEGORIES if spec.kind == "categorical" else MAX_VALUES_PER_NUMBER
    return np.unique(np.round(np.linspace(low, high, int(min(high - low + 1, max_values)))).astype(np.float64))
