"""Differences between two fronts, with and without their systems."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.exploration.page import build_front_page
from support.cases import LONG, rotate
from support.fronts import credit, explore, step, without


@pytest.mark.slow
def test_the_same_model_explored_twice_has_not_changed(wavy, mixed_front, people):
    old, new = explore(wavy(0)), explore(wavy(0), seed=1)
    change = old.diff(new)
    assert change.unchanged
    assert change.kept == 1.0
    assert len(change.rows) == 0
    assert "is unchanged" in change.describe()
    assert change.calls < 2 * (2 * (len(old) + len(new)) + len(old.seeds))
    again = dm.explore(
        credit, people, space=mixed_front.space, walks=300, seed=1, progress=False, strategy="random_walk"
    )
    assert mixed_front.diff(again).unchanged
    far = without(old).diff(without(new))
    assert far.unchanged
    assert far.kept > 0.9
    assert far.calls == 0
    assert "spacing of the pairs" in far.describe()
    assert "shows no change that could not be chance" in far.describe()


@pytest.mark.slow
def test_a_tree_refitted_to_the_same_data_has_not_changed():
    data = dm.data.load("iris")
    inputs = data.drop(columns="target")
    models = [DecisionTreeClassifier(random_state=0).fit(inputs, data["target"]) for _ in range(2)]
    old, new = (
        dm.explore(m, inputs, seed=seed, walks=300, progress=False, strategy="random_walk")
        for seed, m in enumerate(models)
    )
    assert old.diff(new).kept > 0.95


def test_the_difference_does_not_depend_on_the_rounding_of_units():
    """In another unit all numbers are rounded differently, as they are on another processor."""
    changes = []
    for unit in (1.0, 1 / 3, 0.7):
        space = dm.Space([dm.Continuous("x", 0, unit), dm.Continuous("y", 0, unit)])
        fronts = [
            dm.explore(
                lambda frame, unit=unit, limit=limit: frame.x + 0.3 * frame.y > limit * unit,
                space,
                seeds=40,
                walks=120,
                strategy="random_target",
                progress=False,
            )
            for limit in (0.6, 0.609)
        ]
        changes.append(fronts[0].diff(fronts[1]))
    assert {"kept", "moved"} <= set(changes[0].table["status"])
    for change in changes[1:]:
        assert change.table["status"].tolist() == changes[0].table["status"].tolist()
        assert change.calls == changes[0].calls


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_tolerance_decides_what_counts_as_a_move():
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


@pytest.mark.slow
def test_a_class_that_disappears_and_one_that_appears():
    three = explore(lambda f: np.select([f["x"] > 7, f["x"] > 3], ["c", "b"], "a"))
    two = explore(step(3, ("a", "b")), seed=1)
    gone = three.diff(two)
    assert gone.summary.loc["b | c", "vanished"] > 0
    assert gone.summary.loc["b | c", ["kept", "moved", "gained"]].sum() == 0
    assert gone.summary.loc["a | b", "kept"] == gone.summary.loc["a | b", ["kept", "moved", "gained", "vanished"]].sum()
    assert "no longer found: b | c" in gone.describe()
    new = two.diff(three)
    assert new.summary.loc["b | c", "gained"] > 0
    assert "for the first time: b | c" in new.describe()


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_border_with_swapped_classes_is_not_kept():
    old, new = explore(step(4.0)), explore(step(4.0, ("high", "low")), seed=1)
    change = old.diff(new)
    assert change.kept == 0
    assert len(change.rows) + change.rows_near == change.rows_asked
    assert "the two answers are swapped" in change.describe()
    files = without(old).diff(without(new))
    assert set(files.table["status"]) == {"vanished", "gained"}
    assert not files.unchanged
    for half in (without(old).diff(new), old.diff(without(new))):
        assert set(half.table["status"]) == {"vanished", "gained"}  # as the system says that can be asked
        assert not half.unchanged


@pytest.mark.slow
def test_large_changes_are_detected_without_systems():
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


@pytest.mark.slow
def test_mixed_data_with_categories_whole_numbers_and_missing_values(mixed_front, people):
    def stricter(f):
        return credit(f.assign(income=f["income"] - 5))

    new = dm.explore(
        stricter, people, space=mixed_front.space, walks=300, seed=1, progress=False, strategy="random_walk"
    )
    change = mixed_front.diff(new)
    assert not change.unchanged
    assert change.counts["moved"] > 0.5 * len(change.table)
    first = change.first()
    assert list(first.columns[: len(people.columns)]) == list(people.columns)
    assert (credit(first) == first["old_answer"]).all()
    assert (stricter(first) == first["new_answer"]).all()
    assert (first["old_answer"] != first["new_answer"]).all()


def test_integers_move_by_integer_steps():
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


@pytest.mark.slow
def test_regressors_are_compared_at_their_threshold():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.uniform(0, 10, (200, 2)), columns=["x", "y"])
    models = [LinearRegression().fit(x, x["x"] + bias) for bias in (0.0, 1.0)]
    fronts = [dm.explore(m, x, threshold=5.0, walks=80, progress=False, strategy="random_walk") for m in models]
    change = fronts[0].diff(fronts[1])
    assert set(change.table["border"]) == {"above 5 | at most 5"}
    assert change.table["shift"].median() == pytest.approx(0.1, abs=0.01)
    assert (
        fronts[0]
        .diff(dm.explore(models[0], x, threshold=5.0, seed=1, walks=80, progress=False, strategy="random_walk"))
        .unchanged
    )
    with pytest.raises(ArgumentError, match="different borders"):
        fronts[0].diff(dm.explore(models[1], x, threshold=6.0, walks=5, progress=False))
    jumps = [explore(lambda f, at=at: np.where(f["x"] > at, 9.5, 0.25), walks=80, jump=3.0) for at in (4, 5)]
    assert jumps[0].diff(jumps[1]).summary["median_shift"].iloc[0] == pytest.approx(0.1, abs=0.01)
    assert jumps[0].diff(jumps[0]).unchanged


@pytest.mark.slow
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


@pytest.mark.slow
def test_fronts_that_cannot_be_compared_are_rejected(mixed_front):
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


@pytest.mark.slow
def test_empty_fronts_compare(empty_front):
    nothing = empty_front.diff(empty_front)
    assert len(nothing.rows) == 0
    assert nothing.unchanged
    assert "nothing to compare" in nothing.describe()
    assert len(nothing.first()) == 0
    gained = empty_front.diff(explore(step(4.0)))
    assert set(gained.table["status"]) == {"gained"}
    assert set(without(explore(step(4.0))).diff(without(empty_front)).table["status"]) == {"vanished"}


@pytest.mark.slow
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


def silent(f):
    return np.where(f["x"] > 7, np.nan, (f["x"] > 5).astype(float))


def raising(f):
    if (f["x"] > 7).any():
        raise RuntimeError("too far")
    return (f["x"] > 5).astype(float).to_numpy()


@pytest.mark.slow
@pytest.mark.parametrize("falls", [silent, raising] if LONG else [raising])
def test_a_model_that_stopped_answering_has_changed(falls, tmp_path):
    old = explore(lambda f: (f["x"] > 5).astype(float), walks=60)
    new = explore(falls, seed=1, walks=60)
    quiet = int((old.seeds.frame["x"] > 7).sum())
    old.save(tmp_path / "old.parquet")
    for before in (old, dm.Front.load(tmp_path / "old.parquet")):
        change = before.diff(new)
        assert change.kept == 1.0
        assert not change.unchanged
        assert len(change.rows) == quiet
        assert change.rows["new_answer"].map(lambda answer: answer is None).all()
        assert f"{quiet} of 200 real inputs get no answer any more" in change.describe()
        assert change.first(3)["why"].str.contains("gets no answer now").all()
        assert "1 -> no answer" in change.describe()
    back = new.diff(old)
    assert not back.unchanged
    assert f"{int((new.seeds.frame['x'] > 7).sum())} of 200 real inputs got no answer before" in back.describe()
    new.save(tmp_path / "new.parquet")
    assert (
        dm.Front.load(tmp_path / "new.parquet").diff(explore(falls, seed=2, walks=60)).unchanged
    )  # silence is nothing new


@pytest.mark.slow
def test_two_constant_systems(empty_front, tmp_path):
    other = explore(lambda f: np.full(len(f), "other"))
    assert "200 of 200 real inputs are answered differently" in empty_front.diff(other).describe()
    fronts = []
    for name, front in (
        ("old", empty_front),
        ("new", other),
        ("drawn", explore(lambda f: np.full(len(f), "other"), seed=5)),
    ):
        front.save(tmp_path / name)
        fronts.append(dm.Front.load(tmp_path / name))
    old, new, drawn = fronts
    assert "200 of 200 real inputs are answered differently" in old.diff(new).describe()
    assert not old.diff(new).unchanged
    assert "the answer other is given" in old.diff(drawn).describe()  # no seeds in common
    assert new.diff(drawn).unchanged


@pytest.fixture(scope="module")
def many():
    return [explore(dm.subjects["Sin 2"], None, walks=100, seed=seed) for seed in range(8 if LONG else 5)]


@pytest.mark.slow
def test_the_same_model_with_another_seed_is_unchanged(many, tmp_path):
    fronts = []
    for number, front in enumerate(many):
        front.save(tmp_path / f"{number}.parquet")
        fronts.append(dm.Front.load(tmp_path / f"{number}.parquet"))
    alarms = [
        not old.diff(new).unchanged
        for olds, news in (((fronts, many), (many, fronts), (fronts, fronts)) if LONG else ((fronts, fronts),))
        for old, new in zip(olds[:-1], news[1:], strict=True)
    ]
    assert sum(alarms) == 0


CHANGED_RULES = {
    "shifted": lambda f: np.select([f["x"] > 7, f["x"] > 4], ["c", "b"], "a"),
    "swapped": lambda f: np.select([f["x"] > 7, f["x"] > 3], ["a", "b"], "c"),
    "vanished": lambda f: np.where(f["x"] > 3, "b", "a"),
    "gained": lambda f: np.select([f["x"] > 8.5, f["x"] > 7, f["x"] > 3], ["d", "c", "b"], "a"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "walks"),
    rotate(list(CHANGED_RULES), [100, 300]) if LONG else [(change, 100) for change in CHANGED_RULES],
)
def test_files_show_changes(change, walks, tmp_path):
    rule = CHANGED_RULES[change]
    old = explore(lambda f: np.select([f["x"] > 7, f["x"] > 3], ["c", "b"], "a"), walks=walks)
    new = explore(rule, walks=walks, seed=1)
    for name, front in (("old", old), ("new", new)):
        front.save(tmp_path / name)
    loaded, after = (dm.Front.load(tmp_path / name) for name in ("old", "new"))
    for change in (loaded.diff(new), old.diff(after), loaded.diff(after)) if LONG else (loaded.diff(after),):
        assert not change.unchanged
        assert "has changed" in change.describe()
        assert len(change.first(3)) == 3


@pytest.mark.slow
def test_the_text_has_no_python_syntax(mixed_front, people):
    new = dm.explore(
        lambda f: credit(f.assign(income=f["income"] - 5)),
        people,
        space=mixed_front.space,
        walks=40,
        seed=1,
        strategy="random_walk",
    )
    for change in (mixed_front.diff(new), without(mixed_front).diff(new)):
        text = change.describe()
        assert "front." not in text
        assert "()" not in text
        case = " ".join(text.rpartition("\n  - ")[2].split())
        assert case.startswith("age ")
        assert "->" in case


@pytest.mark.slow
def test_labels_are_compared_by_value():
    def rule(kind):
        return lambda f: (f["x"] > 5).astype(int).to_numpy().astype(kind)

    whole = explore(rule(int), walks=80)
    for kind in (float, bool):
        other = explore(rule(kind), seed=1, walks=80)
        change = whole.diff(other)
        assert change.unchanged
        assert set(change.table["border"]) == {"0 | 1"}
        assert without(whole).diff(without(other)).unchanged
    text = explore(rule(str), seed=1, walks=80)
    assert whole.diff(text).kept == 0
    assert set(whole.diff(text).table["border"]) == {"0 | 1", "'0' | '1'"}
    assert not without(whole).diff(without(text)).unchanged


def test_borders_with_the_same_name_are_counted_separately():
    def rule(f):
        low, high = np.where(f["x"] < 5, "A | B", "C"), np.where(f["x"] < 5, "A", "B | C")
        return np.where(f["y"] < 5, low, high)

    front = explore(rule, walks=400)
    across = [kind for kind in front.border_counts.index if kind in ("A | B | C", "'A | B' | 'C'", "'A' | 'B | C'")]
    assert len(across) == 2
    assert front.border_counts.sum() == len(front)
    assert front.quality().loc["class pairs", "value"] == pytest.approx(len(front.border_counts) / 6)
    assert build_front_page(front).sections[1].table.rows[0][0] in front.border_counts.index
