"""Read a loan book from a CSV file, and check every value of its attributes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from ..._files import to_local_path
from ..._lazy import pd
from ..._text import pluralise, suggest_name
from ..._typing import FilePath
from ..._validation import check_types, validate_choice
from ...errors import DataError
from ...relations.catalogue.credit import CREDIT_RANGES
from .attributes import ATTRIBUTES, OUTCOME_COLUMN
from .fields import FieldFile, convert_attributes, find_faults, handle_faults, read_lines


@check_types
def read_loan_book(path: FilePath, *, invalid: str = "raise") -> pd.DataFrame:
    """Read a loan book from a CSV file with the columns of `make_loan_book`.

    The columns ``credit_score``, ``dti`` and ``ltv`` must be there. Other columns, such as the outcome, are read as they are.

    Parameters
    ----------
    path : path
        A CSV file with a header, separated by commas, semicolons or tabs.
    invalid : {"raise", "drop"}
        Whether a missing or impossible value raises an error that names its line, or its loan is left out with a
        warning. Values that mean "unavailable", such as the credit score 9999, are kept.

    Returns
    -------
    DataFrame
        One row per loan.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.data.make_loan_book(500).to_csv("loans.csv", index=False)  # doctest: +SKIP
    >>> dm.data.read_loan_book("loans.csv").shape  # doctest: +SKIP
    (500, 16)
    """
    validate_choice("invalid", "read_loan_book", invalid, ("raise", "drop"))
    file = _read_fields(to_local_path(path, "loan book"))
    attributes = [attribute for attribute in ATTRIBUTES if attribute.name in file.fields.columns]
    loans, faults = convert_attributes(file, attributes)
    if OUTCOME_COLUMN in file.fields.columns:
        outcomes = file.fields[OUTCOME_COLUMN].str.strip()
        faults += find_faults(file, outcomes, (outcomes == "").to_numpy(), f"{OUTCOME_COLUMN} is missing")
    keep = handle_faults(file, faults, invalid)
    names = {attribute.name for attribute in attributes}
    columns: dict[str, Any] = {
        name: loans[name] if name in names else _infer_type(column) for name, column in file.fields.items()
    }
    return pd.DataFrame(columns)[keep].reset_index(drop=True)


def _read_fields(path: Path) -> FieldFile:
    """Return the fields of a CSV file as text, by the names of the header."""
    lines = read_lines(path)
    delimiter = max(",;\t|", key=lines[0].count)
    reader = csv.reader(lines, delimiter=delimiter)
    header = [name.strip() for name in next(reader)]
    for name in CREDIT_RANGES:
        if name not in header:
            raise DataError(
                f"{path.name}:1: the header lacks {name!r}, which a loan book has. {suggest_name(name, header)}"
            )
    repeated = [name for name in header if header.count(name) > 1]
    if repeated:
        raise DataError(f"{path.name}:1: the header has {repeated[0]!r} more than once. Rename one of the columns.")
    rows, line_numbers = [], []
    for row in reader:
        if len(row) != len(header):
            problem = f"has {pluralise(len(row), 'field')}" if row else "is empty"
            raise DataError(f"{path.name}:{reader.line_num}: the line {problem}, but the header has {len(header)}.")
        rows.append(row)
        line_numbers.append(reader.line_num)
    if not rows:
        raise DataError(f"{path.name} has a header but no loans. Give a file with one loan per line.")
    fields = pd.DataFrame(rows, columns=header, dtype=object)
    return FieldFile(path.name, fields, np.array(line_numbers, dtype=np.intp))


def _infer_type(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of text as numbers if all its values are numbers."""
    texts = column.str.strip()
    numbers = pd.to_numeric(texts, errors="coerce")
    return pd.Series(texts.tolist()) if numbers.isna().any() else numbers
