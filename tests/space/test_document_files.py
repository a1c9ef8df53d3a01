"""TOML, YAML and JSON files as plain data."""

from __future__ import annotations

import pytest

from datamorphic.errors import DataError
from datamorphic.space.document_files import read_document


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.toml", 'x = {y = ["1"]}'),
        ("a.yaml", "x:\n  y: ['1']"),
        ("a.YML", "x: {y: ['1']}"),
        ("a.json", '{"x": {"y": ["1"]}}'),
    ],
)
def test_the_ending_says_how_a_file_is_read(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text)
    assert read_document(file, "space", "x = 1") == {"x": {"y": ["1"]}}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.toml", "x = [", "a.toml is not TOML that can be read: "),
        ("a.txt", "x: 1", "a.txt is not TOML"),
        ("a.json", "{", "a.json is not JSON"),
        ("a.json", "[" * 100_000, "a.json is not JSON"),
        ("a.yaml", "!!python/object/apply:os.system ['true']", "a.yaml is not YAML"),
        ("a.json", "[1, 2]", "a.json must declare the space, e.g. x = 1. Got '.1, 2.'"),
        ("a.toml", b"\xff\xfe", "it is not a text file"),
        ("absent.toml", None, "cannot be read from .*absent.toml': No such file"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path, name, text, message):
    file = tmp_path / name
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=message) as caught:
        read_document(file, "space", "x = 1")
    assert "\n" not in str(caught.value)
