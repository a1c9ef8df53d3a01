"""Readings of how published boundary rows were made, and whether printed scores may be draws like ours."""

from __future__ import annotations

import math

import numpy as np
import pytest

from datamorphic.data.sets import TARGET
from datamorphic.studies import tree_trials
from datamorphic.studies.run import study
from datamorphic.studies.tree_boundaries import READINGS, measure_fit
from datamorphic.studies.trees import fit_tree, load_prepared


@pytest.fixture(scope="module")
def rows():
    """With three folds: what ten would add takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_trials, "FOLDS", 3)
        return study("tree_boundaries", scale="tiny", seed=3, progress=False).rows


def test_every_reading_has_every_figure(rows):
    assert not rows.duplicated(["row", "column"]).any()
    assert rows["published"].isna().all()  # nothing is published under these readings
    readings = rows[rows["row"].str.startswith("readings: ")]
    assert set(readings["row"]) == {"readings: in print", *(f"readings: {reading.label}" for reading in READINGS)}
    printed = readings[readings["row"] == "readings: in print"].set_index("column")["ours"]
    assert printed.to_dict() == {"breast cancer": 0.64, "wine": 0.42, "iris": 0.67}
    others = readings[~readings["row"].isin(["readings: in print"])]
    assert others["ours"].notna().all()
    assert others[others["column"] == "p, %"]["ours"].between(0, 100).all()
    new = rows[rows["row"].str.startswith("new values: ") & (rows["column"] != "p, %")]
    assert new["ours"].between(0, 1).all()
    assert len(new) == len(READINGS) * 4


def test_the_first_reading_is_that_of_table_5(rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_trials, "FOLDS", 3)
        table = study("004-5", scale="tiny", seed=3, progress=False).rows.set_index(["row", "column"])["ours"]
    means = rows.set_index(["row", "column"])["ours"]
    ours = means[f"new values: {READINGS[0].label}", "accuracy"]
    assert ours == pytest.approx(table["mean of the same", "BVA accuracy"])


def test_rows_of_any_row_are_scored_by_the_3nn_without_the_covering_rows():
    data = load_prepared("iris")
    tree = fit_tree(data, 5)
    covering = tree_trials.select(tree, data, "DTC", target=TARGET, seed=5)
    boundary = tree_trials.select(tree, data, "BVA", target=TARGET, seed=5, base="any")
    model = tree_trials.fit_nearest_without(data, covering.places)
    share = np.mean(model.predict(boundary.rows.drop(columns=TARGET).to_numpy()) == boundary.rows[TARGET].to_numpy())
    job = tree_trials.MovingAny("iris", 5, offset="step")
    assert job.measure(0, 0, False)["BVA accuracy"] == pytest.approx(share)


def test_a_reading_fits_its_own_draws_and_not_those_of_another():
    rng = np.random.default_rng(0)
    means = rng.uniform(0.3, 0.9, 15)
    draws = [rng.normal(mean, 0.05, 12).tolist() for mean in means]
    own, other = rng.normal(means, 0.05), rng.normal(means + 0.15, 0.05)
    fit = measure_fit(own.tolist(), draws)
    assert fit.p > 0.05
    assert fit.distance == pytest.approx(fit.expected_distance, rel=0.5)
    assert measure_fit(other.tolist(), draws).p < 1e-3
    assert math.isnan(measure_fit([0.5], [[math.nan]]).p)
    assert measure_fit([0.5], [[0.5, 0.5]]).agreeing == 1  # what does not vary is still rounded in print
