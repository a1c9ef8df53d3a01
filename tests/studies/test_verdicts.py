"""Verdicts on tables, by the rule that the docs state."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from datamorphic.studies.result import Study
from datamorphic.studies.rows import Row
from datamorphic.studies.verdicts import RULE, VerdictKind, compare_order, judge_figure, judge_study

AGREES, PROVEN, TOO_FEW, OTHER, UNKNOWN = (
    VerdictKind.AGREES,
    VerdictKind.CAUSE_PROVEN,
    VerdictKind.TOO_FEW,
    VerdictKind.NOT_COMPARABLE,
    VerdictKind.CAUSE_UNKNOWN,
)


def make_study(*rows):
    return Study(
        name="x",
        title="",
        scale="tiny",
        seed=0,
        seconds=0.0,
        amount="",
        rows=pd.DataFrame(rows, columns=list(Row._fields)),
    )


@pytest.mark.parametrize(
    ("published", "ours", "details", "kind"),
    [
        (100, 104, {"margin": 5}, AGREES),
        (100, 104, {"margin": 5.01}, TOO_FEW),
        (100, 106, {"margin": 5}, UNKNOWN),
        (100, 150, {"margin": 20}, UNKNOWN),  # too few repetitions excuse nothing
        (100, 106, {"margin": 2, "printed_margin": 7}, AGREES),
        (100, 106, {"margin": 6, "printed_margin": 7}, TOO_FEW),
        (100, 101, {}, TOO_FEW),
        (100, 100, {"margin": 0}, AGREES),
        (100, 101, {"margin": 0}, UNKNOWN),
        (100.4, 100, {"margin": 0, "unit": 1.0}, AGREES),  # rounded in print
        (0.0, 0.004, {"margin": 0.005, "unit": 0.01}, AGREES),
        (0.0, 0.1, {"margin": 0.05, "unit": 0.01}, UNKNOWN),
        (math.inf, math.inf, {}, AGREES),
        (math.inf, 5, {"margin": 2}, UNKNOWN),
        (5, math.inf, {"margin": math.inf}, UNKNOWN),
        (100, 120, {"margin": 1, "kinds": "print"}, PROVEN),
        (100, 100, {"margin": 1, "kinds": "print"}, AGREES),
        (100, 100, {"margin": 1, "kinds": "mutants"}, OTHER),
        (100, 100, {"margin": 1, "kinds": "print system"}, OTHER),
        (100, 100, {"margin": 1, "kinds": "part"}, TOO_FEW),
        (100, 120, {"margin": 1, "ours_with_cause": 101, "margin_with_cause": 2}, PROVEN),
        (100, 120, {"margin": 1, "ours_with_cause": 101, "margin_with_cause": 9}, TOO_FEW),
        (100, 120, {"margin": 1, "ours_with_cause": 110, "margin_with_cause": 2}, UNKNOWN),
        (100, 120, {"margin": 1, "note": "A note that explains nothing."}, UNKNOWN),
    ],
)
def test_a_figure(published, ours, details, kind):
    assert judge_figure(Row("a", "b", published, ours, **details)) is kind


def make_row(kind):
    details = {
        AGREES: {},
        PROVEN: {"published": 2.0, "kinds": "print"},
        TOO_FEW: {"margin": 0.5},
        OTHER: {"kinds": "data"},
        UNKNOWN: {"published": 2.0},
    }
    return Row("a", "b", **{"published": 1.0, "ours": 1.0, "margin": 0.0} | details[kind])


@pytest.mark.parametrize(
    ("kinds", "verdict"),
    [
        ([AGREES] * 9 + [UNKNOWN], AGREES),
        ([AGREES] * 8 + [UNKNOWN] * 2, UNKNOWN),
        ([AGREES] * 8 + [PROVEN] + [UNKNOWN], PROVEN),
        ([AGREES] * 5 + [PROVEN] * 2 + [TOO_FEW] * 3, TOO_FEW),
        ([AGREES] * 5 + [OTHER] * 4 + [UNKNOWN], OTHER),
        ([OTHER] * 10, OTHER),
    ],
)
def test_a_table_has_the_class_of_nine_figures_in_ten(kinds, verdict):
    judged = judge_study(make_study(*map(make_row, kinds)))
    assert judged.kind is verdict
    assert judged.counts_by_class == {
        kind: kinds.count(kind) for kind in dict.fromkeys(sorted(kinds, key=list(VerdictKind).index))
    }


def test_what_was_not_measured_does_not_agree():
    verdict = judge_study(make_study(Row("a", "b", 1.0, math.nan, "The data are missing.")))
    assert (verdict.kind, verdict.unmeasured) == (VerdictKind.NOT_MEASURED, 1)
    assert verdict.reason == "The data are missing."
    assert judge_study(make_study(Row("a", "b", math.nan, 1.0))).kind is VerdictKind.NOT_PUBLISHED


def test_order_and_signs_are_compared_within_columns():
    rows = [Row("a", "d", 0.5, 2.0), Row("b", "d", -0.5, 1.0), Row("c", "d", 0.0, 3.0), Row("a", "e", 1.0, 9.0)]
    same_order, same_sign = compare_order(rows)
    assert same_order == pytest.approx(2 / 3)  # c is above a, which it should not be
    assert same_sign == 0.5
    assert all(map(math.isnan, compare_order([Row("a", "e", 1.0, 9.0)])))


def test_the_rule_names_every_class():
    for kind in (AGREES, TOO_FEW, OTHER, UNKNOWN):
        assert kind.value.removeprefix("differs, cause ") in RULE
