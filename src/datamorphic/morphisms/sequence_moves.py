"""Moves of numeric sequences: shift, scale and warp. Noise is in `block_moves`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._text import pluralise
from .._validation import is_number
from ..errors import ArgumentError
from ..space.blocks import Block, BlockKind
from ..space.features import Codes
from .block_moves import BlockMove, validate_between

MAX_WARP_SHARE = 0.3  # of the length: beyond it, time would run backwards


@dataclass(frozen=True, kw_only=True)
class SequenceMove(BlockMove):
    """A change of sequences."""

    kinds: ClassVar[tuple[BlockKind, ...]] = ("sequence",)


@dataclass(frozen=True, kw_only=True)
class SequenceShift(SequenceMove):
    """Shift by some positions, later if positive; the first or last value is repeated."""

    positions: int = 1

    def __post_init__(self) -> None:
        if not is_number(self.positions) or self.positions != int(self.positions):
            raise ArgumentError(f"SequenceShift: positions must be a whole number. Got {self.positions!r}.")

    def describe(self) -> str:
        """Return the change as a clause."""
        return f"the sequence is {pluralise(abs(self.positions), 'position')} {'later' if self.positions >= 0 else 'earlier'}"

    def change(self, block: Block, codes: Codes, rng: np.random.Generator) -> Codes:
        """Return the shifted values."""
        places = np.clip(np.arange(codes.shape[1]) - int(self.positions), 0, codes.shape[1] - 1)
        return codes[:, places]


@dataclass(frozen=True, kw_only=True)
class SequenceScale(SequenceMove):
    """Multiply the deviation of each value from the mean of its sequence by `factor`."""

    factor: float = 1.05

    def __post_init__(self) -> None:
        if not is_number(self.factor) or not np.isfinite(float(self.factor)):
            raise ArgumentError(f"SequenceScale: factor must be a finite number. Got {self.factor!r}.")

    def describe(self) -> str:
        """Return the change as a clause."""
        return f"the deviations of the sequence from its mean are multiplied by {self.factor:g}"

    def change(self, block: Block, codes: Codes, rng: np.random.Generator) -> Codes:
        """Return the scaled values."""
        means = codes.mean(axis=1, keepdims=True)
        return means + self.factor * (codes - means)


@dataclass(frozen=True, kw_only=True)
class SequenceWarp(SequenceMove):
    """Stretch one half of each sequence and squeeze the other, by at most `amount` of the length."""

    amount: float = 0.05

    def __post_init__(self) -> None:
        validate_between("amount", "SequenceWarp", self.amount, 0, MAX_WARP_SHARE)

    def describe(self) -> str:
        """Return the change as a clause."""
        return f"time is stretched and squeezed by up to {self.amount:.3g} of the length"

    def change(self, block: Block, codes: Codes, rng: np.random.Generator) -> Codes:
        """Return the warped values, interpolated linearly."""
        length = codes.shape[1]
        if length < 2:
            return codes.copy()
        amounts = rng.uniform(-self.amount, self.amount, (len(codes), 1))
        times = np.linspace(0, 1, length)[None, :]
        places = np.clip(times + amounts * np.sin(np.pi * times), 0, 1) * (length - 1)
        left = np.minimum(places.astype(np.intp), length - 2)
        share = places - left
        first, second = (np.take_along_axis(codes, columns, axis=1) for columns in (left, left + 1))
        return (1 - share) * first + share * second
