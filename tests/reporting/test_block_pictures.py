"""Pairs of images and sequences as drawings."""

from __future__ import annotations

import numpy as np

import datamorphic as dm
from datamorphic.reporting.block_pictures import (
    MAX_PICTURE_PAIRS,
    PicturePair,
    build_map_drawing,
    build_pair_drawing,
    describe_block_change,
    describe_briefly,
    thin_trace,
)
from datamorphic.reporting.svg import drawing_to_svg
from support.cases import in_one_test

RNG = np.random.default_rng(0)


def place(block):
    return dm.Space([block]).blocks[0]


def make_pairs(block, count=1):
    before = RNG.uniform(block.low, block.high, (count, block.size))
    after = before.copy()
    after[:, 3] = block.high
    return [
        PicturePair(before=first, after=second, first_title="<3>", second_title="8")
        for first, second in zip(before, after, strict=True)
    ]


@in_one_test(
    "block",
    [
        dm.Image("digit", (8, 8)),
        dm.Image("photo", (10, 6, 3), 0, 255),
        dm.Image("photo", (3, 10, 6), 0, 255, channels_first=True),
        dm.Image("large", (100, 40), 0, 1),
        dm.Sequence("wave", 30, -1, 1),
        dm.Sequence("point", 4, 0, 1),
        dm.Audio("call", 20_000, 16_000),
    ],
)
def test_a_pair_is_drawn_side_by_side_with_its_difference(block):
    drawing = build_pair_drawing(place(block), make_pairs(block))
    svg = drawing_to_svg(drawing)
    assert svg.count('class="cover"') == 3
    assert "&lt;3&gt;" in svg
    assert "<3>" not in svg
    assert "nan" not in svg
    assert "difference; " in svg  # the tooltip
    assert len(svg) < 60_000
    assert block.name in drawing.alt


def test_a_brighter_pixel_is_orange_and_a_darker_one_blue():
    block = dm.Image("digit", (4, 4))
    before = np.full(16, 8.0)
    after = before.copy()
    after[0], after[15] = 16, 4
    pair = PicturePair(before=before, after=after, first_title="a", second_title="b")
    svg = drawing_to_svg(build_pair_drawing(place(block), [pair]))
    assert 'class="up5"' in svg
    assert 'class="down3"' in svg
    assert "up1" not in svg


def test_equal_images_have_an_empty_difference():
    block = dm.Image("digit", (4, 4))
    pair = PicturePair(before=np.zeros(16), after=np.zeros(16), first_title="a", second_title="b")
    svg = drawing_to_svg(build_pair_drawing(place(block), [pair]))
    assert "up" not in svg
    assert "no pixel changes" in svg


def test_a_page_shows_a_dozen_pairs_and_stays_small():
    block = dm.Image("digit", (28, 28), 0, 255)
    svg = drawing_to_svg(build_pair_drawing(place(block), make_pairs(block, 30)))
    assert svg.count('class="cover"') == 3 * MAX_PICTURE_PAIRS
    assert len(svg) < 700_000


def test_the_change_is_described_with_its_place():
    image, wave = dm.Image("digit", (4, 4)), dm.Sequence("wave", 5, -1, 1)
    before, after = np.zeros(16), np.zeros(16)
    after[6], after[7] = 1, 9
    assert describe_block_change(image, before, after) == (
        "digit: 2 of 16 pixels differ, most the one in row 1, column 3 (0 -> 9)"
    )
    assert describe_block_change(wave, np.zeros(5), np.array([0, 0, 0, 1e-9, 0])) == (
        "wave: the value at position 3 changes from 0 to 1e-09"
    )


def test_the_line_below_a_picture_is_brief():
    image, before = dm.Image("digit", (4, 4)), np.zeros(16)
    assert describe_briefly(image, before, np.eye(16)[5]) == "only row 1, column 1 differs"
    assert describe_briefly(image, before, np.arange(16.0)) == "15 of 16 differ, most row 3, column 3"


def test_a_map_of_pixels_names_its_meaning():
    image = dm.Image("digit", (4, 4))
    drawing = build_map_drawing(image, np.arange(16.0), "digit", "the share of each pixel")
    assert drawing.alt == "the share of each pixel"
    assert "tone15" in drawing_to_svg(drawing)


def test_a_long_sound_is_drawn_by_its_lowest_and_highest_values():
    rng = np.random.default_rng(0)
    wave = rng.normal(size=9_001)
    values, places = thin_trace(wave, 264)
    assert len(values) <= 264
    assert (np.diff(places) > 0).all()
    assert np.array_equal(values, wave[places])
    assert {wave.min(), wave.max()} <= set(values.tolist())
    short = wave[:100]
    assert np.array_equal(thin_trace(short, 264)[0], short)
