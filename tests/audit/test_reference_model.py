"""The reference model: what it predicts for rows that it has not seen, and data that allow none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.audit.labels import align_labels, find_missing_labels, to_label_texts
from datamorphic.audit.reference_model import MIN_REFERENCE_ROWS, fit_reference_model
from datamorphic.errors import OutOfBudget
from datamorphic.space.dates import list_date_parts, read_dates


def make_points(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"x": rng.normal(size=rows), "n": rng.integers(0, 12, rows), "c": rng.choice(["a", "b", "c"], rows)}
    )
    return dm.Space.from_frame(frame).points(frame), frame


def fit(points, labels, *, numeric=False):
    return fit_reference_model(points, np.asarray(labels), np.arange(len(points)), numeric=numeric, seed=0)


@pytest.mark.slow
def test_classes_are_predicted_for_rows_that_it_has_not_seen():
    points, frame = make_points()
    labels = np.where((frame["x"] > 0) & (frame["c"] != "a"), "yes", "no")
    model = fit(points, labels)
    assert model.classes == ("no", "yes")
    assert model.errors.mean() < 0.05
    assert np.allclose(model.probabilities.sum(axis=1), 1)
    assert ((model.label_probabilities > 0.5) == (model.errors == 0)).mean() > 0.99
    noise = np.random.default_rng(1).choice(["no", "yes"], len(points))
    assert 0.4 < fit(points, noise).errors.mean() < 0.6  # nothing is learned by heart


@pytest.mark.slow
def test_numbers():
    points, frame = make_points()
    values = 3 * frame["x"] + frame["n"]
    model = fit(points, values, numeric=True)
    assert model.classes == ()
    assert model.probabilities is None
    assert model.errors.mean() < 0.4 * np.abs(values - values.mean()).mean()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_predictions():
    points, frame = make_points()
    models = [fit(points, frame["n"] > 5) for _ in range(2)]
    assert np.array_equal(models[0].probabilities, models[1].probabilities)


@pytest.mark.slow
def test_missing_labels_are_left_out_and_rare_classes_survive():
    points, frame = make_points()
    labels = np.where(frame["x"] > 0, "yes", "no").astype(object)
    labels[:20] = None
    labels[20] = "once"
    model = fit(points, labels)
    assert model.rows.tolist() == list(range(20, 300))
    assert model.classes == ("no", "once", "yes")


@pytest.mark.parametrize(
    ("labels", "numeric"),
    [
        (["one"] * 300, False),
        ([None] * 300, False),
        ([f"name {i}" for i in range(300)], False),
        (["text"] * 300, True),
        ([np.inf] * 300, True),
    ],
)
def test_data_without_a_reference_model(labels, numeric):
    points, _ = make_points()
    assert fit(points, np.array(labels, dtype=object), numeric=numeric) is None


def test_too_few_rows():
    points, frame = make_points(MIN_REFERENCE_ROWS - 1)
    assert fit(points, frame["n"] > 5) is None


def test_labels_of_other_types_agree():
    assert to_label_texts(np.array([1, 2])).tolist() == to_label_texts(np.array([1.0, 2.0])).tolist() == ["1", "2"]
    labels, answers = align_labels(np.array([0, 1, 1]), np.array([False, True, False]))
    assert (labels == answers).tolist() == [True, True, False]
    labels, answers = align_labels(np.array(["True", "False"]), np.array([True, False]))
    assert (labels == answers).all()
    assert align_labels(np.array(["a", "b"]), np.array([0, 1])) is None
    assert find_missing_labels(np.array([None, np.nan, "x", pd.NaT], dtype=object)).tolist() == [
        True,
        True,
        False,
        True,
    ]


def test_a_spent_budget():
    points, frame = make_points()
    with pytest.raises(OutOfBudget):
        fit_reference_model(
            points, (frame["n"] > 5).to_numpy(), np.arange(len(points)), numeric=False, seed=0, seconds=0.0
        )


def test_dates_are_taken_apart():
    """What depends on the weekday and the hour cannot be seen in a number of days."""
    rng = np.random.default_rng(3)
    times = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 24 * 300, 600), unit="h")
    labels = np.where((times.day_of_week >= 5) | (times.hour < 6), "closed", "open")
    frame, dates = read_dates(pd.DataFrame({"at": times, "x": rng.normal(size=600)}))
    points = dm.Space.from_frame(frame).points(frame)
    options = {"numeric": False, "seed": 0}
    with_parts = fit_reference_model(points, labels, np.arange(600), dates=dates, **options)
    assert with_parts.errors.mean() < 0.05
    assert fit_reference_model(points, labels, np.arange(600), **options).errors.mean() > 0.15
    (parts,) = list_date_parts(points.space.names, points.codes, dates)
    assert np.array_equal(parts, np.column_stack([times.day_of_week, times.month, times.hour]))
