"""The day after a given day, a classic of testing: a date program with a leap-year bug.

Run it with: python examples/next_date.py
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import datamorphic as dm

DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


def is_leap_year(year):
    """Return whether a year has a 29th of February. The bug: years that 400 divides have one, too."""
    return year % 4 == 0 and year % 100 != 0


def next_date(year, month, day):
    """Return the day after a day as text, or "no such day"."""
    length = DAYS[month - 1] + (month == 2 and is_leap_year(year))
    if day > length:
        return "no such day"
    if day < length:
        return f"{year}-{month:02}-{day + 1:02}"
    return f"{year + month // 12}-{month % 12 + 1:02}-01"


def without_year(answers):
    """Return the month and the day of every answer."""
    return pd.Series(answers).str[-5:].to_numpy()


class NextDate:
    """A test system: the calendar repeats after four years and after four centuries, and so must the answers."""

    space = dm.Space([dm.Integer("year", 1583, 4000), dm.Integer("month", 1, 12), dm.Integer("day", 1, 31)])

    @dm.seed_maker
    def ends_of_months(self):
        """Make the last days of all months, in an ordinary year and in two leap years."""
        return pd.DataFrame(
            [
                (year, month, day)
                for year in (1999, 1996, 1592)
                for month, length in enumerate(DAYS, 1)
                for day in (length - 1, length, 31)
            ],
            columns=["year", "month", "day"],
        )

    @dm.datamorphism
    def four_years_later(self, date):
        """Go to the same day four years later."""
        return date.assign(year=date.year + 4)

    @dm.datamorphism
    def four_centuries_later(self, date):
        """Go to the same day four centuries later."""
        return date.assign(year=date.year + 400)

    @dm.datamorphism
    def next_month(self, date):
        """Go to the same day of the next month."""
        return date.assign(year=date.year + date.month // 12, month=date.month % 12 + 1)

    @dm.metamorphism(of="four_years_later", message="the calendar repeats after four years, unless a century begins")
    def four_years_change_nothing(self, case, origin):
        """Compare month and day, except where one of the years begins a century without a leap day."""
        years = (case.input.year.to_numpy(), origin.input.year.to_numpy())
        begins_short_century = np.logical_or(*((year % 100 == 0) & (year % 400 != 0) for year in years))
        return (without_year(case.output) == without_year(origin.output)) | begins_short_century

    @dm.metamorphism(of="four_centuries_later", message="the calendar repeats after four centuries")
    def four_centuries_change_nothing(self, case, origin):
        """Compare month and day."""
        return without_year(case.output) == without_year(origin.output)

    @dm.executor(scalar=True)
    def tomorrow(self, year, month, day):
        """Query the program."""
        return next_date(year, month, day)


if __name__ == "__main__":
    combination = dm.combine(NextDate, "sequences", order=3)
    print(combination.describe())
    assert combination.violated == ["four_years_change_nothing"]
