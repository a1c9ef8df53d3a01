"""Data in the forms that people have: files, Arrow tables, masked arrays. Every public function takes and refuses the same."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic._typing import DataLike, ModelLike
from datamorphic.errors import DataError
from datamorphic.space.table_forms import accept_tables, to_plain_data
from support.public_names import list_public_names

rng = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
FRAME["y"] = (FRAME["a"] + FRAME["b"] > 0).astype(int)
MODEL = LogisticRegression().fit(FRAME[["a", "b"]], FRAME["y"])
TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(FRAME[["a", "b"]], FRAME["y"])
SPACE = dm.Space([dm.Continuous("a", 0, 1)])
REPEATED = FRAME.set_axis(["a", "a", "y"], axis=1)


class ArrowOnly:
    """A table of a library that has nothing of pandas, only the interface of Arrow."""

    def __init__(self, frame):
        self._table = pa.Table.from_pandas(frame, preserve_index=False)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def find_data_parameters():
    """Return the public functions and methods with a parameter for data, by name."""
    functions = {}
    for name, owner in list_public_names().items():
        members = {name: owner} if inspect.isfunction(owner) else {}
        if inspect.isclass(owner):
            members = {f"{name}.{key}": getattr(owner, key) for key in vars(owner) if not key.startswith("_")}
        for label, function in members.items():
            if not callable(function) or isinstance(function, type):
                continue
            for parameter in inspect.signature(function).parameters.values():
                if re.search(r"\bData(Like)?\b", str(parameter.annotation)):
                    functions[f"{label}({parameter.name})"] = (function, parameter.name)
    return functions


def test_every_public_function_refuses_repeated_names():
    functions = find_data_parameters()
    assert {"explore(data)", "test(data)", "test(reference)", "fairness(data)", "Space.midpoint(a)"} <= set(functions)
    messages = {}
    for label, (function, name) in functions.items():
        required = [
            parameter.name
            for parameter in inspect.signature(function).parameters.values()
            if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        with pytest.raises(DataError) as error:  # before any other argument is looked at
            function(**{name: REPEATED}, **{other: SPACE for other in required if other != name})
        messages[label] = str(error.value)
    assert set(messages.values()) == {"The column name 'a' occurs more than once. Rename the columns first."}


def write_csv(folder):
    FRAME.to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


def write_parquet(folder):
    FRAME.to_parquet(folder / "people.parquet", index=False)
    return str(folder / "people.parquet")


FORMS = {
    "a path": write_csv,
    "a path as text": lambda folder: str(write_csv(folder)),
    "a Parquet file": write_parquet,
    "a table of Arrow": lambda folder: pa.Table.from_pandas(FRAME),
    "Arrow's interface": lambda folder: ArrowOnly(FRAME),
    "polars": lambda folder: pytest.importorskip("polars", reason="pip install polars").from_pandas(FRAME),
}
QUESTIONS = {
    "explore": lambda data: dm.explore(MODEL, data, target="y", walks=20, progress=False).pairs,
    "check": lambda data: dm.check(DecisionTreeClassifier(), data, ["MR-0"], target="y", inputs=3).table,
    "cover": lambda data: dm.cover(TREE, data, target="y").describe(),
    "select": lambda data: dm.select(TREE, data, target="y").rows.reset_index(drop=True),
    "fairness": lambda data: dm.fairness(MODEL, data, protected=["a"], target="y").calls,
    "compare": lambda data: dm.compare(MODEL, MODEL, data, "y").headline,
    "test": lambda data: dm.test(MODEL, data, target="y", only=["classes"], budget="300 runs").data,
}


@pytest.mark.parametrize("form", FORMS)
def test_a_table_in_another_form_gives_the_same_result(tmp_path, form):
    data = FORMS[form](tmp_path)
    pd.testing.assert_frame_equal(to_plain_data(data), FRAME)
    for name, ask in QUESTIONS.items():
        expected, answer = ask(FRAME), ask(data)
        if isinstance(expected, pd.DataFrame):
            pd.testing.assert_frame_equal(answer, expected, check_exact=False)
        else:
            assert answer == expected, name


def test_columns_of_polars_get_the_types_of_pandas():
    pl = pytest.importorskip("polars", reason="pip install polars")
    table = pl.DataFrame(
        {
            "text": ["x", None, "z"],
            "count": [1, None, 3],
            "day": pl.Series(["2020-01-01", None, "2020-02-01"]).str.to_date(),
            "grade": pl.Series(["low", "high", "low"], dtype=pl.Enum(["low", "high"])),
            "image": pl.Series([[[1, 2], [3, 4]]] * 3, dtype=pl.Array(pl.Int64, (2, 2))),
        }
    )
    frame = to_plain_data(table)
    assert [frame[name].isna().tolist()[1] for name in ("text", "count", "day")] == [True] * 3
    assert frame["count"].dtype == np.float64
    assert frame["day"].dtype.kind == "M"
    assert frame["grade"].cat.categories.tolist() == ["low", "high"]
    assert frame["image"][0].shape == (2, 2)
    with pytest.raises(DataError, match=r"LazyFrame holds no rows until it is computed. Give data.collect\(\)"):
        dm.explore(MODEL, table.lazy())
    assert dm.Space.from_frame(pl.DataFrame({"n": list(range(20))})).names == ("n",)
    assert np.array_equal(to_plain_data(pl.Series(["one", "two"])), ["one", "two"])


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]]), [[1.0, np.nan], [3.0, 4.0]]),
        (np.ma.array(np.float32([[1, 2]]), mask=[[0, 1]]), np.float32([[1, np.nan]])),
        ([np.ma.array([1, 2], mask=[0, 1]), np.ma.array([3, 4])], [[1.0, np.nan], [3.0, 4.0]]),
        (np.ma.array([["a", "b"]], mask=[[0, 1]]), [["a", None]]),
        (np.ma.array([[1, 2]]), [[1, 2]]),
    ],
)
def test_masked_values_are_missing(array, expected):
    plain = to_plain_data(array)
    expected = np.array(expected)
    assert type(plain) is np.ndarray
    assert (plain.dtype, pd.DataFrame(plain).equals(pd.DataFrame(expected))) == (expected.dtype, True)


def test_a_mask_is_seen_by_the_public_functions():
    inputs = np.ma.array(FRAME[["a", "b"]].to_numpy(), mask=rng.random((60, 2)) < 0.2)
    assert [feature.nullable for feature in dm.Space.from_arrays(inputs).features] == [True, True]
    front = dm.explore(lambda frame: frame["x0"].isna().to_numpy(), inputs, walks=5, progress=False)
    assert front.space["x0"].nullable
    labels = np.ma.array(FRAME["y"], mask=[True] * 20 + [False] * 40)
    result = dm.test(MODEL, FRAME[["a", "b"]], labels, only=["classes"], budget="100 runs")
    compared = dm.test(MODEL, FRAME[["a", "b"]], FRAME["y"].where(~labels.mask), only=["classes"], budget="100 runs")
    assert result.notes == compared.notes


def test_a_text_that_names_no_table_is_left_to_the_function(tmp_path):
    @accept_tables
    def read(model: ModelLike | DataLike = None, data: DataLike | str = "random", other: str = ""):
        return model, data, other

    path = str(write_csv(tmp_path))
    assert read("weka:IBk", "random", path) == ("weka:IBk", "random", path)
    assert [len(value) for value in read(path, data=path)[:2]] == [60, 60]
    with pytest.raises(dm.errors.UsageError, match=r"ada:\*\*\*@host/people\.csv"):
        dm.explore(MODEL, "https://ada:secret@host/people.csv")
    with pytest.raises(dm.errors.ArgumentError, match="path of a CSV or Parquet file, or 'random'"):
        dm.check(DecisionTreeClassifier(), "randm")
