"""Read Freddie Mac's single-family loan-level files as a loan book.

The files have no header and separate fields by "|". The layout is that of Freddie Mac's user guide: an origination file with
one line per loan, and a performance file with one line per loan and month. The fields that are read have had the same
positions in all releases; releases differ in the number of fields after them.
"""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..._files import to_local_path
from ..._lazy import pd
from ..._tables import read_rows
from ..._text import pluralise, suggest_name
from ..._typing import FilePath
from ..._validation import check_types, validate_choice
from ...errors import DataError, IncompleteData
from .attributes import ATTRIBUTES, DEFAULT_LABEL, OUTCOME_COLUMN, PAID_LABEL
from .fields import FieldFile, Mask, convert_attributes, find_faults, handle_faults, matches_pattern, read_lines

LOAN_NUMBER = "loan_sequence_number"
MIN_ORIGINATION_FIELDS = 26  # releases until 2018 end with the flag of super-conforming loans
#: positions of the fields of the performance file that decide about default
PERFORMANCE_POSITIONS = {LOAN_NUMBER: 0, "delinquency": 3, "loan_age": 4, "zero_balance_code": 8}
MIN_PERFORMANCE_FIELDS, MAX_PERFORMANCE_FIELDS = 23, 32
LOAN_NUMBER_PATTERN = r"[A-Z]\d{2}Q[1-4]\w+"

DEFAULT_MONTHS_LATE = 3  # 90 days
OBSERVED_MONTHS = 36
REO_STATUS, REO_DISPOSITION = "RA", "09"
CLOSED_CODES = ("01", "02", "03", "09", "15", "16", "96")


@check_types
def read_freddie_mac(
    origination: FilePath, performance: FilePath | None = None, *, invalid: str = "raise"
) -> pd.DataFrame:
    """Read Freddie Mac's loan-level files as a loan book.

    A loan is in default if it is 90 days late, or its property was taken over, within three years (Ying 2024, section
    8.3.1).

    Parameters
    ----------
    origination : path
        The origination file, such as ``sample_orig_2018.txt``: one line per loan.
    performance : path, optional
        The performance file, such as ``sample_svcg_2018.txt``: one line per loan and month. Without it, the book has
        no column ``default``.
    invalid : {"raise", "drop"}
        Whether a missing or impossible value raises an error that names its line, or its loan is left out with a
        warning. Values that mean "unavailable", such as the credit score 9999, are kept.

    Returns
    -------
    DataFrame
        One row per loan, with the columns of `make_loan_book`; the index is the number of the loan.

    Examples
    --------
    >>> import datamorphic as dm
    >>> loans = dm.data.read_freddie_mac("sample_orig_2018.txt", "sample_svcg_2018.txt")  # doctest: +SKIP
    """
    validate_choice("invalid", "read_freddie_mac", invalid, ("raise", "drop"))
    file = _read_origination_fields(to_local_path(origination))
    loans, faults = convert_attributes(file)
    numbers = file.fields[LOAN_NUMBER]
    faults += find_faults(
        file, numbers, ~matches_pattern(numbers, LOAN_NUMBER_PATTERN), "the loan number {!r} is not like F18Q10000001"
    )
    faults += find_faults(file, numbers, numbers.duplicated().to_numpy(), "the loan {!r} was on an earlier line, too")
    if performance is not None:
        defaulted, observed = _read_defaults(to_local_path(performance), numbers, invalid)
        unobserved = ~observed
        faults += find_faults(file, numbers, unobserved, f"the loan {{!r}} has no line in {Path(performance).name}")
        loans[OUTCOME_COLUMN] = np.where(defaulted, DEFAULT_LABEL, PAID_LABEL).astype(object)
    keep = handle_faults(file, faults, invalid)
    loans.index = numbers.rename(LOAN_NUMBER)
    return loans[keep]


# -- text to fields ----------------------------------------------------------------------------------------------


def _read_origination_fields(path: Path) -> FieldFile:
    """Return the fields of an origination file by name."""
    lines = read_lines(path)
    first = lines[0].split("|")
    header = [_to_name(field) for field in first]
    names = list(list_origination_fields())
    if set(header) & set(names):
        return _select_named_fields(path, lines, header)
    if re.fullmatch(LOAN_NUMBER_PATTERN, first[0].strip()) and len(first) >= MIN_PERFORMANCE_FIELDS:
        raise DataError(
            f"{path.name}:1: this is a performance file, because its first line starts with the number of a loan. Give that file as "
            "performance=, and the origination file first."
        )
    expected = f"{MIN_ORIGINATION_FIELDS} to {len(names)}"
    if not MIN_ORIGINATION_FIELDS <= len(first) <= len(names):
        raise DataError(
            f"{path.name}:1: {pluralise(len(first), 'field')} separated by '|', but an origination file of Freddie Mac has "
            f"{expected}. Is it another file?"
        )
    file = _split_fields(path, lines, len(first), start=1)
    file.fields.columns = names[: len(first)]
    return file


def _select_named_fields(path: Path, lines: list[str], header: list[str]) -> FieldFile:
    """Return the fields of a file with a header, which Freddie Mac's own files do not have."""
    needed = [*(attribute.name for attribute in ATTRIBUTES), LOAN_NUMBER]
    missing = [name for name in needed if name not in header]
    if missing:
        raise DataError(f"{path.name}:1: the header lacks {missing[0]!r}. {suggest_name(missing[0], header)}")
    repeated = [name for name in needed if header.count(name) > 1]
    if repeated:
        raise DataError(f"{path.name}:1: the header has {repeated[0]!r} more than once. Rename one of the columns.")
    if len(lines) == 1:
        raise DataError(f"{path.name} has a header but no loans. Give a file with one loan per line.")
    file = _split_fields(path, lines[1:], len(header), start=2)
    file.fields.columns = header
    return file


def _split_fields(path: Path, lines: list[str], width: int, start: int) -> FieldFile:
    """Return the fields of lines, which must all have as many; `start` is the number of the first line."""
    bars = np.fromiter((line.count("|") for line in lines), dtype=np.intp, count=len(lines))
    if (bars != width - 1).any():
        row = int((bars != width - 1).argmax())
        problem = "is empty" if not lines[row].strip() else f"has {pluralise(int(bars[row]) + 1, 'field')}"
        raise DataError(f"{path.name}:{row + start}: the line {problem}, but the lines before it have {width}.")
    fields = pd.read_csv(
        io.StringIO("\n".join(lines)),
        sep="|",
        header=None,
        dtype=object,
        keep_default_na=False,
        quoting=3,  # quotes are characters like others
        skip_blank_lines=False,
    )
    return FieldFile(path.name, fields, np.arange(start, start + len(lines)))


def _to_name(field: str) -> str:
    """Return a title of a column as one of the names used here, as far as they are alike."""
    name = re.sub(r"\W+", "_", field.strip().lower()).strip("_")
    return next((field for field, titles in list_origination_fields().items() if name in titles), name)


@dataclass(frozen=True)
class _FieldRow:
    field: str
    titles: tuple[str, ...] = ()  # of the user guide, where they differ from the name used here


@cache
def list_origination_fields() -> dict[str, tuple[str, ...]]:
    """Return the names of the fields in their order, with other titles that they may have."""
    return {row.field: row.titles for row in read_rows(__package__, "freddie_mac.csv", _FieldRow)}


# -- the performance file ----------------------------------------------------------------------------------------


def _read_defaults(path: Path, numbers: pd.Series[Any], invalid: str) -> tuple[Mask, Mask]:
    """Return which loans defaulted within three years, and which are in the performance file at all."""
    lines = read_lines(path)
    width = lines[0].count("|") + 1
    if not MIN_PERFORMANCE_FIELDS <= width <= MAX_PERFORMANCE_FIELDS or not re.match(LOAN_NUMBER_PATTERN, lines[0]):
        raise DataError(
            f"{path.name}:1: a performance file of Freddie Mac has {MIN_PERFORMANCE_FIELDS} to {MAX_PERFORMANCE_FIELDS} fields "
            f"separated by '|' and starts with the number of a loan. Got {pluralise(width, 'field')}. Is it another file?"
        )
    file = _split_fields(path, lines, width, start=1)
    fields = file.fields[list(PERFORMANCE_POSITIONS.values())].copy()
    fields.columns = list(PERFORMANCE_POSITIONS)
    fields = fields.apply(lambda column: column.str.strip())
    ages = pd.to_numeric(fields.loan_age, errors="coerce").to_numpy(np.float64)
    status = fields.delinquency
    months_late = pd.to_numeric(status, errors="coerce").to_numpy(np.float64)
    taken_over = (status == REO_STATUS).to_numpy() | (fields.zero_balance_code == REO_DISPOSITION).to_numpy()
    unknown = np.isnan(months_late) & ~status.isin([REO_STATUS, "XX", ""]).to_numpy()
    faults = find_faults(file, fields.loan_age, ~(ages >= 0), "the loan age is {!r}, which is not a number of months")
    faults += find_faults(
        file, status, unknown | (months_late < 0), "the delinquency status is {!r}, expected months late or RA"
    )
    keep = handle_faults(file, faults, invalid)
    within = keep & (ages <= OBSERVED_MONTHS)
    is_default = within & ((months_late >= DEFAULT_MONTHS_LATE) | taken_over)
    closed = fields.zero_balance_code.isin(CLOSED_CODES).to_numpy() & keep
    loan = fields[LOAN_NUMBER]
    defaulted = numbers.isin(set(loan[is_default])).to_numpy()
    observed = numbers.isin(set(loan[keep])).to_numpy()
    complete = numbers.isin(set(loan[closed | (keep & (ages >= OBSERVED_MONTHS))])).to_numpy()
    unfinished = int((observed & ~complete & ~defaulted).sum())
    if unfinished:
        warnings.warn(
            f"{path.name}: {pluralise(unfinished, 'loan')} not closed and observed for less than {OBSERVED_MONTHS} months. "
            f"They count as {PAID_LABEL!r}, though they may still default.",
            IncompleteData,
            stacklevel=4,
        )
    return defaulted, observed
