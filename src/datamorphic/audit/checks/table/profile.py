"""`TableProfile`: the columns of a table as arrays, prepared once for everything that is looked for in them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...._lazy import pd
from ....core.result import Finding
from ....space.blocks import is_array_column
from ....space.dates import looks_like_dates, read_dates
from ...columns import split_name

ColumnKind = Literal["number", "date", "text", "other"]
Mask = npt.NDArray[np.bool_]

MAX_TEXT_CHARACTERS = 200  # of a value; longer ones are texts that people wrote, and are not compared
MIN_SHARE_OF_DATES = 0.9  # of the values of a column
SECONDS_PER_DAY = 86_400.0
MIN_EXPLAINED_SHARE = 0.8  # of the rows of a finding
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$")
LEADING_ZERO = re.compile(r"[+-]?0\d")
LABEL_NAME = "the label"  # of labels that are no column


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnProfile:
    """A column: what its values are, as numbers or as codes of its different values."""

    name: str
    kind: ColumnKind
    codes: npt.NDArray[np.intp]  # the position of the value of each row among the different values; -1 if it is missing
    values: npt.NDArray[Any]  # the different values, as they are
    numbers: npt.NDArray[np.float64]  # of each row: numbers, or days since 1970; NaN where there is none
    is_label: bool = False
    is_text: bool = False  # whether the values are texts, or some of them
    is_boolean: bool = False

    @cached_property
    def missing(self) -> Mask:
        """Which rows have no value."""
        return np.asarray(self.codes < 0)

    @cached_property
    def counts(self) -> npt.NDArray[np.intp]:
        """How often each of the different values occurs."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    @cached_property
    def texts(self) -> list[str]:
        """The different values as texts."""
        return [value if isinstance(value, str) else str(value) for value in self.values.tolist()]

    @cached_property
    def words(self) -> list[str]:
        """The words of the name, in lower case."""
        return split_name(self.name)

    @property
    def display_name(self) -> str:
        """What findings call the column."""
        return f"the label {self.name}" if self.is_label and self.name != LABEL_NAME else self.name

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers that measure or count something: not 0 and 1 alone."""
        return self.kind == "number" and not self.is_boolean and len(self.values) > 2

    def select_rows(self, values: Sequence[int] | npt.NDArray[np.intp]) -> Mask:
        """Return which rows have one of some values, given by their positions."""
        chosen = np.zeros(len(self.values) + 1, dtype=bool)  # the last is that of missing values
        chosen[np.asarray(values, dtype=np.intp)] = True
        return chosen[self.codes]


@dataclass(frozen=True, eq=False, kw_only=True)
class Doubt:
    """Advice about rows of a column that is a concern if the model confirms it."""

    finding: Finding
    title: str  # of the concern
    column: ColumnProfile
    rows: Mask
    numbers: npt.NDArray[np.float64]  # of each row, as they would be right


@dataclass(eq=False, kw_only=True)
class TableProfile:
    """The columns of a table, and the positions of its rows in the data of the user."""

    columns: list[ColumnProfile]
    rows: npt.NDArray[np.intp]  # the numbers of the rows in the data
    #: values that stand for something else, such as -999, by column: later steps do not take them for numbers
    codes_for_missing: dict[str, Mask] = field(default_factory=dict)
    shifted: Mask | None = None  # rows whose values are in other columns, once they are known
    doubts: list[Doubt] = field(default_factory=list)  # that queries of the model may settle
    mixed_columns: set[str] = field(default_factory=set)  # with numbers and texts, as far as it is known

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, labels: npt.NDArray[Any] | None = None, label_name: str = LABEL_NAME
    ) -> TableProfile:
        """Return the profile of a frame and, if there are any, of its labels; its index numbers the rows."""
        columns = [
            read_column(str(name), frame.iloc[:, position])
            for position, name in enumerate(frame.columns)
            if not is_array_column(frame.iloc[:, position])
        ]
        if labels is not None and len(labels) == len(frame):
            columns.append(read_column(label_name, pd.Series(labels, index=frame.index), is_label=True))
        is_numbered = frame.index.dtype.kind in "iu"
        return cls(
            columns=columns, rows=np.asarray(frame.index if is_numbered else np.arange(len(frame)), dtype=np.intp)
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def inputs(self) -> list[ColumnProfile]:
        """The columns without the label."""
        return [column for column in self.columns if not column.is_label]

    @property
    def label(self) -> ColumnProfile | None:
        """The labels, if there are any."""
        return next((column for column in self.columns if column.is_label), None)

    def clean_numbers(self, column: ColumnProfile) -> npt.NDArray[np.float64]:
        """Return the numbers of a column, NaN where a number is infinite or stands for something else."""
        numbers = np.where(np.isfinite(column.numbers), column.numbers, np.nan)
        for mask in (self.codes_for_missing.get(column.name), None if column.is_label else self.shifted):
            numbers = numbers if mask is None else np.where(mask, np.nan, numbers)
        return numbers

    def exclude(self, column: ColumnProfile, rows: Mask) -> None:
        """Note that some values of a column are explained, and no numbers for later steps."""
        known = self.codes_for_missing.get(column.name)
        self.codes_for_missing[column.name] = rows if known is None else known | rows

    def is_explained(self, rows: Mask) -> bool:
        """Tell whether most of some rows are shifted, which explains what is wrong with their values."""
        return self.shifted is not None and int((rows & self.shifted).sum()) >= MIN_EXPLAINED_SHARE * int(rows.sum())


def read_column(name: str, series: pd.Series[Any], *, is_label: bool = False) -> ColumnProfile:
    """Return the profile of a column of any type."""
    types, dtype = pd.api.types, series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        series = series.astype(dtype.categories.dtype if not series.isna().any() else object)
        dtype = series.dtype
    if types.is_complex_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        series = series.astype(str).where(series.notna(), None)
        dtype = series.dtype
    codes, values = _factorise(series)
    no_numbers = np.full(len(series), np.nan)
    kind: ColumnKind = "other"
    numbers, is_text = no_numbers, False
    if types.is_bool_dtype(dtype) or types.is_numeric_dtype(dtype):
        kind = "number"
        numbers = _spread(codes, _to_floats(values))
    elif types.is_datetime64_any_dtype(dtype):
        kind = "date"
        numbers = _spread(codes, _to_days(pd.Series(values)))
    elif len(values):
        kind, is_text = "text", True
        of_values = _read_texts(values)
        if of_values is not None:
            kind = of_values[0]
            numbers = _spread(codes, of_values[1])
            is_text = any(isinstance(value, str) for value in values.tolist())
    return ColumnProfile(
        name=name,
        kind=kind,
        codes=codes,
        values=values,
        numbers=numbers,
        is_label=is_label,
        is_text=is_text,
        is_boolean=bool(types.is_bool_dtype(dtype)),
    )


def _factorise(series: pd.Series[Any]) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any]]:
    """Return the code of each row and the different values; values that cannot be compared count as their texts."""
    try:
        codes, values = pd.factorize(series)
    except TypeError:  # lists or dicts
        codes, values = pd.factorize(series.map(repr))
    return np.asarray(codes, dtype=np.intp), np.asarray(values, dtype=object)


def _spread(codes: npt.NDArray[np.intp], numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the number of each row, given those of the different values."""
    return np.append(numbers, np.nan)[codes]


def _to_floats(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.asarray(pd.to_numeric(pd.Series(values, dtype=object), errors="coerce"), dtype=np.float64)


def _to_days(dates: pd.Series[Any]) -> npt.NDArray[np.float64]:
    """Return dates as days since 1970; NaN where there is none."""
    dates = pd.to_datetime(dates, utc=True, errors="coerce")
    seconds = dates.dt.tz_localize(None).to_numpy().astype("datetime64[ms]")
    days = seconds.astype(np.int64) / (1000 * SECONDS_PER_DAY)
    return np.asarray(np.where(np.isnat(seconds), np.nan, days), dtype=np.float64)


def _read_texts(values: npt.NDArray[Any]) -> tuple[ColumnKind, npt.NDArray[np.float64]] | None:
    """Return the numbers or the days that all values of a column of objects stand for; None if they are neither."""
    texts = [value.strip() if isinstance(value, str) else value for value in values.tolist()]
    if not any(isinstance(text, str) and LEADING_ZERO.match(text) and "." not in text for text in texts):  # no codes
        numbers = _to_floats(np.array([*texts, None], dtype=object)[:-1])
        if not np.isnan(numbers).any():
            return "number", numbers
    plain_texts = [text for text in texts if isinstance(text, str)]
    if len(plain_texts) < MIN_SHARE_OF_DATES * len(texts) or not looks_like_dates(plain_texts[:50]):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        is_iso = np.array([isinstance(text, str) and bool(ISO_DATE.match(text)) for text in texts])
        if is_iso.mean() >= MIN_SHARE_OF_DATES:
            series = pd.Series([text if iso else None for text, iso in zip(texts, is_iso, strict=True)], dtype=object)
            days = _to_days(pd.to_datetime(series, format="ISO8601", utc=True, errors="coerce"))
            return ("date", days) if np.isfinite(days).mean() >= MIN_SHARE_OF_DATES else None
        frame, columns = read_dates(pd.DataFrame({"date": pd.Series(values, dtype=object)}))
    if not columns:
        return None
    first = columns[0].first
    first = first.tz_localize("UTC") if first.tz is None else first
    return "date", np.asarray(frame["date"], dtype=np.float64) + first.timestamp() / SECONDS_PER_DAY


def measure_difference(left: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> float:
    """Return the largest difference between the distributions of two sorted samples."""
    points = np.concatenate((left, right))
    shares = [np.searchsorted(sample, points, side="right") / len(sample) for sample in (left, right)]
    return float(np.abs(shares[0] - shares[1]).max())
