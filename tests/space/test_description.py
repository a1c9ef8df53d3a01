"""Spaces that are described in files."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import DataError, SpaceError
from datamorphic.space.description import read_description, read_space

FULL = """
moves = "open"
invalid = "allow"
constraints = [
    "free <= total",
    "total == free + bound",
    {one_hot = ["red", "blue"]},
    {combinations = {city = ["Rome", "Oslo"], land = ["Italy", "Norway"]}},
]
[features]
free = {kind = "continuous", low = 0, high = 70}
total = {kind = "continuous", low = 0, high = 300, step = 5, nullable = true}
bound = {kind = "continuous", low = 0, high = inf}
age = {kind = "integer", low = 18, high = 99, step = 3, rounds = true}
red = {kind = "integer", low = 0, high = 1}
blue = {kind = "integer", low = 0, high = 1}
city = {kind = "categorical", values = ["Rome", "Oslo"]}
land = {kind = "categorical", values = ["Italy", "Norway"], nullable = true}
review = {kind = "text", examples = ["A good film."], synonyms = {film = ["movie"]}}
picture = {kind = "image", shape = [2, 2], low = 0, high = 255}
pulse = {kind = "sequence", length = 3, low = -1, high = 1}
call = {kind = "audio", length = 4, rate = 8000}
"""


@pytest.fixture
def write(tmp_path):
    """Write a description to a file, and return its path."""

    def write_file(text, name="space.toml"):
        file = tmp_path / name
        file.write_text(text)
        return file

    return write_file


def test_a_file_can_say_all_about_a_space(write):
    space = read_space(write(FULL))
    table = pd.DataFrame({"city": ["Rome", "Oslo"], "land": ["Italy", "Norway"]})
    expected = dm.Space(
        [
            dm.Continuous("free", 0, 70),
            dm.Continuous("total", 0, 300, step=5, nullable=True),
            dm.Continuous("bound", 0),
            dm.Integer("age", 18, 99, step=3, rounds=True),
            dm.Integer("red", 0, 1),
            dm.Integer("blue", 0, 1),
            dm.Categorical("city", ["Rome", "Oslo"]),
            dm.Categorical("land", ["Italy", "Norway"], nullable=True),
            dm.Text("review", examples=["A good film."], synonyms={"film": ["movie"]}),
            dm.Image("picture", (2, 2), 0, 255),
            dm.Sequence("pulse", 3, -1, 1),
            dm.Audio("call", 4, 8_000),
        ],
        moves="open",
        invalid="allow",
        constraints=[
            "free <= total",
            "total == free + bound",
            dm.OneHot(["red", "blue"]),
            dm.AllowedCombinations(table),
        ],
    )
    assert space.features == expected.features
    assert space.constraints == expected.constraints
    assert (space.moves, space.invalid) == ("open", "allow")
    assert math.isinf(space["bound"].high)


def test_toml_yaml_and_json_say_the_same(write):
    document = {"features": {"a": {"kind": "integer", "low": 0, "high": None}}, "constraints": ["a >= 1"]}
    text = json.dumps(document)
    spaces = [
        read_space(write(text, "a.json")),
        read_space(write(text, "a.yaml")),
        read_space(write('constraints = ["a >= 1"]\nfeatures.a = {kind = "integer", low = 0}')),
    ]
    for space in spaces:
        assert space.features == (dm.Integer("a", 0),)
        assert [str(constraint) for constraint in space.constraints] == ["a >= 1.0"]


FRAME = pd.DataFrame(
    {"age": [20.0, 30.0, 64.0], "card": ["Gold", "Blue", "Blue"], "n": [1.5, 2.0, 30.0], "label": ["a", "b", "a"]}
)


def test_what_a_file_does_not_say_comes_from_the_data(write):
    file = write(
        """
        [features]
        card = {values = ["Blue", "Silver", "Gold"], nullable = true}
        n = {kind = "continuous", low = 0}
        age = {high = inf, step = 2}
        """
    )
    space = read_space(file, FRAME, target="label")
    assert space.features == (
        dm.Continuous("age", 20, None, step=2),
        dm.Categorical("card", ["Blue", "Silver", "Gold"], nullable=True),
        dm.Continuous("n", 0, 30, step=1.5),
    )
    assert [feature.step_given for feature in space.features] == [True, True, False]
    assert space.dtypes == dict(FRAME.dtypes.drop("label"))
    assert read_space(write("[features]"), FRAME).features == dm.Space.from_frame(FRAME).features


def test_changes_beyond_hints_keep_the_inferred_step(write):
    inferred = dm.Space.from_frame(FRAME[["age"]])
    space = read_space(write("[features]\nage = {nullable = true}"), FRAME[["age"]])
    assert space["age"].step == inferred["age"].step
    assert space["age"].nullable
    assert not space["age"].step_given


def test_moves_keep_the_constraints_of_a_file(write):
    space = read_space(write('constraints = ["n <= age"]\n[features]\nn = {step = 5}'), FRAME[["age", "n"]])
    assert space.up({"age": 21.0, "n": 20.0}, "n") == {"age": 21.0, "n": 20.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("feature = {}", "'feature' is not a known key. Did you mean 'features'?"),
        ('moves = "far"', "moves must be one of 'clip', 'open'. Got 'far'."),
        ("invalid = true", "invalid must be one of 'avoid', 'allow'. Got True."),
        ("features = 3", "features must be a table by column"),
        ("[features]\nage = 3", "features.age must be a table, such as .* Got 3."),
        ('[features]\nage = {kind = "real"}', "features.age.kind must be one of continuous, integer, .* Got 'real'."),
        ("[features]\nage = {lo = 3}", "features.age.lo is not a known key of a feature. Did you mean 'low'?"),
        (
            '[features]\nage = {kind = "integer", values = [1]}',
            "features.age.values is not a known key of a feature of kind integer. There are: ",
        ),
        ('[features]\nage = {low = "18"}', "features.age.low must be a number, or -inf for no bound. Got '18'."),
        ("[features]\nage = {step = true}", "features.age.step must be a number. Got True."),
        ("[features]\nage = {nullable = 1}", "features.age.nullable must be true or false. Got 1."),
        ('[features]\nage = {values = "a"}', "features.age.values must be a list of texts, numbers or booleans"),
        ("[features]\nage = {values = [2020-01-01]}", "features.age.values must be a list of texts"),
        ('[features]\n"" = {}', "the name of a feature must be a text: put it in quotes. Got ''."),
        ('constraints = "a <= b"', "constraints must be a list"),
        ("constraints = [3]", "entry 1 of constraints must be a text such as .* Got 3."),
        ('constraints = ["a <= b", {one_hot = "a"}]', "entry 2 of constraints must be a text"),
        ("constraints = [{table = {a = [1]}}]", "entry 1 of constraints must be a text"),
        ("constraints = [{combinations = {a = [1, 2], b = [1]}}]", "columns have the same length"),
        ("constraints = [{dependency = {a = [1, 1], b = [1, 2]}}]", "entry 1 of constraints: A dependency takes"),
    ],
)
def test_mistakes_in_a_file_name_the_key(write, text, message):
    with pytest.raises(SpaceError, match=f"^space.toml: .*{message}") as caught:
        read_description(write(text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("moves = 'open'", "space.toml describes no features, and there are no data"),
        ("[features]\nage = {low = 3}", "features.age.kind must be one of .*, since there are no data. It is missing."),
        ("[features]\nc = {kind = 'categorical'}", "features.c.values must be given. It is missing."),
        ("[features]\nc = {kind = 'sequence', length = 3}", "features.c.low must be given"),
        ("[features]\nc = {kind = 'image', shape = [2, 2], dtype = 'abc'}", "space.toml: "),
        ("[features]\na = {kind = 'integer', low = 3, high = 1}", "space.toml: Feature 'a': the bounds are reversed"),
        ("[features]\na = {kind = 'text', synonyms = 3}", "space.toml: "),
        ("constraints = ['a <= b']\nfeatures.a = {kind = 'integer'}", "space.toml: .*'b'"),
        (
            "constraints = ['__import__(1)']\nfeatures.a = {kind = 'integer'}",
            "space.toml: The constraint .* cannot be parsed",
        ),
    ],
)
def test_mistakes_without_data(write, text, message):
    with pytest.raises(SpaceError, match=message) as caught:
        read_space(write(text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[features]\nagee = {}", "space.toml: features.agee: the data have no such column. Did you mean 'age'?"),
        ("[features]\nlabel = {}", "space.toml: features.label is the target"),
        ("[features]\nage = {values = [20.0], low = 3}", "space.toml: "),
        ("[features]\ncard = {low = 3}", "space.toml: Column 'card' is categorical and takes no bounds"),
        ("[features]\ncard = {rounds = true}", "features.card.rounds is not for categorical features"),
        ("[features]\ncard = {kind = 'integer'}", "space.toml: Column 'card' is declared integer and holds 'Gold'"),
    ],
)
def test_mistakes_with_data(write, text, message):
    with pytest.raises((SpaceError, DataError), match=message) as caught:
        read_space(write(text), FRAME, target="label")
    assert "\n" not in str(caught.value)


def test_an_unknown_target(write):
    with pytest.raises(DataError, match=r"'labl' is not in the data\. Did you mean 'label'"):
        read_space(write(""), FRAME, target="labl")
