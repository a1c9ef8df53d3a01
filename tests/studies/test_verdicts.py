"""Verdicts on tables, by the rule that the docs state."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from datamorphic.studies.result import Study
from datamorphic.studies.rows import Row
from datamorphic.studies.trees import MEDIAN_NOTE
from datamorphic.studies.verdicts import VerdictKind, judge_figure, judge_study


def make_study(*rows):
    frame = pd.DataFrame([Row("a", "b", *row) for row in rows], columns=list(Row._fields))
    return Study(name="x", title="", scale="tiny", seed=0, seconds=0.0, amount="", rows=frame)


@pytest.mark.parametrize(
    ("published", "ours", "margin", "note", "kind"),
    [
        (100, 110, math.nan, "", "agrees"),
        (100, 111, math.nan, "", "not reproducible"),
        (100, 111, 11.5, "", "agrees"),
        (100, 111, math.nan, "A misprint.", "explained"),
        (100, 111, math.nan, MEDIAN_NOTE, "not reproducible"),
        (0, 0.1, math.nan, "", "not reproducible"),
        (math.inf, math.inf, math.nan, "", "agrees"),
        (math.inf, 5, 2, "", "not reproducible"),
        (5, math.inf, math.inf, "", "not reproducible"),
    ],
)
def test_a_figure(published, ours, margin, note, kind):
    assert judge_figure(published, ours, margin, note) == kind


def test_a_table_agrees_with_one_exception_in_ten():
    agreeing = [(1.0, 1.0)] * 9
    verdict = judge_study(make_study(*agreeing, (1.0, 2.0)))
    assert (verdict.kind, verdict.agreeing, verdict.differing) == (VerdictKind.AGREES, 9, 1)
    verdict = judge_study(make_study(*agreeing[1:], (1.0, 2.0), (1.0, 3.0)))
    assert verdict.kind is VerdictKind.NOT_REPRODUCIBLE
    assert verdict.reason == "2 figures of 10 differ, and we do not know why."


def test_a_table_is_explained_by_its_notes():
    verdict = judge_study(make_study((1.0, 1.0, "Not a reason: it agrees."), (1.0, 2.0, "A misprint. Ours is right.")))
    assert (verdict.kind, verdict.explained) == (VerdictKind.EXPLAINED, 1)
    assert verdict.reason == "A misprint. Ours is right."
    assert verdict.counts == "1 agree, 1 explained"


def test_what_was_not_measured_does_not_agree():
    verdict = judge_study(make_study((1.0, math.nan, "The data are missing.")))
    assert (verdict.kind, verdict.unmeasured) == (VerdictKind.NOT_REPRODUCIBLE, 1)
    assert "None of its figures were measured. The data are missing." in verdict.reason
    assert judge_study(make_study((math.nan, 1.0))).kind is VerdictKind.NOT_PUBLISHED
