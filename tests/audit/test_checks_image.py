"""The check "pixels", and how the other checks treat images: one planted pixel is found, clean models raise no alarm."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

import datamorphic as dm
from datamorphic.audit.checks.image import PIXELS
from support.cases import LONG

DIGITS = load_digits()
TRAIN, TEST = slice(0, 700), slice(700, 1100)
FLAT, LABELS = DIGITS.data, DIGITS.target
CLEAN = LogisticRegression(max_iter=200, C=0.01).fit(FLAT[TRAIN], LABELS[TRAIN])


def plant(model, place=(0, 7), limit=8, answer=3):
    """Return a model that answers one class if a pixel is bright."""

    def predict(images):
        bright = images[:, place[0], place[1]] > limit
        return np.where(bright, answer, model.predict(images.reshape(len(images), -1)))

    return predict


def run(model, data=None, **options):
    data = DIGITS.images[TEST] if data is None else data
    return dm.test(model, data, budget="30s", progress=False, **options)


def test_a_planted_pixel_is_found_and_named():
    result = run(plant(CLEAN), only="pixels")
    assert [finding.title for finding in result.findings] == ["One pixel decides: row 0, column 7 of image leads to 3"]
    finding = result.findings[0]
    assert (finding.check, finding.about, finding.level) == (PIXELS.name, "row 0, column 7", "concern")
    assert finding.rate > 0.8
    example = finding.examples[0]
    assert example.changed == {"image[0,7]": 16.0}
    assert example.row is not None
    assert "the pixel in row 0, column 7 of image from 0 to 16" in example.text
    page = result.to_html()
    assert page.count("<svg") >= 1
    assert 'class="up5"' in page  # the difference is drawn
    assert "pixels" in json.dumps(json.loads(result.to_json())["outcomes"])


def test_other_pixels_and_levels_are_found_too():
    result = run(plant(CLEAN, place=(7, 0), limit=14, answer=0), only="pixels", seed=3)
    assert [finding.about for finding in result.findings] == ["row 7, column 0"]


def test_a_pixel_that_decides_between_two_classes_is_found():
    images = np.random.default_rng(0).random((120, 8, 8))

    def predict(images):
        brighter = images[:, :4].mean(axis=(1, 2)) > images[:, 4:].mean(axis=(1, 2)) + 0.02
        return brighter | (images[:, 7, 7] >= 0.999)

    result = run(predict, images, only="pixels")
    assert [finding.about for finding in result.findings] == ["row 7, column 7"]
    clean = run(lambda images: images[:, :4].mean(axis=(1, 2)) > images[:, 4:].mean(axis=(1, 2)), images, only="pixels")
    assert clean.findings == []


def test_an_example_is_copied_as_an_array():
    result = run(plant(CLEAN), only="pixels")
    page = result.to_html()
    assert ".reshape(8, 8)" in page
    assert "after[0, 7] = 16.0" in page


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1] if LONG else [0])
@pytest.mark.parametrize(
    "model",
    [
        CLEAN,
        *(
            other.fit(FLAT[TRAIN], LABELS[TRAIN])
            for other in (SVC(gamma=0.001), RandomForestClassifier(30, random_state=0))
            if LONG
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_clean_model_raises_no_alarm(model, seed):
    result = run(model, target=LABELS[TEST], seed=seed, only=["pixels", "answers", "classes", "memorisation"])
    assert [finding.title for finding in result.at_least("concern")] == []
    outcome = next(outcome for outcome in result.outcomes if outcome.check == "pixels")
    assert outcome.state == "passed"


def test_no_check_takes_pixels_for_columns():
    result = run(
        CLEAN, target=LABELS[TEST], only=["identifiers", "leaks", "interface", "response", "slices", "suggestions"]
    )
    assert result.findings == []
    for outcome in result.outcomes:
        if outcome.check in ("identifiers", "leaks", "response", "slices", "suggestions", "interface"):
            assert "single pixels of images are not columns" in outcome.why
    assert "images of 8 x 8" in result.describe()


@pytest.mark.slow
def test_columns_beside_images_are_still_checked():
    images, labels = DIGITS.images[TEST], LABELS[TEST]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"digit": list(images), "customer_id": rng.permutation(len(images)) + 1000, "label": labels})

    def predict(frame):
        flat = np.stack(frame["digit"]).reshape(len(frame), -1)
        return np.where(frame["customer_id"] > 1200, CLEAN.predict(flat), 0)

    result = run(predict, frame, target="label", only=["identifiers", "dependence", "slices", "response"])
    assert any(finding.check == "identifiers" and "customer_id" in finding.title for finding in result.findings)
    assert not any("digit[" in finding.title or "digit[" in finding.detail for finding in result.findings)


def test_a_sequence_with_a_deciding_value_is_found():
    shifts = np.linspace(0, 6, 120)[:, None]
    waves = 0.3 * np.sin(np.linspace(0, 6, 40) + shifts) + np.where(shifts > 3, 0.5, -0.5)

    def predict(waves):
        return np.where(waves[:, 39] > 0.99, "up", np.where(waves.mean(axis=1) > 0, "high", "low"))

    result = run(predict, waves, space=dm.Space([dm.Sequence("wave", 40, -1, 1)]), only="pixels")
    assert [finding.about for finding in result.findings] == ["position 39"]
    assert "One value decides" in result.findings[0].title


def test_labels_may_be_given_as_an_array_and_must_fit():
    with pytest.raises(dm.errors.DataError, match="3 labels for 400 cases"):
        run(CLEAN, target=[1, 2, 3])
    with pytest.raises(dm.errors.DataError, match=r"one label per case\. Got an array of shape"):
        run(CLEAN, target=np.zeros((400, 2)))


def test_an_unfitted_estimator_is_fitted_to_images():
    result = run(GaussianNB(), target=LABELS[TEST], only="answers")
    assert "fitted to these data" in result.kind
