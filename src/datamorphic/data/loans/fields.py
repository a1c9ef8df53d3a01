"""Fields of a loan file as text, their conversion to the fifteen attributes, and the faults of their lines."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._text import format_short, pluralise
from ...errors import DataError, IncompleteData
from .attributes import ATTRIBUTES, LoanAttribute

Mask = npt.NDArray[np.bool_]

#: what files hold beyond the values of the book of Ying 2024: earlier years, relief refinancing, brokers without a name
FILE_RANGES = {"ltv": (1, 998), "interest_rate": (0.1, 25), "loan_term": (1, 600), "upb": (1, 100_000_000)}
FILE_CODES = {"channel": ("T",)}

DROP_HINT = "Correct the file, or leave such lines out: invalid='drop'."
MAX_FAULTS_SHOWN = 5


class FieldFault(NamedTuple):
    """A value that cannot be read, with the number of its line."""

    line: int
    problem: str


@dataclass(frozen=True)
class FieldFile:
    """The fields of a file as text, with the number of the line of each row."""

    name: str
    fields: pd.DataFrame
    lines: npt.NDArray[np.intp]


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file, the last of which is not empty."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"There is no file {str(path)!r}. Check the path.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    if content.startswith(b"PK"):
        raise DataError(f"{path.name} is a ZIP archive. Extract it, and give the .txt files.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise DataError(f"{path.name} is not a text file. Freddie Mac's files are text with fields separated by '|'.")
    lines = text.splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise DataError(f"{path.name} is empty. Give a file with one loan per line.")
    return lines


def convert_attributes(
    file: FieldFile, attributes: Sequence[LoanAttribute] = ATTRIBUTES
) -> tuple[pd.DataFrame, list[FieldFault]]:
    """Return attributes, and the values that are missing or impossible."""
    columns: dict[str, Any] = {}
    faults: list[FieldFault] = []
    for attribute in attributes:
        texts = file.fields[attribute.name].str.strip()
        convert = _convert_numbers if attribute.numeric else _convert_codes
        columns[attribute.name] = convert(file, attribute, texts, faults)
    return pd.DataFrame(columns), faults


def _convert_numbers(file: FieldFile, attribute: LoanAttribute, texts: pd.Series[Any], faults: list[FieldFault]) -> Any:
    """Return numbers from texts, 0 for a fault."""
    missing = (texts == "").to_numpy()
    values = pd.to_numeric(texts.mask(missing), errors="coerce").to_numpy(np.float64)
    not_numbers = ~missing & ~np.isfinite(values)
    low, high = FILE_RANGES.get(attribute.name, (attribute.low, attribute.high))
    sentinel = attribute.sentinel
    with np.errstate(invalid="ignore"):
        impossible = np.isfinite(values) & ((values < low) | (values > high))
        fractions = np.isfinite(values) & (values != np.rint(values)) if attribute.whole else np.zeros_like(missing)
    if sentinel is not None:
        impossible &= values != sentinel
    name = attribute.name
    unavailable = "" if sentinel is None else f"; a value that is unavailable is written {sentinel}"
    faults += find_faults(file, texts, missing, f"{name} is missing{unavailable}")
    faults += find_faults(file, texts, not_numbers, f"{name} is {{!r}}, which is not a number")
    faults += find_faults(file, texts, impossible, f"{name} is {{}}, outside {low:g} to {high:g}{unavailable}")
    faults += find_faults(file, texts, fractions & ~impossible, f"{name} is {{}}, which is not a whole number")
    values = np.where(missing | not_numbers | impossible | fractions, 0.0, values)
    return values.astype(np.int64) if attribute.whole else values


def _convert_codes(file: FieldFile, attribute: LoanAttribute, texts: pd.Series[Any], faults: list[FieldFault]) -> Any:
    """Return codes; the sentinel is one of them."""
    codes = [*attribute.codes, *FILE_CODES.get(attribute.name, ())]
    if attribute.sentinel is not None:
        codes.append(str(attribute.sentinel))
    missing = (texts == "").to_numpy()
    unknown = ~missing & ~texts.isin(codes).to_numpy()
    known_codes = ", ".join(codes) if len(codes) <= 10 else "two letters, such as CA"
    name = attribute.name
    unavailable = "" if attribute.sentinel is None else f"; a value that is unavailable is written {attribute.sentinel}"
    faults += find_faults(file, texts, missing, f"{name} is missing{unavailable}")
    faults += find_faults(file, texts, unknown, f"{name} is {{!r}}, which is none of the codes ({known_codes})")
    return texts.tolist()


def find_faults(file: FieldFile, texts: pd.Series[Any], rows: Mask, problem: str) -> list[FieldFault]:
    """Return a fault for each of some rows; `problem` is a format of the text."""
    return [
        FieldFault(int(file.lines[row]), problem.format(format_short(texts.iloc[row]))) for row in np.flatnonzero(rows)
    ]


def handle_faults(file: FieldFile, faults: list[FieldFault], invalid: str) -> Mask:
    """Return which rows to keep; raise or warn about the others."""
    keep = np.ones(len(file.lines), dtype=bool)
    if not faults:
        return keep
    faults = sorted(faults)
    if invalid == "raise":
        raise DataError(
            f"{file.name}:{faults[0].line}: {faults[0].problem}.{_count_others(len(faults) - 1)} {DROP_HINT}"
        )
    keep[np.isin(file.lines, [fault.line for fault in faults])] = False
    examples = "; ".join(f"line {fault.line}: {fault.problem}" for fault in faults[:MAX_FAULTS_SHOWN])
    more = len(faults) - MAX_FAULTS_SHOWN
    warnings.warn(
        f"{file.name}: {pluralise(int((~keep).sum()), 'line')} left out. {examples}"
        f"{f'; and {more} more' if more > 0 else ''}.",
        IncompleteData,
        stacklevel=4,
    )
    return keep


def _count_others(others: int) -> str:
    if not others:
        return ""
    return f" There {'is' if others == 1 else 'are'} {pluralise(others, 'other problem')}."


def matches_pattern(texts: pd.Series[Any], pattern: str) -> Mask:
    """Return which texts match a pattern as a whole."""
    return texts.str.fullmatch(pattern).to_numpy(dtype=bool)
