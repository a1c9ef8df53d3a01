"""Texts as a kind of feature."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import DataError, SpaceError
from datamorphic.space.neighbours import find_nearest
from datamorphic.space.serialisation import space_from_dict, space_to_dict
from datamorphic.space.text_feature import TEXTS, TextTable
from support.cases import in_one_test

REVIEWS = [
    f"The {noun} was {word} in part {number}."
    for number in range(8)
    for noun in ("film", "play")
    for word in ("good", "dull")
]


@pytest.fixture
def space():
    return dm.Space([dm.Text("review", examples=REVIEWS), dm.Integer("stars", 0, 5)])


def test_distance_midpoint_and_path_count_edits(space):
    a = {"review": "A very good film.", "stars": 5}
    b = {"review": "A bad film!", "stars": 3}
    assert space.distance(a, b) == 5.0
    middle = space.midpoint(a, b)
    assert space.distance(a, middle) + space.distance(middle, b) == 5.0
    assert middle not in (a, b)
    path = space.path(a, b)
    assert path.walk().frame.iloc[-1].to_dict() == b
    assert 0 < space.distance(a, b, scaled=True) < 1


def test_moves_change_one_token(space):
    frame = pd.DataFrame({"review": [*REVIEWS, "", "one"], "stars": 1})
    up, down = space.up(frame, "review"), space.down(frame, "review")
    assert (space.distance(frame, up) == 1).all()
    assert space.distance(frame, down).tolist() == [1] * len(REVIEWS) + [0, 1]
    pd.testing.assert_frame_equal(space.up(frame, "review"), up)
    alone = dm.Space([dm.Text("t")])
    assert alone.up(["to be"], "t") == ["to be be"]
    assert alone.up([""], "t") == [""]


def test_missing_texts(space):
    nullable = dm.Space([dm.Text("t", nullable=True)])
    points = nullable.points(pd.DataFrame({"t": ["a b", None]}))
    assert np.isnan(points.codes[1, 0])
    assert points.frame["t"].tolist() == ["a b", None]
    assert nullable.distance(points.take([0]), points.take([1])) == [1.0]
    assert nullable.move(points, "fill", "t").frame["t"].tolist() == ["a b", ""]
    assert nullable.midpoint(points.take([0]), points.take([1])).frame["t"].tolist() == ["a b"]
    with pytest.raises(DataError, match=r"row 1: .* is missing.*nullable=True"):
        dm.Space([dm.Text("t")]).points(pd.DataFrame({"t": ["a b", None]}))
    with pytest.raises(DataError, match=r"'t', row 0: '3' is not a text.*astype"):
        nullable.points(pd.DataFrame({"t": [3, "x"]}))


@in_one_test("text", ["", " ", "👩‍👩‍👧 ok", "שלום עולם", "\ud800 lone surrogate", "<script>", "x" * 1_000_000])
def test_any_text_comes_back(text):
    space = dm.Space([dm.Text("t")])
    assert space.points([text]).frame["t"].tolist() == [text]
    assert space.up(space.down([text], "t"), "t") is not None


def test_lists_series_and_arrays_of_texts():
    space = dm.Space([dm.Text("t")])
    texts = ["a b", "c d"]
    assert space.midpoint(texts, texts) == texts
    assert space.midpoint(tuple(texts), texts) == tuple(texts)
    series = pd.Series(texts, index=[7, 8], name="own")
    pd.testing.assert_series_equal(space.midpoint(series, texts), series.astype(object))
    assert space.midpoint(np.array(texts), texts).tolist() == texts
    assert space.distance(["a b"], ["a c"]) == 1.0


def test_equal_texts_have_equal_codes_everywhere():
    a, b = dm.Space([dm.Text("t", examples=["x"])]), dm.Space([dm.Text("t")])
    assert a == b
    assert hash(a) == hash(b)
    assert a.points(["new text"]).codes.tolist() == b.points(["other", "new text"]).codes[1:].tolist()
    assert b.points(a.points(["new text"])).frame["t"].tolist() == ["new text"]
    assert dm.Text("t") != dm.Text("t", nullable=True)
    assert dm.Text("t") != dm.Text("t", synonyms={"a": "b"})


def test_two_texts_with_one_code_stay_apart(monkeypatch):
    monkeypatch.setattr("datamorphic.space.text_feature.CODE_BITS", 2)
    table = TextTable()
    texts = ["a", "b", "c", "d"]
    codes = table.encode(texts)
    assert sorted(codes) == [0, 1, 2, 3]
    assert table.decode(codes) == texts


@pytest.mark.slow
def test_pickled_points_bring_only_their_texts(space):
    points = space.points(pd.DataFrame({"review": ["unknown elsewhere"], "stars": 2}))
    blob = pickle.dumps(points)
    assert b"unknown elsewhere" in blob
    assert REVIEWS[0].encode() not in blob
    code = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()).frame.to_dict('list'))"
    answer = subprocess.run([sys.executable, "-c", code], input=blob, capture_output=True, check=True)
    assert answer.stdout.decode().strip() == "{'review': ['unknown elsewhere'], 'stars': [2]}"
    assert pickle.loads(pickle.dumps(space))["review"].examples == tuple(REVIEWS)


def test_unknown_codes_are_an_error():
    with pytest.raises(DataError, match="no text with the code"):
        TEXTS.decode([12345])


def test_samples_are_examples(space):
    assert set(space.sample(50, seed=1)["review"]) <= set(REVIEWS)
    with pytest.raises(SpaceError, match="no examples"):
        dm.Space([dm.Text("t")]).sample(3)


def test_space_as_data(space):
    again = space_from_dict(space_to_dict(space))
    assert again == space
    assert again["review"].examples == space["review"].examples
    synonyms = dm.Space([dm.Text("t", synonyms={"film": ["movie"]})])
    assert space_from_dict(space_to_dict(synonyms)) == synonyms


def test_inference():
    frame = pd.DataFrame({"t": REVIEWS, "x": np.arange(32.0), "c": ["a", "b"] * 16})
    space = dm.Space.from_frame(frame)
    assert [feature.kind for feature in space] == ["text", "continuous", "categorical"]
    assert "1 text" in repr(space)
    assert space["t"].describe() == "text"
    assert dm.Space.from_frame(frame, kinds={"c": "text"})["c"].kind == "text"
    assert dm.Space.from_frame(pd.Series(REVIEWS)).names == ("text",)
    with pytest.raises(SpaceError, match="text and takes no bounds"):
        dm.Space.from_frame(frame, kinds={"t": "text"}, bounds={"t": (0, 1)})
    with pytest.raises(DataError, match=r"declared text and holds .* of type float.*astype\(str\)"):
        dm.Space.from_frame(frame, kinds={"x": "text"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"examples": "one"}, "examples must be a list of texts"),
        ({"examples": ["a", 3]}, "examples must be texts. Got '3' of type int"),
        ({"synonyms": ["film"]}, "synonyms must be a dict"),
        ({"synonyms": {"film": []}}, "synonyms must be a dict"),
        ({"synonyms": {"film": 3}}, "synonyms must be a dict"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(SpaceError, match=message):
        dm.Text("t", **options)


def test_texts_in_constraints_are_refused(space):
    with pytest.raises(SpaceError, match="'review', which is text"):
        space.with_constraints(["review <= stars"])
    with pytest.raises(SpaceError, match="it is text"):
        dm.Space(space.features, constraints=[dm.AllowedCombinations(pd.DataFrame({"review": ["a"], "stars": [1]}))])


def test_nearest_texts(space):
    cases = space.points(pd.DataFrame({"review": REVIEWS[:3], "stars": 1})).codes
    candidates = space.points(pd.DataFrame({"review": REVIEWS, "stars": 1})).codes
    distances, places = find_nearest(space, cases, candidates, 2, scaled=False)
    assert places[:, 0].tolist() == [0, 1, 2]
    assert distances.tolist() == [[0, 1]] * 3


def test_many_texts_are_compared_by_their_words(monkeypatch, space):
    monkeypatch.setattr("datamorphic.space.neighbours.MAX_EXACT_TEXT_PAIRS", 1)
    nullable = dm.Space([dm.Text("t", nullable=True)])
    codes = nullable.points(pd.DataFrame({"t": ["a b c", "x c", None]})).codes
    distances, _ = find_nearest(nullable, codes, codes, 3, scaled=False)
    assert distances.tolist() == [[0, 1, 2], [0, 1, 2], [0, 1, 1]]
