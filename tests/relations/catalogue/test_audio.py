"""Relations of sounds: a classifier that hears what people hear satisfies all, and each relation finds the one that does not."""

from __future__ import annotations

import json

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.relations.catalogue.registry import find_relation

RATE, LENGTH = 8_000, 1_600
SECONDS = np.arange(LENGTH) / RATE
SPACE = dm.Space([dm.Audio("call", length=LENGTH, rate=RATE)])
SILENT = int(0.06 * RATE)  # samples at both ends


def make_tone(frequency, level):
    """Return a tone with silence around it, a little asymmetric and with a faint high component."""
    wave = np.sin(2 * np.pi * frequency * SECONDS) + 0.3 * np.cos(4 * np.pi * frequency * SECONDS)
    wave = level * (wave + 0.1 * np.sin(2 * np.pi * 3_600 * SECONDS)) / np.abs(wave).max()
    wave[:SILENT] = wave[-SILENT:] = 0
    return wave


SOUNDS = np.stack([make_tone(frequency, level) for frequency in (400, 1_000) for level in (0.4, 0.5, 0.6, 0.7)])
SOUNDS = SOUNDS.astype(np.float32)
FREQUENCIES = np.fft.rfftfreq(LENGTH, 1 / RATE)


def find_pitch(sounds):
    spectrum = np.abs(np.fft.rfft(sounds - sounds.mean(axis=1, keepdims=True), 8 * LENGTH, axis=1))
    return spectrum.argmax(axis=1) * RATE / (8 * LENGTH)


def predict_pitch(sounds):
    return np.where(find_pitch(sounds) > 700, "high", "low")


def is_quiet(part):
    return np.abs(part).max(axis=1) < 1e-6


#: what hears more than people do, by the relation that finds it
WRONG = {
    "audio.louder": lambda sounds: np.abs(sounds).max(axis=1) > 0.75,
    "audio.quieter": lambda sounds: np.abs(sounds).max(axis=1) < 0.39,
    "audio.later": lambda sounds: is_quiet(sounds[:, : 3 * SILENT // 2]),
    "audio.earlier": lambda sounds: is_quiet(sounds[:, -3 * SILENT // 2 :]),
    "audio.slower": lambda sounds: find_pitch(sounds) % 200 > 100,
    "audio.faster": lambda sounds: (find_pitch(sounds) + 5) % 200 > 15,
    "audio.noise": lambda sounds: is_quiet(sounds[:, :SILENT]),
    "audio.resampled": lambda sounds: np.abs(np.fft.rfft(sounds, axis=1))[:, FREQUENCIES > 3_500].max(axis=1) > 5,
    "audio.fewer bits": lambda sounds: (sounds * 2**11 % 1 != 0).any(axis=1),
    "audio.polarity": lambda sounds: sounds.max(axis=1) > -sounds.min(axis=1),
    "audio.offset": lambda sounds: sounds.mean(axis=1) > 0.005,
}


def check(predict, relations, **options):
    return dm.check(predict, SOUNDS, relations, space=SPACE, inputs=len(SOUNDS), progress=False, **options)


def test_a_classifier_that_hears_what_people_hear_satisfies_all():
    report = check(predict_pitch, "audio")
    assert report.table.relation.tolist() == list(dm.relations.audio_relations())
    assert len(report.table) == 11
    assert report.table.violated.sum() == 0
    assert report.table[["inapplicable", "undefined"]].to_numpy().sum() == 0
    assert report.passed


def test_every_relation_has_a_planted_violation():
    assert set(WRONG) == set(dm.relations.audio_relations())


@pytest.mark.parametrize("name", WRONG)
def test_a_classifier_that_hears_more_violates_the_relation(name):
    table = check(WRONG[name], name).table
    assert table.relation.tolist() == [name]
    assert table.violated.sum() > 0


def test_sounds_that_would_lose_what_is_heard_are_not_judged():
    full = np.tile(make_tone(400, 0.5)[SILENT : SILENT + 400], (3, 4))
    full[1, -SILENT:] = 0
    full[2] = 0
    table = dm.check(predict_pitch, full, "audio", space=SPACE, progress=False).table.set_index("relation")
    lost = {"audio.later": 1, "audio.earlier": 2, "audio.slower": 0}
    assert table.inapplicable[table.inapplicable > 0].to_dict() == {
        name: count for name, count in lost.items() if count
    }


def test_the_relations_have_promises_and_reasons():
    relations = dm.relations.audio_relations()
    assert relations["audio.louder"].promise == relations["audio.slower"].promise == "HMR"
    assert relations["audio.noise"].promise == relations["audio.polarity"].promise == "MRR"
    assert all(relation.reason for relation in relations.values())
    assert "In the domain of classifiers of sounds" in str(relations["audio.noise"])
    assert relations["audio.quieter"].statement == "the sound is 6 dB quieter: the answer stays the same"


def test_a_strength_beyond_its_range_is_refused():
    for wrong in ({"gain": 30}, {"noise": 1}, {"shift": 900}, {"resampling": 0.1}, {"speed": 0.5}, {"bits": 2}):
        with pytest.raises(dm.errors.ArgumentError, match="must be a number from"):
            dm.relations.audio_relations(**wrong)
    with pytest.raises(dm.errors.ArgumentError, match="offset"):
        dm.relations.audio_relations(offset="much")


def test_relations_have_names_and_a_family_name():
    assert find_relation("audio.noise of call").name == "audio.noise of call"
    report = check(predict_pitch, ["audio.noise of call", "audio.offset"])
    assert report.table.relation.tolist() == ["audio.noise of call", "audio.offset"]
    with pytest.raises(
        dm.errors.ArgumentError, match="changes 'voice', which is no image, sequence or sound of the data"
    ):
        check(predict_pitch, "audio.noise of voice")
    with pytest.raises(dm.errors.ArgumentError, match="There is no relation 'audios'"):
        check(predict_pitch, "audios")


def test_the_name_of_images_means_all_but_flips_which_must_be_declared():
    images = np.random.default_rng(0).random((5, 4, 4))
    report = dm.check(lambda images: images.mean(axis=(1, 2)) > 2, images, "image", progress=False)
    assert report.table.relation.tolist() == list(dm.relations.image_relations())


def test_other_data_have_no_relations_of_sounds():
    sequences = dm.Space([dm.Sequence("call", LENGTH, -1, 1)])
    report = dm.check(predict_pitch, SOUNDS, "audio.noise", space=sequences, progress=False)
    assert "Not judged: audio.noise (not applicable)" in report.describe()


def test_a_report_shows_the_waveform_and_says_what_changed():
    report = check(WRONG["audio.quieter"], "audio.quieter")
    assert "call (1,600 values)" in report.describe()
    assert " s (" in report.describe()  # where the sound differs most, in seconds
    page = report.to_html()
    assert page.count('class="trace-second"') >= 2
    assert "Grey: the first sound; orange: the second." in page
    assert len(page) < 200_000
    json.loads(report.to_json())


def test_violations_are_stored_and_replayed(tmp_path):
    for known in (0, 1):
        report = check(WRONG["audio.offset"], "audio.offset", store=tmp_path / "runs.sqlite", name="detector")
        assert report.known == known or report.known > 0
