"""Dates as numbers of days; free text, images and sequences are refused with a way out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
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


@pytest.mark.slow
def test_a_model_of_dates_is_tested_with_a_note():
    data = pd.DataFrame({"day": DAYS, "x": np.linspace(-1, 1, 40)})

    def model(frame):
        return np.where((frame["day"] > pd.Timestamp("2020-06-01")) & (frame["x"] > -2), "new", "old")

    result = dm.test(model, data, budget="5s", only=["answers", "borders"])
    assert not result.at_least("concern")
    assert "days since 2020-01-05" in " ".join(result.notes)
    assert {"new", "old"} == set(result.front.pairs[["a_output", "b_output"]].to_numpy().ravel())
    front = dm.explore(model, data, walks=30, seeds=data.head(5))
    assert front.pairs["a.day"].dtype.kind in "if"


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
