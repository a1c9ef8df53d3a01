"""Test sets: lineage, concatenation, files."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.morphisms.cases import CaseKind, Correctness, TestSet
from datamorphic.space.outputs import Outputs, Status
from support.cases import in_one_test


@pytest.fixture
def family(mixed):
    """Four seeds, their upward moves, and midpoints of both."""
    seeds = TestSet.of_seeds(mixed.sample(4, seed=0, points=True), "random")
    ups = seeds.mutants(mixed.up(seeds.inputs, "n"), "up", [seeds.ids])
    both = TestSet.concat([seeds, ups])
    return both.grow(mixed.midpoint(seeds.inputs, ups.inputs), "mid", [seeds.ids, ups.ids])


def test_lineage_lists_all_ancestors(family):
    assert family.ids.tolist() == list(range(12))
    assert family.kinds.tolist() == [CaseKind.ORIGINAL] * 4 + [CaseKind.MUTANT] * 8
    assert family.made_by_names.tolist() == ["random"] * 4 + ["up"] * 4 + ["mid"] * 4
    assert family.lineage(0) == []
    assert family.lineage(5) == [1]
    assert family.lineage(10) == [2, 6]
    assert family.origins[8].tolist() == [0, 4]
    with pytest.raises(dm.errors.DataError, match="no test case with id 99"):
        family.lineage(99)


def test_filter_keeps_ids_and_lineage(family):
    some = family.filter(family.made_by_names != "up")
    assert some.ids.tolist() == [0, 1, 2, 3, 8, 9, 10, 11]
    assert some.lineage(9) == [1, 5]  # the way is remembered, though case 5 itself is gone
    assert some.rows_of(np.array([8, 5])).tolist() == [4, -1]


def test_sets_with_the_same_ids_are_renumbered_when_joined(family):
    joined = TestSet.concat([family, family])
    assert joined.ids.tolist() == list(range(24))
    assert joined.lineage(22) == [14, 18]
    pd.testing.assert_frame_equal(joined.input.iloc[12:].reset_index(drop=True), family.input)


def test_cases_without_outputs_are_missing_in_a_partly_executed_set(family):
    done = family.with_outputs(Outputs.of(np.array(["yes"] * 12)))
    joined = TestSet.concat([done, family])
    assert joined.outputs.ok.tolist() == [True] * 12 + [False] * 12
    with pytest.raises(dm.errors.DataError, match="have no outputs"):
        _ = family.output
    with pytest.raises(dm.errors.DataError, match="Got 1 output for 12 cases"):
        family.with_outputs(Outputs.of(np.array(["yes"])))


@in_one_test(
    "values",
    [
        None,
        np.arange(12),
        np.linspace(0, 1, 12),
        np.array(["red", "blue", "green"] * 4),
        np.array([True, False] * 6),
        np.array(["a", 1, 2.5, True] * 3, dtype=object),
        "tuples",
    ],
)
def test_parquet_preserves_a_test_set(tmp_path, family, values):
    if isinstance(values, str):
        values = np.empty(12, dtype=object)
        values[:] = [(0, 1), ("a", 2)] * 6
    if values is not None:
        status = np.zeros(12, dtype=np.int8)
        status[3] = Status.ERROR
        scores = np.random.default_rng(0).random((12, 2))
        family = family.with_outputs(Outputs(values, status, scores, {3: "it broke"}))
    path = tmp_path / "tests.parquet"
    family.to_parquet(path)
    again = TestSet.from_parquet(path)
    pd.testing.assert_frame_equal(again.input, family.input)
    assert again.space == family.space
    for name in ("ids", "kinds", "made_by", "origins"):
        np.testing.assert_array_equal(getattr(again, name), getattr(family, name))
    assert again.morphisms == family.morphisms
    if values is None:
        assert again.outputs is None
    else:
        ok = family.outputs.ok
        assert again.outputs.values[ok].tolist() == values[ok].tolist()
        assert [type(v) for v in again.outputs.values[ok].tolist()] == [type(v) for v in values[ok].tolist()]
        np.testing.assert_array_equal(again.outputs.status, family.outputs.status)
        np.testing.assert_array_equal(again.outputs.scores, family.outputs.scores)
        assert again.outputs.messages == {3: "it broke"}
    assert pd.read_parquet(path)["in.n"].tolist() == family.input["n"].tolist()  # any reader can read it


def test_correctness_is_kept_until_outputs_change(tmp_path, family):
    assert family.correctness.tolist() == [Correctness.NOT_JUDGED] * 12
    judged = family.with_outputs(Outputs.of(np.arange(12))).with_correctness([0, 1, 2] * 4)
    assert judged.take([2, 1]).correctness.tolist() == [2, 1]
    assert judged.renumbered(50).correctness.tolist() == [0, 1, 2] * 4
    assert TestSet.concat([judged, family]).correctness.tolist() == [0, 1, 2] * 4 + [0] * 12
    judged.to_parquet(tmp_path / "tests.parquet")
    assert TestSet.from_parquet(tmp_path / "tests.parquet").correctness.tolist() == [0, 1, 2] * 4
    assert not judged.with_outputs(Outputs.of(np.arange(12))).correctness.any()
    for wrong in ([0, 1], [3] * 12, ["correct"] * 12):
        with pytest.raises(dm.errors.DataError, match="a Correctness for each of 12 cases"):
            family.with_correctness(wrong)


def test_files_without_correctness_still_open(tmp_path, family):
    import pyarrow.parquet as pq

    path = tmp_path / "old.parquet"
    family.to_parquet(path)
    pq.write_table(pq.read_table(path).drop_columns(["correctness"]), path)
    assert TestSet.from_parquet(path).correctness.tolist() == [0] * 12


def test_duplicates_are_dropped_by_value_and_their_children_keep_a_parent(mixed):
    points = mixed.points(pd.DataFrame({"x": [1.0, 2.0, 1.0], "n": [1, 1, 1], "c": ["a", "a", "a"]}))
    seeds = TestSet.of_seeds(points)
    tests = seeds.grow(mixed.up(points, "n"), "up", [seeds.ids])  # case 5 comes from case 2, which equals case 0
    unique = tests.drop_duplicates()
    assert unique.ids.tolist() == [0, 1, 3, 4]
    assert unique.drop_duplicates() is unique
    late = tests.take([3, 4, 0, 1, 2]).drop_duplicates()
    assert late.ids.tolist() == [3, 4, 0, 1]
    orphan = tests.take([2, 0, 5, 3]).drop_duplicates()  # now case 2 is the first with its value
    assert orphan.ids.tolist() == [2, 5]
    assert orphan.lineage(5) == [2]
    child_of_a_duplicate = tests.take([0, 2, 5]).drop_duplicates()
    assert child_of_a_duplicate.ids.tolist() == [0, 5]
    assert child_of_a_duplicate.lineage(5) == [0]


# -- working with test sets ------------------------------------------------------------------------------------


@pytest.fixture
def line_tests():
    """Three seeds on a line, each moved up, executed and judged."""
    space = dm.Space([dm.Continuous("x", 0, 10, step=1)])
    seeds = TestSet.of_seeds(space.points(pd.DataFrame({"x": [3.0, 1.0, 2.0]})), "grid")
    tests = seeds.grow(space.up(seeds.inputs, "x"), "up", [seeds.ids])
    labels = np.array(["low", "low", "high", "high", "low", "high"])
    return tests.with_outputs(Outputs.of(labels)).with_correctness([0, 0, 0, 1, 1, 2])


def test_cases_are_sorted_by_features_columns_or_values(line_tests):
    assert line_tests.sort_by("x").ids.tolist() == [1, 2, 4, 0, 5, 3]  # equal values stay in their order
    assert line_tests.sort_by("x", descending=True).ids.tolist() == [3, 0, 5, 2, 4, 1]
    assert line_tests.sort_by("label").ids.tolist() == [2, 3, 5, 0, 1, 4]
    assert line_tests.sort_by("correctness").correctness.tolist() == [1, 1, 2, 0, 0, 0]
    assert line_tests.sort_by([5, 4, 3, 2, 1, 0]).ids.tolist() == [5, 4, 3, 2, 1, 0]
    assert line_tests.sort_by(np.arange(6, dtype=np.uint8), descending=True).ids.tolist() == [5, 4, 3, 2, 1, 0]
    assert line_tests.sort_by([1.0, np.nan, 3, 2, 5, 4], descending=True).ids.tolist() == [4, 5, 2, 3, 0, 1]
    edited = line_tests.edit(0, x=9.0)
    assert edited.sort_by("label").ids.tolist()[-1] == 0  # it has no label
    with pytest.raises(dm.errors.DataError, match="have no 'y'"):
        line_tests.sort_by("y")
    with pytest.raises(dm.errors.DataError, match="one value for each of 6 cases"):
        line_tests.sort_by([1, 2])


def test_cases_are_counted(line_tests):
    assert line_tests.count_by("label").to_dict() == {"high": 3, "low": 3}
    assert line_tests.count_by("morphism").to_dict() == {"grid": 3, "up": 3}
    assert line_tests.count_by("kind").to_dict() == {"mutant": 3, "original": 3}
    assert list(line_tests.count_by("correctness").items()) == [("not judged", 3), ("correct", 2), ("incorrect", 1)]
    assert line_tests.count_by("origin").to_dict() == {0: 1, 1: 1, 2: 1}
    assert line_tests.edit(1, x=0.5).count_by("label").to_dict() == {"high": 3, "low": 2, None: 1}
    with pytest.raises(dm.errors.DataError, match=r"cannot be counted by 'lable'. Did you mean 'label'"):
        line_tests.count_by("lable")


def test_an_edited_case_is_a_seed_case_without_output(line_tests):
    edited = line_tests.edit(1, {"x": 7.5})
    assert edited.ids.tolist() == line_tests.ids.tolist()
    assert edited.input["x"].tolist()[1] == 7.5
    assert edited.outputs.ok.tolist() == [True, False, True, True, True, True]
    assert edited.made_by_names[1] == "edit"
    assert edited.lineage(4) == []  # case 4 was made from the input that is no longer there,
    assert edited.correctness.tolist() == [0, 0, 0, 1, 0, 2]  # so nothing is known about its correctness
    mutant = line_tests.edit(3, x=1.0)
    assert (mutant.kinds[3], mutant.lineage(3)) == (CaseKind.ORIGINAL, [])
    assert mutant.edit(4, x=1.0).morphisms == ("grid", "up", "edit")
    for case_id, name, message in [(99, "x", "no test case with id 99"), (1, "y", "no feature 'y'")]:
        with pytest.raises(dm.errors.DataError, match=message):
            line_tests.edit(case_id, {name: 1.0})


def test_sets_are_merged_by_value(line_tests):
    half = line_tests.take([0, 1, 3])
    not_executed = dataclasses.replace(half, outputs=None)
    merged = not_executed.merge(line_tests)
    assert merged.input["x"].tolist() == [3.0, 1.0, 4.0, 2.0, 2.0]  # duplicates within a set stay
    assert merged.ids[:3].tolist() == [0, 1, 3]
    assert merged.output.tolist()[:3] == ["low", "low", "high"]  # taken from the other set
    assert merged.correctness.tolist()[2] == 1
    assert len(half.merge(line_tests, keep_duplicates=True)) == 9
    assert half.merge(half).ids.tolist() == [0, 1, 3]
    assert half.merge(line_tests.take([])).ids.tolist() == [0, 1, 3]


def test_children_of_a_case_that_is_left_out_keep_a_parent():
    space = dm.Space([dm.Continuous("x", 0, 10, step=1)])
    seeds = TestSet.of_seeds(space.points(pd.DataFrame({"x": [3.0, 1.0]})))
    tests = seeds.grow(space.up(seeds.inputs, "x"), "up", [seeds.ids])
    merged = seeds.take([1]).merge(tests)  # the other set is renumbered
    assert merged.input["x"].tolist() == [1.0, 3.0, 4.0, 2.0]
    assert merged.lineage(int(merged.ids[3])) == [1]


def test_files_that_are_not_test_sets_are_rejected(tmp_path, family):
    (tmp_path / "text.parquet").write_text("not at all")
    with pytest.raises(dm.errors.DataError, match="cannot be read as Parquet"):
        TestSet.from_parquet(tmp_path / "text.parquet")
    with pytest.raises(dm.errors.DataError, match="cannot be read as Parquet"):
        TestSet.from_parquet(tmp_path / "nowhere.parquet")
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(dm.errors.DataError, match="but not one that TestSet"):
        TestSet.from_parquet(tmp_path / "other.parquet")
    family.to_parquet(tmp_path / "whole.parquet")
    cut = (tmp_path / "whole.parquet").read_bytes()[:-20]
    (tmp_path / "cut.parquet").write_bytes(cut)
    with pytest.raises(dm.errors.DataError, match="cannot be read as Parquet"):
        TestSet.from_parquet(tmp_path / "cut.parquet")


def test_a_label_that_no_file_can_hold_is_rejected(tmp_path, family):
    values = np.array([object()] * 12, dtype=object)
    with pytest.raises(dm.errors.DataError, match="cannot be stored in a file"):
        family.with_outputs(Outputs.of(values)).to_parquet(tmp_path / "x.parquet")


def test_the_frame_has_inputs_outputs_and_origins(family):
    frame = family.with_outputs(Outputs.of(np.arange(12))).frame()
    assert list(frame.columns) == [
        *("id", "in.x", "in.n", "in.c", "output", "status", "message", "kind", "morphism", "correctness"),
        *("origin.0", "origin.1"),
    ]


def test_new_cases_keep_their_origins_when_ids_are_renumbered(mixed):
    seeds = TestSet.of_seeds(mixed.sample(5, points=True))
    up = seeds.mutants(mixed.up(seeds.inputs, "n"), "up", [seeds.ids])
    down = seeds.mutants(mixed.down(seeds.inputs, "n"), "down", [seeds.ids])
    joined = TestSet.concat([seeds, up, down])
    assert joined.ids.tolist() == list(range(15))
    assert joined.origins[10:, 0].tolist() == [0, 1, 2, 3, 4]
    assert joined.lineage(12) == [2]


def _hostile(table, about, **changes):
    import json

    return table.replace_schema_metadata({"datamorphic": json.dumps({**about, **changes})})


@in_one_test(
    "damage",
    [
        lambda t, a: _hostile(t, {}),
        lambda t, a: t.replace_schema_metadata({"datamorphic": "[1, 2]"}),
        lambda t, a: t.replace_schema_metadata({"datamorphic": "[" * 100_000}),
        lambda t, a: _hostile(t, a, format="new"),
        lambda t, a: _hostile(t, a, format=99),
        lambda t, a: _hostile(t, a, space={"features": "abc"}),
        lambda t, a: _hostile(t, a, morphisms=[]),
        lambda t, a: _hostile(t, a, output="<U500000000"),
        lambda t, a: _hostile(t, a, output="object"),
        lambda t, a: t.drop_columns(["id"]),
        lambda t, a: t.drop_columns(["in.c"]),
        lambda t, a: t.set_column(t.column_names.index("in.c"), "in.c", [[7.0] * 12]),
        lambda t, a: t.set_column(t.column_names.index("in.c"), "in.c", [[0.5] * 12]),
        lambda t, a: t.set_column(t.column_names.index("in.x"), "in.x", [[float("nan")] * 12]),
        lambda t, a: t.set_column(t.column_names.index("made_by"), "made_by", [[9] * 12]),
        lambda t, a: t.set_column(t.column_names.index("id"), "id", [["x"] * 12]),
        lambda t, a: t.set_column(t.column_names.index("correctness"), "correctness", [[7] * 12]),
    ],
)
def test_hostile_files_are_rejected(tmp_path, family, damage):
    import json

    import pyarrow.parquet as pq

    path = tmp_path / "tests.parquet"
    family.with_outputs(Outputs.of(np.arange(12))).to_parquet(path)
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[b"datamorphic"])
    pq.write_table(damage(table, about), path)
    with pytest.raises(dm.errors.DataError):
        TestSet.from_parquet(path)
