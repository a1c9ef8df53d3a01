"""Edits of the table of features become hints, and wrong ones are explained."""

import pytest

from datamorphic.cli.options import parse_hints
from datamorphic.errors import UsageError
from datamorphic.web.space_edits import FeatureEdit, build_hints, has_editable_order
from datamorphic.web.subject import ChosenSubject
from support.cases import in_one_test

AGE = {"name": "age", "kind": "integer", "low": 18.0, "high": 80.0, "step": 3.0, "values": [], "value_count": 0}
CARD = {
    "name": "card=x",
    "kind": "categorical",
    "low": None,
    "high": None,
    "step": None,
    "values": ["blue", "gold"],
    "value_count": 2,
}


def test_what_was_not_changed_is_no_hint():
    assert build_hints([AGE, CARD], {item["name"]: FeatureEdit.of_feature(item) for item in (AGE, CARD)}) == {}


def test_hints_are_those_of_the_command_line():
    edits = {"age": FeatureEdit(kind="continuous", low=10, high=90.5, step=0.5)}
    hints = build_hints([AGE, CARD], edits)
    assert hints == {"kind": {"age": "continuous"}, "bounds": {"age": "10:90.5"}, "column-step": {"age": "0.5"}}
    subject = ChosenSubject(kind="files", hints=hints)
    options = parse_hints(*(subject.format_hints(option) for option in subject.HINT_OPTIONS))
    assert options.bounds == {"age": (10, 90.5)}
    assert options.steps == {"age": 0.5}


def test_open_ends_and_other_kinds():
    assert build_hints([AGE], {"age": FeatureEdit(kind="integer", low=None, high=None, step=3)}) == {
        "bounds": {"age": ":"}
    }
    assert build_hints([AGE], {"age": FeatureEdit(kind="categorical", low=18, high=80, step=3)}) == {
        "kind": {"age": "categorical"}
    }
    assert build_hints([CARD], {"card=x": FeatureEdit(kind="integer", order="blue, gold")}) == {
        "kind": {"card=x": "integer"}
    }


def test_an_order():
    edits = {"card=x": FeatureEdit(kind="categorical", order="gold , blue")}
    assert build_hints([CARD], edits) == {"order": {"card=x": "gold,blue"}}
    assert not has_editable_order(CARD | {"values": ["a,b"]})
    assert not has_editable_order(CARD | {"value_count": 1_000})


@in_one_test(
    ("feature", "edit", "message"),
    [
        (AGE, FeatureEdit(kind="integer", low=90, high=80, step=3), "above the highest"),
        (AGE, FeatureEdit(kind="integer", low=1.5, high=80, step=3), "whole limits"),
        (AGE, FeatureEdit(kind="integer", low=18, high=80, step=0), "above 0"),
        (AGE, FeatureEdit(kind="integer", low=18, high=80, step=1.5), "is whole"),
        (AGE, FeatureEdit(kind="integer", low="x", high=80, step=1), "not a number"),
        (AGE, FeatureEdit(kind="continuous", low="inf", high=80, step=1), "finite"),
        (AGE, FeatureEdit(kind="os:system"), "not a kind"),
        (CARD, FeatureEdit(kind="categorical", order="gold"), "leaves out blue"),
        (CARD, FeatureEdit(kind="categorical", order="gold, blue, red"), "red is not a category"),
        (CARD, FeatureEdit(kind="categorical", order="gold, blue, gold"), "listed twice"),
    ],
)
def test_wrong_edits_are_explained(feature, edit, message):
    with pytest.raises(UsageError, match=message):
        build_hints([feature], {feature["name"]: edit})
