"""Each output pattern on answers that satisfy it and on answers that do not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.relations.patterns import outputs
from support.cases import in_one_test

#: output pattern, source answer, follow-up answers, whether it holds
GROUPS = [
    (outputs.Equal(), ("a", "b"), [("a", "b")], True),
    (outputs.Equal(), ("a", "b"), [("b", "a")], False),
    (outputs.Equal(), 0.3, [0.1 + 0.2], True),
    (outputs.Equal(tolerance=0.5), 1.0, [1.4], True),
    (outputs.Equal(tolerance=0.5), 1.0, [1.6], False),
    (outputs.Equal(), "yes", ["yes", "no"], False),
    (outputs.Equal(part="n"), {"n": 1, "m": 2}, [{"n": 1, "m": 3}], True),
    (outputs.Equal(part=0), ("a", "b"), [("a", "c")], True),
    (outputs.FullyEqual(), {"n": 1, "m": 2}, [{"n": 1, "m": 3}], False),
    (outputs.SameItems(), ("a", "b"), [("b", "a")], True),
    (outputs.SameItems(), ("a", "a"), [("a",)], False),
    (outputs.PartlyEqual(parts=("size",)), ("a", "b"), [("c", "d")], True),
    (outputs.PartlyEqual(parts=("size",)), ("a", "b"), [("c",)], False),
    (outputs.PartlyEqual(parts=("items",)), ("a", "b"), [("b", "a")], True),
    (outputs.PartlyEqual(parts=("items", "order")), ("a", "b"), [("b", "a")], False),
    (outputs.PartlyEqual(parts=("km",)), {"km": 3, "path": (1, 2)}, [{"km": 3, "path": (2, 1)}], True),
    (outputs.PartlyEqual(parts=(0,)), ("a", "b"), [("a",)], True),
    (outputs.SameSize(), ("a", "b"), [("c", "d")], True),
    (outputs.SameSize(), 7, [8], False),
    (outputs.Reversed(), ("a", "b", "c"), [("c", "b", "a")], True),
    (outputs.Reversed(), ("a", "b", "c"), [("a", "b", "c")], False),
    (outputs.Alike(at_least=0.5), ("a", "b", "c"), [("b", "c", "d")], True),
    (outputs.Alike(at_least=0.6), ("a", "b", "c"), [("b", "c", "d")], False),
    (outputs.Alike(at_least=0.5), "the red hat", "the hat", True),
    (outputs.Alike(at_least=0.9), 100.0, [95.0], True),
    (outputs.Alike(), {"km": 100.0, "path": (1, 2)}, [{"km": 99.0, "path": (1, 2)}], True),
    (outputs.NearlySame(), "yes", ["no"], False),
    (outputs.Different(), ("a",), [("a", "b")], True),
    (outputs.Different(), ("a", "b"), [("b", "a")], False),
    (outputs.Within(), ("a", "b"), [("a",), ()], True),
    (outputs.Within(), ("a", "b"), [("a",), ("c",)], False),
    (outputs.Covers(), ("a",), [("a", "b")], True),
    (outputs.Covers(), ("a", "c"), [("a", "b")], False),
    (outputs.NoneShared(), ("a",), [("b",), ("c",)], True),
    (outputs.NoneShared(), ("a",), [("b",), ("b",)], False),
    (outputs.NoneShared(among="follow-ups"), ("a", "b"), [("a",), ("b",)], True),
    (outputs.Union(), ("a", "b"), [("b",), ("a",)], True),
    (outputs.Union(), ("a", "b", "c"), [("b",), ("a",)], False),
    (outputs.Split(), ("a", "b"), [("b",), ("a",)], True),
    (outputs.Split(), ("a", "b"), [("b", "a"), ("a",)], False),
    (outputs.SetRelation(relation="superset"), frozenset("ab"), [frozenset("abc")], True),
    (outputs.SetRelation(relation="equal"), frozenset("ab"), [frozenset("abc")], False),
    (outputs.SetRelation(relation="disjoint"), frozenset("ab"), [frozenset("c")], True),
    (outputs.SetRelation(), frozenset("ab"), [frozenset("c")], False),
    (outputs.Ordered(), 1.0, [1.0, 2.0], True),
    (outputs.Ordered(strict=True), 1.0, [1.0], False),
    (outputs.Ordered(direction="down"), 1.0, [2.0], False),
    (outputs.Ordered(direction="down"), ("a", "b"), [("a",)], True),
    (outputs.AffineAnswer(factor=2, amount=1), 3.0, [7.0], True),
    (outputs.AffineAnswer(factor=2, amount=1), 3.0, [6.0], False),
    (outputs.EvenOrOdd(odd=True), 3.0, [-3.0], True),
    (outputs.EvenOrOdd(), 3.0, [-3.0], False),
    (outputs.Joined(), "ab cd", ["ab", "cd", ""], True),
    (outputs.Joined(), "ab cd", ["ab", "xx"], False),
    (outputs.Joined(), 5, [2, 3], True),
    (outputs.Joined(), ("a", "b"), [("a",), ("b",)], True),
    (outputs.Joined(at_least=0.5), "ab cd", ["ab", "xx"], False),
]


def to_array(answer):
    array = np.empty(1, dtype=object)
    array[0] = answer
    return np.array([answer]) if isinstance(answer, float | int | str) else array


@in_one_test(("output", "before", "afters", "holds"), GROUPS)
def test_an_output_pattern_judges_a_group(output, before, afters, holds):
    afters = [afters] if isinstance(afters, str) else afters
    assert output.expects(to_array(before), [to_array(after) for after in afters]).tolist() == [holds]
    assert output.describe()


@pytest.mark.parametrize("holds", [True, False])
def test_what_returns_is_compared_with_the_input(holds):
    frame = pd.DataFrame({"text": ["a b"]})
    last = np.array(["a b" if holds else "b c"])
    assert outputs.Returned(column="text").judge(frame, np.array(["x"]), [last]).tolist() == [holds]
    assert outputs.Returned(column="text", at_least=0.3).judge(frame, np.array(["x"]), [last]).tolist() == [True]


@in_one_test(
    ("mistake", "message"),
    [
        (lambda: outputs.Ordered().expects(np.array(["a"]), [np.array(["b"])]), "neither a number nor a collection"),
        (lambda: outputs.PartlyEqual(parts=()), "at least one part"),
        (lambda: outputs.PartlyEqual(parts="km").expects(np.array([1.0]), [np.array([1.0])]), "no part 'km'"),
        (lambda: outputs.Returned(column="x").expects(np.array([1.0]), [np.array([1.0])]), "needs the source cases"),
        (lambda: outputs.Equal().expects(np.array([1.0]), []), "at least one follow-up"),
        (lambda: outputs.EvenOrOdd(factor=2), "odd=True or odd=False"),
        (lambda: outputs.NoneShared(among="some"), "among"),
    ],
)
def test_a_mistake_gets_one_clear_line(mistake, message):
    with pytest.raises(dm.errors.DatamorphicError, match=message) as caught:
        mistake()
    assert "\n" not in str(caught.value)
