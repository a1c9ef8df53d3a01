"""Values of options from texts of the command line."""

import pytest

from datamorphic.core import parsing
from datamorphic.errors import UsageError
from support.cases import in_one_test


@in_one_test(
    "function, text, value",
    [
        (parsing.parse_kinds, ["age=integer", "a=b=text"], {"age": "integer", "a=b": "text"}),
        (parsing.parse_steps, ["age=3", "x=0.5"], {"age": 3, "x": 0.5}),
        (parsing.parse_bounds, ["age=20:80", "x=1:", "y=:2.5"], {"age": (20, 80), "x": (1, None), "y": (None, 2.5)}),
        (parsing.parse_orders, ["card=Blue,Gold", "n=3,1"], {"card": ["Blue", "Gold"], "n": [3, 1]}),
        (parsing.parse_classes, "no, yes", ["no", "yes"]),
        (parsing.parse_classes, "0,1", [0, 1]),
    ],
)
def test_values(function, text, value):
    assert function(text) == value


@in_one_test(
    "function, text, message",
    [
        (parsing.parse_kinds, ["age"], "--kind takes a column and a value, as in age=integer"),
        (parsing.parse_steps, ["age=x"], "--column-step takes a number"),
        (parsing.parse_bounds, ["age=20"], "--bounds takes a column and two limits"),
        (parsing.parse_orders, ["card"], "--order takes a column and its categories"),
        (parsing.parse_classes, "yes", "at least two classes"),
        (parsing.parse_budget, "5", "has no unit"),
    ],
)
def test_mistakes(function, text, message):
    with pytest.raises(UsageError, match=message):
        function(text)


def test_names_need_a_name():
    assert parsing.parse_names("a, b", "--moves") == ["a", "b"]
    with pytest.raises(UsageError, match="--moves takes names separated by commas"):
        parsing.parse_names(" , ", "--moves")
