"""Fronts of image classifiers: pairs, page, text, files and resuming."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import datamorphic as dm
from datamorphic.exploration.page import draw_pairs

RNG = np.random.default_rng(2)
IMAGES = RNG.integers(0, 17, (80, 6, 6)).astype(np.float64)
LABELS = np.where(IMAGES[:, :3].sum(axis=(1, 2)) > IMAGES[:, 3:].sum(axis=(1, 2)), "top", "bottom")
MODEL = LogisticRegression(max_iter=200).fit(IMAGES.reshape(80, 36), LABELS)


@pytest.fixture(scope="module")
def front():
    return dm.explore(MODEL, IMAGES, target=LABELS, walks=60)


def test_pairs_of_images_are_certified_by_labels(front):
    assert len(front) >= 20
    codes = [points.codes.reshape(-1, 36) for points in (front.a, front.b)]
    answers = [MODEL.predict(rows) for rows in codes]
    assert (answers[0] != answers[1]).all()
    assert np.array_equal(answers[0], front.a_output)


def test_the_page_shows_pictures_and_names_pixels_by_place(front):
    page = front.to_html()
    assert "Border pairs as images" in page
    assert "Where the images of the pairs differ" in page
    assert page.count('class="cover"') >= 36
    assert len(page) < 500_000
    assert "image[" not in front.describe()


def test_small_changes_of_images_are_drawn(front):
    drawing = draw_pairs(front.space.blocks[0], front.a.take([0]), front.b.take([0]), ["top"], ["bottom"], ["input 1"])
    assert "of 36 differ, most row" in drawing.shapes[-1].text


def test_a_front_of_images_survives_a_file(front, tmp_path):
    path = tmp_path / "front.json"
    front.save(path)
    loaded = dm.Front.load(path)
    assert loaded.space.blocks == front.space.blocks
    assert np.array_equal(loaded.a.codes, front.a.codes)
    assert "Border pairs as images" in loaded.to_html()


@pytest.mark.slow
def test_a_run_with_images_is_kept(tmp_path):
    first = dm.explore(MODEL, IMAGES, walks=20, store=tmp_path / "runs.sqlite")
    assert np.array_equal(first.a.codes, dm.explore(MODEL, IMAGES, walks=20).a.codes)
    with dm.Store.open(tmp_path / "runs.sqlite") as store:
        assert [run.state for run in store.runs()] == ["finished"]
