"""Rows that occur more than once, and rows whose values stand one column beside their place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...._stats import compute_wilson_interval
from ...._text import format_percent
from ....core.result import Finding
from .profile import ColumnProfile, Mask, TableProfile
from .report import build_finding, build_row_examples, format_count, format_names

MIN_ROWS = 30
MIN_REPEATED_ROWS = 3  # fewer are not worth a line
MIN_REPEATED_SHARE = 0.005  # of the rows
#: Of the pairs of rows that agree in all columns but one, the share that agrees in it as well: copies nearly always do, rows of
#: few different values do as often as values of that column are equal by chance.
MIN_AGREEMENT_OF_COPIES = 0.5
#: Rows of few different values repeat by design. There must be a column in which two rows rarely agree by chance, or many more
#: different rows than values.
MAX_CHANCE_OF_RAREST = 0.05
MIN_ROWS_PER_VALUE = 20
MIN_MEASUREMENTS = 2  # columns of fractions: without them, repeated rows may be meant, such as sales of products
MAX_TESTED_COLUMNS = 40  # with the most different values
MIN_SHARE_FOR_CONCERN = 0.5  # lower end of the interval of the share of copies: more rows are copies than are not
MIN_CONFLICT_SHARE = (
    0.15  # lower end of the interval of the share of repeated rows with another label than most equal rows
)
MIN_CONFLICTS = 10

MIN_SHIFTED_ROWS = 2
MIN_SHIFTED_COLUMNS = 3
MAX_SHIFT_COLUMNS = 120
MIN_EVIDENCE = 10.0  # nats by which the values of a row fit the neighbouring columns better, all together
MIN_COLUMN_EVIDENCE = 2.0  # nats, of one column that counts as shifted
MAX_SHIFTED_SHARE = 0.3  # of the rows
MIN_RUN_AGREEMENT = 0.8  # of the columns between the first and the last shifted one
MIN_WHOLE_SHIFTED_ROWS = 10  # of rows that are shifted as a whole, many of which make their values usual
MAX_SHIFT_ROUNDS = 8  # of counting values again without the shifted rows
MIN_WHOLE_EVIDENCE = 5.0  # nats for or against a shift of a whole row: rows with less are undecided
MAX_UNDECIDED_SHARE = 0.1  # undecided rows, in shares of the shifted ones


def find_repeated_rows(table: TableProfile) -> Iterator[Finding]:
    """Yield rows that equal an earlier one, unless few different values explain them; and equal inputs with other labels."""
    columns, label = table.inputs, table.label
    if len(table) < MIN_ROWS or not columns:
        return
    codes = np.column_stack([column.codes for column in columns])
    groups = _number_rows(codes)
    sizes = np.bincount(groups)
    repeated = sizes[groups] > 1
    later = _find_later(groups)
    count = int(later.sum())
    if count < max(MIN_REPEATED_ROWS, MIN_REPEATED_SHARE * len(table)) or not _are_copies(codes, sizes):
        return
    low, _ = compute_wilson_interval(count, len(table))
    order = np.argsort(groups, kind="stable")
    pairs = order[repeated[order]][:6]
    details = {"example_columns": [*columns[:4], *([label] if label else [])]}
    measurement_count = sum(_is_measurement(column) for column in columns)
    level = "concern" if low > MIN_SHARE_FOR_CONCERN and measurement_count >= MIN_MEASUREMENTS else "advice"
    conflict = _find_conflicts(label, groups, repeated)
    conflict_count = int(conflict.sum())
    conflict_low, _ = compute_wilson_interval(conflict_count, int(repeated.sum()))
    if conflict_count >= MIN_CONFLICTS and conflict_low > MIN_CONFLICT_SHARE and label is not None:
        yield build_finding(
            "conflicts",
            table,
            [label],
            conflict,
            title=f"Rows with the same values have different labels: {conflict_count:,} rows",
            detail=f"{int(repeated.sum()):,} rows equal another one in all {len(columns):,} inputs, which chance does not explain. "
            f"{conflict_count:,} of them ({format_percent(conflict_count / repeated.sum())}) have another value of {label.name} than most "
            "rows that equal them. No model can be right about both.",
            **details,
        )
    finding = build_finding(
        "repeated",
        table,
        columns,
        later,
        about="rows",
        title=f"{count:,} rows repeat an earlier row",
        level=level,
        detail=f"{format_count(count, len(table))} equal an earlier row in all {len(columns):,} inputs. Rows that agree in all "
        "columns but one agree in that one, too: they are copies, and not rows that happen to be equal.",
        examples=build_row_examples(pairs, details["example_columns"]),
    )
    yield finding


def _number_rows(codes: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return a number per row, equal for equal rows."""
    rows = np.ascontiguousarray(codes + 1).astype(np.uint64)
    keys = np.zeros(len(rows), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in rows.T:
            keys = (keys ^ column) * np.uint64(0x9E3779B97F4A7C15)
            keys ^= keys >> np.uint64(29)
    return np.asarray(np.unique(keys, return_inverse=True)[1], dtype=np.intp).reshape(-1)


def _find_later(groups: npt.NDArray[np.intp]) -> Mask:
    """Return which rows equal an earlier one."""
    later = np.ones(len(groups), dtype=bool)
    later[np.unique(groups, return_index=True)[1]] = False
    return later


def _count_pairs(sizes: npt.NDArray[np.intp]) -> float:
    return float((sizes * (sizes - 1.0)).sum() / 2)


def _are_copies(codes: npt.NDArray[np.intp], sizes: npt.NDArray[np.intp]) -> bool:
    """Tell whether rows that agree in all columns but one mostly agree in that one, too, for the columns of most values."""
    chances = [
        _count_pairs(np.bincount(column + 1)) / max(1.0, len(column) * (len(column) - 1) / 2) for column in codes.T
    ]
    equal_pairs = _count_pairs(sizes)
    # columns of few values say little: nearly all rows may agree in them
    tested = [place for place in np.argsort(chances)[:MAX_TESTED_COLUMNS].tolist() if chances[place] < 0.5]
    if len(tested) < 2:
        return False
    value_count = max(len(np.unique(column)) for column in codes.T)
    if chances[tested[0]] > MAX_CHANCE_OF_RAREST and len(sizes) < MIN_ROWS_PER_VALUE * value_count:
        return False
    for place in tested:
        others = np.delete(codes, place, axis=1)
        pairs = _count_pairs(np.bincount(_number_rows(others)))
        agreement = equal_pairs / pairs if pairs else 0.0
        if agreement < MIN_AGREEMENT_OF_COPIES:
            return False
    return True


def _is_measurement(column: ColumnProfile) -> bool:
    """Tell whether a column holds fractions of many values."""
    with np.errstate(all="ignore"):
        return column.is_number and len(column.values) >= 20 and bool((column.numbers % 1 != 0).any())


def _find_conflicts(label: ColumnProfile | None, groups: npt.NDArray[np.intp], repeated: Mask) -> Mask:
    """Return which repeated rows have another label than most rows that equal them; none for labels that are numbers."""
    if label is None or len(label.values) > 20:
        return np.zeros(len(groups), dtype=bool)
    class_count = len(label.values) + 1  # the last is that of missing labels
    counts = np.bincount(
        groups.astype(np.int64) * class_count + label.codes % class_count,
        minlength=(int(groups.max()) + 1) * class_count,
    )
    usual = counts.reshape(-1, class_count)[:, :-1].argmax(axis=1)
    return repeated & ~label.missing & (usual[groups] != label.codes)


# -- shifted rows ------------------------------------------------------------------------------------------------------


def find_shifted_rows(table: TableProfile) -> Iterator[Finding]:
    """Yield rows whose values fit the columns beside their own, or the columns of numbers beside their own."""
    columns = table.inputs
    numbers = [column for column in columns if column.kind == "number"]
    if len(table) < MIN_ROWS or len(columns) > MAX_SHIFT_COLUMNS:
        return
    for neighbours in (columns, numbers) if len(numbers) < len(columns) else (columns,):
        if table.shifted is None and len(neighbours) > MIN_SHIFTED_COLUMNS:
            yield from _find_shifts(table, neighbours)


def _find_shifts(table: TableProfile, columns: list[ColumnProfile]) -> Iterator[Finding]:
    """Yield rows whose values fit the left or the right one of their neighbours among some columns."""
    tokens = [_read_tokens(column) for column in columns]
    names = {token: code for code, token in enumerate(dict.fromkeys(text for texts in tokens for text in texts))}
    codes = np.column_stack(
        [
            np.append(np.array([names[text] for text in texts], dtype=np.int64), len(names))[column.codes]
            for texts, column in zip(tokens, columns, strict=True)
        ]
    )
    for offset in (1, -1):
        evidence, rows = _find_whole_shift(codes, len(names) + 1, offset)
        if not rows.any():
            rows = _find_partial_shifts(evidence)
        if not MIN_SHIFTED_ROWS <= rows.sum() <= MAX_SHIFTED_SHARE * len(table):
            continue
        is_shifted = (evidence[rows] > MIN_COLUMN_EVIDENCE).mean(axis=0) >= 0.5
        shifted_columns = [columns[place] for place in np.flatnonzero(is_shifted).tolist()]
        if len(shifted_columns) < MIN_SHIFTED_COLUMNS:
            continue
        table.shifted = rows
        side = "left" if offset == 1 else "right"
        yield build_finding(
            "shifted",
            table,
            shifted_columns,
            rows,
            about="rows",
            title=f"{int(rows.sum()):,} rows are shifted by one column, from {shifted_columns[0].name} to {shifted_columns[-1].name}",
            detail=f"In {format_count(int(rows.sum()), len(table))}, {format_names([c.name for c in shifted_columns])} "
            "have values that are rare "
            f"there and usual in the column to the {side} of each.",
        )
        return


def measure_shift_evidence(
    codes: npt.NDArray[np.int64], token_count: int, offset: int, usual: Mask
) -> npt.NDArray[np.float64]:
    """Return by how many nats each value fits the column `offset` places to the left better than its own.

    How often values occur in a column is counted in the `usual` rows. A column without that neighbour has no evidence.
    """
    shares = np.stack([np.bincount(column[usual], minlength=token_count) for column in codes.T]) + 0.5
    fits = np.log(shares / shares.sum(axis=1, keepdims=True))  # of every token in every column
    targets = np.arange(codes.shape[1])
    sources = targets - offset
    inside = (sources >= 0) & (sources < len(targets))
    sources = np.where(inside, sources, targets)
    return fits[sources, codes] - fits[targets, codes]


def _find_whole_shift(
    codes: npt.NDArray[np.int64], token_count: int, offset: int
) -> tuple[npt.NDArray[np.float64], Mask]:
    """Return the evidence for a shift by rows and columns, and the rows that are shifted as a whole; none if it is unclear.

    Many shifted rows make their values usual where they are, so these rows are left out when values are counted again. It is
    clear if hardly any row is undecided: rows of columns that are alike may fit either way.
    """
    nobody = np.zeros(len(codes), dtype=bool)
    shifted, evidence = nobody, measure_shift_evidence(codes, token_count, offset, ~nobody)
    first_evidence = evidence
    for _ in range(MAX_SHIFT_ROUNDS):
        better = evidence.sum(axis=1) > 0
        if better.mean() > MAX_SHIFTED_SHARE or better.sum() < MIN_WHOLE_SHIFTED_ROWS:
            return first_evidence, nobody
        if np.array_equal(better, shifted):
            break
        shifted, evidence = better, measure_shift_evidence(codes, token_count, offset, ~better)
    undecided = np.abs(evidence.sum(axis=1)) < MIN_WHOLE_EVIDENCE
    if undecided.sum() > MAX_UNDECIDED_SHARE * shifted.sum():
        return first_evidence, nobody
    return evidence, shifted & ~undecided


def _find_partial_shifts(evidence: npt.NDArray[np.float64]) -> Mask:
    """Return the rows of which some columns beside each other are shifted, each clearly."""
    is_shifted = evidence > MIN_COLUMN_EVIDENCE
    counts = is_shifted.sum(axis=1)
    first = is_shifted.argmax(axis=1)
    last = evidence.shape[1] - 1 - is_shifted[:, ::-1].argmax(axis=1)
    total = np.where(is_shifted | (evidence < 0), evidence, 0.0)
    places = np.arange(evidence.shape[1])
    span = (places >= first[:, None]) & (places <= last[:, None])
    return np.asarray(
        (counts >= MIN_SHIFTED_COLUMNS)
        & (counts >= MIN_RUN_AGREEMENT * (last - first + 1))
        & ((total * span).sum(axis=1) > MIN_EVIDENCE)
    )


def _read_tokens(column: ColumnProfile) -> list[str]:
    """Return what kind of value each of the different values is: a category as it is, a number by its size."""
    if column.kind == "number":
        numbers = np.array([float(text) if _is_float(text) else np.nan for text in column.texts])
        with np.errstate(all="ignore"):
            sizes = np.floor(np.arcsinh(numbers) * 2)
        whole = numbers % 1 == 0
        return [
            f"{'whole' if is_whole else 'number'} {size}"
            for is_whole, size in zip(whole.tolist(), sizes.tolist(), strict=True)
        ]
    if column.kind == "date":
        return ["date"] * len(column.texts)
    sizes_of_numbers = [_read_size(text) if _is_float(text) else text for text in column.texts]
    return sizes_of_numbers


def _read_size(text: str) -> str:
    number = float(text)
    with np.errstate(all="ignore"):
        return f"{'whole' if number % 1 == 0 else 'number'} {np.floor(np.arcsinh(number) * 2)}"


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
