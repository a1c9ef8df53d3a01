"""Images and sequences as blocks of features: shapes, entry, restoring, geometry, files and bad input."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.space.blocks import block_from_dict, infer_block, restore_frame
from datamorphic.space.serialisation import space_from_dict, space_to_dict
from support.cases import in_one_test

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 17, (6, 4, 3)).astype(np.float64)
SPACE = dm.Space([dm.Image("digit", shape=(4, 3))])


def test_an_image_becomes_one_feature_per_pixel_and_is_remembered():
    space = dm.Space([dm.Integer("age", 0, 99), dm.Image("digit", (4, 3), 0, 16), dm.Sequence("pulse", 5, -1, 1)])
    assert space.names[:3] == ("age", "digit[0,0]", "digit[0,1]")
    assert space.names[-1] == "pulse[4]"
    assert [placed_block.block.name for placed_block in space.blocks] == ["digit", "pulse"]
    assert space.blocks[0].positions == tuple(range(1, 13))
    assert space.scalars == (0,)
    assert "image of 4 x 3 in [0, 16]" in space.describe()
    assert space.with_constraints(["age >= 1"]).blocks == space.blocks


@pytest.mark.parametrize("data", [IMAGES, IMAGES.reshape(6, 12), list(IMAGES), pd.DataFrame({"digit": list(IMAGES)})])
def test_data_in_every_form_give_the_same_points(data):
    points = SPACE.points(data)
    assert (points.codes == IMAGES.reshape(6, 12)).all()


def test_distance_is_euclidean_and_the_midpoint_is_the_blend():
    first, second = IMAGES[0], IMAGES[1]
    assert SPACE.distance(first, second) == pytest.approx(np.linalg.norm(first - second))
    assert np.array_equal(SPACE.midpoint(first, second), (first + second) / 2)
    assert np.array_equal(SPACE.midpoint(IMAGES, IMAGES[::-1]), (IMAGES + IMAGES[::-1]) / 2)
    case = SPACE.midpoint({"digit": first}, {"digit": second})
    assert np.array_equal(case["digit"], (first + second) / 2)


def test_a_mixed_frame_is_inferred_and_restored_with_its_dtypes():
    frame = pd.DataFrame(
        {"age": np.arange(6.0), "digit": list(IMAGES.astype(np.uint8)), "pulse": [[0.0, 1.0, 0.5]] * 6}
    )
    space = dm.Space.from_frame(frame)
    image, sequence = (placed_block.block for placed_block in space.blocks)
    assert (image.low, image.high, image.dtype, image.shape) == (0, 255, "uint8", (4, 3))
    assert sequence.shape == (3,)
    restored = restore_frame(space.points(frame).frame, space.blocks)
    assert list(restored.columns) == ["age", "digit", "pulse"]
    assert restored["digit"][2].dtype == np.uint8
    assert np.array_equal(restored["digit"][2], IMAGES[2])
    blend = space.midpoint(frame.iloc[[0]], frame.iloc[[1]])["digit"].iloc[0]
    assert np.array_equal(blend, np.rint((IMAGES[0] + IMAGES[1]) / 2).astype(np.uint8))


def test_channels_first_images_are_recognised_and_kept():
    column = pd.Series([np.zeros((3, 8, 8)), np.ones((3, 8, 8))])
    image = infer_block("photo", column)
    assert isinstance(image, dm.Image)
    assert (image.channels_first, image.channels, image.sides) == (True, 3, (8, 8))
    codes = RNG.random((2, 192))
    assert np.array_equal(image.from_pictures(image.to_pictures(codes)), codes)
    assert image.describe_position(64 + 9) == "row 1, column 1, channel 1"
    assert image.restore(codes).shape == (2, 3, 8, 8)


def test_a_space_with_blocks_survives_json():
    space = dm.Space([dm.Image("digit", (4, 3)), dm.Integer("age", 0, 9), dm.Sequence("pulse", 5, -1, 1)])
    document = json.loads(json.dumps(space_to_dict(space)))
    assert len(document["features"]) == 3
    assert space_from_dict(document) == space
    assert space_from_dict(document).blocks == space.blocks


def set_value(images, place, value):
    images = images.copy()
    images[place] = value
    return images


BAD_DATA = {
    "NaN": (set_value(IMAGES, (3, 0, 2), np.nan), "Image 3 of 'digit', row 0, column 2: the value is missing"),
    "infinite": (set_value(IMAGES, (1, 1, 1), np.inf), "Image 1 of 'digit', row 1, column 1: .*infinite|outside"),
    "outside": (
        set_value(IMAGES, (4, 3, 0), 17),
        r"Image 4 of 'digit', row 3, column 0: 17 lies outside the range \[0, 16\]",
    ),
    "sizes": ([np.zeros((4, 3)), np.zeros((3, 3))], "different sizes: image 0 has 4 x 3, image 1 has 3 x 3"),
    "other size": (np.zeros((2, 3, 3)), "'digit' takes images of 4 x 3. Got 3 x 3"),
    "axes": (np.zeros((2, 2, 4, 3, 1)), r"Got an array of shape \(2, 2, 4, 3, 1\)"),
    "vector": (np.zeros(7), r"Got an array of shape \(7,\)"),
    "text": (np.full((2, 4, 3), "a"), "not numbers"),
    "cell": (pd.DataFrame({"digit": [np.zeros((4, 3)), "a"]}), "row 1: a is not an array of numbers"),
}


@in_one_test("name", BAD_DATA)
def test_bad_images_give_one_line_that_says_which(name):
    data, message = BAD_DATA[name]
    with pytest.raises(dm.errors.DataError, match=message) as caught:
        SPACE.points(data)
    assert "\n" not in str(caught.value)


@in_one_test(
    ("build", "message"),
    [
        (lambda: dm.Image("a", (8,)), "shape must be"),
        (lambda: dm.Image("a", (8, 0)), "shape must be"),
        (lambda: dm.Image("a", (8, 8), 5, 5), "low 5 must be below high 5"),
        (lambda: dm.Image("a", (8, 8), dtype="text"), "not a NumPy dtype"),
        (lambda: dm.Image("a", (8, 8), step=0), "step must be a number above 0"),
        (lambda: dm.Image("a", (800, 800)), "more than 65,536"),
        (lambda: dm.Image("", (8, 8)), "non-empty string"),
        (lambda: dm.Image("a", (8, 8), channels_first=True), "channels_first needs"),
        (lambda: dm.Sequence("a", 0, 0, 1), "length must be"),
        (lambda: dm.Audio("a", 2.5, 8_000), "length must be"),
        (lambda: dm.Audio("a", 5, 0), "rate must be a number of samples per second"),
        (lambda: dm.Audio("a", 70_000, 8_000), "70,000 values, more than 65,536. Shrink the sounds first"),
        (lambda: dm.Sequence("a", 5, 0, np.nan), "high must be a finite number"),
        (lambda: dm.Space([dm.Image("a"), dm.Image("a")]), "Two features are named"),
    ],
)
def test_bad_declarations_give_one_line(build, message):
    with pytest.raises(dm.errors.SpaceError, match=message):
        build()


def test_sounds_are_blocks_with_a_rate_and_silence():
    call = dm.Audio("call", length=6, rate=3)
    space = dm.Space([call])
    assert (call.seconds, call.silence, call.describe_position(3)) == (2.0, 0.0, "1 s")
    assert dm.Audio("call", 6, 3, low=0, high=255).silence == 127.5
    assert space.describe().endswith("sound of 6 values in [-1, 1], step 0.1")
    sounds = np.linspace(-1, 1, 12).reshape(2, 6)
    points = space.points(sounds)
    assert np.array_equal(points.codes, sounds)
    assert block_from_dict(call.to_dict()) == call
    assert space.blocks[0].block.restore(points.codes).dtype == np.float32
    with pytest.raises(dm.errors.DataError, match=r"Sound 1 of 'call', 1\.667 s: 2 lies outside the range"):
        space.points(np.vstack([sounds[0], [*sounds[1, :5], 2]]))
