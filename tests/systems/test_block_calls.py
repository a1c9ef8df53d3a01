"""Models of images and sequences are called with what they take, which is found by trying."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import datamorphic as dm
from datamorphic.morphisms.subject import build_subject
from datamorphic.systems.recognition import recognise as recognise
from support.cases import in_one_test

RNG = np.random.default_rng(1)
IMAGES = RNG.random((40, 5, 4))
LABELS = (IMAGES[:, :, :2].sum(axis=(1, 2)) > IMAGES[:, :, 2:].sum(axis=(1, 2))).astype(int)
MODEL = LogisticRegression().fit(IMAGES.reshape(40, 20), LABELS)
EXPECTED = MODEL.predict(IMAGES.reshape(40, 20)).tolist()


def flatten(images):
    return np.asarray(images).reshape(len(images), -1)


def predict_stack(images):
    assert images.shape[1:] == (5, 4)
    return MODEL.predict(flatten(images))


def predict_torch(images):
    assert images.dtype == np.float32
    assert images.shape[1:] == (1, 5, 4)
    scores = MODEL.decision_function(flatten(images).astype(np.float64))
    return np.column_stack([-scores, scores])


def predict_flat(rows):
    assert rows.shape[1:] == (20,)
    return MODEL.predict(rows)


def predict_one(image):
    assert image.shape == (5, 4)
    return int(MODEL.predict(image.reshape(1, -1))[0])


class PredictOnly:
    def predict(self, images):
        return predict_stack(images)


PIPELINE = make_pipeline(FunctionTransformer(flatten), LogisticRegression()).fit(IMAGES, LABELS)


@in_one_test("model", [MODEL, PIPELINE, predict_stack, predict_torch, predict_flat, predict_one, PredictOnly()])
def test_a_model_of_images_gets_them_as_it_takes_them(model):
    subject = build_subject(model, IMAGES, rng=np.random.default_rng(0))
    assert subject.sut.execute(subject.seeds).values.tolist() == EXPECTED


def test_a_model_of_a_mixed_frame_gets_a_column_of_arrays():
    frame = pd.DataFrame({"bonus": np.linspace(0, 1, 40), "photo": list(IMAGES)})

    def predict(frame):
        assert list(frame.columns) == ["bonus", "photo"]
        return MODEL.predict(flatten(np.stack(frame["photo"]))) + (frame["bonus"].to_numpy() > 2)

    subject = build_subject(predict, frame, rng=np.random.default_rng(0))
    assert subject.sut.execute(subject.seeds).values.tolist() == EXPECTED


def test_an_estimator_fitted_on_a_frame_with_arrays_gets_such_a_frame():
    frame = pd.DataFrame({"bonus": np.linspace(0, 1, 40), "photo": list(IMAGES)})
    combine = FunctionTransformer(lambda frame: np.column_stack([frame["bonus"], flatten(np.stack(frame["photo"]))]))
    model = make_pipeline(combine, LogisticRegression()).fit(frame, LABELS)
    subject = build_subject(model, frame.assign(y=LABELS), target="y", rng=np.random.default_rng(0))
    assert subject.sut.execute(subject.seeds).values.tolist() == model.predict(frame).tolist()


def test_whole_numbers_are_given_as_such():
    dtypes = set()

    def predict(images):
        dtypes.add(images.dtype)
        return images.mean(axis=(1, 2)) > 100

    dm.explore(predict, (IMAGES * 255).astype(np.uint8), walks=5)
    assert dtypes == {np.dtype(np.uint8)}


def test_sequences_are_declared_by_a_space():
    waves = np.sin(np.linspace(0, 6, 30) + np.arange(20)[:, None])

    def predict(waves):
        return waves[:, :10].mean(axis=1) > 0

    front = dm.explore(predict, waves, space=dm.Space([dm.Sequence("wave", 30, -1, 1)]), walks=10)
    assert len(front)
    assert front.space.blocks[0].block.shape == (30,)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros((0, 8, 8)), "no images"),
        (np.zeros((2, 8, 8, 3, 1)), r"shape \(2, 8, 8, 3, 1\). Expected images of shape"),
        (np.full((3, 8, 8), np.nan), "Image 0 of 'image', row 0, column 0: the value is missing"),
        ([np.zeros((8, 8)), np.zeros((8, 7))], "different sizes: image 0 has 8 x 8, image 1 has 8 x 7"),
    ],
)
def test_bad_arrays_give_one_line(data, message):
    with pytest.raises(dm.errors.DataError, match=message):
        dm.explore(predict_stack, data, walks=2)


def test_images_of_another_size_than_the_model_takes_give_one_line():
    with pytest.raises(dm.errors.UsageError, match="20 columns"):
        dm.explore(MODEL, np.zeros((4, 5, 5)) + 0.5, walks=2)
