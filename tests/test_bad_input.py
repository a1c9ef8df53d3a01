"""Bad input, a table of it: each gets an error of its own that says what was given and how to fix it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import datamorphic as dm
from datamorphic.errors import (
    ArgumentError,
    DataError,
    DatamorphicError,
    MissingExtra,
    ModelError,
    SpaceError,
    TestSystemError,
    UntrustedError,
)
from datamorphic.space.serialisation import space_from_dict
from support.cases import in_one_test

FRAME = pd.DataFrame({"x": [0.0, 1.0, 2.0], "n": [10, 20, 30], "c": ["a", "b", "a"]})
SPACE = dm.Space([dm.Continuous("x", 0, 2), dm.Integer("n", 10, 30), dm.Categorical("c", ["a", "b"])])
NUMBERS = dm.Space([dm.Continuous("x", 0, 2), dm.Integer("n", 10, 30)])


def changed(column, value, row=1):
    frame = FRAME.astype({column: object})
    frame.loc[row, column] = value
    return frame


def fitted(columns):
    return KNeighborsClassifier(1).fit(pd.DataFrame(np.eye(3), columns=columns), [0, 1, 2])


CASES = {
    # frames that cannot be read as a space
    "no rows": (lambda: dm.Space.from_frame(FRAME.iloc[:0]), DataError, "has no rows"),
    "no columns": (lambda: dm.Space.from_frame(pd.DataFrame()), DataError, "has no columns"),
    "only the target": (
        lambda: dm.Space.from_frame(FRAME[["c"]], target="c"),
        DataError,
        "no column but the target 'c'",
    ),
    "a series": (lambda: dm.Space.from_frame(FRAME["x"]), DataError, "Got a Series (one column)"),
    "a list": (lambda: dm.Space.from_frame([1, 2]), DataError, "Got list instead; for arrays use Space.from_arrays"),
    "two columns of one name": (
        lambda: dm.Space.from_frame(pd.DataFrame([[1, 2]], columns=["x", "x"])),
        DataError,
        "'x' occurs more than once",
    ),
    "numbered columns": (
        lambda: dm.Space.from_frame(pd.DataFrame([[1.0, 2.0]])),
        SpaceError,
        "frame.columns.astype(str)",
    ),
    "infinite values": (
        lambda: dm.Space.from_frame(pd.DataFrame({"x": [1, np.inf]})),
        DataError,
        "row 1: the value is infinite",
    ),
    "a column of nothing": (
        lambda: dm.Space.from_frame(pd.DataFrame({"x": [np.nan, np.nan]})),
        DataError,
        "has no values at all. Drop it",
    ),
    "dates": (
        lambda: dm.Space.from_frame(pd.DataFrame({"d": pd.to_datetime(["2020-01-01"])})),
        DataError,
        "days since a date",
    ),
    "sets as values": (
        lambda: dm.Space.from_frame(pd.DataFrame({"x": [{1}, {2}]})),
        DataError,
        "'x' holds a set ({1}), which is not hashable",
    ),
    "a target that is not there": (
        lambda: dm.Space.from_frame(FRAME, target="tarfet"),
        DataError,
        "'tarfet' is not in the frame",
    ),
    "a vector": (lambda: dm.Space.from_arrays([1.0, 2.0]), DataError, "X.reshape(-1, 1)"),
    "too few names": (lambda: dm.Space.from_arrays([[1.0, 2.0]], names=["a"]), DataError, "1 names for 2 columns"),
    "columns of several levels": (
        lambda: dm.Space.from_frame(pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")]))),
        DataError,
        "several levels of names",
    ),
    "rows of different lengths": (lambda: dm.Space.from_arrays([[1, 2], [3]]), DataError, "have different lengths"),
    "two targets": (lambda: dm.Space.from_frame(FRAME, target=["x"]), DataError, "['x'] is not in the frame"),
    # hints that do not fit
    "hints that are no dict": (
        lambda: dm.Space.from_frame(FRAME, kinds=["x"]),
        SpaceError,
        "kinds must be a dict by column",
    ),
    "a hint for the target": (
        lambda: dm.Space.from_frame(FRAME, target="c", orders={"c": ["a"]}),
        SpaceError,
        "'c', which is the target and not a feature",
    ),
    "bounds of text": (
        lambda: dm.Space.from_frame(FRAME, bounds={"x": ("a", "b")}),
        SpaceError,
        "bounds['x'] must be a pair",
    ),
    "a hint for another column": (
        lambda: dm.Space.from_frame(FRAME, steps={"xx": 1}),
        SpaceError,
        "steps names the column 'xx', which the frame does not have",
    ),
    "an unknown kind": (
        lambda: dm.Space.from_frame(FRAME, kinds={"x": "real"}),
        SpaceError,
        "kinds['x'] must be one of 'continuous'",
    ),
    "text as numbers": (
        lambda: dm.Space.from_frame(FRAME, kinds={"c": "integer"}),
        DataError,
        "'c' is declared integer and holds 'a'",
    ),
    "bounds of a category": (
        lambda: dm.Space.from_frame(FRAME, bounds={"c": (0, 1)}),
        SpaceError,
        "'c' is categorical and takes no bounds",
    ),
    "an order of numbers": (
        lambda: dm.Space.from_frame(FRAME, kinds={"x": "continuous"}, orders={"x": [1, 2]}),
        SpaceError,
        "takes no order",
    ),
    "half a pair of bounds": (
        lambda: dm.Space.from_frame(FRAME, bounds={"x": 3}),
        SpaceError,
        "must be a pair (low, high)",
    ),
    # features that cannot be
    "reversed bounds": (lambda: dm.Continuous("x", 5, 1), SpaceError, "the bounds are reversed, low 5 is above high 1"),
    "a NaN bound": (lambda: dm.Continuous("x", float("nan"), 1), SpaceError, "low must be a number, or None"),
    "a bound of text": (lambda: dm.Integer("n", "0", 1), SpaceError, "low must be a number, or None"),
    "a huge bound": (lambda: dm.Integer("n", 0, 2**60), SpaceError, "lose precision"),
    "step 0": (lambda: dm.Continuous("x", 0, 1, step=0), SpaceError, "the step must be a finite number above 0. Got 0"),
    "a negative step": (lambda: dm.Integer("n", 0, 9, step=-2), SpaceError, "at least 1. Got -2"),
    "half a step": (lambda: dm.Integer("n", 0, 9, step=0.5), SpaceError, "a whole number of at least 1. Got 0.5"),
    "a fractional bound": (lambda: dm.Integer("n", 0.5, 9), SpaceError, "low must be a whole number. Got 0.5"),
    "no categories": (lambda: dm.Categorical("c", []), SpaceError, "has no categories"),
    "a category twice": (lambda: dm.Categorical("c", ["a", "b", "a"]), SpaceError, "'a' is given twice"),
    "a category that is missing": (lambda: dm.Categorical("c", ["a", None]), SpaceError, "nullable=True"),
    "a category that is a list": (lambda: dm.Categorical("c", [["a"]]), SpaceError, "is a list, which is not hashable"),
    "categories in one string": (
        lambda: dm.Categorical("c", "ab"),
        SpaceError,
        "must be a list of values, in their order. Got 'ab'",
    ),
    "a nameless feature": (lambda: dm.Continuous(""), SpaceError, "must be a non-empty string"),
    "a nullable that is no bool": (
        lambda: dm.Continuous("x", nullable="yes"),
        SpaceError,
        "nullable must be True or False",
    ),
    "an endless step": (lambda: dm.Integer("n", step=float("inf")), SpaceError, "at least 1. Got inf"),
    "a step that is no number": (lambda: dm.Integer("n", step=float("nan")), SpaceError, "at least 1. Got nan"),
    "a bound beyond all floats": (
        lambda: dm.Continuous("x", 0, 10**400),
        SpaceError,
        "high is too large: bounds beyond 1e+150 lose",
    ),
    "a category that is NA": (
        lambda: dm.Categorical("c", ["a", pd.NA]),
        SpaceError,
        "a missing value is not a category",
    ),
    "categories in no order": (lambda: dm.Categorical("c", {"a", "b"}), SpaceError, "in their order"),
    # spaces that cannot be
    "None for features": (lambda: dm.Space(None), SpaceError, "a list of features. Got None"),
    "a group of nothing": (lambda: dm.OneHot(None), SpaceError, "a list of features. Got None"),
    "a dict of combinations": (
        lambda: dm.AllowedCombinations({"a": [1]}),
        SpaceError,
        "a DataFrame with one row per combination. Got dict",
    ),
    "no features": (lambda: dm.Space([]), SpaceError, "at least one feature"),
    "two features of one name": (
        lambda: dm.Space([dm.Continuous("x"), dm.Integer("x")]),
        SpaceError,
        "Two features are named 'x'",
    ),
    "a string as a feature": (lambda: dm.Space(["x"]), SpaceError, "takes Continuous, Integer, Categorical and Text"),
    "unknown moves": (
        lambda: dm.Space([dm.Continuous("x")], moves="wrap"),
        ArgumentError,
        "'moves' parameter of Space must be one of 'clip', 'open'",
    ),
    "an unknown constraint": (
        lambda: dm.Space([dm.Continuous("x")], constraints=[3]),
        SpaceError,
        "A constraint must be",
    ),
    "a constraint that is no comparison": (
        lambda: dm.Space([dm.Continuous("x")], constraints=["x is nice"]),
        SpaceError,
        'as in "free <= total"',
    ),
    "a constraint on another feature": (
        lambda: dm.Space([dm.Continuous("x")], constraints=["x < total"]),
        SpaceError,
        "no feature 'total'",
    ),
    "a comparison of categories": (
        lambda: dm.Space(SPACE.features, constraints=["c < x"]),
        SpaceError,
        "'c', which is categorical",
    ),
    "a one-hot real number": (
        lambda: dm.Space(SPACE.features, constraints=[dm.OneHot(["x", "c"])]),
        SpaceError,
        "must have two values",
    ),
    "no valid combination": (lambda: dm.AllowedCombinations(FRAME.iloc[:0]), SpaceError, "is empty"),
    "a constraint that raises": (
        lambda: dm.Space(SPACE.features, constraints=[lambda f: f["zz"]]).valid(FRAME),
        DataError,
        "raised KeyError",
    ),
    "a constraint that answers once": (
        lambda: dm.Space(SPACE.features, constraints=[lambda f: True]).valid(FRAME),
        DataError,
        "for each of 3 rows",
    ),
    "no description of a space": (
        lambda: space_from_dict(json.loads("{}")),
        DataError,
        "The description of the space is invalid",
    ),
    # values that do not fit
    "a missing number": (
        lambda: SPACE.points(changed("x", np.nan)),
        DataError,
        "row 1: 'nan' is missing. Declare the feature nullable",
    ),
    "a missing category": (lambda: SPACE.points(changed("c", None)), DataError, "'c', row 1: 'None' is missing"),
    "an infinite value": (lambda: SPACE.points(changed("x", np.inf)), DataError, "'inf' is beyond 1e+150"),
    "an unknown category": (
        lambda: SPACE.points(changed("c", "bb")),
        DataError,
        "'bb' is not one of the categories. Did you mean 'b'?",
    ),
    "text for a number": (lambda: SPACE.points(changed("n", "ten")), DataError, "'ten' is not a number"),
    "a fraction for an integer": (lambda: SPACE.points(changed("n", 20.5)), DataError, "'20.5' is not a whole number"),
    "a value out of bounds": (
        lambda: SPACE.points(changed("x", 7.0)),
        DataError,
        'lies outside the bounds [0, 2]. Widen the bounds, or make the space with moves="open"',
    ),
    "a list for a category": (
        lambda: SPACE.points(pd.DataFrame({"x": [0.0], "n": [10], "c": [["a"]]})),
        DataError,
        "'c' holds a list",
    ),
    "a column that is missing": (
        lambda: SPACE.points(FRAME[["x", "c"]]),
        DataError,
        "lack 1 column of this space: 'n'",
    ),
    "too few values": (lambda: SPACE.points((1.0, 10)), DataError, "Expected 3 values per case (x, n, c). Got 2"),
    "a number as data": (lambda: SPACE.points(5), DataError, "Expected a DataFrame, an array, a dict"),
    "points of another space": (
        lambda: SPACE.points(NUMBERS.sample(2, points=True)),
        DataError,
        "belong to another space",
    ),
    "sets of different length": (lambda: SPACE.distance(FRAME, FRAME.iloc[:2]), DataError, "Got 3 and 2"),
    "a move of no feature": (lambda: SPACE.up(FRAME, "nn"), SpaceError, "There is no feature 'nn'. Did you mean 'n'?"),
    "an unknown move": (lambda: SPACE.move(FRAME, "jump", "n"), ArgumentError, "one of 'up', 'down', 'clear', 'fill'"),
    "delta 0": (
        lambda: SPACE.path(FRAME, FRAME, delta=0),
        ArgumentError,
        "'delta' parameter of Space.path must be a finite number above 0",
    ),
    "a seed of text": (
        lambda: SPACE.sample(1, seed="a"),
        ArgumentError,
        "'seed' parameter of Space.sample must be an int",
    ),
    "a category of another type": (
        lambda: dm.Space([dm.Categorical("c", [1, 2])]).points({"c": "1"}),
        DataError,
        "There is 1, of type int; this is of type str",
    ),
    "a complex number": (lambda: NUMBERS.points({"x": 1j, "n": 10}), DataError, "is not a number"),
    "a number beyond all floats": (lambda: NUMBERS.points({"x": 10**400, "n": 10}), DataError, "is not a number"),
    "a negative sample": (
        lambda: SPACE.sample(-1),
        ArgumentError,
        "'n' parameter of Space.sample must be an int in the range [0, inf)",
    ),
    "a sample of the real line": (lambda: dm.Space([dm.Continuous("x")]).sample(3), SpaceError, "has no lower bound"),
    # models
    "a model that is not fitted": (lambda: dm.wrap(LogisticRegression()), ModelError, "is not fitted. Fit it first"),
    "a class for a model": (lambda: dm.wrap(LogisticRegression), ModelError, "is a class, not a model"),
    "a number for a model": (lambda: dm.wrap(5), ModelError, "An object of type int cannot be tested"),
    "a model fitted on other columns": (
        lambda: dm.wrap(fitted(["x", "n", "age"]), space=SPACE),
        ModelError,
        "fitted on 3 columns, but 1 of them are not in the data: 'age'",
    ),
    "a model of another width": (
        lambda: dm.wrap(KNeighborsClassifier(1).fit(np.eye(4), range(4)), space=NUMBERS),
        ModelError,
        "fitted on 4 columns, but the data have 2",
    ),
    # morphisms and subjects
    "an unknown subject": (lambda: dm.subjects["Box 9"], DataError, "There is no subject 'Box 9'. Did you mean 'Box"),
    "an unknown data set": (lambda: dm.data.load("red_whine"), DataError, "no data set 'red_whine'"),
    "a data set that climbs": (lambda: dm.data.load("../secrets"), DataError, "letters, digits and underscores"),
    "a test system that is none": (
        lambda: dm.TestSystem.collect(json),
        TestSystemError,
        "json has no marked functions",
    ),
    "laws of a number": (lambda: dm.laws(5), TestSystemError, "has no marked functions"),
    "no examples": (
        lambda: dm.laws(SPACE, examples=0),
        ArgumentError,
        "'examples' parameter of laws must be an int in the range [1, inf)",
    ),
}


@in_one_test("name", CASES)
def test_bad_input(name):
    call, kind, words = CASES[name]
    with pytest.raises(DatamorphicError) as caught:
        call()
    assert type(caught.value) is kind
    assert words in str(caught.value)


def test_the_messages_are_all_different_and_there_are_many():
    texts = [words for _, _, words in CASES.values()]
    assert len(CASES) > 70
    assert len(set(texts)) >= len(texts) - 6  # a few inputs are bad in the same way


FILES = {
    "a pickle without trust": (
        "model.pkl",
        b"",
        False,
        UntrustedError,
        "pass trust=True (--trust on the command line)",
    ),
    "a damaged pickle": (
        "model.joblib",
        b"\x80\x04 nonsense",
        True,
        ModelError,
        "model.joblib cannot be read as a model",
    ),
    "an empty pickle": ("model.pkl", b"", True, ModelError, "model.pkl cannot be read as a model"),
    "a damaged skops file": ("model.skops", b"PK nonsense", False, ModelError, "model.skops cannot be read as a model"),
    "a damaged ONNX file": ("model.onnx", b"nonsense", False, ModelError, "model.onnx cannot be read as a model"),
    "another kind of file": (
        "model.h5",
        b"",
        False,
        ModelError,
        "is not a known kind of model file. Use .skops or .onnx",
    ),
    "no file": ("nowhere.onnx", None, False, ModelError, "There is no file"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_bad_model_files(tmp_path, name):
    file, content, trust, kind, words = FILES[name]
    for package in ("skops", "onnxruntime"):
        if file.endswith(package[:4]) and content:
            pytest.importorskip(package, reason=f"pip install {package}")
    if content is not None:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(ModelError) as caught:
        dm.wrap(tmp_path / file, trust=trust)
    assert type(caught.value) is kind
    assert words in str(caught.value)


def test_a_folder_is_no_model(tmp_path):
    (tmp_path / "model.onnx").mkdir()
    with pytest.raises(ModelError, match="is not a file"):
        dm.wrap(tmp_path / "model.onnx")


def test_a_missing_package_names_its_extra(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "skops.io", None)
    (tmp_path / "model.skops").write_bytes(b"")
    with pytest.raises(MissingExtra, match=r"pip install 'datamorphic\[skops\]'"):
        dm.wrap(tmp_path / "model.skops")
