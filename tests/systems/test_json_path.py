from __future__ import annotations

import pytest

from datamorphic.errors import ArgumentError, BadAnswer
from datamorphic.systems.json_path import JsonPath
from support.cases import in_one_test

DOCUMENT = {"data": [{"label": "yes", "p": 0.9}, {"label": "no"}], "a.b": {"c d": [1, 2, 3]}, "none": None}


@in_one_test(
    ("path", "value"),
    [
        ("$", DOCUMENT),
        ("$.data[0].label", "yes"),
        ("$.data[-1].label", "no"),
        ("$.data[*].label", ["yes", "no"]),
        ("$['a.b']['c d'][1]", 2),
        ('$["a.b"]["c d"][*]', [1, 2, 3]),
        ("$.data[0].*", ["yes", 0.9]),
        ("$.none", None),
    ],
)
def test_a_path_finds_its_value(path, value):
    assert JsonPath(path).find(DOCUMENT) == value


@in_one_test(
    ("path", "message"),
    [
        ("$.date", r"\$ is an object without 'date'. Did you mean 'data'\?"),
        ("$.data[2]", r"\$.data is a list of 2 elements"),
        ("$.data.label", r"\$.data is a list, not an object"),
        ("$.data[0][0]", r"\$.data\[0\] is a object, not a list"),
        ("$.none[*]", r"\$.none is a null, not a list"),
        ("$.data[*].p", r"\$.data\[\*\] is an object without 'p'"),
    ],
)
def test_a_missing_path_is_a_bad_answer(path, message):
    with pytest.raises(BadAnswer, match=message):
        JsonPath(path).find(DOCUMENT)


@in_one_test("path", ["data", "", "$.a..b", "$[?(@.x)]", "$[0:2]", "$.a b", "$..a", "$[", "$.__class__()", 3])
def test_anything_else_in_a_path_is_refused(path):
    with pytest.raises(ArgumentError, match="path"):
        JsonPath(path)
