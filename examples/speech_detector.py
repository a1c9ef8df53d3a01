"""A real speech detector, silero-vad, on synthesised sounds: does it hear the same speech if it is quieter, later, slower?

Its weights come with its package; torch, which it names as a dependency, is not needed:
pip install onnxruntime && pip install --no-deps silero-vad

Run it with: python examples/speech_detector.py
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

import datamorphic as dm

RATE = 8_000  # samples per second
CHUNK, CONTEXT = 256, 32  # samples that the model takes at once, and those before them, which it gets again
LENGTH = 34 * CHUNK  # 1.1 s
#: how the package decides by default: where speech begins and where it may end, and how long both must last
BEGIN, END = 0.5, 0.35
MIN_SPEECH, MIN_SILENCE = 0.25 * RATE / CHUNK, 0.1 * RATE / CHUNK  # in chunks
#: the first three resonances of the vocal tract in Hz
FORMANTS = {
    "a": (730, 1090, 2440),
    "e": (530, 1840, 2480),
    "i": (270, 2290, 3010),
    "o": (570, 840, 2410),
    "u": (300, 870, 2240),
}
BANDWIDTH = 80  # of a resonance, in Hz
WORDS = ("aiu", "oea", "uai", "eoi", "iae", "aou", "uei", "ioa", "eau")


class SpeechDetector:
    """Answers "speech" or "no speech" by the rule of the package."""

    def __init__(self, model: Path) -> None:
        import onnxruntime

        self.session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])

    def rate_chunks(self, sounds: np.ndarray) -> np.ndarray:
        """Return the probability of speech in each chunk of each sound."""
        sounds = np.pad(sounds.astype(np.float32), ((0, 0), (CONTEXT, 0)))
        state = np.zeros((2, len(sounds), 128), dtype=np.float32)
        probabilities = []
        for start in range(0, sounds.shape[1] - CONTEXT, CHUNK):
            chunk = sounds[:, start : start + CONTEXT + CHUNK]
            inputs = {"input": chunk, "state": state, "sr": np.array(RATE, dtype=np.int64)}
            probability, state = self.session.run(None, inputs)
            probabilities.append(probability[:, 0])
        return np.stack(probabilities, axis=1)

    def predict(self, sounds: np.ndarray) -> np.ndarray:
        """Return "speech" or "no speech" for each sound."""
        return np.array(["speech" if has_speech(row) else "no speech" for row in self.rate_chunks(sounds).tolist()])


def has_speech(probabilities: list[float]) -> bool:
    """Return whether speech begins and lasts; a short pause does not end it."""
    start = end = None
    for place, probability in enumerate(probabilities):
        if probability >= BEGIN:
            start, end = place if start is None else start, None
        elif start is not None and probability < END:
            end = place if end is None else end
            if place - end >= MIN_SILENCE:
                if end - start > MIN_SPEECH:
                    return True
                start = end = None
    return start is not None and len(probabilities) - start > MIN_SPEECH


def find_model() -> Path | None:
    """Return the weights of silero-vad; None if it is not installed."""
    package = importlib.util.find_spec("silero_vad")
    if package is None or importlib.util.find_spec("onnxruntime") is None:
        return None
    return Path(next(iter(package.submodule_search_locations)), "data", "silero_vad.onnx")


def speak(word: str, pitch: float, peak: float, rng: np.random.Generator) -> np.ndarray:
    """Return a word of vowels: pulses of the voice through the resonances of the vocal tract, with silence around them."""
    length = LENGTH - 2 * RATE // 8
    seconds = np.arange(length) / RATE
    melody = pitch * (1 + 0.15 * np.sin(2 * np.pi * 1.5 * seconds) + 0.01 * rng.normal(size=length))
    pulses = np.diff(np.floor(np.cumsum(melody) / RATE), prepend=0) + 0.01 * rng.normal(size=length)
    wave = np.zeros(length)
    edges = np.linspace(0, length, len(word) + 1).astype(int)
    for vowel, start, end in zip(word, edges[:-1], edges[1:], strict=True):
        part = pulses[start:end]
        radius = np.exp(-np.pi * BANDWIDTH / RATE)
        for frequency in FORMANTS[vowel]:
            part = lfilter([1 - radius], [1, -2 * radius * np.cos(2 * np.pi * frequency / RATE), radius**2], part)
        syllable = np.sin(np.pi * np.linspace(0, 1, end - start)) ** 0.5
        wave[start:end] = part / np.abs(part).max() * syllable
    return np.pad(peak * wave, RATE // 8)


def make_sounds(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return 27 sounds and what they are: words, noise, tones and silence."""
    rng = np.random.default_rng(seed)
    seconds = np.arange(LENGTH) / RATE
    words = [speak(word, pitch, 0.7, rng) for word in WORDS for pitch in (110, 190)]
    noise = [level * rng.normal(size=LENGTH) for level in (0.01, 0.05, 0.2)]
    tones = [0.5 * np.sin(2 * np.pi * frequency * seconds) for frequency in (250, 440, 1_000)]
    silence = [level * rng.normal(size=LENGTH) for level in (0, 1e-4, 1e-3)]
    sounds = np.stack([*words, *noise, *tones, *silence]).clip(-1, 1)
    return sounds.astype(np.float32), np.repeat(["speech", "no speech"], [len(words), 9])


def make_vowels(seed: int = 0) -> np.ndarray:
    """Return 25 single vowels, each held for most of a second."""
    rng = np.random.default_rng(seed)
    vowels = [speak(vowel, pitch, 0.7, rng) for vowel in FORMANTS for pitch in (90, 110, 135, 165, 200)]
    return np.stack(vowels).astype(np.float32)


def main() -> None:
    """Check the detector."""
    model = find_model()
    if model is None:
        print(
            "silero-vad or onnxruntime is not installed. Install both: pip install onnxruntime && pip install --no-deps silero-vad"
        )
        return
    detector = SpeechDetector(model)
    space = dm.Space([dm.Audio("sound", length=LENGTH, rate=RATE)])
    sounds, labels = make_sounds()
    right = (detector.predict(sounds) == labels).sum()
    print(f"{right} of {len(labels)} words, noises, tones and silences are recognised.")
    report = dm.check(detector.predict, sounds, "audio", space=space, inputs=len(sounds))
    print(f"Answers that change with one of {len(report.table)} harmless changes: {report.table.violated.sum()}\n")
    vowels = make_vowels()
    report = dm.check(detector.predict, vowels, "audio", space=space, inputs=len(vowels))
    print(f"And if a single vowel is held:\n{report.describe()}")


if __name__ == "__main__":
    main()
