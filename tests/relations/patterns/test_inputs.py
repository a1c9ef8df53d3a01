"""Each input pattern: what it makes of a case, and which cases it applies to."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.relations.patterns import inputs
from support.cases import in_one_test

CASE = {"text": "shoes for men", "brand": "any", "sort": "price up", "tags": "a,b", "x": 2.0, "y": 5.0}

#: input pattern, changes of the case above, follow-ups as the columns that changed; None if it does not apply
CHANGES = [
    (inputs.Swap(columns=("x", "y")), {}, [{"x": 5.0, "y": 2.0}]),
    (inputs.Permute(columns=("x", "y")), {}, [{"x": 5.0, "y": 2.0}]),
    (inputs.AffineChange(columns="x", factor=3, amount=1), {}, [{"x": 7.0}]),
    (inputs.AffineChange(columns="x", factor=3), {"x": np.nan}, None),
    (inputs.Add(columns="x"), {}, [{"x": 3.0}]),
    (inputs.Multiply(columns=("x", "y")), {}, [{"x": 4.0, "y": 10.0}]),
    (inputs.Increase(columns="x"), {}, [{"x": 3.0}]),
    (inputs.Increase(columns="x", factor=1.1), {"x": -1.0}, None),
    (inputs.Negate(columns="x"), {}, [{"x": -2.0}]),
    (inputs.Redirect(column="sort", directions={"price up": "price down"}), {}, [{"sort": "price down"}]),
    (inputs.Redirect(column="sort", directions={"price down": "price up"}), {}, [{"sort": "price down"}]),
    (inputs.Redirect(column="sort", directions={"price up": "price down"}), {"sort": "newest"}, None),
    (inputs.Resort(column="sort", directions={"price up": "newest"}), {}, [{"sort": "newest"}]),
    (inputs.Restrict(column="brand", values="Acme"), {}, [{"brand": "Acme"}]),
    (inputs.Restrict(column="brand", values="Acme"), {"brand": "Bolt"}, None),
    (inputs.Partition(column="brand", values=("Acme", "Bolt")), {}, [{"brand": "Acme"}, {"brand": "Bolt"}]),
    (inputs.OtherParts(column="brand", values=("A", "B", "C")), {"brand": "B"}, [{"brand": "C"}, {"brand": "A"}]),
    (inputs.OtherParts(column="brand", values=("A", "B")), {}, None),
    (inputs.Widen(column="text", alternatives="hat"), {}, [{"text": "shoes for men OR hat"}]),
    (inputs.ChangeSet(column="tags", elements="c"), {}, [{"tags": "a,b,c"}]),
    (inputs.ChangeSet(column="tags", elements="a"), {}, None),
    (inputs.ChangeSet(column="tags", operation="difference", elements="a"), {}, [{"tags": "b"}]),
    (inputs.ChangeSet(column="tags", operation="intersection", elements="a"), {}, [{"tags": "a"}]),
    (inputs.Condition(column="sort", values=("newest", "best")), {}, [{"sort": "newest"}, {"sort": "best"}]),
    (inputs.Condition(times=2), {}, [{}, {}]),
    (inputs.Rewrite(column="text", forms={"men": "gentlemen"}), {}, [{"text": "shoes for gentlemen"}]),
    (inputs.Rewrite(column="text", forms={"1 minute": "60 seconds"}), {"text": "1 minute"}, [{"text": "60 seconds"}]),
    (inputs.Rewrite(column="text", forms={"me": "I"}), {}, None),
    (inputs.SameMeaning(column="text"), {}, [{"text": "men's shoes"}]),
    (inputs.SameMeaning(column="text"), {"text": "men's shoes"}, [{"text": "shoes for men"}]),
    (inputs.SameMeaning(column="text"), {"text": "shoes"}, None),
    (inputs.SameMeaning(column="text", way="number"), {}, [{"text": "shoe for men"}]),
    (inputs.SameMeaning(column="text", way="number"), {"text": "red hat"}, [{"text": "red hats"}]),
    (inputs.SameMeaning(column="text", way="linking words"), {}, [{"text": "shoes men"}]),
    (inputs.SameMeaning(column="text", way="linking words"), {"text": "shoes"}, None),
    (inputs.MergeInputs(text="text", filter="brand", words={"men": "Men"}), {}, [{"text": "shoes", "brand": "Men"}]),
    (inputs.MergeInputs(text="text", filter="brand", words={"men": "Men"}), {"brand": "x"}, None),
    (inputs.AddElement(column="text", element=" now"), {}, [{"text": "shoes for men now"}]),
    (inputs.AddElement(column="text", element="A ", place="start"), {}, [{"text": "A shoes for men"}]),
    (inputs.AddElement(column="text", element=" ", place="final mark"), {"text": "Go."}, [{"text": "Go ."}]),
    (inputs.AddElement(column="text", element=" ", place="final mark"), {}, None),
    (inputs.RemoveElement(column="text", elements="for"), {}, [{"text": "shoes men"}]),
    (inputs.RemoveElement(column="text", elements="."), {"text": "Go. Now."}, [{"text": "Go Now."}]),
    (inputs.RemoveElement(column="text", elements="xyz"), {}, None),
    (inputs.ReplaceElement(column="text", forms={".": ","}), {"text": "Go. Now."}, [{"text": "Go, Now."}]),
    (inputs.ReplaceElement(column="text", forms={"shoes": "hats"}), {}, [{"text": "hats for men"}]),
    (inputs.SplitText(column="text"), {"text": "Go. Now."}, [{"text": "Go."}, {"text": "Now."}]),
    (inputs.SplitText(column="text"), {}, None),
    (
        inputs.FeedBack(column="text", direction="sort", directions={"price up": "price down"}),
        {},
        [{"sort": "price down"}],
    ),
]


@in_one_test(("pattern", "changes", "expected"), CHANGES)
def test_an_input_pattern_makes_follow_ups(pattern, changes, expected):
    case = CASE | changes
    frame = pd.DataFrame([case, case])
    assert pattern.applies(frame).tolist() == [expected is not None] * 2
    assert pattern.describe()
    if expected is not None:
        follow_ups = pattern.follow_ups(frame)
        assert [follow_up.iloc[1].to_dict() for follow_up in follow_ups] == [case | change for change in expected]
    assert frame.equals(pd.DataFrame([case, case]))


def test_the_other_direction_gets_the_answer():
    pattern = inputs.Invert(column="x", direction="way", directions={"there": "back"})
    frame = pd.DataFrame({"x": [1.0, 2.0], "way": ["there", "back"]})
    (follow_up,) = pattern.make_from_answers(frame, np.array([10.0, None], dtype=object), np.random.default_rng(0))
    assert follow_up.values.tolist() == [[10.0, "back"], [2.0, "there"]]


def test_noise_is_small_and_leaves_integers_alone():
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0], "n": [1, 2, 3], "text": ["ab", "c d", "1"]})
    rng = np.random.default_rng(0)
    changed = inputs.Perturb().follow_ups(frame, rng)[0]
    assert (changed.x != frame.x).all()
    assert np.allclose(changed.x, frame.x, atol=1e-5)
    assert changed.n.equals(frame.n)
    texts = inputs.Perturb(columns="text").follow_ups(frame, rng)[0]["text"].tolist()
    assert all(a != b and a.lower().split() == b.lower().split() for a, b in zip(frame["text"], texts, strict=True))
    with pytest.raises(dm.errors.ArgumentError, match="no column of real numbers"):
        inputs.Perturb().follow_ups(frame[["n"]], rng)


def test_texts_with_fewer_parts_get_empty_ones():
    frame = pd.DataFrame({"text": ["A. B. C.", "D. E."]})
    follow_ups = inputs.SplitText(column="text").follow_ups(frame)
    assert [follow_up["text"].tolist() for follow_up in follow_ups] == [["A.", "D."], ["B.", "E."], ["C.", ""]]


@in_one_test(
    ("mistake", "message"),
    [
        (lambda: inputs.Swap(columns=("a", "b", "c")), "two columns"),
        (lambda: inputs.Increase(columns="x", factor=-1), "a positive number"),
        (lambda: inputs.Add(columns="text").follow_ups(pd.DataFrame({"text": ["a"]})), "needs numbers"),
        (lambda: inputs.SameMeaning(column="t", way="tense"), "way"),
        (lambda: inputs.SplitText(column="t", separator="("), "a regular expression"),
        (lambda: inputs.AddElement(column="t", element=""), "element"),
        (lambda: inputs.Perturb(size=0), "a positive number"),
        (lambda: inputs.ChangeSet(column="t", operation="xor", elements="a"), "operation"),
        (lambda: inputs.Condition(column="t"), "at least 1"),
        (lambda: inputs.Condition(times=0), "a positive integer"),
        (
            lambda: inputs.FeedBack(column="x", direction="w", directions={1: 2}).then(inputs.Add(columns="x")),
            "cannot be composed",
        ),
    ],
)
def test_a_mistake_gets_one_clear_line(mistake, message):
    with pytest.raises(dm.errors.DatamorphicError, match=message) as caught:
        mistake()
    assert "\n" not in str(caught.value)
