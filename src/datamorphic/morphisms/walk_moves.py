"""Stock moves of whole images, sequences and sounds for walks."""

from __future__ import annotations

from .block_moves import BlockMove, BlockNoise
from .image_moves import ImageBrightness, ImageOcclusion, ImageRotation, ImageShift
from .sequence_moves import SequenceScale, SequenceShift, SequenceWarp
from .sound_moves import SoundGain, SoundNoise, SoundShift, SoundSpeed

#: by kind of block and by name: small enough that several lead to a border
BLOCK_MOVES: dict[str, dict[str, BlockMove]] = {
    "image": {
        "brighten": ImageBrightness(amount=0.05),
        "darken": ImageBrightness(amount=-0.05),
        "shift_down": ImageShift(rows=1),
        "shift_up": ImageShift(rows=-1),
        "shift_right": ImageShift(columns=1),
        "shift_left": ImageShift(columns=-1),
        "rotate_left": ImageRotation(degrees=10),
        "rotate_right": ImageRotation(degrees=-10),
        "noise": BlockNoise(amount=0.05),
        "occlude": ImageOcclusion(side=2),
    },
    "sequence": {
        "later": SequenceShift(positions=1),
        "earlier": SequenceShift(positions=-1),
        "larger": SequenceScale(factor=1.1),
        "smaller": SequenceScale(factor=0.9),
        "noise": BlockNoise(amount=0.05),
        "warp": SequenceWarp(amount=0.05),
    },
    "audio": {
        "louder": SoundGain(decibels=3),
        "quieter": SoundGain(decibels=-3),
        "later": SoundShift(milliseconds=20),
        "earlier": SoundShift(milliseconds=-20),
        "faster": SoundSpeed(factor=1.02),
        "slower": SoundSpeed(factor=0.98),
        "noise": SoundNoise(decibels_below=20),
    },
}
