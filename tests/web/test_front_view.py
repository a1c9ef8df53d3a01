"""Fronts as plots and tables read them: columns, colours, single pairs, and whose they are."""

import numpy as np
import pytest

pytest.importorskip("nicegui")

import datamorphic as dm
from datamorphic.errors import UsageError
from datamorphic.exploration.front import Front
from datamorphic.web.components.front_plot import COLUMNS, FrontCanvas
from datamorphic.web.front_view import ANSWERS_AXIS, DISTANCE_AXIS, FrontView, FrontViews

BIG = 1e9  # 32-bit numbers alone could not tell values next to it apart


def classify(rows):
    income, age = rows["income"].to_numpy() - BIG, rows["age"].to_numpy()
    return np.where(income > 50, "high", np.where(age > 40, "old <b>", "young"))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    features = [dm.Continuous("income", BIG, BIG + 100), dm.Continuous("age", 0, 80), dm.Categorical("job", ["a", "b"])]
    front = dm.explore(classify, dm.Space(features), walks=150, seeds=50, strategy="random_target")
    path = tmp_path_factory.mktemp("front") / "front.parquet"
    front.save(path)
    return path


@pytest.fixture(scope="module")
def view(path):
    return FrontView(path)


def read_column(view, name):
    values = np.frombuffer(view.pack_column(name), dtype="<f4")
    count = len(view)
    return values[:count], values[count : 2 * count], values[2 * count :]


def test_columns_hold_both_cases_and_real_inputs_as_shares_of_the_axis(view):
    axis = view.get_axis("income")
    first, second, real = read_column(view, "income")
    assert len(real) == view.seed_count == 50
    assert first.min() >= 0
    assert max(first.max(), second.max(), real.max()) <= 1
    restored = axis.low + first.astype(np.float64) * (axis.high - axis.low)
    assert np.allclose(restored, view.front.a.codes[:, 0], rtol=0, atol=1e-4)


def test_categories_have_names_and_stay_at_their_place_in_both_cases(view):
    axis = view.get_axis("job")
    first, second, _ = read_column(view, "job")
    assert list(axis.names) == ["a", "b"]
    same = view.front.a.codes[:, 2] == view.front.b.codes[:, 2]
    assert np.array_equal(first[same], second[same])


def test_every_axis_can_be_drawn(view):
    assert {"income", "age", "job", DISTANCE_AXIS, ANSWERS_AXIS} <= set(view.axes)
    for name in view.axes:
        first, *_ = read_column(view, name)
        assert np.isfinite(first).all()
        assert view.get_axis(name).low < view.get_axis(name).high
    with pytest.raises(UsageError, match="no axis"):
        view.get_axis("salary")


def test_the_first_axes_are_numbers(view):
    assert set(view.choose_axes()) == {"income", "age"}


def test_one_feature_is_drawn_against_the_answers(tmp_path):
    space = dm.Space([dm.Continuous("age", 0, 100)])
    dm.explore(lambda rows: np.where(rows["age"] > 18, "x", "y"), space, walks=20).save(tmp_path / "f.parquet")
    view = FrontView(tmp_path / "f.parquet")
    assert view.choose_axes() == ("age", ANSWERS_AXIS)
    assert len(view.borders) == 1


def test_colours_follow_the_pairs(view):
    numbers = np.frombuffer(view.pack_borders(), dtype=np.uint8)
    names = [view.borders[number].name for number in numbers]
    assert names == list(view.front.borders)
    counts = [border.pairs for border in view.borders]
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == len(view)


def test_many_borders_share_one_entry(tmp_path):
    space = dm.Space([dm.Continuous("x", 0, 20), dm.Continuous("y", 0, 20)])
    front = dm.explore(lambda rows: (rows["x"] // 1).astype(int), space, walks=400, strategy="random_walk")
    front.save(tmp_path / "f.parquet")
    view = FrontView(tmp_path / "f.parquet")
    assert len(set(view.front.borders)) > 13
    assert len(view.borders) == 13
    assert view.borders[-1].name.endswith("other borders")


def test_a_pair_tells_both_cases_and_its_history(view):
    number = int(np.argmin(view.front.distance))
    details = view.describe_pair(number)
    features = {feature.feature: feature for feature in details.features}
    assert set(features) == {"income", "age", "job"}
    assert all((feature.first != feature.second) == feature.differs for feature in details.features)
    walk = view.front.walk[number]
    start = view.front.walk_starts[walk][0]
    assert f"Walk {walk} started from seed case {start}" in details.history[0]
    assert details.distance == view.front.distance[number]
    with pytest.raises(UsageError, match="no pair"):
        view.describe_pair(len(view))


def test_a_front_of_an_earlier_release_does_not_know_the_starts(path, tmp_path):
    from dataclasses import replace

    replace(Front.load(path), walk_starts=None).save(tmp_path / "old.parquet")
    details = FrontView(tmp_path / "old.parquet").describe_pair(0)
    assert "does not say which seed case" in details.history[0]


def test_rows_are_sorted_and_filtered(view):
    border = view.borders[0].name
    rows = view.select_rows(border, "smallest distance first")
    assert np.all(np.diff(view.front.distance[rows]) >= 0)
    assert {view.front.borders[row] for row in rows} == {border}
    table = view.list_pairs(rows[:3])
    assert [row["pair"] for row in table] == rows[:3].tolist()
    assert set(table[0]) == {column["name"] for column in COLUMNS}


def test_images_are_shown_as_pictures(tmp_path):
    space = dm.Space([dm.Image("digit", (3, 3))])
    front = dm.explore(
        lambda digits: np.where(np.asarray(digits).reshape(len(digits), -1).sum(axis=1) > 60, "dark", "light"),
        space,
        walks=20,
    )
    front.save(tmp_path / "f.parquet")
    details = FrontView(tmp_path / "f.parquet").describe_pair(0)
    assert details.pictures[0][0].startswith("<svg")
    assert not details.features  # pixels are not listed


def test_a_front_belongs_to_one_person(path, tmp_path):
    views = FrontViews(limit=1)
    key, view = views.open(tmp_path / "anna", path)
    assert views.find(tmp_path / "anna", key) is view
    for owner, other_key in ((tmp_path / "ben", key), (tmp_path / "anna", "0" * 24)):
        with pytest.raises(UsageError, match="no such front"):
            views.find(owner, other_key)


def test_a_file_that_is_gone_is_reported(path, tmp_path):
    copy = tmp_path / "copy.parquet"
    copy.write_bytes(path.read_bytes())
    views = FrontViews()
    key, _ = views.open(tmp_path, copy)
    copy.unlink()
    with pytest.raises(UsageError, match="is gone"):
        views.find(tmp_path, key)


def test_the_script_of_the_plot_is_part_of_the_package():
    assert FrontCanvas.component is not None


def test_t_sne_axes_have_a_place_for_each_pair(view):
    assert view.axes[-2:] == ["t-SNE 1", "t-SNE 2"]
    first, second, real = read_column(view, "t-SNE 1")
    assert np.array_equal(first, second)
    assert np.isfinite(first).all()
    assert np.isfinite(real).all()
    assert not np.array_equal(first, read_column(view, "t-SNE 2")[0])
