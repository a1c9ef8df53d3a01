"""Data sets by name, and the coded subjects against a plain reference."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.data import sets
from support.cases import in_one_test


@pytest.fixture
def user_folder(tmp_path, monkeypatch):
    """An empty data folder of the user, and no other."""
    monkeypatch.delenv(sets.HOME_VARIABLE, raising=False)
    monkeypatch.setattr("platformdirs.user_data_path", lambda name, **options: tmp_path / "user" / name)
    folder = tmp_path / "user" / "datamorphic" / "data"
    folder.mkdir(parents=True)
    return folder


def write_rows(folder, rows, name="iris"):
    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame({"a": range(rows), "target": ["x"] * rows}).to_csv(folder / f"{name}.csv", index=False)


def test_data_folders_come_before_scikit_learn_and_the_variable_first(user_folder, tmp_path, monkeypatch):
    assert dm.data.load("iris").shape == (150, 5)
    write_rows(user_folder, 2)
    assert dm.data.load("iris").shape == (2, 2)
    write_rows(tmp_path / "home", 1)
    monkeypatch.setenv(sets.HOME_VARIABLE, str(tmp_path / "home"))
    assert dm.data.load("iris").shape == (1, 2)
    assert "iris" in dm.data.available()


def test_no_folder_beside_the_current_one_is_searched(user_folder, tmp_path, monkeypatch):
    for folder in ("data", "shared/data"):
        write_rows(tmp_path / folder, 1, "planted")
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    assert "planted" not in dm.data.available()


@pytest.mark.parametrize("name", sets.SHIPPED)
def test_data_sets_of_scikit_learn_have_their_target_last(name, user_folder):
    assert dm.data.load(name).columns[-1] == "target"


def test_openml_is_asked_last_and_its_absence_is_explained(user_folder, monkeypatch):
    import sklearn.datasets

    def offline(**arguments):
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    with pytest.raises(dm.errors.DataError, match="could not be downloaded from OpenML"):
        dm.data.load("phoneme")

    class Bunch:
        data = pd.DataFrame({"V1": [1.0]})
        target = pd.Series(["1"])

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **arguments: Bunch)
    assert list(dm.data.load("phoneme").columns) == ["V1", "target"]


# -- the subjects, point by point, as the table of the study has them ---------------------------------------------


def in_box(x, y):
    return 1 <= x <= 2 and -0.5 <= y <= 0.4


def in_circle(x, y):
    return math.dist((x, y), (2, 0.2)) < 0.7


def in_triangle(x, y):
    return y <= x - 1 and y >= -x + 1 and y >= 3 * x - 5


def above_log(x, y):
    return x > 0 and y >= math.log10(x)


PLAIN = {
    "Box 1": lambda x, y: "red" if in_box(x, y) else "blue",
    "Box 2": lambda x, y: "black" if in_box(x, y) else "blue" if above_log(x, y) else "red",
    "Circle 1": lambda x, y: "red" if in_circle(x, y) else "blue",
    "Circle 2": lambda x, y: "black" if in_circle(x, y) else "blue" if y >= 0.3 * x - 0.4 else "red",
    "Line 1": lambda x, y: "blue" if 0.3 * x - 0.8 >= y else "red",
    "Line 2": lambda x, y: "red" if 0.3 * x - 1.0 >= y else "blue" if y > 0.3 * x - 0.8 else "black",
    "Sin 1": lambda x, y: "blue" if math.sin(x) >= y else "red",
    "Sin 2": lambda x, y: "black" if abs(math.sin(x) - y) < 0.2 else "red" if math.sin(x) > y else "blue",
    "Triangle 1": lambda x, y: "red" if in_triangle(x, y) else "blue",
    "Triangle 2": lambda x, y: "black" if in_triangle(x, y) else "blue" if above_log(x, y) else "red",
}


@in_one_test("name", PLAIN)
def test_subjects_equal_the_plain_ones(name):
    subject = dm.subjects[name]
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.uniform(-3, 9, 3000), "y": rng.uniform(-3, 3, 3000)})  # beyond the domain too
    frame.loc[0] = (0.0, -5.0)  # log10(0) compares as false
    answers = subject.sut.execute(frame).values
    assert answers.tolist() == [PLAIN[name](x, y) for x, y in frame.itertuples(index=False)]
    assert set(subject.moves) == {"leftward", "rightward", "upward", "downward"}
    seeds = subject.make_seeds(n=500, seed=2).input
    assert seeds["x"].between(0, 2 * math.pi).all()
    assert seeds["y"].between(-1, 1).all()
    moved = subject.mutate("rightward", subject.make_seeds(n=5)).input
    np.testing.assert_allclose(moved["x"], subject.make_seeds(n=5).input["x"] + 0.2)


def test_the_subjects_are_ten():
    assert list(dm.subjects) == list(PLAIN)
    assert dm.subjects["sin_2"].name == "Sin 2"
