"""The pictures of the coded classifiers."""

import base64

from datamorphic.data.subjects import subjects
from datamorphic.web.thumbnails import DESCRIPTIONS, HEIGHT, WIDTH, draw_classifier


def test_every_classifier_has_a_picture_of_its_own():
    assert set(DESCRIPTIONS) == set(subjects)
    pictures = {draw_classifier(name) for name in subjects}
    assert len(pictures) == len(subjects)
    data = base64.b64decode(draw_classifier("Sin 2").partition(",")[2])
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20]) == WIDTH
    assert int.from_bytes(data[20:24]) == HEIGHT
