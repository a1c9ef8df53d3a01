"""Relations of classifiers of sounds: changes after which people hear the same, so that the answer must not change."""

from __future__ import annotations

from ..._validation import check_types
from ...morphisms.block_moves import BlockMove
from ...morphisms.sound_moves import (
    SoundGain,
    SoundInversion,
    SoundNoise,
    SoundOffset,
    SoundResampling,
    SoundRounding,
    SoundShift,
    SoundSpeed,
)
from ..patterns.relation import Promise
from .image import BlockRelation

LOUDNESS_REASON = "the distance to the microphone changes the loudness, and not what is heard"
START_REASON = "nobody cuts recordings at the same moment, and what is heard is the same"
SPEED_REASON = "people speak and play a little slower or faster, and what is heard is the same"


@check_types
def audio_relations(
    *,
    gain: float = 6.0,
    noise: float = 40.0,
    shift: float = 50.0,
    resampling: float = 0.75,
    speed: float = 0.03,
    bits: int = 12,
    offset: float = 0.005,
    column: str | None = None,
    tolerance: float = 0.0,
) -> dict[str, BlockRelation]:
    """Return relations of classifiers of sounds by name: what people hardly hear must not change the answer.

    Noise, resampling, bits, offset and polarity are about robustness: hardly anybody hears them. Loudness, start and speed are
    hypotheses: everybody hears them, but the same sound. A strength outside the range that is named below is refused.
    The `reason` of each relation says why the answer must stay.

    Parameters
    ----------
    gain : float
        By how many decibels sounds are louder and quieter, above 0 and up to 20. A loud sound is made louder as far as its
        range allows, so that nothing is clipped.
    noise : float
        By how many decibels white noise is below the sound, from 20 to 80.
    shift : float
        By how many milliseconds sounds begin later and earlier, above 0 and up to 500. A sound that would lose more than a
        twentieth of its energy is not judged, so keep some silence at both ends.
    resampling : float
        The share of the rate to which sounds are resampled before they are brought back, from 0.5 to 1.
    speed : float
        By which share sounds are slower and faster, above 0 and up to 0.1. Here, too, a sound must not lose much of its end.
    bits : int
        The number of bits of a sample, from 8 to 24.
    offset : float
        The constant that is added, as a share of the range, from -0.05 to 0.05.
    column : str, optional
        The name of the sounds; by default all sounds of the data.
    tolerance : float
        By how much answers that are numbers may differ.

    Returns
    -------
    dict of str to BlockRelation
        "audio.louder", "audio.quieter", "audio.later", "audio.earlier", "audio.slower", "audio.faster" (hypotheses), "audio.noise",
        "audio.resampled", "audio.fewer bits", "audio.polarity" and "audio.offset" (robustness).

    Examples
    --------
    >>> import numpy as np, datamorphic as dm
    >>> sounds = np.sin(np.outer(np.arange(20) + 5, np.linspace(0, 20, 400))) / 2
    >>> space = dm.Space([dm.Audio("tone", length=400, rate=8_000)])
    >>> report = dm.check(lambda sounds: np.ptp(sounds, axis=1) > 0.8, sounds, "audio", space=space)
    >>> report.table.relation[report.table.violated > 0].tolist()
    ['audio.quieter']
    """
    moves: dict[str, tuple[BlockMove, Promise, str]] = {
        "louder": (SoundGain(decibels=gain), "HMR", LOUDNESS_REASON),
        "quieter": (SoundGain(decibels=-gain), "HMR", LOUDNESS_REASON),
        "later": (SoundShift(milliseconds=shift), "HMR", START_REASON),
        "earlier": (SoundShift(milliseconds=-shift), "HMR", START_REASON),
        "slower": (SoundSpeed(factor=1 - speed), "HMR", SPEED_REASON),
        "faster": (SoundSpeed(factor=1 + speed), "HMR", SPEED_REASON),
        "noise": (SoundNoise(decibels_below=noise), "MRR", "every microphone and every room adds noise"),
        "resampled": (
            SoundResampling(share=resampling),
            "MRR",
            "files and calls are resampled on their way, which only costs the highest tones",
        ),
        "fewer bits": (SoundRounding(bits=bits), "MRR", "rounded samples sound the same, with a faint hiss"),
        "polarity": (SoundInversion(), "MRR", "nobody hears the sign of a waveform"),
        "offset": (SoundOffset(share=offset), "MRR", "nobody hears a constant, which cheap microphones add"),
    }
    relations = {}
    for name, (move, promise, reason) in moves.items():
        relation = BlockRelation(f"audio.{name}", move, promise=promise, column=column, tolerance=tolerance)
        relation.reason = reason
        relations[relation.name] = relation
    return relations
