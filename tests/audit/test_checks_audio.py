"""The check "sounds": a detector that depends on loudness is found, one that does not raises no alarm."""

from __future__ import annotations

import json

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.audit.checks.audio import SOUNDS

RATE, LENGTH = 8_000, 800
SPACE = dm.Space([dm.Audio("call", length=LENGTH, rate=RATE)])


def make_sounds(count=40):
    rng = np.random.default_rng(0)
    seconds = np.arange(LENGTH) / RATE
    pitches = np.where(np.arange(count) % 2, 300, 1_200)[:, None]
    levels = rng.uniform(0.3, 0.7, (count, 1))
    return (levels * np.sin(2 * np.pi * pitches * seconds)).astype(np.float32)


def predict_pitch(sounds):
    spectrum = np.abs(np.fft.rfft(sounds - sounds.mean(axis=1, keepdims=True), axis=1))
    return np.where(spectrum.argmax(axis=1) * RATE / LENGTH > 700, "high", "low")


def predict_loud(sounds):
    return np.where(np.abs(sounds).max(axis=1) > 0.5, "speech", "no speech")


def run(predict, **options):
    options = {"space": SPACE, "only": "sounds", "budget": "30s"} | options
    return dm.test(predict, make_sounds(), progress=False, **options)


def test_a_detector_that_depends_on_loudness_is_found():
    result = run(predict_loud)
    findings = {finding.about: finding for finding in result.findings}
    assert set(findings) == {"audio.louder of call", "audio.quieter of call"}
    finding = findings["audio.quieter of call"]
    assert (finding.check, finding.level) == (SOUNDS.name, "concern")
    assert finding.title == "Answers change although people hear the same call: the sound is 6 dB quieter"
    assert "because the distance to the microphone changes the loudness" in finding.detail
    assert finding.cases_tried == 40
    example = finding.examples[0]
    assert (example.answer, example.new_answer) == ("speech", "no speech")
    assert example.text == "the sound is 6 dB quieter: speech becomes no speech"
    assert example.row is not None
    assert "11 changes of 40 sounds" in result.describe()
    page = result.to_html()
    assert 'class="trace-second"' in page  # the waveform is drawn
    assert len(page) < 600_000
    [section] = [outcome for outcome in json.loads(result.to_json())["outcomes"] if outcome["check"] == "sounds"]
    assert section["state"] == "found"


def test_a_detector_of_pitch_raises_no_alarm():
    result = run(predict_pitch)
    assert result.findings == []
    assert next(outcome for outcome in result.outcomes if outcome.check == "sounds").state == "passed"


@pytest.mark.slow
def test_no_other_check_takes_samples_for_columns():
    result = run(predict_pitch, only=["pixels", "identifiers", "slices", "suggestions", "interface"])
    reasons = {outcome.check: outcome.why for outcome in result.outcomes}
    assert "no images or sequences" in reasons["pixels"]
    assert "single samples of sounds are not columns" in reasons["identifiers"]
    assert "sounds of 800 values" in result.describe()


def test_the_check_says_why_it_does_not_apply():
    def find_reason(result):
        return next(outcome.why for outcome in result.outcomes if outcome.check == "sounds")

    assert "no real sounds" in find_reason(dm.test(predict_pitch, space=SPACE, only="sounds", progress=False))
    assert "the answers are numbers" in find_reason(run(lambda sounds: sounds.std(axis=1)))
    sequences = dm.Space([dm.Sequence("call", LENGTH, -1, 1)])
    assert "no sounds" in find_reason(run(predict_pitch, space=sequences))
