"""Examples 4 to 6 of Zhu & Bayley (2022)."""

from __future__ import annotations

from datamorphic.studies.run import study
from datamorphic.studies.worked_examples import EXAMPLES


def test_errata_of_the_examples():
    rows = {row.row: row for row in study("examples", "tiny", progress=False).rows.itertuples()}
    assert list(rows) == [label for label, *_ in EXAMPLES]
    assert abs(rows["Example 4, random target"].ours - 641) < 60
    directed, walk = rows["Example 5, directed walk"], rows["Example 6, random walk"]
    assert directed.ours > 300
    assert abs(directed.ours_with_cause - 161) < 40
    assert walk.ours < 700
    assert abs(walk.ours_with_cause - 805) < 60
