"""Morphy's test-set files: what is read and written, round trips, and errors with line and field."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.morphisms.cases import Correctness, TestSet, Verdict
from datamorphic.morphisms.morphy_files import write_morphy
from datamorphic.space.outputs import Outputs, Status
from support.cases import in_one_test

HEADER = """{ToolName:Morphy Test Runner, Version:1.3: March 4th, 2021,
Date:Sat Apr 10 14:22:58 BST 2021,
TestSpecClass:Plane.Plane_TestSpec,
TestSet:[
"""
FIRST, SECOND = "7b7fbff8-26f4-40fa-9859-04c0bbd20700", "5a7e68e0-cd53-4c92-b629-f24b046b7365"
SEED = f"""{{
 id:{FIRST},
 input:<7.5|0.0>,
 output:red,
 feature:original,
 type:fromFile,
 origins:[],
 correctness:
}}
"""
MUTANT = f"""{{
 id:{SECOND},
 input:<7.5|0.2>,
 output:,
 feature:mutant,
 type:upward,
 origins:[  {FIRST}],
 correctness:never_falls:pass;is_known:fail;
}}
"""
FILE = HEADER + SEED + MUTANT + "]}\n"
PLANE = dm.Space([dm.Continuous("x", 0, 10), dm.Continuous("y", -1, 1)])


def load(tmp_path, text, space=PLANE, name="tests.tcs"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return TestSet.load(tmp_path / name, space)


def test_every_field_is_read(tmp_path):
    tests = load(tmp_path, FILE)
    assert tests.input.to_dict("list") == {"x": [7.5, 7.5], "y": [0.0, 0.2]}
    assert tests.ids.tolist() == [0, 1]
    assert tests.external_ids.tolist() == [FIRST, SECOND]
    assert tests.output.tolist() == ["red", ""]
    assert tests.outputs.status.tolist() == [Status.OK, Status.MISSING]
    assert tests.kinds.tolist() == [0, 1]
    assert tests.made_by_names.tolist() == ["fromFile", "upward"]
    assert tests.lineage(1) == [0]
    assert tests.correctness.tolist() == [Correctness.NOT_JUDGED, Correctness.INCORRECT]


def test_files_may_have_no_extension_and_no_space(tmp_path):
    tests = load(tmp_path, FILE, space=None, name="TrainingData")
    assert tests.input.to_dict("list") == {"x0": [7.5, 7.5], "x1": [0.0, 0.2]}
    assert load(tmp_path, FILE, name="results.txt").ids.tolist() == [0, 1]  # recognised by its header


def test_fields_may_be_in_any_order_or_missing(tmp_path):
    edited = f"{{\n\n  output:7,\n input: <1|1>,\n id:{FIRST}\n}},\n{{\n id:a,\n input:<2|0>,\n}}\n"
    tests = load(tmp_path, HEADER + edited.replace("\n", " \r\n") + "]}")
    assert tests.output.tolist() == [7, 0]
    assert tests.outputs.ok.tolist() == [True, False]
    assert tests.made_by_names.tolist() == ["seed", "seed"]
    assert tests.external_ids.tolist() == [FIRST, "a"]


def test_foreign_ids_survive_a_round_trip(tmp_path):
    tests = load(tmp_path, FILE)
    grown = TestSet.concat([tests, tests.mutants(PLANE.up(tests.inputs, "x"), "right", [tests.ids])])
    grown.save(tmp_path / "again.tcs")
    again = TestSet.load(tmp_path / "again.tcs", PLANE)
    assert again.ids.tolist() != grown.ids.tolist()  # ids of ours come first
    assert again.external_ids.tolist() == [FIRST, SECOND, "", ""]
    for row, case_id in enumerate(again.ids.tolist()):
        old_lineage = [grown.rows_of(np.array([i]))[0] for i in grown.lineage(int(grown.ids[row]))]
        assert [again.rows_of(np.array([i]))[0] for i in again.lineage(case_id)] == old_lineage
    again.save(tmp_path / "third.tcs")
    assert (tmp_path / "third.tcs").read_text() == (tmp_path / "again.tcs").read_text()


@pytest.mark.parametrize("suffix", ["tcs", "csv", "tsv", "parquet"])
def test_a_test_set_is_the_same_after_a_round_trip(tmp_path, mixed, suffix):
    seeds = TestSet.of_seeds(mixed.sample(4, seed=0, points=True), "random", first_id=7)
    tests = seeds.grow(
        mixed.midpoint(seeds.inputs, seeds.inputs.take([1, 2, 3, 0])), "mid", [seeds.ids, seeds.ids[::-1]]
    )
    status = np.array([0, 0, 0, 0, 0, 0, 0, 4], dtype=np.int8)
    tests = tests.with_outputs(Outputs(np.arange(8), status)).with_correctness([0, 1, 2, 1, 0, 1, 2, 0])
    tests = tests.take([5, 1, 2, 3, 0, 4, 6, 7])
    path = tmp_path / f"tests.{suffix}"
    tests.save(path)
    again = TestSet.load(path, mixed)
    pd.testing.assert_frame_equal(again.input, tests.input)
    for name in ("ids", "kinds", "origins", "correctness", "made_by_names"):
        assert getattr(again, name).tolist() == getattr(tests, name).tolist(), name
    assert again.outputs.ok.tolist() == tests.outputs.ok.tolist()
    assert again.output[:7].tolist() == tests.output[:7].tolist()
    again.save(tmp_path / f"again.{suffix}")
    if suffix != "parquet":
        assert (tmp_path / f"again.{suffix}").read_text() == path.read_text()


def test_origins_that_are_not_in_the_file(tmp_path):
    tests = load(tmp_path, HEADER + MUTANT + "]}\n")
    assert tests.origins.tolist() == [[-1, -1]]  # nothing is known about it
    seeds = TestSet.of_seeds(PLANE.sample(2, points=True))
    seeds.mutants(seeds.inputs, "up", [seeds.ids]).save(tmp_path / "mutants.tcs")
    assert TestSet.load(tmp_path / "mutants.tcs", PLANE).origins[:, 0].tolist() == [0, 1]


def test_joining_a_file_with_itself_keeps_ids_unique(tmp_path):
    tests = load(tmp_path, FILE)
    twice = TestSet.concat([tests, tests])
    assert twice.external_ids.tolist() == [FIRST, SECOND, "", ""]
    twice.save(tmp_path / "twice.tcs")
    assert len(TestSet.load(tmp_path / "twice.tcs", PLANE)) == 4


def test_categories_may_be_written_by_name_or_number(tmp_path):
    space = dm.Space([dm.Categorical("card", ["Blue", "Gold"]), dm.Integer("age", 0, 120, nullable=True)])
    text = FILE.replace("<7.5|0.0>", "<1|30>").replace("<7.5|0.2>", "<Blue|null>")
    tests = load(tmp_path, text, space)
    assert tests.input["card"].tolist() == ["Gold", "Blue"]
    assert tests.inputs.codes[:, 1].tolist()[0] == 30
    assert np.isnan(tests.inputs.codes[1, 1])
    digits = dm.Space([dm.Categorical("d", [5, 6]), dm.Integer("age", 0, 120, nullable=True)])
    assert load(tmp_path, text.replace("<1|30>", "<6|30>").replace("Blue", "5.0"), digits).input["d"].tolist() == [6, 5]


def test_the_verdicts_of_single_metamorphisms_are_written(tmp_path):
    seeds = TestSet.of_seeds(PLANE.sample(3, points=True))
    verdicts = {"a": np.array([Verdict.HOLDS, Verdict.VIOLATED, Verdict.UNDEFINED], dtype=object)}
    seeds.save(tmp_path / "tests.tcs", verdicts=verdicts)
    text = (tmp_path / "tests.tcs").read_text()
    assert [line for line in text.splitlines() if "correctness" in line] == [
        *(" correctness:a:pass;", " correctness:a:fail;", " correctness:")
    ]
    assert TestSet.load(tmp_path / "tests.tcs", PLANE).correctness.tolist() == [1, 2, 0]


def test_the_header_names_the_specification_and_no_date(tmp_path):
    write_morphy(TestSet.of_seeds(PLANE.sample(1, points=True)), tmp_path / "a.tcs", specification="Plane")
    lines = (tmp_path / "a.tcs").read_text().splitlines()
    assert lines[0].startswith("{ToolName:Morphy Test Runner, Version:")
    assert lines[1:4] == ["Date:,", "TestSpecClass:Plane,", "TestSet:["]
    assert lines[-1] == "]}"


@in_one_test(
    ("old", "new", "message"),
    [
        ("<7.5|0.2>", "<7.5|abc>", "tests.tcs, line 16, field 'input': 'abc', the value of 'y', is not a number"),
        ("<7.5|0.2>", "<7.5>", "line 16, field 'input': 1 value, but the space has 2: x, y"),
        ("<7.5|0.2>", "<NaN|0.2>", "line 16, field 'input': 'NaN', the value of 'x', is missing"),
        (
            "feature:mutant",
            "feature:mutated",
            "line 18, field 'feature': expected 'original' or 'mutant'. Got 'mutated'",
        ),
        (f"id:{SECOND}", f"id:{FIRST}", "line 15, field 'id': an earlier test case has the same id"),
        (f"id:{SECOND}", "id:", "line 15, field 'id': the id is empty"),
        ("origins:[  ", "origins:  ", "line 20, field 'origins': expected ids in brackets"),
        ("never_falls:pass", "never_falls", "line 21, field 'correctness': expected 'name:pass;' or 'name:fail;'"),
        (" output:,", " outpt:,", "line 17: expected a field of a test case .* Got 'outpt:,'"),
        (" output:,", " id:3,", "line 17: the field 'id' is there twice"),
        (" input:<7.5|0.2>,\n", "", "line 21: the test case that begins in line 14 has no field 'input'"),
        ("}\n{", "}\nsurprise\n{", "line 14: expected a test case"),
        ("TestSet:[", "Tests:[", "not a test-set file of Morphy"),
        ("\n}\n]}\n", "", "line 21: the file ends within the test case that begins in line 14"),
    ],
)
def test_errors_name_line_and_field(tmp_path, old, new, message):
    damaged = new.join(FILE.rsplit(old, 1))
    assert damaged != FILE
    with pytest.raises(dm.errors.DataError, match=message):
        load(tmp_path, damaged)


def test_hostile_files_are_refused_quickly(tmp_path):
    for garbage in ("{" * 500_000, HEADER + "{\n" * 200_000, HEADER + "{\n id:" + " " * 1_000_000, "\0" * 1000):
        with pytest.raises(dm.errors.DataError):
            load(tmp_path, garbage)
    (tmp_path / "latin.tcs").write_bytes(b"{ToolName:\xff")
    with pytest.raises(dm.errors.DataError, match="not UTF-8"):
        TestSet.load(tmp_path / "latin.tcs")
    with pytest.raises(dm.errors.DataError, match="There is no file"):
        TestSet.load(tmp_path / "nowhere.tcs")


def test_values_that_the_format_cannot_hold_are_refused(tmp_path):
    space = dm.Space([dm.Categorical("c", ["a|b", "c"])])
    seeds = TestSet.of_seeds(space.points(pd.DataFrame({"c": ["a|b", "c"]})))
    with pytest.raises(dm.errors.DataError, match=r"A value of 'c' is 'a\|b', which a file of Morphy cannot hold"):
        seeds.save(tmp_path / "a.tcs")
    seeds = TestSet.of_seeds(space.points(pd.DataFrame({"c": ["c"]})))
    with pytest.raises(dm.errors.DataError, match="A label is"):
        seeds.with_outputs(Outputs.of(np.array(["a\nb"]))).save(tmp_path / "a.tcs")
