"""Changes of columns, relations about them, and their composition."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError, DataError
from datamorphic.relations.algebra.base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED
from datamorphic.relations.algebra.change import Change, ChangeRelation, check_changes, compose
from datamorphic.relations.algebra.one_way import OneWay
from datamorphic.runs.driver import drive
from datamorphic.space.space import Space
from support.cases import in_one_test

SCORE = Change(column="score", factor=1.1, low=300, high=850, sentinels=(9999,))
LTV = Change(column="ltv", factor=0.9, low=1, high=98, sentinels=(999,))


def make_loans(n: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    loans = pd.DataFrame(
        {"score": rng.integers(520, 850, n), "ltv": rng.integers(1, 99, n), "income": rng.normal(50, 10, n).round(2)}
    )
    loans.loc[rng.random(n) < 0.1, "score"] = 9999
    loans.loc[rng.random(n) < 0.1, "ltv"] = 999
    return loans


def change_by_hand(value: int, factor: float, low: int, high: int, sentinel: int) -> tuple[int, bool, bool]:
    """Return a changed value, whether it was clipped, and whether it cannot be changed: the plain reference."""
    if value == sentinel:
        return value, False, True
    changed = round(value * factor)
    if changed > high:
        return high, True, False
    if changed < low:
        return low, True, False
    return changed, False, False


def test_a_composed_relation_makes_the_changes_of_its_parts_row_by_row() -> None:
    loans = make_loans()
    composed = compose(ChangeRelation("a", SCORE), ChangeRelation("b", LTV), name="both")
    changed, clipped, inapplicable = composed.change(loans)
    assert 0 < clipped.sum() < len(loans)
    assert 0 < inapplicable.sum() < len(loans)
    for row, loan in enumerate(loans.itertuples(index=False)):
        score, score_clipped, no_score = change_by_hand(loan.score, 1.1, 300, 850, 9999)
        ltv, ltv_clipped, no_ltv = change_by_hand(loan.ltv, 0.9, 1, 98, 999)
        assert tuple(changed.iloc[row]) == (score, ltv, loan.income)
        assert inapplicable[row] == (no_score or no_ltv)
        assert clipped[row] == ((score_clipped or ltv_clipped) and not inapplicable[row])
    assert (changed.dtypes == loans.dtypes).all()


def test_points_are_changed_as_frames_are() -> None:
    loans = make_loans()
    relation = compose(ChangeRelation("a", SCORE), ChangeRelation("b", LTV))
    points = Space.from_frame(loans).points(loans)
    changed_rows, changed_points = relation.change(loans), relation.change_points(points)
    pd.testing.assert_frame_equal(changed_rows.frame, changed_points.points.frame)
    assert (changed_rows.clipped == changed_points.clipped).all()
    assert (changed_rows.inapplicable == changed_points.inapplicable).all()


def test_a_later_change_acts_on_what_an_earlier_one_made() -> None:
    double = ChangeRelation("double", Change(column="x", factor=2))
    add = ChangeRelation("add", Change(column="x", amount=3))
    frame = pd.DataFrame({"x": [1, 5]})
    assert compose(double, add).change(frame).frame.x.tolist() == [5, 13]
    assert compose(add, double).change(frame).frame.x.tolist() == [8, 16]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.Series([10, 11]), [9, 10]),  # integers are rounded
        (pd.Series([10.0, 11.0]), [9.0, 9.9]),  # real numbers are not
        (pd.Series([10, None], dtype="Int64"), [9, pd.NA]),
        (pd.Series([10.0, math.nan]), [9.0, math.nan]),
        (pd.Series([10.0, 11.0], dtype="float32"), [9.0, np.float32(9.9)]),
    ],
)
def test_a_changed_column_keeps_its_type(column: pd.Series, expected: list[object]) -> None:
    changed = Change(column="x", factor=0.9).apply(pd.DataFrame({"x": column}))
    pd.testing.assert_series_equal(changed.frame.x, pd.Series(expected, dtype=column.dtype, name="x"))
    assert (changed.inapplicable == column.isna()).all()


def test_rounding_can_be_declared() -> None:
    frame = pd.DataFrame({"x": [11], "y": [11.0]})
    assert Change(column="x", factor=0.9, whole=False).apply(frame).frame.x.tolist() == [9.9]
    assert Change(column="y", factor=0.9, whole=True).apply(frame).frame.y.tolist() == [10.0]


def test_values_outside_the_range_and_values_that_become_sentinels_are_set_aside() -> None:
    change = Change(column="x", amount=1, low=0, high=1000, sentinels=(999,))
    changed = change.apply(pd.DataFrame({"x": [-5, 5, 998, 999, 1000, 2000]}))
    assert changed.inapplicable.tolist() == [True, False, True, True, False, True]
    assert changed.clipped.tolist() == [False, False, False, False, True, False]
    assert changed.frame.x.tolist() == [-5, 6, 998, 999, 1000, 2000]


def test_a_category_can_be_set() -> None:
    change = Change(column="colour", value="red", sentinels=("9",))
    frame = pd.DataFrame({"colour": ["blue", "9", None, "red"]})
    changed = change.apply(frame)
    assert changed.inapplicable.tolist() == [False, True, True, False]
    assert changed.frame.colour.fillna("none").tolist() == ["red", "9", "none", "red"]
    points = Space.from_frame(frame.iloc[[0, 1, 3]]).points(frame.iloc[[0, 1, 3]])
    relation = ChangeRelation("red", change)
    assert relation.change_points(points).points.frame.colour.tolist() == ["red", "9", "red"]
    with pytest.raises(DataError, match="no category 'green'"):
        ChangeRelation("green", Change(column="colour", value="green")).change_points(points)


@in_one_test(
    ("arguments", "message"),
    [
        ({"column": "x"}, "exactly one of factor=, amount= and value=. Got none of them"),
        ({"column": "x", "factor": 2, "amount": 1}, "Got factor and amount"),
        ({"column": "x", "factor": "2"}, "must be a finite number. Got '2'"),
        ({"column": "x", "amount": math.inf}, "must be a finite number. Got inf"),
        ({"column": "x", "factor": 2, "low": 5, "high": 1}, "reversed: low=5 is above high=1"),
        ({"column": "x", "value": 7, "low": 0, "high": 1}, r"7 of the change of 'x' is outside its range from 0 to 1"),
        ({"column": "", "factor": 2}, "name of a column"),
    ],
)
def test_wrong_changes_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Change(**arguments)


def test_columns_that_cannot_be_changed_are_named() -> None:
    with pytest.raises(DataError, match=r"no column 'scroe'.*score"):
        Change(column="scroe", factor=2).apply(pd.DataFrame({"score": [1]}))
    with pytest.raises(DataError, match="not a number in row 1: 'many'"):
        Change(column="x", factor=2).apply(pd.DataFrame({"x": [1, "many"]}))


@pytest.mark.parametrize(
    ("direction", "verdicts", "wrongness"),
    [
        ("down", [HOLDS, VIOLATED, HOLDS], [-0.1, 0.2, 0.0]),
        ("up", [VIOLATED, HOLDS, HOLDS], [0.1, -0.2, 0.0]),
        ("same", [VIOLATED, VIOLATED, HOLDS], [0.1, 0.2, 0.0]),
    ],
)
def test_wrongness_is_the_excess_in_the_wrong_direction(
    direction: str, verdicts: list[int], wrongness: list[float]
) -> None:
    relation = ChangeRelation("r", SCORE, direction=direction)
    judged = relation.judge_levels(np.array([0.5, 0.5, 0.5]), np.array([0.4, 0.7, 0.5 + 1e-12]))
    assert judged[0].tolist() == verdicts
    assert judged[1] == pytest.approx(wrongness, abs=1e-9)


def test_missing_answers_and_inapplicable_cases_are_not_judged() -> None:
    relation = ChangeRelation("r", SCORE)
    verdicts, wrongness = relation.judge_levels(
        np.array([0.1, np.nan, 0.1]), np.array([0.2, 0.2, 0.2]), np.array([False, False, True])
    )
    assert verdicts.tolist() == [VIOLATED, UNDEFINED, INAPPLICABLE]
    assert np.isnan(wrongness).tolist() == [False, True, True]


def rate_default(frame: pd.DataFrame) -> np.ndarray:
    """Return a probability that wrongly rises above a score of 800, a little, and above 840, much."""
    score = frame.score.to_numpy()
    return 0.5 - score / 3000 + np.where(score > 840, 0.05, np.where(score > 800, 0.028, 0.0))


def test_strong_and_weak_violations_are_told_apart() -> None:
    frame = pd.DataFrame({"score": [600, 700, 735, 800, 9999]})  # become 660, 770, 808 (or 809), 850, unchanged
    groups = run(ChangeRelation("r", SCORE), rate_default, frame)
    assert groups.verdicts.tolist() == [HOLDS, HOLDS, VIOLATED, VIOLATED, INAPPLICABLE]
    assert groups.strong.tolist() == [False, False, False, True, False]
    assert groups.weak.tolist() == [False, False, True, False, False]
    assert groups.clipped.tolist() == [False, False, False, True, False]
    assert groups.wrongness[3] == pytest.approx(0.05 - 50 / 3000)
    violations = groups.violations
    assert violations.wrongness.tolist() == groups.wrongness[[2, 3]].tolist()
    assert violations.clipped.tolist() == [False, True]


def run(relation: ChangeRelation, model: object, frame: pd.DataFrame):
    sut = dm.wrap(model)
    inputs = Space.from_frame(frame, kinds={"score": "integer"}).points(frame)
    return drive(check_changes([relation.fitted_to(sut, inputs)], inputs), relation.system(sut), progress=False)[0]


def test_sources_are_queried_once_for_all_relations() -> None:
    loans = make_loans()
    calls = []

    def model(frame: pd.DataFrame) -> np.ndarray:
        calls.append(len(frame))
        return frame.income.to_numpy()

    sut = dm.wrap(model)
    inputs = Space.from_frame(loans).points(loans)
    relations = [ChangeRelation("a", SCORE), ChangeRelation("b", LTV)]
    fitted = [relation.fitted_to(sut, inputs) for relation in relations]
    calls.clear()
    groups = drive(check_changes(fitted, inputs), sut, progress=False, cache=None, recheck=0, alive=True)
    assert calls == [len(loans)] * 3
    assert [part.count(VIOLATED) for part in groups] == [0, 0]


def test_relations_about_different_things_are_not_composed() -> None:
    first = ChangeRelation("a", SCORE, outcome="default")
    with pytest.raises(ArgumentError, match="does not rise, the second that it does not fall"):
        compose(first, ChangeRelation("b", LTV, outcome="default", direction="up"))
    with pytest.raises(ArgumentError, match="different outcomes, 'default' and 'paid'"):
        compose(first, ChangeRelation("b", LTV, outcome="paid"))
    with pytest.raises(ArgumentError, match="at least two"):
        compose(first)


def test_a_relation_needs_changes_and_a_known_direction() -> None:
    with pytest.raises(ArgumentError, match="needs at least one Change"):
        ChangeRelation("a", [])
    with pytest.raises(ArgumentError, match="'direction'"):
        ChangeRelation("a", SCORE, direction="sideways")


def test_a_check_queries_the_sources_of_several_relations_once() -> None:
    loans = make_loans(60)
    rows = []

    def model(frame: pd.DataFrame) -> np.ndarray:
        rows.append(len(frame))
        return 0.5 - frame.score.to_numpy() / 20_000 + frame.ltv.to_numpy() / 2000

    relations = [
        ChangeRelation("a", SCORE),
        ChangeRelation("b", LTV),
        compose(*(ChangeRelation("a", SCORE), ChangeRelation("b", LTV)), name="c"),
    ]
    alone = [dm.check(model, loans, relation, shrink=False).table.iloc[0] for relation in relations]
    rows.clear()
    report = dm.check(model, loans, relations, shrink=False)
    assert sum(rows) <= 60 * 4 + 60  # a few rows are queried first to see what the model answers
    for row, (_, together) in zip(alone, report.table.iterrows(), strict=True):
        columns = ["relation", "violated", "inapplicable", "holds"]
        assert together[columns].tolist() == row[columns].tolist()


def test_a_change_composes_with_every_expectation():
    less_debt = Change(column="debt", factor=0.5)
    loans = pd.DataFrame({"debt": [1200.0, 3000.0, 450.0]})
    rises, falls = (lambda frame: -frame.debt), (lambda frame: frame.debt)
    relations = [
        less_debt >> OneWay(direction="down"),
        less_debt >> dm.patterns["Monotone"].output(direction="down"),
        less_debt.then(Change(column="debt", amount=-1)) >> dm.patterns["Monotone"].output(direction="down"),
    ]
    for relation in relations:
        assert dm.check(falls, loans, relation).table.violated.tolist() == [0]
        assert dm.check(rises, loans, relation).table.violated.tolist() == [3]
    assert relations[0].name == "debt x 0.5"
    assert relations[1].statement == "debt x 0.5: the answer does not rise"
