"""Examples 4 to 6 of Zhu & Bayley (2022)."""

from __future__ import annotations

from datamorphic.studies.run import study
from datamorphic.studies.verdicts import judge_study
from datamorphic.studies.worked_examples import EXAMPLES


def test_errata_of_the_examples():
    result = study("examples", "tiny", progress=False)
    pairs = dict(zip(result.rows["row"], result.rows["ours"], strict=True))
    assert list(pairs) == [label for label, *_ in EXAMPLES]
    assert abs(pairs["Example 4, random target"] - 641) < 60
    assert abs(pairs["Example 5, directed walk, walk distance 1"] - 161) < 40
    assert pairs["Example 5, directed walk as written"] > 300
    assert abs(pairs["Example 6, random walk, growing pool"] - 805) < 60
    assert pairs["Example 6, random walk as written"] < 700
    assert judge_study(result).kind == "explained"
