"""Columns of dates, read as numbers of days: moves and midpoints of numbers are those of dates."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

#: Formats of dates as text that are not ambiguous; 3/4/2020 is.
TEXT_FORMATS = {
    re.compile(r"\d{4}-\d{2}-\d{2}"): "%Y-%m-%d",
    re.compile(r"\d{4}/\d{2}/\d{2}"): "%Y/%m/%d",
    re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}"): "%Y-%m-%d %H:%M:%S",
    re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}"): "%Y-%m-%dT%H:%M:%S",
}
SECONDS_PER_DAY = 86_400
MIN_DATES = 3  # with fewer different dates in text, they may as well be codes


@dataclass(frozen=True, kw_only=True)
class DateColumn:
    """A column of dates that is given as days since the first date of all such columns."""

    name: str
    first: pd.Timestamp
    text_format: str | None = None  # if the dates are text
    whole_days: bool = True
    dtype: Any  # of the column

    @property
    def note(self) -> str:
        """A sentence for reports."""
        start = self.first.strftime("%Y-%m-%d")
        return (
            f"Column {self.name!r} holds dates. It is read as a number, the days since {start}, and the model gets "
            'dates. To leave the column as it is, declare kinds={"' + self.name + '": "categorical"}.'
        )


def read_dates(
    frame: pd.DataFrame, exempt: Collection[str] = (), wanted: Collection[str] | None = None
) -> tuple[pd.DataFrame, list[DateColumn]]:
    """Return the frame with dates as numbers of days, and the columns that were dates.

    Days are counted from the same date in all columns, so that they can be compared. `exempt` are columns to leave alone;
    `wanted` are the columns to look at, all by default.
    """
    columns = []
    for name in frame.columns:
        if name in exempt or (wanted is not None and name not in wanted):
            continue
        column = _find_date_column(str(name), frame[name])
        if column is not None:
            columns.append(column)
    first_by_zone: dict[str, pd.Timestamp] = {}  # dates with and without a time zone cannot be compared
    for column in columns:
        zone = str(column.first.tz)
        first_by_zone[zone] = min(column.first, first_by_zone.get(zone, column.first))
    columns = [replace(column, first=first_by_zone[str(column.first.tz)]) for column in columns]
    return to_day_numbers(frame, columns), columns


def to_day_numbers(frame: pd.DataFrame, columns: Sequence[DateColumn]) -> pd.DataFrame:
    """Return the frame with the dates of these columns as numbers of days."""
    import pandas as pd

    changed = {}
    for column in columns:
        dates = pd.to_datetime(frame[column.name], format=column.text_format)
        days = (dates - column.first).dt.total_seconds() / SECONDS_PER_DAY
        if column.whole_days:
            days = days.round().astype("Int64" if days.isna().any() else np.int64)
        changed[column.name] = days
    return frame.assign(**changed) if changed else frame


def restore_dates(frame: pd.DataFrame, columns: Sequence[DateColumn]) -> pd.DataFrame:
    """Return the frame with numbers of days as the dates that they stand for."""
    import pandas as pd

    changed = {}
    for column in columns:
        if column.name not in frame.columns:
            continue
        seconds = np.rint(frame[column.name].to_numpy(dtype=np.float64, na_value=np.nan) * SECONDS_PER_DAY)
        dates = column.first + pd.to_timedelta(pd.Series(seconds, index=frame.index), unit="s")
        if column.text_format is not None:
            dates = dates.dt.strftime(column.text_format)
        changed[column.name] = dates.astype(column.dtype)
    return frame.assign(**changed) if changed else frame


def _find_date_column(name: str, values: pd.Series[Any]) -> DateColumn | None:
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        dates, text_format = values.dropna(), None
    elif values.dtype == object or isinstance(values.dtype, pd.StringDtype):
        text_format = _find_text_format(values)
        if text_format is None:
            return None
        try:
            dates = pd.to_datetime(values.dropna(), format=text_format)
        except ValueError:  # such as the 31st of February
            return None
    else:
        return None
    if not len(dates):
        return None
    first = dates.min().normalize()
    whole_days = bool((dates == dates.dt.normalize()).all())
    return DateColumn(name=name, first=first, text_format=text_format, whole_days=whole_days, dtype=values.dtype)


def _find_text_format(values: pd.Series[Any]) -> str | None:
    """Return the one format that all texts of a column have; None without one."""
    known = values.dropna()
    first = known.iloc[0] if len(known) else None
    # most columns of text end here, before all their rows are read
    pattern = next((pattern for pattern in TEXT_FORMATS if isinstance(first, str) and pattern.fullmatch(first)), None)
    if pattern is None or not all(isinstance(text, str) for text in known):
        return None
    texts = known.unique()
    return TEXT_FORMATS[pattern] if len(texts) >= MIN_DATES and all(map(pattern.fullmatch, texts)) else None
