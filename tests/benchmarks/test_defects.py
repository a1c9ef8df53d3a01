"""The suite of defects: what it has, that its cases build, and what counts as named."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest
from benchmarks.defects import data, run
from benchmarks.defects.registry import ANY_LEVEL, DEFECTS, GOOD, Defect

SYNTHETIC = [item for item in (*DEFECTS, *GOOD) if item.data in data.SYNTHETIC]


@dataclass(frozen=True, kw_only=True)
class FakeFinding:
    """The fields of a finding that decide whether it names a defect."""

    title: str
    detail: str = ""
    about: str = ""
    level: str = "concern"
    columns: tuple[str, ...] = ()
    evidence: tuple[FakeFinding, ...] = field(default=())


def make_defect(**fields) -> Defect:
    usual = {"kind": "units", "name": "a unit", "data": "rides", "model": "ridge", "make": lambda setting: None}
    return Defect(**(usual | {"words": ["multipl", "unit"], "columns": ["distance_km"]} | fields))


# -- what the suite has ------------------------------------------------------------------------------------------


def test_the_suite_is_as_large_as_promised():
    assert len(DEFECTS) >= 90
    assert len(GOOD) >= 60
    assert len({item.data for item in DEFECTS}) >= 10
    assert len({item.model for item in DEFECTS}) >= 6
    assert 0.1 < np.mean([item.held_back for item in DEFECTS]) < 0.4
    assert {item.data for item in GOOD if item.held_back} == set(data.HELD_BACK)


def test_no_case_is_there_twice():
    keys = [(item.kind, item.name, item.data, item.model, str(item.columns)) for item in DEFECTS]
    assert len(set(keys)) == len(keys)
    assert len({item.title for item in GOOD}) == len(GOOD)


def test_defects_say_how_they_are_named():
    for item in DEFECTS:
        assert item.words, item.title
        for word in item.words:  # no pattern is so loose that it fits nothing at all
            assert not run.has_word("", [run.as_pattern(word)]), (item.title, word)


@pytest.mark.parametrize("name", data.SYNTHETIC)
def test_tables_are_the_same_for_a_seed(name):
    frame = data.load(name, 3)
    pd.testing.assert_frame_equal(frame, data.load(name, 3))
    assert not frame.equals(data.load(name, 4))
    assert frame[data.find_target(name)].notna().all()


# -- cases ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("item", SYNTHETIC[::25], ids=lambda item: item.title)
def test_cases_are_tested_on_other_rows_than_they_were_fitted_to(item):
    frame = data.load(item.data, 0)[:400]
    frame = frame.reset_index(drop=True)
    try:
        case = item.build(frame, 0)
    except ValueError as error:  # so few rows may lack a class or a group
        pytest.skip(str(error))
    inputs = case.data.drop(columns=case.options["target"])
    answers = case.model.predict(inputs)
    assert len(answers) == len(case.data) > 0
    again = item.build(frame, 0).model.predict(inputs)
    assert (np.asarray(answers) == np.asarray(again)).all()


def test_a_case_has_the_training_part_as_reference_or_not():
    shares = [item for item in DEFECTS if item.name == "rows of the test data were training rows"]
    case = next(item for item in shares if item.data == "houses").build(data.load("houses", 0)[:300], 0)
    assert len(case.options["reference"]) == 150
    keys = set(map(tuple, case.train.astype(str).to_numpy()))
    assert 20 < sum(tuple(row) in keys for row in case.data.astype(str).to_numpy()) < 100


# -- what counts as named ------------------------------------------------------------------------------------------


def test_a_finding_names_the_column_and_the_cause():
    defect = make_defect()
    assert run.is_named_by(defect, FakeFinding(title="Multiplied by 1.6, distance_km fits the labels"))
    assert run.is_named_by(defect, FakeFinding(title="Another unit in serving", columns=("distance_km",)))
    assert run.is_named_by(defect, FakeFinding(title="A column is misread", about="distance_km", detail="units?"))


@pytest.mark.parametrize(
    "finding",
    [
        FakeFinding(title="Multiplied by 1.6, distance_km fits the labels", level="advice"),
        FakeFinding(title="Multiplied by 1.6, fare fits the labels", columns=("fare",)),
        FakeFinding(title="Multiplied by 1.6, distance_km2 fits the labels"),
        FakeFinding(title="Answers for distance_km above 5 are wrong"),
        FakeFinding(title="distance_km is in the community of columns"),
        FakeFinding(title="Another unit", detail="not so for distance_km"),
        FakeFinding(title="distance_km is bad", evidence=(FakeFinding(title="Another unit", about="fare"),)),
    ],
)
def test_a_finding_about_something_else_does_not_count(finding):
    assert not run.is_named_by(make_defect(), finding)


def test_the_condition_of_a_finding_is_not_its_subject():
    title = "Serving looks wrong for fare: multiplied by 7 where distance_km > 4, it fits the labels"
    finding = FakeFinding(title=title, columns=("fare", "distance_km"))
    assert not run.is_named_by(make_defect(), finding, ["fare", "distance_km"])
    group = FakeFinding(title="It is mostly wrong where distance_km > 4", detail="another unit?")
    assert run.is_named_by(make_defect(), group, ["fare", "distance_km"])


def test_a_defect_without_a_column_is_named_in_the_title():
    defect = make_defect(columns=())
    assert run.is_named_by(defect, FakeFinding(title="The answers are in another unit"))
    assert not run.is_named_by(defect, FakeFinding(title="The answers jump", detail="in units of the label"))


def test_evidence_of_another_check_counts_where_it_says_both():
    other = FakeFinding(title="Another unit of distance_km", level="advice")
    assert run.is_named_by(make_defect(), FakeFinding(title="Wrong answers", evidence=(other,)))
    assert not run.is_named_by(make_defect(), FakeFinding(title="Wrong answers", level="advice", evidence=(other,)))
    assert run.is_named_by(make_defect(levels=ANY_LEVEL), other)


def test_values_of_categories_may_have_any_characters():
    defect = make_defect(words=["$40K ("], columns=())
    assert run.is_named_by(defect, FakeFinding(title="Worse where income is $40K (net)"))


# -- the runner ----------------------------------------------------------------------------------------------------


def make_outcome(**fields) -> run.Outcome:
    usual = {"kind": "units", "name": "a unit", "data": "rides", "model": "ridge", "defect": True, "seed": 0}
    return run.Outcome(**(usual | {"held_back": False, "reference": False} | fields))


def test_the_summary_counts_kinds_alarms_and_seconds():
    outcomes = [
        make_outcome(named=True, seconds=1.0),
        make_outcome(seconds=3.0),
        make_outcome(kind="drift", held_back=True, named=True, seconds=2.0),
        make_outcome(defect=False, alarms=2, findings=("concern: a", "fault: b"), seconds=9.0),
        make_outcome(defect=False, error="ValueError: no"),
    ]
    values = {name: value for name, value, _ in run.summarise(outcomes)}
    assert values["named: units"] == "1 of 2"
    assert values["named: drift"] == "1 of 1"
    assert values["named on all other data sets"] == "1 of 2"
    assert values["named on the data sets held back"] == "1 of 1"
    assert values["alarms about good models"] == "2 about 1 of 2"
    assert values["seconds per test"] == "2.0"
    assert values["tests that failed"] == "1"


def test_a_missed_defect_is_shown_with_what_was_said():
    lines = list(run.describe(make_outcome(findings=("advice: something else",))))
    assert lines[0].startswith("missed")
    assert "something else" in lines[1]
    assert next(run.describe(make_outcome(defect=False, findings=("advice: x",)))).startswith("quiet")
    alarm = list(run.describe(make_outcome(defect=False, findings=("advice: x", "fault: y"))))
    assert (len(alarm), alarm[0][:5]) == (2, "alarm")


def test_the_data_sets_held_back_are_left_out_unless_asked_for():
    assert not any(item.held_back for item in run.select())
    assert all(item.held_back for item in run.select(held_back=True))
    assert len(run.select(held_back=None)) == len(DEFECTS) + len(GOOD)
    assert all(item.kind == "weak" for item in run.select(kind="weak", good_only=True))


def test_the_command_tests_cases_and_writes_what_was_said(tmp_path, capsys):
    answer = tmp_path / "outcomes.json"
    run.main(
        [
            "--name",
            "names of classes",
            "--data",
            "loans",
            "--checks",
            "answers",
            "--budget",
            "5s",
            "--json",
            str(answer),
        ]
    )
    (outcome,) = json.loads(answer.read_text(encoding="utf-8"))
    assert (outcome["name"], outcome["named"]) == ("the names of classes are swapped or rotated", False)
    assert "0 of 1" in capsys.readouterr().out


def test_a_test_that_fails_does_not_end_the_run():
    item = next(item for item in GOOD if item.data == "loans")
    outcome = run.run_case(item, 0, budget="no budget")
    assert outcome.error
    assert next(run.describe(outcome)).startswith("error")
