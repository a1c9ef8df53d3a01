"""Dates as numbers of days; free text, images and sequences are refused with a way out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.audit.case_text import format_change, show_dates
from datamorphic.errors import DataError
from datamorphic.space.dates import read_dates, restore_dates
from support.cases import in_one_test

DAYS = pd.Series(pd.date_range("2020-01-05", periods=40, freq="9D"))


@in_one_test(
    "dates",
    [
        DAYS,
        DAYS.dt.strftime("%Y-%m-%d"),
        DAYS.dt.strftime("%Y/%m/%d").astype(object),
        DAYS.dt.tz_localize("UTC"),
        DAYS + pd.Timedelta("7h 3s"),
        (DAYS + pd.Timedelta("7h 3s")).dt.strftime("%Y-%m-%dT%H:%M:%S"),
        DAYS.where(DAYS.index != 3),
        DAYS.dt.strftime("%d/%m/%Y"),
        DAYS.dt.strftime("%m/%d/%Y").where(DAYS.index != 3),
        DAYS.dt.strftime("%d.%m.%Y"),
        DAYS.dt.strftime("%d-%m-%Y"),
        DAYS.map(lambda day: f"{day.day}/{day.month}/{day.year}"),
        DAYS.map(lambda day: f"{day.month}/{day.day}/{day.year} {day:%H:%M}"),
        (DAYS + pd.Timedelta("13h 5min")).dt.strftime("%d.%m.%Y %H:%M"),
        (DAYS + pd.Timedelta("13h 5min")).dt.strftime("%m/%d/%Y %I:%M %p"),
        (DAYS + pd.Timedelta("7h 3s")).dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
        DAYS.dt.strftime("%d %b %Y"),
        DAYS.dt.strftime("%B %d, %Y"),
    ],
)
def test_dates_become_days_and_dates_again(dates):
    frame = pd.DataFrame({"day": dates, "x": np.arange(40.0)})
    numbers, columns = read_dates(frame)
    assert numbers["day"].dtype.kind in "if"
    assert numbers["day"].min() < 1
    pd.testing.assert_frame_equal(restore_dates(numbers, columns), frame)


@pytest.mark.parametrize(
    "values",
    [
        ["2020-01-01", "n/a", "2020-01-03"],
        ["2020-02-31", "2020-01-01", "2020-01-02"],
        ["13/13/2020", "01/02/2020", "02/03/2020"],
        ["1/02/2020", "01/2/2020", "02/03/2020"],  # would be written otherwise
        ["5 apples 2020", "6 apples 2020", "7 apples 2020"],
        ["1.2.2020.5", "1.2.2020.6", "1.2.2020.7"],
        ["a", "b", "c"],
        [1, 2, 3],
        [None] * 3,
    ],
)
def test_what_is_no_date_stays(values):
    frame = pd.DataFrame({"day": pd.Series(values, dtype=object)})
    numbers, columns = read_dates(frame)
    assert not columns
    assert numbers is frame


def test_dates_with_day_and_month_in_doubt_are_read_day_first_with_a_note():
    frame = pd.DataFrame({"day": ["04/04/2020", "03/04/2020", "05/04/2020"]})
    numbers, (column,) = read_dates(frame)
    assert numbers["day"].tolist() == [1, 0, 2]
    assert "03/04/2020 is read day-first, as 2020-04-03" in column.note
    assert 'kinds={"day": "month-first"}' in column.note
    numbers, (column,) = read_dates(frame, kinds={"day": "month-first"})
    assert numbers["day"].tolist() == [31, 0, 61]
    assert "day-first" not in column.note
    assert "two ways" not in read_dates(frame.assign(day=["03/04/2020", "15/04/2020", "04/04/2020"]))[1][0].note
    assert "two ways" not in read_dates(frame.assign(day=["3 May 2020", "4 May 2020", "5 May 2020"]))[1][0].note


@pytest.mark.parametrize("kind", ["day-first", "month-first"])
def test_a_model_of_text_dates_gets_texts_in_the_same_form(kind):
    rng = np.random.default_rng(0)
    parts = rng.integers(1, 13, (60, 2))
    data = pd.DataFrame({"day": [f"{a}/{b}/2020" for a, b in parts.tolist()], "x": rng.normal(size=60)})
    forms = set()

    def model(frame):
        forms.update(frame["day"].str.replace(r"\d", "9", regex=True))
        return frame["day"].str.split("/").str[1 if kind == "day-first" else 0].astype(int) > 6

    front = dm.explore(model, data, kinds={"day": kind}, walks=30, progress=False)
    assert front.space["day"].kind == "integer"
    assert len(front.pairs)
    assert forms <= {"9/9/9999", "99/9/9999", "9/99/9999", "99/99/9999"}


@pytest.mark.slow
def test_a_model_of_dates_is_tested_with_a_note():
    data = pd.DataFrame({"day": DAYS, "x": np.linspace(-1, 1, 40)})

    def model(frame):
        return np.where((frame["day"] > pd.Timestamp("2020-06-01")) & (frame["x"] > -2), "new", "old")

    result = dm.test(model, data, budget=None, only=["answers", "borders"])
    assert not result.at_least("concern")
    assert "days since 2020-01-05" in " ".join(result.notes)
    assert {"new", "old"} == set(result.front.pairs[["a_output", "b_output"]].to_numpy().ravel())
    front = dm.explore(model, data, walks=30, seeds=data.head(5))
    assert front.pairs["a.day"].dtype.kind in "if"


def test_days_are_written_as_dates():
    frame, (date, time) = read_dates(pd.DataFrame({"day": DAYS, "time": DAYS + pd.Timedelta("7h 3min")}))
    assert [date.format_day(days) for days in frame["day"]] == [f"{day:%Y-%m-%d}" for day in DAYS]
    assert [time.format_day(days) for days in frame["time"]] == [f"{day:%Y-%m-%d} 07:03" for day in DAYS]
    assert date.format_day(1e9) == "1e+09 days after 2020-01-05"


def test_examples_of_findings_show_dates_and_keep_days_for_the_model():
    data = pd.DataFrame({"day": DAYS, "x": np.linspace(-1, 1, 40)})

    def model(frame):
        answers = np.where(frame["day"] > pd.Timestamp("2020-06-01"), "new", "old").astype(object)
        answers[frame["x"].to_numpy() < -0.9] = None
        return answers

    result = dm.test(model, data, budget=None, only=["answers"], progress=False)
    example = result.findings[0].examples[0]
    assert "day 2020-01-05" in example.text
    assert example.case["day"] == 0


def test_times_that_differ_by_less_than_a_minute_are_shown_as_numbers_of_days():
    _, columns = read_dates(pd.DataFrame({"time": DAYS + pd.Timedelta("7h 3min")}))
    with show_dates(columns):
        assert format_change("time", 0.3, 9.3) == "time from 2020-01-05 07:12 to 2020-01-14 07:12"
        assert format_change("time", 0.3, 0.300001) == "time from 0.3 to 0.300001"


def test_dates_are_not_taken_for_identifiers():
    data = pd.DataFrame({"day": DAYS.dt.strftime("%d/%m/%Y"), "x": np.linspace(-1, 1, 40)})
    result = dm.test(
        lambda frame: frame["day"].str[3:5] > "06", data, budget="2000 runs", only=["answers", "identifiers"]
    )
    assert not result.findings


def test_declared_dates_are_left_alone():
    data = pd.DataFrame({"day": DAYS.dt.strftime("%Y-%m-%d"), "x": np.linspace(-1, 1, 40)})
    front = dm.explore(lambda frame: frame["day"] > "2020-03", data, kinds={"day": "categorical"}, walks=5)
    assert front.space["day"].kind == "categorical"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([{"a": 1}] * 40, r"holds a dict.*not hashable.*arrays of numbers"),
        ([["a", "b"]] * 40, r"holds a list.*not hashable.*arrays of numbers"),
        ([b"\x89PNG"] * 40, r"holds a bytes.*arrays of numbers of one shape"),
        (pd.to_timedelta(range(40), unit="D"), r"durations.*total_seconds"),
        (np.arange(40) * 1j, r"complex.*two columns"),
    ],
)
def test_other_values_are_refused_with_what_to_do(values, message):
    data = pd.DataFrame({"t": pd.Series(list(values)) if isinstance(values, list) else values, "x": range(40)})
    with pytest.raises(DataError, match=message):
        dm.test(lambda frame: frame["x"], data, budget="2s")


def test_free_text_may_be_declared_categorical_and_codes_are_no_text():
    texts = [f"the {i}th review of this thing" for i in range(40)]
    space = dm.Space.from_frame(pd.DataFrame({"t": texts}), kinds={"t": "categorical"})
    assert len(space["t"].values) == 40
    codes = dm.Space.from_frame(pd.DataFrame({"id": [f"C-{i:04}" for i in range(40)]}))
    assert codes["id"].kind == "categorical"
