"""A study as a page: cells with intervals and trials."""

from __future__ import annotations

import math

import pandas as pd

from datamorphic.studies.result import Study
from datamorphic.studies.rows import Row


def describe(*rows):
    frame = pd.DataFrame(rows, columns=list(Row._fields))
    return Study(name="x", title="x", scale="tiny", seed=0, seconds=0.0, amount="", rows=frame).describe()


def test_cells_show_the_interval_and_trials():
    text = describe(
        Row("a", "F", 12.0, 12.345, "", 0.4, 30), Row("b", "F", 1.0, 1234.5, "", 0.0021, 40), Row("c", "F", 1.0, 2.0)
    )
    assert "12.00 / 12.35 ±0.40 (30)" in text
    assert "1.00 / 1,234 ±0.0021 (40)" in text  # a small margin is not rounded to zero
    assert text.endswith("1.00 / 2.00")


def test_equal_numbers_of_trials_are_in_the_heading():
    text = describe(
        Row("a", "F", 12.0, 12.3, "", 0.4, 30),
        Row("b", "F", 12.0, math.nan),
        Row("c", "F", 12.0, 150.0, "A note", 0, 30),
    )
    assert "F (30)" in text
    assert "12.00 / 150.0 [1]" in text  # without chance
    assert text.count("(30)") == 1
