"""ROC curves of credit models, and their drawing."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import roc_curve

import datamorphic as dm
from datamorphic.risk.credit.measures import measure_auc
from datamorphic.risk.credit.roc import MAX_CURVE_POINTS, average_roc, compute_roc
from datamorphic.risk.credit.roc_drawing import draw_roc


def draw_scores(rng, count=400, decimals=1):
    defaulted = rng.random(count) < 0.2
    return np.round(rng.normal(size=count) + 0.8 * defaulted, decimals), defaulted


def test_a_curve_is_that_of_scikit_learn_and_its_area_is_the_auc():
    scores, defaulted = draw_scores(np.random.default_rng(0))
    curve = compute_roc(scores, defaulted)
    false_positive_rates, true_positive_rates, _ = roc_curve(defaulted, scores, drop_intermediate=False)
    assert curve.false_positive_rates == pytest.approx(false_positive_rates)
    assert curve.true_positive_rates == pytest.approx(true_positive_rates)
    assert curve.area == pytest.approx(measure_auc(scores, defaulted).value)


def test_the_area_of_the_mean_curve_is_the_mean_of_the_areas():
    rng = np.random.default_rng(1)
    curves = [compute_roc(*draw_scores(rng, decimals=6)) for _ in range(5)]
    mean = average_roc(curves)
    assert len(mean) == MAX_CURVE_POINTS
    assert mean.area == pytest.approx(np.mean([curve.area for curve in curves]), abs=1e-3)
    assert (np.diff(mean.false_positive_rates) >= -1e-12).all()
    assert (np.diff(mean.true_positive_rates) >= -1e-12).all()
    assert (mean.false_positive_rates[0], mean.true_positive_rates[-1]) == (0, 1)


def test_one_short_curve_is_kept_and_a_perfect_one_is_read_at_its_top():
    curve = compute_roc(np.array([0.1, 0.2, 0.3, 0.4]), np.array([False, False, True, True]))
    assert average_roc([curve]) is curve
    assert [curve.read(rate) for rate in (0.0, 0.25, 1.0)] == [1.0, 1.0, 1.0]
    assert average_roc([curve, curve]).area == pytest.approx(1.0)


def test_the_drawing_has_a_line_and_an_entry_per_model_and_the_diagonal():
    curve = compute_roc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    chart = draw_roc([(f"<model {number}>", curve) for number in range(7)])
    styles = [shape.kind for shape in chart.panels[0].shapes if getattr(shape, "kind", "").startswith("trend")]
    assert len(styles) == len(set(styles)) == len(chart.legend) == 8
    assert "<model 6>: 50% at 10%, 50% at 20%, 100% at 50%" in chart.panels[0].alt


def test_reports_show_the_curves_where_it_is_known_who_defaulted(loans):
    def law(frame):
        return dm.data.default_probability(frame)

    report = dm.credit({"law": law, "chance": lambda frame: np.full(len(frame), 0.5)}, loans)
    assert report["law"].roc.area == pytest.approx(report["law"].auc.value, abs=1e-3)
    assert report["chance"].roc.area == pytest.approx(0.5)
    rates = json.loads(report.to_json())["models"][1]["roc"]
    assert rates == {"false_positive_rates": [0.0, 1.0], "true_positive_rates": [0.0, 1.0]}
    section = next(section for section in report.page().sections if section.heading == "ROC curves")
    assert section.chart.legend[0][1].startswith("law: AUC 0.")
    unknown = dm.credit({"law": law}, loans.drop(columns="default"))
    assert unknown["law"].roc is None
    assert "ROC curves" not in [section.heading for section in unknown.page().sections]
