"""Moves of images and sequences: what they do, batched, within the range, seeded; and as datamorphisms."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.morphisms.block_moves import BlockNoise
from datamorphic.morphisms.image_moves import (
    ImageBlend,
    ImageBrightness,
    ImageFlip,
    ImageOcclusion,
    ImageRotation,
    ImageShift,
    OnePixel,
)
from datamorphic.morphisms.sequence_moves import SequenceScale, SequenceShift, SequenceWarp
from datamorphic.morphisms.stock import build_terrain, derive
from datamorphic.morphisms.walk_moves import BLOCK_MOVES
from support.cases import in_one_test

IMAGES = {
    "grey": dm.Image("digit", (5, 4)),
    "colour": dm.Image("photo", (5, 4, 3), 0, 255),
    "channels first": dm.Image("photo", (3, 5, 4), 0, 255, channels_first=True),
}
WAVE = dm.Sequence("wave", 20, -1, 1)
IMAGE_MOVES = [
    ImageShift(rows=1, columns=-1),
    ImageRotation(degrees=30),
    ImageBrightness(amount=0.3),
    ImageOcclusion(side=2),
    ImageOcclusion(border=1),
    ImageBlend(share=0.5),
    ImageFlip(way="top-bottom"),
    OnePixel(),
    OnePixel(place=(0, 3)),
    BlockNoise(amount=0.2),
]
SEQUENCE_MOVES = [SequenceShift(positions=3), SequenceScale(factor=2), SequenceWarp(amount=0.1), BlockNoise(amount=0.2)]


def draw(block, count=30):
    return np.random.default_rng(0).uniform(block.low, block.high, (count, block.size))


def run(move, block, codes, seed=0):
    return move.apply(block, codes, np.random.default_rng(seed))


@in_one_test("name", IMAGES)
@in_one_test("move", IMAGE_MOVES)
def test_image_moves_stay_in_the_range_and_depend_on_the_seed_alone(move, name):
    block = IMAGES[name]
    codes = draw(block)
    original = codes.copy()
    changed = run(move, block, codes)
    assert changed.shape == codes.shape
    assert (changed >= block.low).all()
    assert (changed <= block.high).all()
    assert (changed != codes).any(axis=1).mean() > 0.9
    assert np.array_equal(codes, original)  # the batch is not changed in place
    assert np.array_equal(changed, run(move, block, codes))
    assert move.describe()


@pytest.mark.parametrize("move", SEQUENCE_MOVES, ids=str)
def test_sequence_moves_stay_in_the_range_and_depend_on_the_seed_alone(move):
    codes = draw(WAVE)
    changed = run(move, WAVE, codes)
    assert changed.shape == codes.shape
    assert np.abs(changed).max() <= 1
    assert np.array_equal(changed, run(move, WAVE, codes))
    assert (changed != codes).any(axis=1).all()


def test_moves_do_what_they_say():
    block = dm.Image("digit", (3, 3))
    codes = np.arange(9.0)[None]
    picture = codes.reshape(3, 3)

    def change(move):
        return run(move, block, codes).reshape(3, 3).tolist()

    assert change(ImageShift(rows=1)) == [[0, 0, 0], *picture[:2].tolist()]
    assert change(ImageShift(columns=-1)) == [[1, 2, 0], [4, 5, 0], [7, 8, 0]]
    assert change(ImageShift(rows=9)) == np.zeros((3, 3)).tolist()
    assert change(ImageFlip(way="left-right")) == picture[:, ::-1].tolist()
    assert np.allclose(change(ImageRotation(degrees=90)), np.rot90(picture))
    assert change(ImageBrightness(amount=-1)) == np.zeros((3, 3)).tolist()
    assert change(ImageOcclusion(border=1)) == [[0, 0, 0], [0, 4, 0], [0, 0, 0]]
    assert change(OnePixel(place=(0, 0)))[0][0] == 16
    assert change(OnePixel(place=(2, 2)))[2][2] == 0
    assert run(SequenceShift(positions=2), WAVE, draw(WAVE, 1))[0, 2:].tolist() == draw(WAVE, 1)[0, :-2].tolist()
    blend = run(ImageBlend(share=0.5), block, np.array([[0.0] * 9, [8.0] * 9]), seed=3)
    assert set(np.unique(blend)) <= {0.0, 4.0, 8.0}


def test_every_case_gets_its_own_place_and_noise():
    block = dm.Image("digit", (8, 8))
    codes = np.full((50, 64), 8.0)
    changed_pixels = (run(OnePixel(), block, codes) != codes).argmax(axis=1)
    assert len(set(changed_pixels.tolist())) > 10
    assert len(np.unique(run(BlockNoise(), block, codes)[:, 0])) == 50


def test_walks_of_images_use_moves_of_whole_images():
    space = dm.Space([dm.Image("digit", (4, 4)), dm.Integer("age", 0, 9)])
    moves = build_terrain(derive(space)).moves
    assert {"up_age", "down_age", "brighten_digit", "shift_left_digit"} <= set(moves)
    assert not any("[" in name for name in moves)
    assert len(moves) == 2 + len(BLOCK_MOVES["image"])
    assert list(build_terrain(derive(space), ["up_digit[0,0]"]).moves) == ["up_digit[0,0]"]
    points = space.points({"digit": np.full((4, 4), 8.0), "age": 3})
    moved = moves["shift_left_digit"](points, np.random.default_rng(0))
    assert moved.column("digit[0,3]").tolist() == [0.0]
    assert moved.column("age").tolist() == [3.0]


@pytest.mark.slow
def test_a_move_is_a_datamorphism_of_a_test_system():
    digit = dm.Image("digit", (4, 4))

    class Digits:
        space = dm.Space([digit])
        darker = dm.datamorphism(ImageBrightness(amount=-0.25).of(digit))
        noisy = dm.datamorphism(BlockNoise(amount=0.1).of(digit))

        @dm.executor
        def label(self, frame):
            return np.stack(frame["digit"]).mean(axis=(1, 2)) > 8

        @dm.datamorphism
        def own(self, frame):
            return frame.assign(digit=[np.rot90(picture) for picture in frame["digit"]])

    front = dm.explore(Digits, seeds=40, walks=30, strategy="random_walk", moves=["darker", "noisy", "own"])
    assert front.settings["moves"] == ["darker", "noisy", "own"]
    assert len(front)


@in_one_test(
    ("build", "message"),
    [
        (lambda: ImageBrightness(amount=2), "amount must be a number from -1 to 1"),
        (lambda: ImageShift(rows=0.5), "rows must be a whole number"),
        (lambda: ImageFlip(way="diagonal"), "left-right"),
        (lambda: ImageOcclusion(side=-1), "at least 0"),
        (lambda: BlockNoise(amount="a"), "amount must be a number"),
        (lambda: SequenceWarp(amount=0.9), "from 0 to 0.3"),
        (lambda: SequenceScale(factor=np.inf), "finite number"),
        (lambda: SequenceShift(positions=1.5), "whole number"),
        (lambda: run(OnePixel(place=(9, 9)), IMAGES["grey"], draw(IMAGES["grey"])), "not a pixel"),
        (lambda: run(ImageShift(rows=1), WAVE, draw(WAVE)), "'wave' is a sequence"),
    ],
)
def test_wrong_moves_give_one_line(build, message):
    with pytest.raises(dm.errors.UsageError, match=message):
        build()
