"""Columns that tell nothing of their own: constants, copies, numbers of rows; and values that are absent."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...._text import format_short, pluralise
from ....core.result import Finding
from .profile import ColumnProfile, TableProfile
from .report import build_finding, format_count, format_names

MIN_ROWS = 10  # of fewer rows, columns may be equal or constant by chance
MAX_COMPARED_COLUMNS = 400
MAX_CORRELATED_ROWS = 2_000  # to find candidates for linear copies; all rows confirm them
MIN_CORRELATION_OF_COPY = 1 - 1e-9
MIN_ROWS_OF_RARER_VALUE = 5  # of two values: rare values may coincide by chance
MAX_DISTINCT_SHARE_OF_CODE = 0.5  # of the rows; codes with more different values pair with anything
MIN_SHARE_MISSING = 0.5  # of the rows: a column that is mostly missing
MIN_BLOCK_ROWS = 20  # in a row, all without a value
MIN_BLOCK_RATIO = 3.0  # times the longest run that chance explains
MAX_MISSING_SHARE_OF_BLOCK_COLUMN = 0.5


def find_constants(table: TableProfile) -> Iterator[Finding]:
    """Yield the columns that have the same value in all rows, or none."""
    if len(table) < MIN_ROWS:
        return
    constants = [column for column in table.inputs if len(column.values) <= 1]
    whole = [column for column in constants if not column.missing.any() or not len(column.values)]
    if not whole:
        return
    texts = [f"{c.name} ({format_short(c.values[0]) if len(c.values) else 'all missing'})" for c in whole]
    noun = "column has" if len(whole) == 1 else "columns have"
    yield build_finding(
        "constant",
        table,
        whole,
        title=f"{len(whole):,} {noun} the same value in every row: {format_names([c.name for c in whole])}",
        detail=f"The same value in all {len(table):,} rows: {format_names(texts)}. Such a column tells nothing about these rows.",
    )


def find_copies(table: TableProfile) -> Iterator[Finding]:
    """Yield the columns that repeat another one: as they are, in another unit, or in another coding."""
    if len(table) < MIN_ROWS:
        return
    columns = [column for column in table.inputs if len(column.values) > 1][:MAX_COMPARED_COLUMNS]
    pairs: dict[str, tuple[ColumnProfile, ColumnProfile, str]] = {}
    for original, copy, relation in (*_find_linear_copies(columns), *_find_recoded_copies(columns, len(table))):
        if original.name not in pairs:
            pairs.setdefault(copy.name, (original, copy, relation))
    if not pairs:
        return
    texts = [relation for _, _, relation in pairs.values()]
    copies = [copy for _, copy, _ in pairs.values()]
    noun = "column is a copy" if len(copies) == 1 else "columns are copies"
    yield build_finding(
        "copies",
        table,
        copies,
        title=f"{len(copies):,} {noun} of another one: {format_names([f'{c.name} ({o.name})' for o, c, _ in pairs.values()])}",
        detail=f"In every one of {len(table):,} rows: {'; '.join(texts[:6])}{'; ...' if len(texts) > 6 else ''}.",
    )


def _find_linear_copies(columns: list[ColumnProfile]) -> Iterator[tuple[ColumnProfile, ColumnProfile, str]]:
    """Yield columns of numbers that are equal to, or linear in, one further left."""
    numbers = [column for column in columns if column.kind in ("number", "date") and _has_two_frequent_values(column)]
    if len(numbers) < 2:
        return
    matrix = np.column_stack([np.where(np.isfinite(column.numbers), column.numbers, np.nan) for column in numbers])
    step = max(1, len(matrix) // MAX_CORRELATED_ROWS)
    with np.errstate(all="ignore"):
        sample = matrix[::step]
        means = np.nanmean(np.where(np.isnan(sample).all(axis=0), 0.0, sample), axis=0)
        centred = np.nan_to_num(sample - means, posinf=0.0, neginf=0.0)
        lengths = np.sqrt((centred**2).sum(axis=0))
        standard = np.where(lengths > 0, centred / np.where(lengths > 0, lengths, 1.0), 0.0)
        similar = np.abs(standard.T @ standard) > 1 - 1e-6
    for right in range(1, len(numbers)):
        for left in np.flatnonzero(similar[right, :right]).tolist():
            relation = _describe_linear_copy(numbers[left], numbers[right], matrix[:, left], matrix[:, right])
            if relation:
                yield numbers[left], numbers[right], relation
                break


def _describe_linear_copy(
    left: ColumnProfile, right: ColumnProfile, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]
) -> str:
    """Return how one column follows from the other; an empty text if it does not."""
    known = ~np.isnan(x)
    if (known != ~np.isnan(y)).any() or known.sum() < MIN_ROWS:
        return ""
    x, y = x[known], y[known]
    if np.array_equal(x, y):
        return f"{right.name} equals {left.name}"
    if len(left.values) <= 2 or len(right.values) <= 2:
        return ""  # two columns for two categories, 0 and 1 for one and 1 and 0 for the other
    with np.errstate(all="ignore"):
        slope = float(np.cov(x, y)[0, 1] / np.var(x, ddof=1))
        if not np.isfinite(slope) or np.corrcoef(x, y)[0, 1] ** 2 < MIN_CORRELATION_OF_COPY:
            return ""
        intercept = float(y.mean() - slope * x.mean())
    if abs(intercept) < 1e-6 * float(np.abs(y).max()):
        return f"{right.name} is {slope:.6g} times {left.name}"
    return f"{right.name} is {slope:.6g} times {left.name} {'+' if intercept > 0 else '-'} {abs(intercept):.6g}"


def _find_recoded_copies(
    columns: list[ColumnProfile], row_count: int
) -> Iterator[tuple[ColumnProfile, ColumnProfile, str]]:
    """Yield columns that say the same as one further left in other words: each value goes with one value of the other."""
    groups: dict[tuple[int, ...], list[ColumnProfile]] = {}
    for column in columns:
        count = len(column.values)
        is_code = count <= MAX_DISTINCT_SHARE_OF_CODE * row_count and _has_two_frequent_values(column)
        if is_code or column.kind == "text":
            groups.setdefault((count, *sorted(column.counts.tolist())[-5:], int(column.missing.sum())), []).append(
                column
            )
    for group in groups.values():
        for place, right in enumerate(group):
            for left in group[:place]:
                if left.kind == right.kind == "number" and len(left.values) == 2:
                    continue  # two columns for two categories
                pairs = (left.codes.astype(np.int64) + 1) * (len(right.values) + 1) + right.codes + 1
                distinct_count = max(len(left.values), 1) + bool(left.missing.any())
                if len(np.unique(pairs)) != distinct_count:
                    continue
                is_equal = [str(value) for value in left.values] == [str(value) for value in right.values]
                if not is_equal and len(left.values) > MAX_DISTINCT_SHARE_OF_CODE * row_count:
                    continue
                row = int(np.argmax(left.codes >= 0))
                pair = f"{format_short(left.values[left.codes[row]])} is {format_short(right.values[right.codes[row]])}"
                text = (
                    f"{right.name} equals {left.name}"
                    if is_equal
                    else f"{right.name} is {left.name} in another coding ({pair})"
                )
                yield left, right, text
                break


def _has_two_frequent_values(column: ColumnProfile) -> bool:
    """Tell whether a column of two values has enough rows of both."""
    return len(column.values) > 2 or bool((column.counts >= MIN_ROWS_OF_RARER_VALUE).all())


# -- missing values ----------------------------------------------------------------------------------------------------


def find_missing(table: TableProfile) -> Iterator[Finding]:
    """Yield labels that are missing, columns that are mostly missing, and blocks of rows without a value."""
    if len(table) < MIN_ROWS:
        return
    label = table.label
    if label is not None and label.missing.any():
        yield build_finding(
            "labels",
            table,
            [label],
            label.missing,
            example_columns=table.columns[:3],
            title=f"{pluralise(int(label.missing.sum()), 'row has', 'rows have')} no label",
            detail=f"{format_count(int(label.missing.sum()), len(table))} have no value of {label.name}.",
        )
    shares = {column.name: float(column.missing.mean()) for column in table.inputs}
    mostly = [column for column in table.inputs if MIN_SHARE_MISSING < shares[column.name] < 1]
    if mostly:
        texts = [f"{column.name} ({100 * shares[column.name]:.3g}%)" for column in mostly]
        noun = "column is" if len(mostly) == 1 else "columns are"
        yield build_finding(
            "missing",
            table,
            mostly,
            title=f"{len(mostly):,} {noun} missing in most rows: {format_names([column.name for column in mostly])}",
            detail=f"The share of {len(table):,} rows without a value: {format_names(texts)}.",
        )
    for column in table.columns:
        yield from _find_block(table, column)


def _find_block(table: TableProfile, column: ColumnProfile) -> Iterator[Finding]:
    """Yield the longest run of rows without a value, if chance does not explain it."""
    share = float(column.missing.mean())
    if not 0 < share <= MAX_MISSING_SHARE_OF_BLOCK_COLUMN or column.missing.sum() < MIN_BLOCK_ROWS:
        return
    edges = np.flatnonzero(np.diff(np.concatenate(([0], column.missing.astype(np.int8), [0]))))
    starts, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - starts))
    start, length = int(starts[longest]), int(ends[longest] - starts[longest])
    by_chance = np.log(len(table)) / -np.log(share)
    # a sorted table has all its missing values in few runs, which tells nothing
    if length < max(MIN_BLOCK_ROWS, MIN_BLOCK_RATIO * by_chance) or (len(starts) == 1 and length == len(table)):
        return
    rows = np.zeros(len(table), dtype=bool)
    rows[start : start + length] = True
    first, last = int(table.rows[start]), int(table.rows[start + length - 1])
    yield build_finding(
        "block",
        table,
        [column],
        rows,
        title=f"{column.display_name} is missing in {length:,} successive rows",
        detail=f"Rows {first:,} to {last:,} have no {column.name}, which is missing in {100 * share:.2g}% of all rows: by chance, "
        f"about {max(1, round(by_chance)):,} successive rows would be without one.",
    )
