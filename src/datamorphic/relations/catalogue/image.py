"""Relations of classifiers of images and of sequences: small changes that must not change the answer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..._lazy import pd
from ..._text import suggest_name
from ..._validation import check_types, reject
from ...errors import ArgumentError
from ...morphisms.block_moves import BlockMove, BlockNoise, replace_values
from ...morphisms.image_moves import ImageBrightness, ImageFlip, ImageOcclusion, ImageRotation, ImageShift, OnePixel
from ...morphisms.sequence_moves import SequenceScale, SequenceShift, SequenceWarp
from ...space.blocks import BLOCK_CLASSES, PlacedBlock
from ...space.space import Space
from ..algebra.base import Mask
from ..patterns.outputs import Unchanged
from ..patterns.relation import InputPattern, PatternRelation, Promise

FLIPS = ("left-right", "top-bottom")


@dataclass(frozen=True, kw_only=True)
class BlockChange(InputPattern):
    """The images, sequences or sounds of a case are changed by a move: ``BlockChange(move=ImageShift(rows=1)) >> Unchanged()``."""

    pattern: ClassVar[str] = "Change of images or sequences"
    move: BlockMove
    column: str | None = (
        None  # the name of the images, sequences or sounds; by default all of the kind that the move changes
    )
    blocks: tuple[PlacedBlock, ...] = ()  # of the space that the change is fitted to

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The columns of all values of the images or sequences; an example keeps them."""
        return tuple(name for placed_block in self.blocks for name in placed_block.names)

    def describe(self) -> str:
        """Return the move in words."""
        return self.move.describe()

    def find_obstacle(self, space: Space) -> str:
        """Return why the change cannot be made: there are no images, or sequences."""
        return (
            ""
            if self._find_blocks(space)
            else f"the inputs hold no {' or '.join(BLOCK_CLASSES[kind].noun for kind in self.move.kinds)}"
        )

    def fitted_to(self, space: Space) -> BlockChange:
        """Return the change of the images or sequences of a space."""
        return replace(self, blocks=self._find_blocks(space))

    def _find_blocks(self, space: Space) -> tuple[PlacedBlock, ...]:
        names = [placed_block.block.name for placed_block in space.blocks]
        if self.column is not None and self.column not in names:
            raise ArgumentError(
                f"The relation changes {self.column!r}, which is no image, sequence or sound of the data. "
                f"{suggest_name(self.column, names)}"
            )
        return tuple(
            placed_block
            for placed_block in space.blocks
            if placed_block.block.kind in self.move.kinds and self.column in (None, placed_block.block.name)
        )

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which cases keep what they show."""
        applies = np.ones(len(frame), dtype=bool)
        for placed_block in self.blocks:
            codes = frame[placed_block.names].to_numpy(dtype=np.float64)
            applies &= self.move.applies(placed_block.block, codes)
        return applies

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the cases with changed images or sequences."""
        for placed_block in self.blocks:
            codes = frame[placed_block.names].to_numpy(dtype=np.float64)
            frame = replace_values(frame, placed_block.names, self.move.apply(placed_block.block, codes, rng))
        return [frame]


class BlockRelation(PatternRelation):
    """The answer stays the same after a move of the images or sequences.

    Parameters
    ----------
    name : str
        The name in reports and commands.
    move : BlockMove
        The change.
    promise : {"MR", "HMR", "MRR"}
        Whether every correct system satisfies it ("MR"), users may expect it ("HMR"), or it is about noisy inputs, which a
        robust system copes with ("MRR").
    column : str, optional
        The name of the images or sequences that are changed; by default all of the kind that the move changes.
    tolerance : float
        By how much answers that are numbers may differ.

    Examples
    --------
    >>> from datamorphic.morphisms.image_moves import ImageShift
    >>> from datamorphic.relations.catalogue.image import BlockRelation
    >>> BlockRelation("shift", ImageShift(columns=1), promise="HMR").statement
    'the image is shifted right by 1: the answer stays the same'
    """

    def __init__(
        self, name: str, move: BlockMove, *, promise: Promise = "MRR", column: str | None = None, tolerance: float = 0.0
    ) -> None:
        if not isinstance(move, BlockMove):
            reject("move", "BlockRelation", "a move of images or sequences", move)
        self.move = move
        super().__init__(
            BlockChange(move=move, column=column),
            Unchanged(tolerance=tolerance),
            name=name,
            promise=promise,
            domain=f"classifiers of {' and '.join(f'{BLOCK_CLASSES[kind].noun}s' for kind in move.kinds)}",
            needs=("the input is a case, the output is the answer of the system",),
        )


@check_types
def image_relations(
    *,
    brightness: float = 0.05,
    noise: float = 0.02,
    shift: int = 1,
    degrees: float = 5.0,
    border: int = 1,
    flips: Collection[str] | str = (),
    column: str | None = None,
    tolerance: float = 0.0,
) -> dict[str, BlockRelation]:
    """Return relations of image classifiers by name: small changes must not change the answer.

    Brightness, noise, one pixel and the border are about robustness: a violation shows an image next to a border of the
    model. A shift and a rotation are hypotheses. A flip is a relation only if you declare that it does not matter: the mirror
    image of a b is a d.

    Parameters
    ----------
    brightness, noise : float
        By how much all pixels change, and the standard deviation of the noise, as shares of the range of the pixels. By default
        5% and 2%, which people hardly see.
    shift : int
        By how many pixels images are shifted to the right and down.
    degrees : float
        By how many degrees images are rotated.
    border : int
        The width of the border that is covered.
    flips : sequence of {"left-right", "top-bottom"}
        The flips that must not matter.
    column : str, optional
        The name of the images; by default all images of the data.
    tolerance : float
        By how much answers that are numbers may differ.

    Returns
    -------
    dict of str to BlockRelation
        "image.brighter", "image.darker", "image.noise", "image.one pixel", "image.border", "image.shift right",
        "image.shift down", "image.rotation", and "image.flip left-right" and "image.flip top-bottom" if declared.

    Examples
    --------
    >>> import numpy as np, datamorphic as dm
    >>> images = np.random.default_rng(0).random((30, 4, 4))
    >>> report = dm.check(lambda images: images.mean(axis=(1, 2)) > 0.9, images, dm.relations.image_relations(flips="left-right"))
    >>> int(report.table.violated.sum())
    0
    """
    ways = (flips,) if isinstance(flips, str) else tuple(flips)
    for way in ways:
        if way not in FLIPS:
            raise ArgumentError(f"image_relations: flips must be {' or '.join(map(repr, FLIPS))}. Got {way!r}.")
    moves: dict[str, tuple[BlockMove, Promise]] = {
        "brighter": (ImageBrightness(amount=brightness), "MRR"),
        "darker": (ImageBrightness(amount=-brightness), "MRR"),
        "noise": (BlockNoise(amount=noise), "MRR"),
        "one pixel": (OnePixel(), "MRR"),
        "border": (ImageOcclusion(border=border), "MRR"),
        "shift right": (ImageShift(columns=shift), "HMR"),
        "shift down": (ImageShift(rows=shift), "HMR"),
        "rotation": (ImageRotation(degrees=degrees), "HMR"),
        **{f"flip {way}": (ImageFlip(way=way), "MR") for way in ways},  # type: ignore[arg-type]
    }
    return _build_relations("image", moves, column, tolerance)


@check_types
def sequence_relations(
    *,
    shift: int = 1,
    scale: float = 1.05,
    noise: float = 0.02,
    warp: float = 0.02,
    column: str | None = None,
    tolerance: float = 0.0,
) -> dict[str, BlockRelation]:
    """Return relations of classifiers of numeric sequences by name.

    Small changes must not change the answer.

    Parameters
    ----------
    shift : int
        By how many positions sequences are moved to later times.
    scale : float
        The factor of the deviations from the mean of a sequence.
    noise, warp : float
        The standard deviation of the noise as a share of the range, and by how much time is stretched, as a share of the length.
    column : str, optional
        The name of the sequences; by default all sequences of the data.
    tolerance : float
        By how much answers that are numbers may differ.

    Returns
    -------
    dict of str to BlockRelation
        "sequence.noise" (robustness), "sequence.shift", "sequence.scale" and "sequence.warp" (hypotheses).

    Examples
    --------
    >>> import numpy as np, datamorphic as dm
    >>> waves = np.sin(np.linspace(0, 6, 30) + np.arange(20)[:, None])
    >>> space = dm.Space([dm.Sequence("wave", 30, low=-1, high=1)])
    >>> report = dm.check(lambda waves: np.ptp(waves, axis=1) > 1, waves, dm.relations.sequence_relations(), space=space)
    >>> int(report.table.violated.sum())
    0
    """
    moves: dict[str, tuple[BlockMove, Promise]] = {
        "noise": (BlockNoise(amount=noise), "MRR"),
        "shift": (SequenceShift(positions=shift), "HMR"),
        "scale": (SequenceScale(factor=scale), "HMR"),
        "warp": (SequenceWarp(amount=warp), "HMR"),
    }
    return _build_relations("sequence", moves, column, tolerance)


def _build_relations(
    kind: str, moves: dict[str, tuple[BlockMove, Promise]], column: str | None, tolerance: float
) -> dict[str, BlockRelation]:
    return {
        f"{kind}.{name}": BlockRelation(f"{kind}.{name}", move, promise=promise, column=column, tolerance=tolerance)
        for name, (move, promise) in moves.items()
    }
