"""Relations of classifiers of images and sequences, through check, assert_holds, report and store."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.morphisms.image_moves import ImageBrightness, ImageShift
from datamorphic.relations.algebra.one_way import OneWay
from datamorphic.relations.catalogue.image import BlockChange, BlockRelation

IMAGES = np.random.default_rng(0).integers(0, 17, (60, 6, 6)).astype(np.float64)
WAVES = np.sin(np.linspace(0, 6, 30) + np.arange(20)[:, None])
WAVE_SPACE = dm.Space([dm.Sequence("wave", 30, -1, 1)])


def predict_left(images):
    """Depends on which half is brighter, so that a flip matters."""
    return np.where(images[:, :, :3].sum(axis=(1, 2)) > images[:, :, 3:].sum(axis=(1, 2)), "left", "right")


def predict_bright(images):
    return images.max(axis=(1, 2)) > 8


def test_the_relations_have_names_and_promises():
    relations = dm.relations.image_relations(flips=("left-right", "top-bottom"))
    promises = {name: relation.promise for name, relation in relations.items()}
    assert promises["image.brighter"] == promises["image.noise"] == promises["image.one pixel"] == "MRR"
    assert promises["image.shift right"] == "HMR"
    assert promises["image.flip top-bottom"] == "MR"
    assert "image.flip left-right" not in dm.relations.image_relations()
    assert relations["image.flip left-right"].necessary
    assert relations["image.border"].robustness
    assert "In the domain of classifiers of images" in str(relations["image.shift down"])
    assert "hypothesised" in str(relations["image.shift down"])


def test_a_declared_flip_is_violated_where_sides_matter_and_holds_where_not():
    flips = dm.relations.image_relations(flips="left-right")["image.flip left-right"]
    assert dm.check(predict_left, IMAGES, flips).faults
    assert dm.check(predict_bright, IMAGES, flips).passed


@pytest.mark.slow
def test_a_report_shows_the_violation_as_pictures_and_in_words():
    report = dm.check(predict_left, IMAGES, dm.relations.image_relations(flips="left-right"))
    assert "image (36 values)" in report.describe()
    assert "pixels differ, most the one in row" in report.describe()
    assert "image[" not in report.describe()
    page = report.to_html()
    assert 'class="cover"' in page
    assert "Side by side, then the difference" in page


def test_violations_are_stored_and_replayed(tmp_path):
    store = tmp_path / "runs.sqlite"
    relation = dm.relations.image_relations(flips="left-right")["image.flip left-right"]
    first = dm.check(predict_left, IMAGES, relation, store=store)
    again = dm.check(predict_left, IMAGES, relation, store=store)
    assert first.table.violated.tolist() == again.table.violated.tolist()


def test_assert_holds_takes_image_relations():
    relations = dm.relations.image_relations(flips="left-right")
    dm.assert_holds(
        predict_bright, IMAGES, [relations["image.noise"], relations["image.flip left-right"]], tolerated=0.1
    )
    with pytest.raises(AssertionError, match=r"image\.flip left-right.*exchanged"):
        dm.assert_holds(predict_left, IMAGES, relations["image.flip left-right"])


def test_relations_of_sequences():
    relations = dm.relations.sequence_relations()
    assert set(relations) == {"sequence.noise", "sequence.shift", "sequence.scale", "sequence.warp"}
    report = dm.check(lambda waves: waves[:, 0] > 0, WAVES, relations, space=WAVE_SPACE)
    violated = dict(zip(report.table["relation"], report.table["violated"], strict=True))
    assert violated["sequence.shift"] == 0  # the first value is repeated
    stable = dm.check(lambda waves: np.ptp(waves, axis=1) > 1, WAVES, relations, space=WAVE_SPACE)
    assert stable.table["violated"].sum() == 0
    assert (
        'class="trace-second"'
        in dm.check(lambda waves: waves[:, 5] > waves[:, 4], WAVES, relations, space=WAVE_SPACE).to_html()
    )


def test_relations_change_only_their_own_column_of_a_mixed_frame():
    frame = pd.DataFrame({"age": np.arange(60.0), "digit": list(IMAGES)})
    ages = []

    def predict(frame):
        ages.append(frame["age"].tolist())
        return predict_bright(np.stack(frame["digit"]))

    report = dm.check(predict, frame, dm.relations.image_relations(column="digit")["image.darker"], inputs=60)
    assert report.passed
    assert all(set(batch) <= set(range(60)) for batch in ages)


def test_tables_have_no_image_relations_and_wrong_arguments_give_one_line():
    frame = pd.DataFrame({"x": np.linspace(0, 1, 30)})
    report = dm.check(lambda frame: frame["x"] > 0.5, frame, dm.relations.image_relations()["image.noise"])
    assert report.table["inapplicable"].tolist() == [30]
    with pytest.raises(dm.errors.ArgumentError, match="'other', which is no image, sequence or sound"):
        dm.check(predict_bright, IMAGES, BlockRelation("shift", ImageShift(rows=1), column="other"))
    with pytest.raises(dm.errors.ArgumentError, match="flips must be 'left-right' or"):
        dm.relations.image_relations(flips="diagonal")
    with pytest.raises(dm.errors.ArgumentError, match="amount must be a number"):
        dm.relations.image_relations(brightness=7)
    with pytest.raises(dm.errors.ArgumentError, match="a move of images"):
        BlockRelation("shift", 3)


def test_a_check_without_named_relations_works_on_images():
    report = dm.check(predict_bright, IMAGES, inputs=20)
    assert report.passed


def test_a_change_of_images_composes_with_every_expectation():
    brighter = BlockChange(move=ImageBrightness(amount=0.1))
    relations = [
        brighter >> dm.patterns["Monotone"].output(),
        brighter >> OneWay(direction="up"),
        brighter.then(brighter) >> dm.patterns["Monotone"].output(),
    ]
    for relation in relations:
        assert dm.check(lambda images: images.mean(axis=(1, 2)), IMAGES, relation).table["violated"].tolist() == [0]
        report = dm.check(lambda images: -images.mean(axis=(1, 2)), IMAGES, relation)
        assert report.table["violated"].tolist() == [len(IMAGES)]
    assert relations[0].name == "Change of images or sequences >> Monotone"
    table = dm.check(lambda frame: frame["x"] > 0, pd.DataFrame({"x": [0.0, 1.0]}), relations[0]).table
    assert table["inapplicable"].tolist() == [2]
