"""Columns of dates, read as numbers of days: moves and midpoints of numbers are those of dates."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd

#: Forms of dates as text. Where a text fits two of them, as 03/04/2020 does, the first is taken.
DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
TIME_FORMATS = ("", " %H:%M:%S", "T%H:%M:%S", "T%H:%M:%SZ", " %H:%M", "T%H:%M", " %I:%M %p")
DATE_START = re.compile(r"\d{4}[-/.]\d\d?[-/.]\d|\d\d?[-/. ](\d\d?|[A-Z][a-z]+)[-/. ]\d{4}|[A-Z][a-z]+ \d\d?, \d{4}")
#: The same for dates in any form: with fractions of seconds, time zones, without a day, or years of two digits.
DATE_LIKE = re.compile(
    r"\s*("
    r"(19|20)\d\d[-/.](0?[1-9]|1[0-2])([-/.T ].*)?"  # 2026-03, 2026/3/1 10:00
    r"|\d\d?[-/. ](\d\d?|[A-Za-z]{3,9})[-/., ]+\d{2}(\d{2})?([T ].*)?"  # 1.3.26, 01 March 2026
    r"|([A-Za-z]{3,9}\.?,? +)?[A-Za-z]{3,9}\.? +\d\d?(,? .*)? +\d{4}.*"  # Mar 1, 2026; Sun Mar  1 10:00:00 2026
    r"|[A-Za-z]{3,9}\.?,? +\d\d? +[A-Za-z]{3,9}\.? +\d{4}.*"  # Sun, 01 Mar 2026 10:00:00 GMT
    r"|(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(T\d{4,6}Z?)?"  # 20260301T100000Z
    r"|[01]?\d:[0-5]\d.*|2[0-3]:[0-5]\d.*"  # 10:30
    r")\s*$"
)
MIN_SHARE_OF_DATES = 0.9  # of the texts of a column; the others are spoilt
LEADING_ZERO = re.compile(r"\b0(?=\d)")
#: kinds that a user may declare, with the start of the formats that they mean
DATE_KINDS = {"day-first": "%d", "month-first": "%m"}
SECONDS_PER_DAY = 86_400
MIN_DATES = 3  # with fewer different dates in text, they may as well be codes


@dataclass(frozen=True)
class DateForm:
    """The form in which the dates of a column are written as text."""

    date_format: str
    time_format: str = ""
    padded: bool = True  # days and months of one digit begin with 0

    @property
    def text_format(self) -> str:
        """The format of the whole text, as `strptime` reads it."""
        return self.date_format + self.time_format

    @property
    def order(self) -> str:
        """Which of day and month is written first; empty if that is clear."""
        return next((kind for kind, start in DATE_KINDS.items() if self.date_format.startswith(start)), "")

    def read(self, texts: pd.Series[Any]) -> pd.Series[Any]:
        """Return texts as dates."""
        return pd.to_datetime(texts, format=self.text_format)

    def write(self, dates: pd.Series[Any]) -> pd.Series[Any]:
        """Return dates as texts."""
        if self.padded:
            return dates.dt.strftime(self.text_format)
        texts = dates.dt.strftime(self.date_format).str.replace(LEADING_ZERO, "", regex=True)
        return texts + dates.dt.strftime(self.time_format) if self.time_format else texts


@dataclass(frozen=True, kw_only=True)
class DateColumn:
    """A column of dates that is given as days since the first date of all such columns."""

    name: str
    first: pd.Timestamp
    form: DateForm | None = None  # if the dates are text
    other_form: DateForm | None = None  # in which all texts can be read as well
    example: str = ""  # of a text that the two forms read differently
    whole_days: bool = True
    dtype: Any  # of the column

    def format_day(self, days: float) -> str:
        """Return the date that a number of days stands for, with the time if the column has times."""
        try:
            moment = self.first + pd.to_timedelta(round(days * SECONDS_PER_DAY), unit="s")
        except (OverflowError, ValueError):  # beyond the dates of pandas
            return f"{days:g} days after {self.first:%Y-%m-%d}"
        return f"{moment:%Y-%m-%d}" if self.whole_days else f"{moment:%Y-%m-%d %H:%M}"

    @property
    def note(self) -> str:
        """A sentence for reports."""
        start = self.first.strftime("%Y-%m-%d")
        note = (
            f"Column {self.name!r} holds dates. It is read as a number, the days since {start}, and the model gets "
            'dates. To leave the column as it is, declare kinds={"' + self.name + '": "categorical"}.'
        )
        if self.form is None or self.other_form is None:
            return note
        date = f"{datetime.strptime(self.example, self.form.text_format):%Y-%m-%d}"
        return (
            f"{note} All its dates can be read in two ways: {self.example} is read {self.form.order}, as {date}. To read "
            'them the other way, declare kinds={"' + self.name + f'": "{self.other_form.order}"}}.'
        )


def read_dates(
    frame: pd.DataFrame,
    exempt: Collection[str] = (),
    wanted: Collection[str] | None = None,
    kinds: Mapping[str, str] | None = None,
) -> tuple[pd.DataFrame, list[DateColumn]]:
    """Return the frame with dates as numbers of days, and the columns that were dates.

    Days are counted from the same date in all columns, so that they can be compared. `exempt` are columns to leave alone;
    `wanted` are the columns to look at, all by default. `kinds` may say of a column that its dates are "day-first" or
    "month-first".
    """
    columns = []
    for name in frame.columns:
        if name in exempt or (wanted is not None and name not in wanted):
            continue
        column = _find_date_column(str(name), frame[name], (kinds or {}).get(name, ""))
        if column is not None:
            columns.append(column)
    first_by_zone: dict[str, pd.Timestamp] = {}  # dates with and without a time zone cannot be compared
    for column in columns:
        zone = str(column.first.tz)
        first_by_zone[zone] = min(column.first, first_by_zone.get(zone, column.first))
    columns = [replace(column, first=first_by_zone[str(column.first.tz)]) for column in columns]
    return to_day_numbers(frame, columns), columns


def looks_like_dates(texts: Iterable[object]) -> bool:
    """Tell whether nearly all texts look like dates or times, in forms that `read_dates` need not know.

    Examples
    --------
    >>> looks_like_dates(["2026-03-01T10:00:00.125+01:00", "2026-03-01T10:02:10.5+01:00"]), looks_like_dates(["2026-03"])
    (True, True)
    >>> looks_like_dates(["red", "2026-03-01"]), looks_like_dates(["10-20", "20-30"]), looks_like_dates([])
    (False, False, False)
    """
    matches = [isinstance(text, str) and bool(DATE_LIKE.match(text)) for text in texts]
    return bool(matches) and sum(matches) >= MIN_SHARE_OF_DATES * len(matches)


def to_day_numbers(frame: pd.DataFrame, columns: Sequence[DateColumn]) -> pd.DataFrame:
    """Return the frame with the dates of these columns as numbers of days."""
    changed = {}
    for column in columns:
        values = frame[column.name]
        dates = pd.to_datetime(values) if column.form is None else column.form.read(values)
        days = (dates - column.first).dt.total_seconds() / SECONDS_PER_DAY
        if column.whole_days:
            days = days.round().astype("Int64" if days.isna().any() else np.int64)
        changed[column.name] = days
    return frame.assign(**changed) if changed else frame


def restore_dates(frame: pd.DataFrame, columns: Sequence[DateColumn]) -> pd.DataFrame:
    """Return the frame with numbers of days as the dates that they stand for."""
    changed = {}
    for column in columns:
        if column.name not in frame.columns:
            continue
        seconds = np.rint(frame[column.name].to_numpy(dtype=np.float64, na_value=np.nan) * SECONDS_PER_DAY)
        dates = column.first + pd.to_timedelta(pd.Series(seconds, index=frame.index), unit="s")
        changed[column.name] = (dates if column.form is None else column.form.write(dates)).astype(column.dtype)
    return frame.assign(**changed) if changed else frame


def _find_date_column(name: str, values: pd.Series[Any], kind: str) -> DateColumn | None:
    known = values.dropna()
    forms: list[DateForm] = []
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        dates = known
    elif values.dtype == object or isinstance(values.dtype, pd.StringDtype):
        forms = _find_forms(known, DATE_KINDS.get(kind, ""))
        if not forms:
            return None
        dates = forms[0].read(known)
    else:
        return None
    if not len(dates):
        return None
    other_form = next((form for form in forms if form.order != forms[0].order), None)
    differs = None if other_form is None else (other_form.read(known) != dates).to_numpy()
    return DateColumn(
        name=name,
        first=dates.min().normalize(),
        form=forms[0] if forms else None,
        other_form=other_form,
        example="" if differs is None else str(known.iloc[int(differs.argmax())]),
        whole_days=bool((dates == dates.dt.normalize()).all()),
        dtype=values.dtype,
    )


def _find_forms(known: pd.Series[Any], start: str) -> list[DateForm]:
    """Return the forms that all texts have, the preferred one first; only the one that begins with `start`, if there is one.

    A text has a form if it can be read as a date and the date is written as the same text.
    """
    first = known.iloc[0] if len(known) else None
    # most columns of text end here, before all their rows are read
    if not isinstance(first, str) or not DATE_START.match(first) or not all(isinstance(text, str) for text in known):
        return []
    texts = known.drop_duplicates()
    if len(texts) < MIN_DATES:
        return []
    forms: list[DateForm] = []
    for date_format, time_format, padded in product(DATE_FORMATS, TIME_FORMATS, (True, False)):
        form = DateForm(date_format, time_format, padded)
        if date_format not in [other.date_format for other in forms] and all(
            _is_written_as(form, part) for part in (texts.iloc[:1], texts)
        ):
            forms.append(form)
    chosen = [form for form in forms if start and form.date_format.startswith(start)]
    return chosen[:1] or forms


def _is_written_as(form: DateForm, texts: pd.Series[Any]) -> bool:
    """Return whether texts can be read in a form, and are written in it as they were."""
    try:
        return bool((form.write(form.read(texts)) == texts).all())
    except ValueError:  # another form, or no date, such as the 31st of February
        return False


def list_date_parts(
    names: Sequence[str], codes: npt.NDArray[np.float64], columns: Sequence[DateColumn]
) -> list[npt.NDArray[np.float64]]:
    """Return for each column of dates what a number of days does not show: weekday, month, and hour unless days are whole."""
    parts = []
    for column in columns:
        if column.name not in names:
            continue
        seconds = np.rint(codes[:, list(names).index(column.name)] * SECONDS_PER_DAY)  # 23:00 is 22:59:59.9 as days
        dates = column.first + pd.to_timedelta(seconds, unit="s")
        fields = [dates.day_of_week, dates.month, *([] if column.whole_days else [dates.hour])]
        parts.append(np.column_stack([np.asarray(field, dtype=np.float64) for field in fields]))
    return parts
