"""`BlockMove`, the base class of moves of images and sequences, and noise, which both have.

A move changes all cases of a batch at once, keeps values within the range of the block, and draws random numbers from the
generator that it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._validation import is_number
from ..errors import ArgumentError, DataError
from ..space.blocks import BLOCK_CLASSES, Block, BlockKind, stack_arrays, to_object_column
from ..space.features import Codes


@dataclass(frozen=True, kw_only=True)
class BlockMove:
    """A change of the images or sequences of a batch; a subclass implements `change`."""

    kinds: ClassVar[tuple[BlockKind, ...]] = ("image", "sequence")

    def describe(self) -> str:
        """Return the change as a clause: "the image is 5% brighter"."""
        raise NotImplementedError

    def change(self, block: Block, codes: Codes, rng: np.random.Generator) -> Codes:
        """Return the changed values, one row per case; they may leave the range."""
        raise NotImplementedError

    def applies(self, block: Block, codes: Codes) -> npt.NDArray[np.bool_]:
        """Return which cases keep what they show after the move; by default all."""
        return np.ones(len(codes), dtype=bool)

    def apply(self, block: Block, codes: Codes, rng: np.random.Generator) -> Codes:
        """Return the changed values, clipped to the range of the block."""
        if block.kind not in self.kinds:
            nouns = " and ".join(f"{BLOCK_CLASSES[kind].noun}s" for kind in self.kinds)
            raise ArgumentError(f"{type(self).__name__} changes {nouns}. {block.name!r} is a {block.noun}.")
        return np.clip(self.change(block, codes, rng), block.low, block.high)

    def of(self, block: Block) -> MoveFunction:
        """Return the move as a function of a frame, to be marked as a datamorphism of a test system.

        Examples
        --------
        >>> import datamorphic as dm
        >>> from datamorphic.morphisms.image_moves import ImageBrightness
        >>> digit = dm.Image("digit", (2, 2), 0, 16)
        >>> class Digits:
        ...     space = dm.Space([digit])
        ...     brighter = dm.datamorphism(ImageBrightness(amount=0.25).of(digit))
        >>> system = dm.TestSystem.collect(Digits)
        >>> points = system.space.points(np.zeros((1, 2, 2)))
        >>> system.moves["brighter"].morph(points).codes.tolist()
        [[4.0, 4.0, 4.0, 4.0]]
        """
        return MoveFunction(self, block)


class MoveFunction:
    """A move of one block as a function of a frame; in a class, it does not become a method."""

    def __init__(self, move: BlockMove, block: Block) -> None:
        self.move, self.block = move, block
        self.names = [feature.name for feature in block.build_features()]
        self.__name__ = type(move).__name__

    def __call__(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return the cases with changed images or sequences."""
        if self.block.name in frame.columns:
            arrays = stack_arrays(self.block.name, frame[self.block.name].tolist(), self.block.noun)
            codes = self.move.apply(self.block, self.block.to_codes(arrays), rng)
            return frame.assign(**{self.block.name: to_object_column(self.block.restore(codes))})
        if self.names[0] not in frame.columns:
            raise DataError(f"The cases have no {self.block.noun} {self.block.name!r}.")
        codes = frame[self.names].to_numpy(dtype=np.float64)
        return replace_values(frame, self.names, self.move.apply(self.block, codes, rng))


def replace_values(frame: pd.DataFrame, names: list[str], codes: Codes) -> pd.DataFrame:
    """Return a frame with other values in some of its columns."""
    new_values = pd.DataFrame(codes, columns=names, index=frame.index)
    own_names = set(names)
    others = [name for name in frame.columns if name not in own_names]
    return new_values if not others else pd.concat([frame[others], new_values], axis=1)[list(frame.columns)]


@dataclass(frozen=True, kw_only=True)
class BlockNoise(BlockMove):
    """Normally distributed noise; `amount` is its standard deviation, as a share of the range."""

    amount: float = 0.02

    def __post_init__(self) -> None:
        validate_between("amount", "BlockNoise", self.amount)

    def describe(self) -> str:
        """Return the change as a clause."""
        return f"noise of {self.amount:.3g} of the range is added"

    def change(self, block: Block, codes: Codes, rng: np.random.Generator) -> Codes:
        """Return the values with noise."""
        return codes + rng.normal(0, self.amount * (block.high - block.low), codes.shape)


def validate_between(name: str, owner: str, value: Any, low: float = 0.0, high: float = 1.0) -> None:
    """Raise `ArgumentError` unless a value is a number between two bounds."""
    if not is_number(value) or not low <= value <= high:
        raise ArgumentError(f"{owner}: {name} must be a number from {low:g} to {high:g}. Got {value!r}.")
