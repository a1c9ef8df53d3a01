"""Moves of images: shift, rotate, brighten, occlude, blend, flip, and change one pixel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from .._validation import is_number, validate_choice
from ..errors import ArgumentError
from ..space.blocks import Block, BlockKind, Image
from ..space.features import Codes
from .block_moves import BlockMove, validate_between


@dataclass(frozen=True, kw_only=True)
class ImageMove(BlockMove):
    """A change of pictures; a subclass implements `change_pictures`."""

    kinds: ClassVar[tuple[BlockKind, ...]] = ("image",)

    def change(self, block: Block, codes: Codes, rng: np.random.Generator) -> Codes:
        """Return the changed values."""
        assert isinstance(block, Image)
        return block.from_pictures(self.change_pictures(block, block.to_pictures(codes), rng))

    def change_pictures(self, image: Image, pictures: Codes, rng: np.random.Generator) -> Codes:
        """Return the changed pictures, of shape (cases, height, width, channels)."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class ImageShift(ImageMove):
    """Shift by whole pixels, `rows` down and `columns` to the right; new pixels have the lowest value."""

    rows: int = 0
    columns: int = 0

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):
            value = getattr(self, name)
            if not is_number(value) or value != int(value):
                raise ArgumentError(f"ImageShift: {name} must be a whole number. Got {value!r}.")

    def describe(self) -> str:
        """Return the change as a clause."""
        ways = [(self.rows, "down", "up"), (self.columns, "right", "left")]
        texts = [f"{after if count > 0 else before} by {abs(count)}" for count, after, before in ways if count]
        return f"the image is shifted {' and '.join(texts) or 'by nothing'}"

    def change_pictures(self, image: Image, pictures: Codes, rng: np.random.Generator) -> Codes:
        """Return the shifted pictures."""
        shifted_pictures = np.full_like(pictures, image.low)
        height, width = image.sides
        if abs(self.rows) >= height or abs(self.columns) >= width:
            return shifted_pictures
        target = tuple(slice(max(0, count), side + min(0, count)) for count, side in self._list_sides(height, width))
        source = tuple(slice(max(0, -count), side + min(0, -count)) for count, side in self._list_sides(height, width))
        shifted_pictures[:, target[0], target[1]] = pictures[:, source[0], source[1]]
        return shifted_pictures

    def _list_sides(self, height: int, width: int) -> list[tuple[int, int]]:
        return [(int(self.rows), height), (int(self.columns), width)]


@dataclass(frozen=True, kw_only=True)
class ImageRotation(ImageMove):
    """Rotate about the centre by some degrees, counter-clockwise, with bilinear interpolation."""

    degrees: float = 5.0

    def __post_init__(self) -> None:
        validate_between("degrees", "ImageRotation", self.degrees, -360, 360)

    def describe(self) -> str:
        """Return the change as a clause."""
        return f"the image is rotated by {self.degrees:g} degrees"

    def change_pictures(self, image: Image, pictures: Codes, rng: np.random.Generator) -> Codes:
        """Return the rotated pictures."""
        from scipy import ndimage

        rotated_pictures = ndimage.rotate(
            pictures, self.degrees, axes=(2, 1), reshape=False, order=1, mode="constant", cval=image.low
        )
        return np.asarray(rotated_pictures, dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class ImageBrightness(ImageMove):
    """Add to all pixels a share of the range; darker if negative."""

    amount: float = 0.05

    def __post_init__(self) -> None:
        validate_between("amount", "ImageBrightness", self.amount, -1, 1)

    def describe(self) -> str:
        """Return the change as a clause."""
        return f"the image is {abs(self.amount):.3g} of the range {'brighter' if self.amount >= 0 else 'darker'}"

    def change_pictures(self, image: Image, pictures: Codes, rng: np.random.Generator) -> Codes:
        """Return the brighter pictures."""
        return pictures + self.amount * (image.high - image.low)


@dataclass(frozen=True, kw_only=True)
class ImageOcclusion(ImageMove):
    """Cover a square at a random place, or the border, with the lowest value.

    The square has `side` x `side` pixels; the border is `border` pixels wide.
    """

    side: int = 2
    border: int = 0

    def __post_init__(self) -> None:
        for name in ("side", "border"):
            value = getattr(self, name)
            if not is_number(value) or value != int(value) or value < 0:
                raise ArgumentError(f"ImageOcclusion: {name} must be a whole number of at least 0. Got {value!r}.")

    def describe(self) -> str:
        """Return the change as a clause."""
        if self.border:
            return f"the border of the image, {self.border} wide, is covered"
        return f"a square of {self.side} x {self.side} is covered"

    def change_pictures(self, image: Image, pictures: Codes, rng: np.random.Generator) -> Codes:
        """Return the pictures with a part covered."""
        height, width = image.sides
        rows, columns = np.arange(height)[None, :, None], np.arange(width)[None, None, :]
        if self.border:
            inside = (rows >= self.border) & (rows < height - self.border)
            covered = ~(inside & (columns >= self.border) & (columns < width - self.border))
        else:
            tops = rng.integers(0, max(1, height - self.side + 1), len(pictures))[:, None, None]
            lefts = rng.integers(0, max(1, width - self.side + 1), len(pictures))[:, None, None]
            covered = (rows >= tops) & (rows < tops + self.side) & (columns >= lefts) & (columns < lefts + self.side)
        return np.where(covered[..., None], image.low, pictures)


@dataclass(frozen=True, kw_only=True)
class ImageBlend(ImageMove):
    """Blend each image with another one of the batch; `share` is the share of the other."""

    share: float = 0.2

    def __post_init__(self) -> None:
        validate_between("share", "ImageBlend", self.share)

    def describe(self) -> str:
        """Return the change as a clause."""
        return f"{self.share:.3g} of another image is blended in"

    def change_pictures(self, image: Image, pictures: Codes, rng: np.random.Generator) -> Codes:
        """Return the blends."""
        others = pictures[rng.permutation(len(pictures))]
        return (1 - self.share) * pictures + self.share * others


@dataclass(frozen=True, kw_only=True)
class ImageFlip(ImageMove):
    """Exchange left and right, or top and bottom."""

    way: Literal["left-right", "top-bottom"] = "left-right"

    def __post_init__(self) -> None:
        validate_choice("way", "ImageFlip", self.way, ("left-right", "top-bottom"))

    def describe(self) -> str:
        """Return the change as a clause."""
        return f"{self.way.replace('-', ' and ')} of the image are exchanged"

    def change_pictures(self, image: Image, pictures: Codes, rng: np.random.Generator) -> Codes:
        """Return the mirrored pictures."""
        return pictures[:, :, ::-1] if self.way == "left-right" else pictures[:, ::-1]


@dataclass(frozen=True, kw_only=True)
class OnePixel(ImageMove):
    """Set one pixel to the farther end of the range.

    It is at a random place of each image unless `place` names it.
    """

    place: tuple[int, int] | None = None

    def describe(self) -> str:
        """Return the change as a clause."""
        where = "one pixel" if self.place is None else f"the pixel in row {self.place[0]}, column {self.place[1]}"
        return f"{where} is set to the other end of the range"

    def change_pictures(self, image: Image, pictures: Codes, rng: np.random.Generator) -> Codes:
        """Return the pictures with one pixel changed."""
        height, width = image.sides
        cases = np.arange(len(pictures))
        if self.place is None:
            rows, columns = rng.integers(0, height, len(pictures)), rng.integers(0, width, len(pictures))
        else:
            if not (0 <= self.place[0] < height and 0 <= self.place[1] < width):
                raise ArgumentError(f"OnePixel: {self.place} is not a pixel of an image of {height} x {width}.")
            rows, columns = (np.full(len(pictures), place) for place in self.place)
        changed_pictures = pictures.copy()
        old_values = pictures[cases, rows, columns].mean(axis=1, keepdims=True)
        changed_pictures[cases, rows, columns] = np.where(
            old_values < (image.low + image.high) / 2, image.high, image.low
        )
        return changed_pictures
