"""Moves of sounds: louder, noisier, later, resampled, faster, with fewer bits, turned over and offset.

Every move has a range of strengths within which people still hear the same sound, only louder, later or a little worse. A
strength outside that range is refused, because beyond it another answer may be right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._validation import is_number
from ..errors import ArgumentError
from ..space.blocks import Audio, Block, BlockKind
from ..space.features import Codes
from .block_moves import BlockMove, validate_between

MAX_DECIBELS = 20.0  # louder or quieter: from a shout to quiet speech
NOISE_DECIBELS = (20.0, 80.0)  # below the sound: from a noisy room to what nobody hears
MAX_SHIFT_MILLISECONDS = 500.0
MIN_RATE_SHARE = 0.5  # half the rate of 16 kHz is that of a telephone
SPEED_FACTORS = (0.9, 1.1)  # the pitch changes by less than two semitones
BITS = (8, 24)  # 8: the first sound cards; 24: studios
MAX_OFFSET_SHARE = 0.05  # of the range
MAX_LOST_SHARE = 0.05  # of the energy of a sound, that leaves the recording; if it is more, another answer may be right


@dataclass(frozen=True, kw_only=True)
class SoundMove(BlockMove):
    """A change of sounds; a subclass implements `change_waves`."""

    kinds: ClassVar[tuple[BlockKind, ...]] = ("audio",)

    def change(self, block: Block, codes: Codes, rng: np.random.Generator) -> Codes:
        """Return the changed values."""
        assert isinstance(block, Audio)
        return block.silence + self.change_waves(block, codes - block.silence, rng)

    def change_waves(self, audio: Audio, waves: Codes, rng: np.random.Generator) -> Codes:
        """Return the changed sounds, one per row; silence is 0."""
        raise NotImplementedError

    def find_lost(self, audio: Audio) -> slice:
        """Return which samples leave the recording; by default none."""
        return slice(0, 0)

    def applies(self, block: Block, codes: Codes) -> npt.NDArray[np.bool_]:
        """Return which sounds lose little of their energy."""
        assert isinstance(block, Audio)
        energy = (codes - block.silence) ** 2
        return np.asarray(energy[:, self.find_lost(block)].sum(axis=1) <= MAX_LOST_SHARE * energy.sum(axis=1))


@dataclass(frozen=True, kw_only=True)
class SoundGain(SoundMove):
    """Make louder by some decibels, quieter if negative; a sound is never made so loud that it leaves the range."""

    decibels: float = 6.0

    def __post_init__(self) -> None:
        validate_between("decibels", "SoundGain", self.decibels, -MAX_DECIBELS, MAX_DECIBELS)

    def describe(self) -> str:
        """Return the change as a clause."""
        if self.decibels < 0:
            return f"the sound is {-self.decibels:g} dB quieter"
        return f"the sound is up to {self.decibels:g} dB louder, as far as its range allows"

    def change_waves(self, audio: Audio, waves: Codes, rng: np.random.Generator) -> Codes:
        """Return the louder or quieter sounds."""
        factor = 10 ** (self.decibels / 20)
        if factor <= 1:
            return waves * factor
        room = min(audio.high - audio.silence, audio.silence - audio.low)
        peaks = np.abs(waves).max(axis=1, keepdims=True)
        return waves * np.clip(room / np.maximum(peaks, room / factor), 1, factor)


@dataclass(frozen=True, kw_only=True)
class SoundNoise(SoundMove):
    """Add white noise some decibels below the mean power of each sound; silence stays silent."""

    decibels_below: float = 40.0

    def __post_init__(self) -> None:
        validate_between("decibels_below", "SoundNoise", self.decibels_below, *NOISE_DECIBELS)

    def describe(self) -> str:
        """Return the change as a clause."""
        return f"faint noise, {self.decibels_below:g} dB below the sound, is added"

    def change_waves(self, audio: Audio, waves: Codes, rng: np.random.Generator) -> Codes:
        """Return the sounds with noise."""
        levels = np.sqrt(np.mean(waves**2, axis=1, keepdims=True))
        return waves + 10 ** (-self.decibels_below / 20) * levels * rng.normal(size=waves.shape)


@dataclass(frozen=True, kw_only=True)
class SoundShift(SoundMove):
    """Shift later by some milliseconds, earlier if negative; the gap is silent, and the other end is cut."""

    milliseconds: float = 50.0

    def __post_init__(self) -> None:
        validate_between(
            "milliseconds", "SoundShift", self.milliseconds, -MAX_SHIFT_MILLISECONDS, MAX_SHIFT_MILLISECONDS
        )

    def describe(self) -> str:
        """Return the change as a clause."""
        if self.milliseconds < 0:
            return f"the sound begins {-self.milliseconds:g} ms earlier, with silence after it"
        return f"the sound begins {self.milliseconds:g} ms later, after silence"

    def change_waves(self, audio: Audio, waves: Codes, rng: np.random.Generator) -> Codes:
        """Return the shifted sounds."""
        places = np.arange(audio.length) - self._count_samples(audio)
        inside = (places >= 0) & (places < audio.length)
        return np.where(inside, waves[:, np.where(inside, places, 0)], 0.0)

    def find_lost(self, audio: Audio) -> slice:
        """Return the samples at the end, or at the beginning."""
        count = self._count_samples(audio)
        return slice(max(0, audio.length - count), None) if count > 0 else slice(0, -count)

    def _count_samples(self, audio: Audio) -> int:
        return round(self.milliseconds / 1000 * audio.rate)


@dataclass(frozen=True, kw_only=True)
class SoundResampling(SoundMove):
    """Resample to a share of the rate, and back, by band-limited interpolation."""

    share: float = 0.75

    def __post_init__(self) -> None:
        validate_between("share", "SoundResampling", self.share, MIN_RATE_SHARE, 1)

    def describe(self) -> str:
        """Return the change as a clause."""
        return f"the sound is resampled to {100 * self.share:.3g}% of its rate, and back"

    def change_waves(self, audio: Audio, waves: Codes, rng: np.random.Generator) -> Codes:
        """Return the resampled sounds."""
        from scipy.signal import resample_poly

        share = Fraction(self.share).limit_denominator(20)
        fewer = resample_poly(waves, share.numerator, share.denominator, axis=1)
        return np.asarray(resample_poly(fewer, share.denominator, share.numerator, axis=1)[:, : audio.length])


@dataclass(frozen=True, kw_only=True)
class SoundSpeed(SoundMove):
    """Play faster by a factor, slower if it is below 1; the pitch changes as well, as on a tape.

    What follows the end of a faster sound is silent. The end of a slower sound is cut.
    """

    factor: float = 1.03

    def __post_init__(self) -> None:
        validate_between("factor", "SoundSpeed", self.factor, *SPEED_FACTORS)

    def describe(self) -> str:
        """Return the change as a clause."""
        return f"the sound is {100 * abs(self.factor - 1):.3g}% {'slower' if self.factor < 1 else 'faster'}"

    def change_waves(self, audio: Audio, waves: Codes, rng: np.random.Generator) -> Codes:
        """Return the sounds at another speed, interpolated linearly."""
        places = np.arange(audio.length) * self.factor
        left = np.minimum(places.astype(np.intp), audio.length)
        share = places - left
        padded = np.pad(waves, ((0, 0), (0, 2)))
        return np.where(places < audio.length, (1 - share) * padded[:, left] + share * padded[:, left + 1], 0.0)

    def find_lost(self, audio: Audio) -> slice:
        """Return the end of a slower sound."""
        return slice(math.ceil(self.factor * audio.length), None)


@dataclass(frozen=True, kw_only=True)
class SoundRounding(SoundMove):
    """Round the samples to a number of bits."""

    bits: int = 12

    def __post_init__(self) -> None:
        validate_between("bits", "SoundRounding", self.bits, *BITS)
        _validate_whole("bits", "SoundRounding", self.bits)

    def describe(self) -> str:
        """Return the change as a clause."""
        return f"the sound is rounded to {self.bits} bits"

    def change_waves(self, audio: Audio, waves: Codes, rng: np.random.Generator) -> Codes:
        """Return the rounded sounds."""
        level = (audio.high - audio.low) / 2**self.bits
        return np.rint(waves / level) * level


@dataclass(frozen=True, kw_only=True)
class SoundInversion(SoundMove):
    """Turn the waveform over, as a loudspeaker with swapped wires does."""

    def describe(self) -> str:
        """Return the change as a clause."""
        return "the waveform is turned over"

    def change_waves(self, audio: Audio, waves: Codes, rng: np.random.Generator) -> Codes:
        """Return the sounds with the other sign."""
        return -waves


@dataclass(frozen=True, kw_only=True)
class SoundOffset(SoundMove):
    """Add a constant, as cheap microphones do; `share` is that of the range."""

    share: float = 0.005

    def __post_init__(self) -> None:
        validate_between("share", "SoundOffset", self.share, -MAX_OFFSET_SHARE, MAX_OFFSET_SHARE)

    def describe(self) -> str:
        """Return the change as a clause."""
        return f"a constant of {100 * self.share:.3g}% of the range is added"

    def change_waves(self, audio: Audio, waves: Codes, rng: np.random.Generator) -> Codes:
        """Return the sounds with an offset."""
        return waves + self.share * (audio.high - audio.low)


def _validate_whole(name: str, owner: str, value: Any) -> None:
    if not is_number(value) or value % 1:
        raise ArgumentError(f"{owner}: {name} must be a whole number. Got {value!r}.")
