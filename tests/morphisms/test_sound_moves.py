"""Moves of sounds, each compared with a plain computation of one sound; within the range, seeded, and refused beyond their strengths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import firwin

import datamorphic as dm
from datamorphic.morphisms.image_moves import ImageBrightness
from datamorphic.morphisms.sound_moves import (
    SoundGain,
    SoundInversion,
    SoundNoise,
    SoundOffset,
    SoundResampling,
    SoundRounding,
    SoundShift,
    SoundSpeed,
)
from datamorphic.morphisms.stock import build_terrain, derive
from datamorphic.morphisms.walk_moves import BLOCK_MOVES

CALL = dm.Audio("call", length=200, rate=1_000)
BYTES = dm.Audio("call", length=200, rate=1_000, low=0, high=255, dtype="uint8")
MOVES = [
    SoundGain(decibels=6),
    SoundGain(decibels=-6),
    SoundNoise(decibels_below=20),
    SoundShift(milliseconds=30),
    SoundShift(milliseconds=-30),
    SoundResampling(share=0.75),
    SoundSpeed(factor=1.05),
    SoundSpeed(factor=0.95),
    SoundRounding(bits=8),
    SoundInversion(),
    SoundOffset(share=0.01),
]


def draw(block=CALL, count=5, share=0.8):
    waves = np.random.default_rng(0).normal(size=(count, block.length))
    waves *= np.linspace(share / 2, share, count)[:, None] / np.abs(waves).max(axis=1, keepdims=True)
    return block.silence + waves * (block.high - block.silence)


def run(move, codes, block=CALL, seed=0):
    return move.apply(block, codes, np.random.default_rng(seed))


@pytest.mark.parametrize("block", [CALL, BYTES], ids=["floats", "bytes"])
@pytest.mark.parametrize("move", MOVES, ids=str)
def test_moves_stay_in_the_range_and_depend_on_the_seed_alone(move, block):
    codes = draw(block)
    original = codes.copy()
    changed = run(move, codes, block)
    assert changed.shape == codes.shape
    assert (changed >= block.low).all()
    assert (changed <= block.high).all()
    assert (changed != codes).any(axis=1).all()
    assert np.array_equal(codes, original)  # the batch is not changed in place
    assert np.array_equal(changed, run(move, codes, block))
    assert move.describe()


@pytest.mark.parametrize("move", MOVES, ids=str)
def test_each_sound_is_changed_as_if_it_were_alone(move):
    if isinstance(move, SoundNoise):
        pytest.skip("every sound has its own noise")
    codes = draw()
    assert np.allclose(run(move, codes), np.vstack([run(move, row[None]) for row in codes]), atol=1e-15)


@pytest.mark.parametrize("move", [move for move in MOVES if not isinstance(move, SoundOffset)], ids=str)
def test_silence_stays_silent(move):
    for block in (CALL, BYTES):
        silence = np.full((2, block.length), block.silence)
        assert np.allclose(run(move, silence, block), silence, atol=(block.high - block.low) / 2**8)
    assert not run(move, np.zeros((1, CALL.length))).any()


def test_gain_is_in_decibels_and_never_clips():
    codes = draw(share=0.4)
    assert np.allclose(run(SoundGain(decibels=6), codes), codes * 10**0.3)
    assert np.allclose(run(SoundGain(decibels=-6), codes), codes / 10**0.3)
    louder = run(SoundGain(decibels=20), codes)
    assert np.allclose(np.abs(louder).max(axis=1), 1)
    assert np.allclose(louder / np.abs(louder).max(axis=1)[:, None], codes / np.abs(codes).max(axis=1)[:, None])
    full = codes / np.abs(codes).max(axis=1, keepdims=True)
    assert np.allclose(run(SoundGain(decibels=6), full), full)


def test_noise_is_as_faint_as_it_says():
    codes = draw(dm.Audio("long", 20_000, 1_000), share=0.5)
    noise = run(SoundNoise(decibels_below=40), codes, dm.Audio("long", 20_000, 1_000)) - codes
    below = 10 * np.log10((codes**2).mean(axis=1) / (noise**2).mean(axis=1))
    assert np.allclose(below, 40, atol=0.2)


def test_a_shift_moves_samples_and_leaves_silence():
    [wave] = draw(count=1)
    assert run(SoundShift(milliseconds=30), wave[None])[0].tolist() == [0.0] * 30 + wave[:-30].tolist()
    assert run(SoundShift(milliseconds=-30), wave[None])[0].tolist() == wave[30:].tolist() + [0.0] * 30
    assert not run(SoundShift(milliseconds=300), wave[None]).any()
    assert run(SoundShift(milliseconds=100), draw(BYTES), BYTES)[0, :100].tolist() == [127.5] * 100


def test_speed_interpolates_as_numpy_does():
    [wave] = draw(count=1)
    for factor in (0.9, 0.97, 1, 1.03, 1.1):
        places = np.arange(200) * factor
        expected = np.interp(places, np.arange(202), [*wave, 0, 0]) * (places < 200)
        assert np.allclose(run(SoundSpeed(factor=factor), wave[None])[0], expected, atol=1e-12)


def resample_plainly(wave, up, down):
    """Return a sound at another rate: zeros between the samples, a low-pass filter, and every n-th sample; sum by sum."""
    half = 10 * max(up, down)
    taps = up * firwin(2 * half + 1, 1 / max(up, down), window=("kaiser", 5.0))
    length = -(-len(wave) * up // down)
    return np.array(
        [
            sum(
                taps[half + place * down - source * up] * wave[source]
                for source in range(len(wave))
                if abs(place * down - source * up) <= half
            )
            for place in range(length)
        ]
    )


@pytest.mark.parametrize(("share", "up", "down"), [(0.75, 3, 4), (0.5, 1, 2), (0.8, 4, 5)])
def test_resampling_is_a_low_pass_filter_there_and_back(share, up, down):
    [wave] = draw(count=1)
    expected = resample_plainly(resample_plainly(wave, up, down), down, up)[:200]
    assert np.allclose(run(SoundResampling(share=share), wave[None])[0], expected, atol=1e-12)


def test_resampling_keeps_low_tones_and_removes_high_ones():
    seconds = np.arange(200) / 1_000
    low, high = (0.5 * np.sin(2 * np.pi * frequency * seconds) for frequency in (50, 450))
    changed_low, changed_high = run(SoundResampling(share=0.75), np.stack([low, high]))
    middle = slice(50, 150)
    assert np.allclose(changed_low[middle], low[middle], atol=0.01)
    assert np.abs(changed_high[middle]).max() < 0.05


def test_rounding_inversion_and_offset():
    codes = draw()
    rounded = run(SoundRounding(bits=8), codes)
    assert np.abs(rounded - codes).max() <= 2 / 2**8 / 2
    assert np.allclose(rounded * 128, np.rint(codes * 128))
    assert np.array_equal(run(SoundInversion(), codes), -codes)
    assert np.allclose(run(SoundInversion(), draw(BYTES), BYTES), 255 - draw(BYTES))
    assert np.allclose(run(SoundOffset(share=0.01), codes), codes + 0.02)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: SoundGain(decibels=21), "decibels"),
        (lambda: SoundGain(decibels="loud"), "decibels"),
        (lambda: SoundNoise(decibels_below=10), "decibels_below"),
        (lambda: SoundShift(milliseconds=501), "milliseconds"),
        (lambda: SoundResampling(share=0.2), "share"),
        (lambda: SoundSpeed(factor=1.5), "factor"),
        (lambda: SoundRounding(bits=4), "bits"),
        (lambda: SoundRounding(bits=8.5), "bits must be a whole number"),
        (lambda: SoundOffset(share=np.nan), "share"),
    ],
)
def test_a_strength_beyond_its_range_is_refused(make, name):
    with pytest.raises(dm.errors.ArgumentError, match=name):
        make()


@pytest.mark.parametrize(
    ("move", "lost"),
    [
        (SoundShift(milliseconds=30), slice(170, 200)),
        (SoundShift(milliseconds=-30), slice(0, 30)),
        (SoundShift(milliseconds=500), slice(0, 200)),
        (SoundShift(milliseconds=0), slice(0, 0)),
        (SoundSpeed(factor=0.9), slice(180, 200)),
        (SoundSpeed(factor=1.1), slice(0, 0)),
        (SoundNoise(), slice(0, 0)),
    ],
    ids=str,
)
def test_a_move_applies_where_little_of_a_sound_is_lost(move, lost):
    waves = np.ones((2, 200))
    waves[1, lost] = 0
    share = len(range(200)[lost]) / 200
    assert move.applies(CALL, waves).tolist() == [share <= 0.05, True]
    assert move.applies(CALL, np.zeros((1, 200))).all()


def test_moves_of_sounds_are_for_sounds():
    with pytest.raises(dm.errors.ArgumentError, match=r"SoundGain changes sounds\. 'wave' is a sequence"):
        run(SoundGain(), np.zeros((1, 5)), dm.Sequence("wave", 5, -1, 1))
    with pytest.raises(dm.errors.ArgumentError, match=r"ImageBrightness changes images\. 'call' is a sound"):
        run(ImageBrightness(), draw())


def test_walks_of_sounds_use_moves_of_whole_sounds():
    space = dm.Space([dm.Audio("call", 40, 1_000), dm.Integer("age", 0, 9)])
    moves = build_terrain(derive(space)).moves
    assert len(moves) == 2 + len(BLOCK_MOVES["audio"])
    points = space.points({"call": np.full(40, 0.5), "age": 3})
    moved = moves["later_call"](points, np.random.default_rng(0))
    assert moved.codes[0, :40].tolist() == [0.0] * 20 + [0.5] * 20
