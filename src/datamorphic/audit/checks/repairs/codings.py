"""Codings that are mixed up: categories, or small whole numbers, that the system takes for one another."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ...._lazy import pd
from ....space.features import Categorical
from ...case_text import format_label, to_plain
from .changes import PLAIN, SUBSTITUTED, USUAL, ColumnChange
from .search import CodingFinder, RepairSearch

Floats = npt.NDArray[np.float64]
RowNumbers = npt.NDArray[np.intp]

MAX_VALUES_PER_COLUMN = 12  # of a column; others than the most frequent ones stay as they are
MAX_WHOLE_NUMBER_CODES = 8  # different whole numbers that may be codes
MIN_ROWS_OF_VALUE = 3  # among the screened rows
MAX_CODING_ROWS = 600  # that are given every value, if there is time
MAX_CHANGES_PER_KIND = 3  # of one column


class AssignmentFinder(CodingFinder):
    """Gives each screened row every value of a column, which shows what each value should have been taken for."""

    def list_changes(self, search: RepairSearch, rows: RowNumbers, weights: Floats) -> list[ColumnChange]:
        """Return swaps, single replacements and the best permutation of the values of each column."""
        changes: list[ColumnChange] = []
        space = search.data.points.space
        if len(rows) < len(search.search_rows):  # a table of values by values needs more rows than a single change
            count = search.count_rows(MAX_VALUES_PER_COLUMN, min(MAX_CODING_ROWS, len(search.search_rows)), 0.3)
            rows, weights = search.draw_rows(max(count, len(rows)))
        for position in space.scalars:
            feature = space.features[position]
            column = search.frame[feature.name]
            if feature.kind == "text" or (
                not isinstance(feature, Categorical) and column.nunique() > MAX_WHOLE_NUMBER_CODES
            ):
                continue
            values = column.iloc[search.search_rows].value_counts().index.tolist()[:MAX_VALUES_PER_COLUMN]
            if len(values) < 2 or (
                not isinstance(feature, Categorical) and any(value != int(value) for value in values)
            ):
                continue
            changes += self._list_changes_of_column(search, feature.name, values, rows, weights)
        return changes

    def _list_changes_of_column(
        self, search: RepairSearch, name: str, values: list[object], rows: RowNumbers, weights: Floats
    ) -> list[ColumnChange]:
        from scipy.optimize import linear_sum_assignment

        constants = {value: _make_constant(name, value) for value in values}
        losses = search.measure(list(constants.values()), rows, scores=True)
        if len(losses) < len(values):
            return []
        own = search.frame[name].iloc[rows].to_numpy()
        counts = np.array([int((own == value).sum()) for value in values])
        # table[i, j]: the weighted losses of the rows with value i if they are given value j
        table = np.array(
            [
                [
                    float((search.judge.measure_surprise(losses[constants[other]], rows) * weights)[own == value].sum())
                    for other in values
                ]
                for value in values
            ]
        )
        table = np.nan_to_num(table, nan=np.inf)
        if not np.isfinite(table).all():
            return []
        diagonal = np.diag(table)
        enough = counts >= MIN_ROWS_OF_VALUE
        pairs = [
            (diagonal[i] + diagonal[j] - table[i, j] - table[j, i], i, j)
            for i in range(len(values))
            for j in range(i)
            if enough[i] and enough[j]
        ]
        changes = [
            _make_mapping(name, {values[i]: values[j], values[j]: values[i]}, PLAIN)
            for gain, i, j in sorted(pairs, reverse=True)[:MAX_CHANGES_PER_KIND]
            if gain > 0
        ]
        replacements = [
            (diagonal[i] - table[i, j], i, j)
            for i in range(len(values))
            for j in range(len(values))
            if i != j and enough[i]
        ]
        changes += [
            _make_mapping(name, {values[i]: values[j]}, SUBSTITUTED)
            for gain, i, j in sorted(replacements, reverse=True)[:MAX_CHANGES_PER_KIND]
            if gain > 0
        ]
        order = linear_sum_assignment(table)[1].tolist()
        moved = {values[i]: values[j] for i, j in enumerate(order) if i != j}
        if len(moved) > 2:
            changes.append(_make_mapping(name, moved, USUAL))
        return changes


def _make_constant(name: str, value: object) -> ColumnChange:
    def make(frame: pd.DataFrame, _: RowNumbers) -> dict[str, object]:
        return {name: pd.Series([value] * len(frame), index=frame.index, dtype=frame[name].dtype)}

    return ColumnChange(columns=(name,), text=f"{name} always {value}", make=make)


def _make_mapping(name: str, mapping: Mapping[object, object], implausibility: int) -> ColumnChange:
    def make(frame: pd.DataFrame, _: RowNumbers) -> dict[str, object]:
        column = frame[name]
        mapped = column.astype(object).map(lambda value: mapping.get(value, value) if _is_hashable(value) else value)
        return {name: mapped.astype(column.dtype)}

    texts = {format_label(to_plain(old)): format_label(to_plain(new)) for old, new in mapping.items()}
    if len(texts) == 2 and set(texts) == set(texts.values()):
        text = f"{' and '.join(texts)} of {name} swapped"
    else:
        text = f"{name}: " + ", ".join(f"{old} taken for {new}" for old, new in texts.items())
    return ColumnChange(columns=(name,), text=text, implausibility=implausibility, make=make)


def _is_hashable(value: object) -> bool:
    return getattr(value, "__hash__", None) is not None
