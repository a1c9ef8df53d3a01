"""What can be learned from a front: pictures, reports, differences, explanations, more training data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.errors import ArgumentError, DataError, SpaceError
from datamorphic.exploration import io as files
from datamorphic.exploration import plot as picture
from datamorphic.exploration.page import build_front_page
from datamorphic.reporting.html import render_page

EVIL = "<img src=x onerror=alert(1)>"
PLANE = dm.Space([dm.Continuous("x", 0, 10), dm.Continuous("y", 0, 10)])


def explore(function, space=PLANE, walks=200, **options):
    return dm.explore(function, space, walks=walks, progress=False, **options)


def step(at, names=("low", "high"), feature="x"):
    return lambda f: np.where(f[feature] > at, names[1], names[0])


def without(front):
    from dataclasses import replace

    return replace(front, sut=None)


@pytest.fixture(scope="module")
def people():
    """Every kind of feature, some missing, a constraint, and a rule with all of them."""
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            "age": pd.array(rng.integers(18, 90, n), dtype="Int64"),
            "card": pd.Categorical(rng.choice(["Blue", "Silver", "Gold"], n), categories=["Blue", "Silver", "Gold"]),
            "income": rng.normal(50, 15, n).round(2),
            "debt": rng.uniform(0, 20, n).round(2),
        }
    )  # fmt: skip
    frame.loc[::13, "age"] = pd.NA
    frame.loc[5::17, "card"] = np.nan
    frame["income"] = frame["income"].clip(lower=10)
    frame["debt"] = np.minimum(frame["debt"], frame["income"])
    return frame


def credit(f):
    score = f["income"] - 2 * f["debt"] + 0.2 * f["age"].astype("Float64").fillna(40).astype(float)
    score = score + f["card"].astype(object).map({"Silver": 5, "Gold": 10}).fillna(0).astype(float)
    return np.select([score > 65, score > 40], ["good", "fair"], "poor")


@pytest.fixture(scope="module")
def mixed_front(people):
    space = dm.Space.from_frame(people, constraints=["debt <= income"])
    return dm.explore(credit, people, space=space, walks=300, progress=False)


@pytest.fixture(scope="module")
def empty_front():
    return explore(lambda f: np.full(len(f), "same"))


# -- pictures ----------------------------------------------------------------------------------------------------


def shown(figure):
    """All texts of a figure that plotly would read as HTML."""
    return figure.to_json()


def test_two_features_are_drawn_as_they_are():
    front = explore(step(4.0))
    figure = front.plot()
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("x", "y")
    seeds, pairs = figure.data
    assert seeds.name == "real inputs"
    assert len(seeds.x) == len(front.seeds)
    assert pairs.name == "high | low"
    assert len(pairs.x) == len(front)
    np.testing.assert_allclose(pairs.x, 4.0, atol=1e-4)
    assert "becomes" in pairs.text[0]
    assert ": x " in pairs.text[0]


def test_more_features_are_projected_and_the_title_says_how_much_is_kept(mixed_front):
    figure = mixed_front.plot()
    assert "of the variance" in figure.layout.title.text
    assert figure.layout.xaxis.title.text.startswith("direction 1")
    assert {trace.name for trace in figure.data[1:]} == set(mixed_front.kinds)


def test_features_are_chosen_by_name_and_the_other_by_what_decides(mixed_front):
    figure = mixed_front.plot("card", "income")
    assert figure.layout.xaxis.ticktext == ("Blue", "Silver", "Gold", "missing")
    deciding = mixed_front.deciding()["feature"].tolist()
    other = next(name for name in deciding if name != "card")
    assert mixed_front.plot(y="card").layout.xaxis.title.text.startswith(other)
    assert mixed_front.plot("card").layout.yaxis.title.text.startswith(other)
    assert "missing: at" in mixed_front.plot("age", "income").layout.xaxis.title.text
    for trace in figure.data:
        assert not np.isnan(np.array([trace.x, trace.y], dtype=float)).any()


def test_wrong_features_are_refused(mixed_front):
    with pytest.raises(SpaceError, match="Did you mean 'income'"):
        mixed_front.plot("incomes")
    with pytest.raises(ArgumentError, match="two different features"):
        mixed_front.plot("age", "age")
    one = explore(step(0.5), dm.Space([dm.Continuous("x", 0, 1)]))
    with pytest.raises(SpaceError, match="no feature 'y'"):
        one.plot(y="y")


def test_one_feature_gets_a_line_for_each_border():
    space = dm.Space([dm.Continuous("x", 0, 1)])
    front = explore(lambda f: np.select([f["x"] > 0.6, f["x"] > 0.3], ["c", "b"], "a"), space)
    figure = front.plot()
    assert set(figure.layout.yaxis.ticktext) == {"a | b", "b | c", "real inputs"}
    for trace in figure.data[1:]:
        assert len(set(trace.y)) == 1


def test_an_empty_front_says_so(empty_front):
    assert "no border was found" in shown(empty_front.plot())
    page = build_front_page(empty_front)
    assert page.sections[0].heading.startswith("No border was found")
    assert "no border was found" in render_page(page)


def test_many_pairs_are_thinned_evenly(monkeypatch):
    front = explore(step(4.0), walks=300)
    monkeypatch.setattr(picture, "MAX_DRAWN_PAIRS", 20)
    drawn = picture.build_scatter(front)
    assert len(drawn.x) == 20
    assert f"20 pairs of {len(front)} drawn" in drawn.subtitle


def test_hostile_names_and_labels_arrive_as_text():
    space = dm.Space(
        [dm.Continuous(EVIL, 0, 1), dm.Categorical("c" + EVIL, [EVIL, "b"]), dm.Continuous("z", 0, 1)]
    )
    front = explore(lambda f: np.where((f[EVIL] > 0.5) ^ (f["c" + EVIL] == EVIL), EVIL, "fine"), space)
    assert set(front.kinds) == {f"{EVIL} | fine"}
    for figure in (front.plot(), front.plot(EVIL), front.plot("c" + EVIL, EVIL)):
        assert "<img" not in shown(figure)
        assert "&lt;img" in shown(figure)
    page = render_page(build_front_page(front))
    assert "<img" not in page[page.index("<body>") :]
    change = front.diff(explore(lambda f: np.full(len(f), EVIL), space))
    assert EVIL in change.describe()  # words for a terminal are no HTML


def test_a_report_tells_all_of_it(mixed_front):
    report = build_front_page(mixed_front)
    text = " ".join(section.heading for section in report.sections)
    for part in (
        "border pair",
        "picture",
        "pairs of classes meet",
        "plausible",
        "Which features decide",
        "How good",
    ):
        assert part in text
    examples = next(section.table for section in report.sections if "plausible" in section.heading)
    borders = [" | ".join(sorted((row[1], row[2]))) for row in examples.rows]
    assert set(borders[: len(set(mixed_front.kinds))]) == set(mixed_front.kinds)  # every border has its turn
    assert all("->" in row[3] for row in examples.rows)
    assert "main" in render_page(report)


def test_a_report_shows_inputs_without_an_answer():
    def fails(f):
        if (f["y"] > 9).any():
            raise RuntimeError("too high")
        return np.where(f["x"] > 5, "a", "b")

    report = build_front_page(explore(fails, walks=50))
    assert report.sections[-1].state == "bad"
    assert "no valid answer" in report.sections[-1].heading
    assert "too high" in render_page(report)


# -- differences ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wavy():
    def rule(shift):
        return lambda f: np.where(np.abs(np.sin(f["x"]) + 5 - f["y"] - shift) < 1, "band", np.where(f["y"] > 5, "up", "down"))  # fmt: skip

    return rule


def test_the_same_model_explored_twice_has_not_changed(wavy, mixed_front, people):
    old, new = explore(wavy(0)), explore(wavy(0), seed=1)
    change = old.diff(new)
    assert change.unchanged
    assert change.kept == 1.0
    assert len(change.rows) == 0
    assert "is where it was" in change.describe()
    assert change.calls < 2 * (2 * (len(old) + len(new)) + len(old.seeds))
    again = dm.explore(credit, people, space=mixed_front.space, walks=300, seed=1, progress=False)
    assert mixed_front.diff(again).unchanged
    far = without(old).diff(without(new))
    assert far.unchanged
    assert far.kept > 0.9
    assert far.calls == 0
    assert "spacing of the pairs" in far.describe()
    assert "shows no change that could not be chance" in far.describe()


def test_a_tree_refitted_to_the_same_data_has_not_changed():
    data = dm.data.load("iris")
    inputs = data.drop(columns="target")
    models = [DecisionTreeClassifier(random_state=0).fit(inputs, data["target"]) for _ in range(2)]
    old, new = (dm.explore(m, inputs, seed=seed, walks=300, progress=False) for seed, m in enumerate(models))
    assert old.diff(new).kept > 0.95


@pytest.mark.parametrize(("by", "status"), [(0.05, "kept"), (0.8, "moved"), (4.0, "vanished")])
def test_a_shifted_threshold_is_found_with_its_size(by, status):
    change = explore(step(4.0)).diff(explore(step(4.0 + by), seed=1))
    table = change.table
    if status == "vanished":  # beyond the reach of a quarter of the range
        assert set(table["status"]) == {"vanished", "gained"}
        assert (table["shift"] > 0.25).all()
        return
    assert set(table["status"]) == {status}
    np.testing.assert_allclose(table["shift"], by / 10, atol=0.006)
    assert len(change.rows) + change.rows_near == pytest.approx(200 * by / 10, abs=6)
    assert change.unchanged == (status == "kept")
    assert (len(change.rows) == 0) == (status == "kept")


def test_a_moved_border_is_found_on_either_side_and_explained():
    change = explore(step(4.0)).diff(explore(step(5.0), seed=1))
    assert change.counts["kept"] == 0
    row = change.summary.loc["high | low"]
    assert row["median_shift"] == pytest.approx(0.1, abs=0.006)
    first = change.first(5)
    assert len(first) == 5
    assert set(first["old_answer"]) == {"high"}
    assert set(first["new_answer"]) == {"low"}
    assert first["x"].between(4, 5.0001).all()
    assert first["why"].str.len().gt(10).all()
    old = change.table[change.table["front"] == "old"]
    assert (old["new_a"] == "low").all()
    assert (old["new_b"] == "low").all()
    assert "moved, by 0.1 of the features' ranges (median)" in change.describe()


def test_the_tolerance_says_what_counts_as_a_move():
    old, new = explore(step(4.0)), explore(step(4.3), seed=1)
    assert set(old.diff(new).table["status"]) == {"moved"}
    assert not old.diff(new).unchanged
    near = old.diff(new, tolerance=0.05)
    assert near.kept == 1.0
    assert near.unchanged
    assert len(near.rows) == 0
    assert near.rows_near == (step(4.0)(old.seeds.frame) != step(4.3)(old.seeds.frame)).sum() > 0
    assert f"{near.rows_near} more are within the tolerance" in near.describe()
    assert without(old).diff(new, tolerance=0.05).unchanged
    assert without(old).diff(without(new), tolerance=0.05).unchanged
    with pytest.raises(ArgumentError, match="tolerance"):
        old.diff(new, tolerance=0)


def test_a_class_that_disappears_and_one_that_appears():
    three = explore(lambda f: np.select([f["x"] > 7, f["x"] > 3], ["c", "b"], "a"))
    two = explore(step(3, ("a", "b")), seed=1)
    gone = three.diff(two)
    assert gone.summary.loc["b | c", "vanished"] > 0
    assert gone.summary.loc["b | c", ["kept", "moved", "gained"]].sum() == 0
    assert (
        gone.summary.loc["a | b", "kept"]
        == gone.summary.loc["a | b", ["kept", "moved", "gained", "vanished"]].sum()
    )
    assert "no longer found: b | c" in gone.describe()
    new = two.diff(three)
    assert new.summary.loc["b | c", "gained"] > 0
    assert "for the first time: b | c" in new.describe()


def test_a_new_island_is_gained():
    def island(f):
        inside = (np.abs(f["x"] - 8) < 1) & (np.abs(f["y"] - 8) < 1)
        return np.where(inside | (f["x"] > 2) & (f["x"] < 3), "in", "out")

    before = explore(lambda f: np.where((f["x"] > 2) & (f["x"] < 3), "in", "out"), walks=400)
    change = before.diff(explore(island, walks=400, seed=1))
    gained = change.table[change.table["status"] == "gained"]
    assert len(gained) > 5
    assert gained["a.x"].between(6.9, 9.1).all()
    assert gained["a.y"].between(6.9, 9.1).all()
    strip = change.table[change.table["a.x"] < 4]
    assert (strip["status"] == "kept").mean() > 0.95


def test_classes_that_change_places_are_no_kept_border():
    old, new = explore(step(4.0)), explore(step(4.0, ("high", "low")), seed=1)
    change = old.diff(new)
    assert change.kept == 0
    assert len(change.rows) + change.rows_near == change.rows_asked
    assert "the two answers have changed places" in change.describe()
    files = without(old).diff(without(new))
    assert set(files.table["status"]) == {"vanished", "gained"}
    assert not files.unchanged
    for half in (without(old).diff(new), old.diff(without(new))):
        assert set(half.table["status"]) == {"vanished", "gained"}  # as the system says that can be asked
        assert not half.unchanged


def test_changes_are_seen_without_systems_if_they_are_large():
    old, new = explore(step(3.0)), explore(step(5.0), seed=1)
    change = without(old).diff(without(new))
    assert not change.unchanged
    assert (change.table["status"] == "moved").mean() > 0.9
    assert change.table["new_a"][change.table["front"] == "old"].isna().all()
    assert change.first(3)["why"].str.contains("away").all()
    half = without(old).diff(new)  # one system: its side is asked, the other measured
    assert half.table["new_a"][half.table["front"] == "old"].notna().all()
    assert (half.table["asked"] == (half.table["front"] == "old")).all()
    assert half.calls > 0
    assert half.rows is None


def test_mixed_data_with_categories_whole_numbers_and_missing_values(mixed_front, people):
    def stricter(f):
        return credit(f.assign(income=f["income"] - 5))

    new = dm.explore(stricter, people, space=mixed_front.space, walks=300, seed=1, progress=False)
    change = mixed_front.diff(new)
    assert not change.unchanged
    assert change.counts["moved"] > 0.5 * len(change.table)
    first = change.first()
    assert list(first.columns[: len(people.columns)]) == list(people.columns)
    assert (credit(first) == first["old_answer"]).all()
    assert (stricter(first) == first["new_answer"]).all()
    assert (first["old_answer"] != first["new_answer"]).all()


def test_whole_numbers_move_by_whole_steps():
    space = dm.Space([dm.Integer("n", 0, 20), dm.Continuous("z", 0, 1)])
    change = explore(step(7, feature="n"), space).diff(explore(step(9, feature="n"), space, seed=1))
    assert set(change.table["status"]) == {"moved"}
    assert change.table["shift"].median() == pytest.approx(0.1)


def test_categories_move_by_one():
    space = dm.Space([dm.Categorical("c", list("abcde")), dm.Categorical("d", list("xyz"))])
    change = explore(lambda f: (f["c"] > "b").astype(int), space).diff(
        explore(lambda f: (f["c"] > "c").astype(int), space, seed=1)
    )
    assert change.counts["moved"] > 0
    assert change.counts["vanished"] == change.counts["gained"] == 0


def test_regressors_are_compared_at_their_threshold():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.uniform(0, 10, (200, 2)), columns=["x", "y"])
    models = [LinearRegression().fit(x, x["x"] + bias) for bias in (0.0, 1.0)]
    fronts = [dm.explore(m, x, threshold=5.0, walks=200, progress=False) for m in models]
    change = fronts[0].diff(fronts[1])
    assert set(change.table["border"]) == {"above 5 | at most 5"}
    assert change.table["shift"].median() == pytest.approx(0.1, abs=0.01)
    assert fronts[0].diff(dm.explore(models[0], x, threshold=5.0, seed=1, walks=200, progress=False)).unchanged
    with pytest.raises(ArgumentError, match="different borders"):
        fronts[0].diff(dm.explore(models[1], x, threshold=6.0, walks=50, progress=False))
    jumps = [explore(lambda f, at=at: np.where(f["x"] > at, 9.5, 0.25), jump=3.0) for at in (4, 5)]
    assert jumps[0].diff(jumps[1]).summary["median_shift"].iloc[0] == pytest.approx(0.1, abs=0.01)
    assert jumps[0].diff(jumps[0]).unchanged


def test_several_labels_at_once():
    def labels(at):
        return lambda f: [(int(x > at), int(y > 5)) for x, y in zip(f["x"], f["y"], strict=True)]

    old, new = explore(labels(4)), explore(labels(5), seed=1)
    assert old.settings["border"].startswith("one of several labels")
    summary = old.diff(new).summary
    first, second = (next(kind for kind in summary.index if kind.startswith(f"label {i}")) for i in (0, 1))
    assert summary.loc[first, "moved"] == summary.loc[first, ["kept", "moved", "vanished", "gained"]].sum()
    assert summary.loc[second, "kept"] == summary.loc[second, ["kept", "moved", "vanished", "gained"]].sum()
    flips = old.nearest({"x": 3.0, "y": 1.0}, k=3)
    assert (flips["answer"] != flips["becomes"]).all()


def test_what_cannot_be_compared_is_refused(mixed_front):
    front = explore(step(4.0))
    with pytest.raises(ArgumentError, match="'x' only in the old"):
        front.diff(mixed_front)
    other = explore(step(4.0), dm.Space([dm.Integer("x", 0, 10), dm.Continuous("y", 0, 10)]))
    with pytest.raises(ArgumentError, match=r"'x' is real number .* one space"):
        front.diff(other)
    with pytest.raises(ArgumentError, match="a Front"):
        front.diff("front.parquet")
    wider = explore(step(4.0), dm.Space([dm.Continuous("x", 0, 12), dm.Continuous("y", 0, 10)]))
    assert front.diff(wider).counts["kept"] > 0.9 * len(front)  # newer data, other bounds


def test_empty_fronts_compare(empty_front):
    nothing = empty_front.diff(empty_front)
    assert len(nothing.rows) == 0
    assert nothing.unchanged
    assert "nothing to compare" in nothing.describe()
    assert len(nothing.first()) == 0
    gained = empty_front.diff(explore(step(4.0)))
    assert set(gained.table["status"]) == {"gained"}
    assert set(without(explore(step(4.0))).diff(without(empty_front)).table["status"]) == {"vanished"}


def test_differences_of_files_and_of_attached_systems(tmp_path):
    old, new = explore(step(4.0)), explore(step(5.0), seed=1)
    old.save(tmp_path / "old.parquet")
    loaded = dm.Front.load(tmp_path / "old.parquet")
    assert loaded.sut is None
    assert not loaded.diff(new).unchanged
    assert len(loaded.seed_answers) == len(old.seeds)  # what the old system said is in the file
    np.testing.assert_array_equal(loaded.seed_answers.values, step(4.0)(old.seeds.frame))
    half = loaded.diff(new)
    assert half.rows_asked == len(old.seeds)
    assert len(half.rows) + half.rows_near == pytest.approx(20, abs=8)
    attached = loaded.attach(step(4.0))
    pd.testing.assert_frame_equal(attached.diff(new).table, old.diff(new).table)


# -- explanations ----------------------------------------------------------------------------------------------------


def flipped(front, answers, model):
    """The cases that a table of explanations proposes, and what the model says to them."""
    to = answers.filter(regex=r"^to\.").rename(columns=lambda name: name.removeprefix("to."))
    return to, model(to)


def test_flips_are_certified_small_and_few_features(wavy):
    rule = wavy(0)
    front = explore(rule, walks=400)
    cases = PLANE.sample(60, seed=3)
    told = front.nearest(cases)
    to, said = flipped(front, told, rule)
    assert (said == told["becomes"]).all()
    assert (rule(cases) == told["answer"]).all()
    assert (told["answer"] != told["becomes"]).all()
    assert (told["flip_distance"] <= told["distance"] + 1e-3).all()
    assert told["flip_distance"].mean() < told["distance"].mean()
    np.testing.assert_allclose(PLANE.distance(cases, to, scaled=True), told["flip_distance"])
    pd.testing.assert_frame_equal(told, front.nearest(cases))  # nothing random in it


def test_features_that_have_nothing_to_do_with_it_stay():
    space = dm.Space([dm.Continuous(name, 0, 10) for name in "xyzw"])
    front = explore(step(4.0), space)
    told = front.nearest(space.sample(20, seed=1))
    assert told["change"].str.fullmatch(r"x [\d.]+ -> [\d.]+").all()
    np.testing.assert_allclose(told["to.x"], 4.0, atol=2e-3)


def test_k_pairs_and_the_names_of_cases():
    front = explore(step(4.0))
    cases = pd.DataFrame({"x": [1.0, 9.0], "y": [5.0, 5.0]}, index=["ann", "bob"])
    told = front.nearest(cases, k=3)
    assert told["case"].tolist() == ["ann"] * 3 + ["bob"] * 3
    assert told["rank"].tolist() == [1, 2, 3] * 2
    for _, some in told.groupby("case"):
        assert some["distance"].is_monotonic_increasing
        assert some["pair"].is_unique
    row = front.pairs.iloc[told["pair"][0]]
    near = min(
        PLANE.distance({"x": 1.0, "y": 5.0}, {"x": row[f"{e}.x"], "y": row[f"{e}.y"]}, scaled=True) for e in "ab"
    )
    assert told["distance"][0] == pytest.approx(near)
    assert len(front.nearest(PLANE.points(cases), k=10_000)) == 2 * len(front)
    assert front.nearest({"x": 1.0, "y": 5.0})["case"].tolist() == [0]


def test_flips_of_mixed_data_are_valid(mixed_front, people):
    told = mixed_front.nearest(people.head(80), k=2)
    to, _ = flipped(mixed_front, told, lambda frame: frame)
    assert mixed_front.space.valid(to).all()
    frame = mixed_front.space.points(to).frame
    assert (credit(frame) == told["becomes"]).all()
    assert (told["becomes"] != told["answer"]).all()
    assert (told["flip_distance"] <= told["distance"] + 1 + 1e-3).all()  # the other end may be a category away


def test_tied_features_go_back_together():
    space = dm.Space(
        [*(dm.Integer(name, 0, 1) for name in "abc"), dm.Continuous("x", 0, 1)],
        constraints=[dm.OneHot(["a", "b", "c"])],
    )

    def rule(f):
        return np.where((f["c"] == 1) & (f["x"] > 0.5), "yes", "no")

    front = explore(rule, space, walks=400, strategy="random_target")
    told = front.nearest(space.sample(30, seed=2))
    to, _ = flipped(front, told, rule)
    assert space.valid(to).all()
    assert (rule(to) == told["becomes"]).all()
    assert (told["answer"] != told["becomes"]).all()


def test_regressors_flip_over_their_threshold():
    front = explore(lambda f: f["x"] * 1.0 + 0.1 * f["y"], threshold=5.0)
    told = front.nearest({"x": 1.0, "y": 5.0})
    assert told["answer"][0] == pytest.approx(1.5)
    assert 5.0 < told["becomes"][0] < 5.1


def test_without_a_system_the_far_end_of_the_pair_is_told(tmp_path):
    front = explore(step(4.0))
    front.save(tmp_path / "front.parquet")
    loaded = dm.Front.load(tmp_path / "front.parquet")
    told = loaded.nearest({"x": 1.0, "y": 5.0})
    assert told["answer"].isna().all()
    assert told["becomes"].tolist() == ["high"]
    assert told["to.x"][0] == pytest.approx(4.0, abs=1e-3)
    assert loaded.attach(step(4.0)).nearest({"x": 1.0, "y": 5.0})["answer"].tolist() == ["low"]


def test_bad_cases_are_refused_with_a_reason(mixed_front, empty_front, people):
    with pytest.raises(DataError, match="is empty"):
        empty_front.nearest({"x": 1.0, "y": 1.0})
    with pytest.raises(DataError, match="lack 1 column"):
        mixed_front.nearest(people.drop(columns="debt"))
    with pytest.raises(DataError, match="outside the bounds"):
        explore(step(4.0)).nearest({"x": 11.0, "y": 1.0})
    broken = people.head(3).assign(debt=[1.0, 19.0, 1.0], income=[50.0, 18.0, 50.0])
    with pytest.raises(DataError, match="Row 1 breaks the constraint debt <= income"):
        mixed_front.nearest(broken)
    with pytest.raises(ArgumentError, match="'k'"):
        mixed_front.nearest(people.head(1), k=0)


def test_a_system_that_fails_at_the_case_flips_nothing():
    def fails(f):
        if (f["y"] > 9).any():
            raise RuntimeError("too high")
        return np.where(f["x"] > 5, "a", "b")

    told = explore(fails, walks=50).nearest(pd.DataFrame({"x": [1.0, 1.0], "y": [9.5, 5.0]}))
    assert told["becomes"].tolist() == [None, "a"]
    assert told["change"].tolist()[0] == ""
    assert np.isnan(told["flip_distance"][0])


# -- more training data ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def labelled(people):
    return people.drop(columns=["card"]).assign(age=people["age"].fillna(40), rating=credit(people))


class Tree(DecisionTreeClassifier):
    """A tree that says how often it was fitted."""

    fits: list[int] = []  # noqa: RUF012

    def fit(self, x, y):
        self.fits.append(len(x))
        return super().fit(x, y)


@pytest.fixture(scope="module")
def tree_front(labelled):
    inputs = labelled.drop(columns="rating")
    return dm.explore(
        Tree(max_depth=5, random_state=0).fit(inputs, labelled["rating"]), inputs, walks=300, progress=False
    )


def test_rare_classes_get_border_points_and_the_effect_is_measured(tree_front, labelled):
    Tree.fits.clear()
    more = tree_front.augment(labelled, "rating", folds=3)
    assert len(Tree.fits) == 6
    assert max(Tree.fits[::2]) <= 200  # no fold is fitted on what it is scored on
    counts, after = labelled["rating"].value_counts(), more.frame["rating"].value_counts()
    assert after.max() == counts.max()
    assert ((after - counts) == more.added.reindex(counts.index, fill_value=0)).all()
    assert more.added.sum() > 0
    pd.testing.assert_frame_equal(more.frame.head(len(labelled)), labelled)
    assert more.frame.dtypes.equals(labelled.dtypes)
    new = more.frame.iloc[len(labelled) :]
    assert (tree_front.sut.model.predict(new.drop(columns="rating")) == new["rating"]).all()
    assert not new.duplicated().any()
    effect = more.effect
    assert {"accuracy", "balanced accuracy", "recall of poor"} <= set(effect.index)
    np.testing.assert_allclose(effect["after"] - effect["before"], effect["difference"], atol=1e-12)
    assert (effect["standard_error"] >= 0).all()
    assert "held-out" in more.note
    pd.testing.assert_frame_equal(effect, tree_front.augment(labelled, "rating", folds=3).effect)


def test_the_most_plausible_points_come_first(tree_front, labelled):
    few = tree_front.augment(labelled, "rating", classes=["poor"], per_class=5, folds=0)
    many = tree_front.augment(labelled, "rating", classes="poor", per_class=50, folds=0)
    assert few.added.to_dict() == {"poor": 5}
    assert few.effect is None
    assert "folds=0" in few.note
    start = len(labelled)
    pd.testing.assert_frame_equal(few.frame.iloc[start:], many.frame.iloc[start : start + 5])


def test_augmenting_mixed_data_keeps_columns_and_types(mixed_front, people):
    data = people.assign(label=pd.Categorical(credit(people)), note="real")[["label", *people.columns, "note"]]
    more = mixed_front.augment(data, "label")
    assert list(more.frame.columns) == list(data.columns)
    kept = [name for name in data.columns if name != "note"]
    assert more.frame[kept].dtypes.equals(data[kept].dtypes)
    assert more.frame["note"].isna().sum() == more.added.sum() > 0
    assert mixed_front.space.valid(more.frame).all()
    assert more.effect is None
    assert "not a scikit-learn estimator" in more.note


def test_where_the_effect_cannot_be_measured_the_note_says_why(tree_front, labelled):
    assert "no system attached" in without(tree_front).augment(labelled, "rating").note

    class Moody(ClassifierMixin, BaseEstimator):
        def fit(self, x, y):
            self.fits_ = getattr(self, "fits_", 0) + 1
            if len(x) < 250:
                raise ValueError("too few rows")
            self.classes_ = np.unique(y)
            return self

        def predict(self, x):
            return np.where(x["income"] > 50, self.classes_[0], self.classes_[1])

    inputs = labelled.drop(columns="rating")
    front = dm.explore(Moody().fit(inputs, labelled["rating"]), inputs, walks=50, progress=False)
    more = front.augment(labelled, "rating")
    assert more.effect is None
    assert "too few rows" in more.note


def test_wrong_uses_of_augment_are_refused(tree_front, labelled, empty_front):
    with pytest.raises(DataError, match="Did you mean 'rating'"):
        tree_front.augment(labelled, "ratings")
    with pytest.raises(ArgumentError, match="no class 'awful'"):
        tree_front.augment(labelled, "rating", classes=["awful"])
    with pytest.raises(ArgumentError, match="folds"):
        tree_front.augment(labelled, "rating", folds=1)
    with pytest.raises(ArgumentError, match="DataFrame"):
        tree_front.augment(labelled.to_numpy(), "rating")
    numbers = explore(lambda f: f["x"] * 1.0, threshold=5.0)
    with pytest.raises(ArgumentError, match="no plain classes"):
        numbers.augment(PLANE.sample(20).assign(target=1.0), "target")
    none = empty_front.augment(PLANE.sample(20).assign(target=["a", "b"] * 10), "target", folds=0)
    assert none.added.sum() == 0
    assert "is empty: there are no border points" in none.note
    assert len(none.frame) == 20


# -- differences that are no moves ---------------------------------------------------------------------------------------


def silent(f):
    return np.where(f["x"] > 7, np.nan, (f["x"] > 5).astype(float))


def raising(f):
    if (f["x"] > 7).any():
        raise RuntimeError("too far")
    return (f["x"] > 5).astype(float).to_numpy()


@pytest.mark.parametrize("falls", [silent, raising])
def test_a_model_that_stopped_answering_has_changed(falls, tmp_path):
    old, new = explore(lambda f: (f["x"] > 5).astype(float)), explore(falls, seed=1)
    quiet = int((old.seeds.frame["x"] > 7).sum())
    old.save(tmp_path / "old.parquet")
    for before in (old, dm.Front.load(tmp_path / "old.parquet")):
        change = before.diff(new)
        assert change.kept == 1.0
        assert not change.unchanged
        assert len(change.rows) == quiet
        assert change.rows["new_answer"].map(lambda said: said is None).all()
        assert f"{quiet} of 200 real inputs get no answer any more" in change.describe()
        assert change.first(3)["why"].str.contains("gets no answer now").all()
        assert "1 -> no answer" in change.describe()
    back = new.diff(old)
    assert not back.unchanged
    assert f"{int((new.seeds.frame['x'] > 7).sum())} of 200 real inputs got no answer before" in back.describe()
    new.save(tmp_path / "new.parquet")
    assert dm.Front.load(tmp_path / "new.parquet").diff(explore(falls, seed=2)).unchanged  # silence is nothing new


def test_two_constant_systems(empty_front, tmp_path):
    other = explore(lambda f: np.full(len(f), "other"))
    assert "200 of 200 real inputs are answered differently" in empty_front.diff(other).describe()
    fronts = []
    for name, front in (("old", empty_front), ("new", other), ("drawn", explore(lambda f: np.full(len(f), "other"), seed=5))):  # fmt: skip
        front.save(tmp_path / name)
        fronts.append(dm.Front.load(tmp_path / name))
    old, new, drawn = fronts
    assert "200 of 200 real inputs are answered differently" in old.diff(new).describe()
    assert not old.diff(new).unchanged
    assert "the answer other is given" in old.diff(drawn).describe()  # no seeds in common
    assert new.diff(drawn).unchanged


@pytest.fixture(scope="module")
def many():
    return [dm.explore(dm.subjects["Sin 2"], walks=100, seed=seed, progress=False) for seed in range(8)]


def test_the_same_model_with_another_seed_is_no_alarm(many, tmp_path):
    fronts = []
    for number, front in enumerate(many):
        front.save(tmp_path / f"{number}.parquet")
        fronts.append(dm.Front.load(tmp_path / f"{number}.parquet"))
    alarms = [
        not old.diff(new).unchanged
        for olds, news in ((fronts, many), (many, fronts), (fronts, fronts))
        for old, new in zip(olds[:-1], news[1:], strict=True)
    ]
    assert sum(alarms) == 0


@pytest.mark.parametrize("walks", [100, 300])
@pytest.mark.parametrize(
    "rule",
    [
        lambda f: np.select([f["x"] > 7, f["x"] > 4], ["c", "b"], "a"),
        lambda f: np.select([f["x"] > 7, f["x"] > 3], ["a", "b"], "c"),
        lambda f: np.where(f["x"] > 3, "b", "a"),
        lambda f: np.select([f["x"] > 8.5, f["x"] > 7, f["x"] > 3], ["d", "c", "b"], "a"),
    ],
    ids=["shifted", "swapped", "vanished", "gained"],
)
def test_files_show_changes(rule, walks, tmp_path):
    old = explore(lambda f: np.select([f["x"] > 7, f["x"] > 3], ["c", "b"], "a"), walks=walks)
    new = explore(rule, walks=walks, seed=1)
    for name, front in (("old", old), ("new", new)):
        front.save(tmp_path / name)
    loaded, after = (dm.Front.load(tmp_path / name) for name in ("old", "new"))
    for change in (loaded.diff(new), old.diff(after), loaded.diff(after)):
        assert not change.unchanged
        assert "has changed" in change.describe()
        assert len(change.first(3)) == 3


def test_the_words_need_no_python(mixed_front, people):
    new = dm.explore(lambda f: credit(f.assign(income=f["income"] - 5)), people, space=mixed_front.space, walks=100, seed=1)  # fmt: skip
    for change in (mixed_front.diff(new), without(mixed_front).diff(new), mixed_front.diff(without(new))):
        text = change.describe()
        assert "front." not in text
        assert "()" not in text
        case = text.splitlines()[-1]
        assert case.startswith("  age ")
        assert "->" in case


def test_labels_are_compared_by_value():
    def rule(kind):
        return lambda f: (f["x"] > 5).astype(int).to_numpy().astype(kind)

    whole = explore(rule(int))
    for kind in (float, bool):
        other = explore(rule(kind), seed=1)
        change = whole.diff(other)
        assert change.unchanged
        assert set(change.table["border"]) == {"0 | 1"}
        assert without(whole).diff(without(other)).unchanged
    text = explore(rule(str), seed=1)
    assert whole.diff(text).kept == 0
    assert set(whole.diff(text).table["border"]) == {"0 | 1", "'0' | '1'"}
    assert not without(whole).diff(without(text)).unchanged


def test_kinds_of_one_name_are_counted_apart():
    def rule(f):
        low, high = np.where(f["x"] < 5, "A | B", "C"), np.where(f["x"] < 5, "A", "B | C")
        return np.where(f["y"] < 5, low, high)

    front = explore(rule, walks=400)
    across = [
        kind for kind in front.border_counts.index if kind in ("A | B | C", "'A | B' | 'C'", "'A' | 'B | C'")
    ]
    assert len(across) == 2
    assert front.border_counts.sum() == len(front)
    assert front.quality().loc["class pairs", "value"] == pytest.approx(len(front.border_counts) / 6)
    assert build_front_page(front).sections[2].table.rows[0][0] in front.border_counts.index


# -- figures ----------------------------------------------------------------------------------------------------------


def test_plausibility_is_exact_and_says_where_it_is_not_known(mixed_front, monkeypatch):
    from dataclasses import replace

    from datamorphic.exploration import front_data as module

    space, seeds = mixed_front.space, mixed_front.seeds
    far = np.column_stack(
        [space.distance(mixed_front.a, seeds.take([row]), scaled=True) for row in range(len(seeds))]
    )
    np.testing.assert_allclose(mixed_front.plausibility, far.min(axis=1))
    monkeypatch.setattr(module, "MAX_PLAUSIBILITY_DISTANCES", 20 * len(mixed_front.seeds))
    some = replace(mixed_front)
    known = ~np.isnan(some.plausibility)
    assert known.sum() == 20
    np.testing.assert_allclose(some.plausibility[known], far.min(axis=1)[known])
    assert "measured for 20 of the pairs" in some.describe()
    assert render_page(build_front_page(some))
    assert len(some.diff(mixed_front).table) == 2 * len(some)


def test_only_what_the_model_reads_decides():
    space = dm.Space([dm.Continuous(name, 0, 1) for name in "xyzuvw"])
    front = explore(step(0.9), space, walks=600, strategy="random_target")
    calls, runs = front.calls, front.runs
    table = front.deciding().set_index("feature")
    assert table["decides"].to_dict() == {"x": 1.0} | dict.fromkeys("wuzyv", 0.0)
    assert table.loc["x", "share"] < 0.5  # which is all that can be known without asking
    assert (front.calls, front.runs) == (calls, runs)
    assert "decides alone: x (100%)\n" in front.describe() + "\n"
    bare = without(front)
    assert bare.deciding()["decides"].isna().all()
    assert bare.deciding()["share"].is_monotonic_decreasing
    assert "decid" not in bare.describe()
    assert "differ most" in bare.describe()
    heading = next(section.heading for section in build_front_page(bare).sections if "feature" in section.heading)
    assert "decide" not in heading


def test_what_decides_is_asked_once_quietly_and_not_too_often(capsys):
    asked = []

    def rule(f):
        asked.append(len(f))
        print("busy")
        return np.where(f["x"] + f["y"] > 10, "a", "b")

    front = explore(rule, walks=100, strategy="random_target")
    before = sum(asked)
    capsys.readouterr()
    front.deciding(), front.deciding(), front.describe()
    assert capsys.readouterr().out == ""
    assert 0 < sum(asked) - before <= max(100, front.calls // 4)


def test_tied_features_decide_together():
    space = dm.Space(
        [*(dm.Integer(name, 0, 1) for name in "abc"), dm.Continuous("x", 0, 1)],
        constraints=[dm.OneHot(["a", "b", "c"])],
    )
    front = explore(lambda f: np.where(f["c"] == 1, "yes", "no"), space, strategy="random_target")
    table = front.deciding().set_index("feature")
    assert table.loc["c", "decides"] == 1.0
    assert table.loc["x", "decides"] == 0.0


def test_quality_is_computed_once_and_sees_improper_values(mixed_front, monkeypatch):
    from dataclasses import replace

    from datamorphic.exploration import quality
    from datamorphic.space.points import Points

    assert mixed_front.quality().loc["validity", "value"] == 1.0
    codes = mixed_front.a.codes.copy()
    codes[0, 0], codes[1, 0], codes[2, 1], codes[3, 2] = 18.5, 500.0, 7.0, np.nan
    broken = replace(mixed_front, a=Points(mixed_front.space, codes))
    assert broken.quality().loc["validity", "value"] == pytest.approx(1 - 4 / len(broken))
    monkeypatch.setattr(quality, "MAX_SPREAD_POINTS", 50)
    some = replace(mixed_front)
    assert f"50 of {len(some)}, evenly chosen" in some.quality().loc["spread", "meaning"]
    assert some.quality().loc["spread", "value"] == pytest.approx(
        mixed_front.quality().loc["spread", "value"], rel=0.3
    )
    monkeypatch.setattr(quality, "measure_quality", None)
    assert len(some.quality()) == 5


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -1, "a", True, np.nan])
def test_intervals_need_a_confidence(mixed_front, confidence):
    for interval in (mixed_front.capability_interval, mixed_front.cost_interval):
        with pytest.raises(ArgumentError, match="'confidence' parameter of Front"):
            interval(confidence)


def test_answers_that_do_not_repeat_are_told():
    rng = np.random.default_rng(0)
    front = explore(lambda f: rng.choice(["heads", "tails"], len(f)), walks=20)
    line = next(line for line in front.describe().splitlines() if "Asked twice" in line)
    assert "heads and tails" in line or "tails and heads" in line
    assert "to x " in line


# -- files that are no fronts ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    import json

    import pyarrow.parquet as pq

    space = dm.Space([dm.Categorical("c", ["r", "g", "b"]), dm.Continuous("x", 0, 1)])
    front = explore(lambda f: np.where((f["c"] == "r") ^ (f["x"] > 0.5), "A", "B"), space, walks=100)
    path = tmp_path_factory.mktemp("fronts") / "front.parquet"
    front.save(path)
    table = pq.read_table(path)
    return path, table, json.loads(table.schema.metadata[b"datamorphic.front"]), len(front)


def packed(values):
    import zlib
    from base64 import b64encode

    return b64encode(
        zlib.compress(values if isinstance(values, bytes) else np.asarray(values).tobytes(), 9)
    ).decode()


DAMAGE = {
    "settings are null": {"settings": None},
    "settings are empty": {"settings": {}},
    "an unknown border": {"settings": {"border_kind": "evil"}},
    "a threshold without a value": {"settings": {"border_kind": "threshold", "border_value": None}},
    "walks are text": {"settings": {"border_kind": "labels", "walks": "many"}},
    "no version": {"version": None},
    "the subject is a number": {"subject": 5},
    "no strategy": {"strategy": None},
    "seconds are text": {"seconds": "x"},
    "negative calls": {"calls": -5},
    "too many seeds used": {"seeds_used": 10**9},
    "choices are numbers": {"choices": [1, 2]},
    "notes are text": {"notes": "abc"},
    "too few walks": {"walk_runs": packed(np.zeros(3, np.int64))},
    "walks below zero": {"walk_runs": packed(-np.ones(100, np.int64))},
    "half a seed": {"seeds": packed(np.zeros(3))},
    "seeds that are none": {"seeds": packed(np.full((4, 2), np.inf))},
    "more answers than seeds": {"seed_answers": {"values": ["A"] * 999, "status": [0] * 999}},
    "answers of no status": {"seed_answers": {"values": ["A"], "status": [77]}},
    "outputs of no kind": {"outputs": {"a": "V16", "b": "object"}},
    "no space": {"space": []},
    "walk too large": ("walk", [10**6]),
    "walk below zero": ("walk", [-1]),
    "part without labels": ("part", [1]),
    "infinite code": ("a.1", [float("inf")]),
    "category 7 of 3": ("a.0", [7.0]),
    "half a category": ("b.0", [0.5]),
    "missing category": ("a.0", [float("nan")]),
    "codes are text": ("a.0", ["x"]),
    "no border": ("b_output", None),
    "answers that are no JSON": ("a_output", ["{bad"]),
    "no answer": ("a_output", ["null"]),
    "distance is no number": ("distance", [float("nan")]),
}


def saved_with(about, table, path):
    import json

    import pyarrow.parquet as pq

    pq.write_table(table.replace_schema_metadata({b"datamorphic.front": json.dumps(about).encode()}), path)
    return path


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_files_are_refused_by_name(damage, written, tmp_path):
    import pyarrow as pa

    _, table, about, count = written
    if isinstance(damage, dict):
        about = about | damage
    else:
        name, values = damage
        column = table["a_output"] if values is None else pa.array(values * count)
        table = table.set_column(table.column_names.index(name), name, column)
    path = saved_with(about, table, tmp_path / "damaged.parquet")
    with pytest.raises(DataError, match=r"damaged\.parquet"):
        dm.Front.load(path)


def test_a_bomb_is_not_unpacked(written, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MIN_UNPACK_LIMIT_BYTES", 1 << 16)
    _, table, about, _ = written
    bomb = {"seeds": packed(b"\0" * (1 << 20))}
    path = saved_with(about | bomb, table, tmp_path / "damaged.parquet")
    with pytest.raises(DataError, match=r"damaged\.parquet.*unpack to more than "):
        dm.Front.load(path)


def test_what_is_saved_again_keeps_its_answers(written, tmp_path):
    front = dm.Front.load(written[0])
    assert front.seed_answers is not None
    front.save(tmp_path / "again.parquet")
    again = dm.Front.load(tmp_path / "again.parquet")
    np.testing.assert_array_equal(again.seed_answers.values, front.seed_answers.values)
    assert again.describe() == front.describe()


# -- smaller changes ----------------------------------------------------------------------------------------------------


def test_flips_are_no_larger_than_a_single_feature_needs(mixed_front, people):
    cases = people.head(40)
    told = mixed_front.nearest(cases)
    own, best = credit(cases), np.full(len(cases), np.inf)
    for name in ("income", "debt", "age"):
        feature = mixed_front.space[name]
        for value in np.linspace(feature.low, feature.high, 73):  # the whole ages are among these
            to = cases.assign(**{name: round(value) if name == "age" else value})
            flips = (credit(to) != own) & (to["debt"] <= to["income"]).to_numpy()
            far = mixed_front.space.distance(cases, to, scaled=True)
            best = np.where(flips, np.minimum(best, far), best)
    assert (told["flip_distance"] <= 1.1 * best + 1e-3).all()
    assert told["flip_distance"].median() < 0.25
    few = mixed_front.nearest(cases, k=3)
    least = few.groupby("case")["flip_distance"].transform("min")
    assert (few["flip_distance"] == least)[few["rank"] == 1].all()


# -- augmenting with other types of labels --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "float", "category"])
def test_nullable_and_other_labels_get_points(dtype, labelled):
    data = labelled.assign(rating=(labelled["rating"] == "poor").astype(int).astype(dtype if dtype != "category" else int))  # fmt: skip
    if dtype == "category":
        data["rating"] = data["rating"].astype("category")
    inputs = data.drop(columns="rating")
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(inputs, data["rating"].astype(int))
    more = dm.explore(model, inputs, walks=200, progress=False).augment(data, "rating", folds=3)
    assert more.added.sum() > 0
    assert more.effect is not None
    assert more.frame["rating"].dtype == data["rating"].dtype


def test_rows_without_a_label_are_left_out_and_told(tree_front, labelled):
    data = labelled.copy()
    data.loc[[3, 7], "rating"] = None
    more = tree_front.augment(data, "rating", folds=3)
    assert more.note.startswith("2 rows without a label in 'rating' were left out.")
    assert more.effect is not None
    assert more.frame["rating"].notna().all()
    assert len(more.frame) == len(data) - 2 + more.added.sum()


# -- pages ------------------------------------------------------------------------------------------------------------


def test_a_picture_of_many_borders_keeps_a_short_legend():
    front = explore(lambda f: f["x"].astype(int) * 11 + f["y"].astype(int), walks=600)
    traces = front.plot().data
    assert len(traces) == 14  # real inputs, twelve borders and the rest
    assert sum(len(trace.x) for trace in traces[1:]) == len(front)
    rest = next(trace for trace in traces if "other borders" in trace.name)
    assert rest.name == f"{len(front.border_counts) - 12} other borders"


def test_a_page_shows_each_place_once_and_titles_that_wrap():
    one = explore(step(0.5), dm.Space([dm.Continuous("x", 0, 1)]))
    report = build_front_page(one)
    examples = next(section for section in report.sections if "plausible" in section.heading)
    assert len(examples.table.rows) == 1
    assert "front.pairs" not in examples.text
    page = render_page(report)
    assert "<figcaption>Where answers of" in page
    assert '"title":{"text":"Where answers' not in page
