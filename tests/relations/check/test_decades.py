"""Sizes by powers of ten."""

from __future__ import annotations

import math

from datamorphic.relations.check.decades import count_by_decade, find_decade, format_decade
from support.cases import in_one_test


@in_one_test("exponent", range(-6, 16))
def test_a_power_of_ten_begins_its_range(exponent):
    power = float(f"1e{exponent}")
    assert find_decade(power) == exponent
    assert find_decade(math.nextafter(power, 0)) == exponent - 1


def test_ranges_between_the_smallest_and_the_largest_are_listed():
    assert count_by_decade([0.5, 50, 50]) == {"[0.1, 1)": 1, "[1, 10)": 0, "[10, 100)": 2}
    assert count_by_decade([]) == count_by_decade([0, -3, math.nan, math.inf]) == {}
    assert format_decade(6) == "[1,000,000, 10,000,000)"
