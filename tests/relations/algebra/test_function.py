"""Relations of functions: groups, domains and verdicts, against loops over groups in plain Python."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import datamorphic as dm
from datamorphic import FunctionRelation
from datamorphic.errors import ArgumentError, TestSystemError
from datamorphic.relations import Affine, Box, NumberRange
from datamorphic.relations.algebra.base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED
from support.cases import in_one_test

H, V, N, U = HOLDS, VIOLATED, INAPPLICABLE, UNDEFINED
RNG = np.random.default_rng(7)


def put(relation, function, drawn):
    """Put groups to a function, as a hunt does."""
    drawn = np.asarray(drawn, dtype=float)
    drawn = drawn.reshape(len(drawn), -1)
    x = relation.source_inputs(drawn)
    y = [function(*item.T) for item in x]
    x += relation.follow_inputs(relation.follow(drawn, y))
    y += [function(*item.T) for item in x[relation.sources :]]
    return relation.judge(x, y)


def verdicts(relation, function, drawn):
    return put(relation, function, drawn)[0].tolist()


def judged(first, second, **promise):
    """Return the verdicts on pairs of outputs."""
    relation = FunctionRelation(name="pair", domain=(0, 1), follow_up=lambda x: x, **promise)
    y = [np.asarray(first), np.asarray(second)]
    return relation.judge([np.zeros(len(y[0]))] * 2, y)[0].tolist()


def both(x, y):
    return y[0], y[1]


# -- groups of any shape ------------------------------------------------------------------------------------------------


def test_one_source_one_follow_up():
    relation = FunctionRelation(name="supplement", domain=(0, 10), follow_up=lambda x: math.pi - x)
    drawn = relation.domain[0].sample(300, RNG)
    assert verdicts(relation, np.sin, drawn) == [H] * 300
    expected = [H if abs(math.cos(x) - math.cos(math.pi - x)) <= 1e-6 else V for (x,) in drawn.tolist()]
    assert verdicts(relation, np.cos, drawn) == expected
    assert V in expected


def test_one_source_several_follow_ups_of_several_inputs():
    relation = FunctionRelation(
        name="area",
        domain=[(1, 5), (1, 5)],
        follow_up=[lambda x: x[:, ::-1], Affine.scaled(2.0, 2), lambda x: np.stack([x[:, 0], 0 * x[:, 0]], axis=1)],
        expects=lambda x, y: (y[0] == y[1]) & np.isclose(y[2], 4 * y[0]) & (y[3] == 0) & (x[0][:, 0] < 4.5),
    )
    assert (relation.sources, relation.follow_ups, relation.width) == (1, 3, 2)
    drawn = relation.domain[0].sample(100, RNG)
    assert verdicts(relation, lambda a, b: a * b, drawn) == [H if a < 4.5 else V for a, _ in drawn.tolist()]


def test_several_sources_and_follow_ups():
    relation = FunctionRelation(
        name="sum and difference",
        domain=[Box.of((0, 1)), Box.of((5, 9))],
        sources=2,
        follow_up=[lambda a, b: a + b, Affine.of([[1, -1]])],
        equal=lambda x, y: (y[2] + y[3], 2 * y[0]),
    )
    drawn = np.column_stack([RNG.uniform(0, 1, 50), RNG.uniform(5, 9, 50)])
    assert [str(box) for box in relation.follow_domains()][1] == "(-9, -4)"
    assert verdicts(relation, lambda x: 3 * x, drawn) == [H] * 50
    expected = [H if abs((a + b) ** 2 + (a - b) ** 2 - 2 * a**2) <= 1e-6 else V for a, b in drawn.tolist()]
    assert verdicts(relation, np.square, drawn) == expected == [V] * 50


def test_follow_ups_that_use_outputs():
    """f(x + f(x)) = f(x) + 1 holds for f(x) = floor(x) on [1, 2) only."""
    relation = FunctionRelation(
        name="step",
        domain=(0, 4),
        follow_up=lambda x, outputs: x + outputs[0],
        uses_outputs=True,
        follow_domain=(0, 8),
        equal=lambda x, y: (y[1], y[0] + 1),
    )
    drawn = [[0.5], [1.5], [2.5]]
    assert verdicts(relation, np.floor, drawn) == [V, H, V]


def test_follow_ups_that_use_outputs_need_a_declared_domain():
    relation = FunctionRelation(name="step", domain=(0, 4), follow_up=lambda x, outputs: x, uses_outputs=True)
    with pytest.raises(ArgumentError, match="Declare it: follow_domain"):
        relation.follow_domains()


def test_make_inputs_converts_drawn_numbers_to_inputs():
    """From the fixed input 0 by a free number: sin(0 + a) = sin(0) cos(a) + sin(a)."""
    relation = FunctionRelation(
        name="from 0",
        domain=(0, 6),
        make_inputs=lambda a: 0 * a,
        follow_up=lambda a: a,
        equal=lambda x, y: (y[0] * np.cos(x[1]) + y[1], np.sin(x[1])),
    )
    drawn = relation.domain[0].sample(40, RNG)
    assert [part.ravel().tolist() for part in relation.source_inputs(drawn)] == [[0.0] * 40]
    assert verdicts(relation, np.sin, drawn) == [H] * 40
    assert V in verdicts(relation, np.cos, drawn)


def test_make_inputs_must_return_all_sources():
    relation = FunctionRelation(
        name="two", domain=(0, 1), sources=2, make_inputs=lambda a, b: [a], follow_up=lambda a, b: a
    )
    with pytest.raises(TestSystemError, match=r"returned 1 source input\(s\). It must return 2"):
        relation.source_inputs(np.zeros((3, 2)))


def test_applies():
    relation = FunctionRelation(
        name="square", domain=(-1, 1), follow_up=lambda x: -x, applies=lambda x, y: (x[0] > 0) & (y[0] < 0.5)
    )
    drawn = [[-0.5], [0.5], [0.9]]
    assert verdicts(relation, np.square, drawn) == [N, H, N]
    assert verdicts(relation, lambda x: x, drawn) == [N, N, N]


def test_applies_is_given_the_outputs_of_sources_only():
    seen = []
    relation = FunctionRelation(
        name="r",
        domain=(0, 1),
        follow_up=lambda x: x,
        applies=lambda x, y: seen.append((len(x), len(y))) or np.ones(2, dtype=bool),
    )
    verdicts(relation, np.sin, [[0.1], [0.2]])
    assert seen == [(2, 1)]


# -- domains ------------------------------------------------------------------------------------------------------------


def test_a_follow_up_outside_its_declared_domain_is_not_applicable():
    relation = FunctionRelation(name="far", domain=(0, 10), follow_up=lambda x: 2 * x, follow_domain=(0, 12))
    drawn = [[1.0], [6.0], [6.0 + 1e-12], [6.1], [9.0]]
    assert verdicts(relation, np.sign, drawn) == [H, H, H, N, N]
    assert verdicts(relation, lambda x: x, drawn) == [V, V, V, N, N]
    assert verdicts(relation, lambda x: x * np.nan, drawn) == [U, U, U, N, N]


def test_each_follow_up_has_its_own_declared_domain():
    relation = FunctionRelation(
        name="two", domain=(0, 10), follow_up=[lambda x: x, lambda x: 2 * x], follow_domain=[(2, 10), (0, 10)]
    )
    assert verdicts(relation, np.sign, [[1.0], [3.0], [6.0]]) == [N, H, N]


def test_domains_of_affine_follow_ups_are_exact():
    relation = FunctionRelation(
        name="affine",
        domain=[(0, 1), (-2, 3)],
        follow_up=[Affine.of([[2, 0], [1, -1]], [0, 10]), Affine.permuted([1, 0]), Affine.scaled(-3, 2, 1)],
    )
    assert relation.affine
    boxes = relation.follow_domains()
    assert list(map(str, boxes)) == ["(0, 2) x (7, 13)", "(-2, 3) x (0, 1)", "(-2, 1) x (-8, 7)"]
    assert not any(box.estimated for box in boxes)
    corners = np.array([[a, b] for a in (0, 1) for b in (-2, 3)], dtype=float)
    follow_ups = relation.follow_inputs(relation.follow(corners))
    for box, value in zip(boxes, follow_ups, strict=True):
        assert (value.min(axis=0), value.max(axis=0)) == (pytest.approx(box.low), pytest.approx(box.high))


def test_other_domains_are_estimated_from_samples():
    relation = FunctionRelation(name="square", domain=(-1, 2), follow_up=lambda x: x**2)
    (box,) = relation.follow_domains()
    assert box.estimated
    assert box.low[0] == pytest.approx(0, abs=1e-5)
    assert box.high[0] == 4  # the corners are always tried
    assert relation.follow_domains()[0] is box
    # what is seen is no promise: nothing is inapplicable
    assert verdicts(relation, lambda x: 0 * x, [[5.0]]) == [H]


def test_a_constant_follow_up_is_a_domain_too():
    for change in (Affine.of([[0.0]], 3), lambda x: 3.0):
        relation = FunctionRelation(name="constant", domain=(0, 1), follow_up=change)
        assert str(relation.follow_domains()[0]) == "(3, 3)"
        assert relation.follow(np.zeros((2, 1))).tolist() == [[3.0], [3.0]]
    assert Affine.of([[0.0]], 3).constant


def test_a_domain_without_finite_samples_is_rejected():
    relation = FunctionRelation(name="gone", domain=(0, 1), follow_up=lambda x: x * np.nan)
    with pytest.raises(ArgumentError, match="'gone' returns no finite numbers"):
        relation.follow_domains()


def test_over_another_domain():
    relation = FunctionRelation(name="twice", domain=(0, 1), follow_up=Affine.scaled(2, 1), follow_domain=(0, 1))
    assert str(relation.follow_domains()[0]) == "(0, 1)"
    other = relation.over((0, 5))
    assert [str(box) for box in (*other.domain, *other.follow_domains())] == ["(0, 5)", "(0, 10)"]


def test_within_a_domain():
    relation = FunctionRelation(
        name="fit", domain=[(0, 1), (0, 1)], follow_up=[Affine.scaled(3, 2), Affine.scaled(-1, 2, 4)]
    )
    fitted = relation.within([(0, 10), (-2, 10)])
    assert str(fitted.domain[0]) == "(0, 3.333333333) x (-0.6666666667, 3.333333333)"
    drawn = fitted.domain[0].sample(500, RNG)
    home = Box.of([(0, 10), (-2, 10)])
    assert all(home.contains(follow_input).all() for follow_input in fitted.follow_inputs(fitted.follow(drawn)))


@pytest.mark.parametrize(
    ("relation", "why"),
    [
        (FunctionRelation(name="r", domain=(0, 1), follow_up=lambda x: x), "are not affine"),
        (FunctionRelation(name="r", domain=(0, 1), sources=2, follow_up=Affine.of([[1, 1]])), "mixes inputs"),
        (FunctionRelation(name="r", domain=(0, 1), follow_up=Affine.scaled(1, 1, 50)), "No source of the relation 'r'"),
        (FunctionRelation(name="r", domain=(0, 1), follow_up=Affine.of([[0]], 50)), "No source of the relation 'r'"),
    ],
)
def test_within_rejects_relations_that_cannot_be_restricted(relation, why):
    with pytest.raises(ArgumentError, match=why):
        relation.within((0, 10))


def test_whole_numbers_stay_whole_within_a_domain():
    space = dm.Space([dm.Integer("n", 0, 10)])
    relation = FunctionRelation(name="three", domain=space, follow_up=Affine.scaled(3, 1)).within(space)
    assert set(relation.domain[0].sample(200, RNG).ravel()) == {0, 1, 2, 3}


def test_boxes():
    box = Box.of(dm.Space([dm.Continuous("x", 0, 1), dm.Integer("n", 1, 3), dm.Categorical("c", ["a", "b"])]))
    drawn = box.sample(600, RNG)
    assert box.contains(drawn).all()
    assert set(drawn[:, 1]) == {1, 2, 3}
    assert set(drawn[:, 2]) == {0, 1}
    assert np.bincount(drawn[:, 1].astype(int)).min() == 0  # of 0, which is outside
    assert np.bincount(drawn[:, 1].astype(int))[1:].min() > 150
    assert not box.contains(np.array([[np.nan, 1, 0]])).any()
    assert Box.of((0, 4)).meet(Box.of((4, 5))).low == 4
    assert Box.of((0, 4)).meet(Box.of((4.1, 5))) is None
    assert Box.of(box) is box


@in_one_test(
    ("domain", "why"),
    [
        ((1, 0), "is empty"),
        ((0, np.inf), "not finite"),
        ((np.nan, 1), "not finite"),
        ((-1e308, 1e308), "too wide"),
        ([(0, 1, 2)], "a pair"),
        ([], "a pair"),
        ("ab", "a pair"),
        (None, "a pair"),
        (dm.Space([dm.Continuous("x")]), "'x' has none"),
    ],
)
def test_invalid_domains_are_rejected(domain, why):
    with pytest.raises(ArgumentError, match=why):
        Box.of(domain)


# -- comparing ----------------------------------------------------------------------------------------------------------

NAN, INF = math.nan, math.inf
FIRST = [0.0, 1.0, 1.0, -1e9, 1e9, 0.0, 5.0, 1.0, NAN, NAN]
SECOND = [0.0, 1.0 + 9e-7, 1.0 + 2e-6, -1e9 - 1, 1e9 + 1e5, 1e-7, 4.0, INF, 1.0, NAN]


def plainly(kind, tolerance, relative):
    """Judge pair by pair."""
    for a, b in zip(FIRST, SECOND, strict=True):
        if math.isnan(a) or math.isnan(b):
            yield U
            continue
        allowed = tolerance * (max(abs(a), abs(b)) if relative else 1)
        if kind == "less":
            holds = a < b
        elif kind == "at_most":
            holds = a <= b or a - b <= allowed
        else:
            holds = abs(a - b) <= allowed if math.isfinite(b) else False
        yield H if holds else V


@in_one_test("relative", [False, True])
@in_one_test("tolerance", [0.0, 1e-6, 0.3])
@in_one_test("kind", ["equal", "at_most", "less"])
def test_comparisons_against_a_loop(kind, tolerance, relative):
    promise = {kind: both, "tolerance": tolerance, "relative": relative}
    assert judged(FIRST, SECOND, **promise) == list(plainly(kind, tolerance, relative))


def test_without_a_condition_all_outputs_must_be_the_same():
    relation = FunctionRelation(name="r", domain=(0, 1), follow_up=[lambda x: x] * 2)
    y = [np.array(item) for item in ([1, 1, 1, 1.0], [1, 1, 2, NAN], [1, 2, 1, 1])]
    assert relation.judge([np.zeros(4)] * 3, y)[0].tolist() == [H, V, V, U]


@pytest.mark.parametrize("kind", ["equal", "at_most", "less", "expects", None])
def test_nan_is_undefined_whatever_the_comparison(kind):
    promises = {"expects": lambda x, y: np.ones(3, dtype=bool), None: None}
    promise = {kind: promises.get(kind, both)} if kind else {}
    assert judged([NAN, 1.0, NAN], [1.0, NAN, NAN], **promise) == [U, U, U]


@pytest.mark.parametrize("kind", ["expects", None])
def test_nan_among_labels_is_undefined(kind):
    promise = {"expects": lambda x, y: y[0] == y[1]} if kind else {}
    labels = np.array(["a", NAN, "b"], dtype=object)
    assert judged(labels, labels, **promise) == [H, U, H]


def test_infinite_outputs():
    """Two that are infinite have no difference; one is infinitely far from any number."""
    first, second = [INF, INF, 1.0, -INF], [INF, -INF, INF, 1.0]
    assert judged(first, second, equal=both) == [U, V, V, V]
    assert judged(first, second, less=both) == [U, V, H, H]
    assert judged(first, second, at_most=both, relative=True) == [U, V, H, H]


def test_labels():
    assert judged(["a", "b", "c"], ["a", "c", "c"]) == [H, V, H]
    assert judged(np.array(["a", "b"], dtype=object), ["a", "c"]) == [H, V]
    assert judged([True, False], [True, True]) == [H, V]
    assert judged(["a", "b"], ["a", "c"], expects=lambda x, y: y[0] <= y[1]) == [H, H]


def test_several_outputs():
    first, second = np.array([[1.0, 2], [1, 2], [1, NAN]]), np.array([[1.0, 2], [1, 3], [1, 2]])
    for promise in ({}, {"equal": both}):
        assert judged(first, second, **promise) == [H, V, U]
    assert judged(first, second, at_most=both) == [H, H, U]
    assert judged(np.array([["a", "b"], ["a", "b"]]), np.array([["a", "b"], ["a", "c"]])) == [H, V]


def test_complex_outputs_have_an_imaginary_part():
    first, second = np.array([1 + 1j, 1 + 1j, 1 + 1j]), np.array([1 + 1j + 1e-9j, 1 + 5j, NAN])
    for promise in ({}, {"equal": both}):
        assert judged(first, second, **promise) == [H, V, U]


def test_one_side_may_be_one_number():
    assert judged([0.0, 2.0], [1.0, 1.0], at_most=lambda x, y: (y[0], 1.0)) == [H, V]


def test_margins():
    relation = FunctionRelation(name="r", domain=(0, 1), follow_up=lambda x: x, tolerance=0.1)
    group_verdicts, left = relation.judge([np.zeros(4)] * 2, [np.zeros(4), np.array([0, 0.05, 0.2, NAN])])
    assert group_verdicts.tolist() == [H, H, V, U]
    np.testing.assert_allclose(left, [1, 0.5, NAN, NAN])
    inequality = FunctionRelation(name="r", domain=(0, 1), follow_up=lambda x: x, less=both)
    assert inequality.judge([np.zeros(2)] * 2, [np.zeros(2), np.array([3.0, -1])])[1].tolist()[0] == 3


def test_groups_without_all_answers_are_undefined():
    relation = FunctionRelation(name="r", domain=(0, 1), follow_up=lambda x: x)
    group_verdicts, _ = relation.judge([np.zeros(2)] * 2, [np.zeros(2)] * 2, np.array([True, False]))
    assert group_verdicts.tolist() == [H, U]


# -- wrong use ----------------------------------------------------------------------------------------------------------


@in_one_test(
    ("options", "why"),
    [
        ({"sources": 0}, "'sources'"),
        ({"tolerance": -1}, "'tolerance'"),
        ({"tolerance": NAN}, "'tolerance'"),
        ({"tolerance": "1"}, "'tolerance'"),
        ({"equal": both, "less": both}, "one of equal, at_most, less and expects"),
        ({"follow_up": []}, "'follow_up'"),
        ({"follow_up": 3}, "'follow_up'"),
        ({"follow_up": Affine.scaled(1, 2)}, r"a matrix for 2 numbers, but its 1 source\(s\) have 1"),
        ({"sources": 2, "domain": [Box.of((0, 1))]}, r"2 source\(s\) but 1 domain"),
        ({"sources": 2, "domain": [Box.of((0, 1))] * 3}, r"2 source\(s\) but 3 domain"),
        ({"domain": []}, "domain"),
        ({"follow_domain": [Box.of((0, 1))] * 2}, r"1 follow-up\(s\) but 2 domain"),
        ({"follow_domain": []}, "domain"),
        ({"follow_up": [np.sin] * 2, "follow_domain": Box.of((0, 1))}, "domain"),
        ({"follow_up": [np.sin] * 2, "follow_domain": 5}, "domain"),
        ({"follow_domain": (2, 1)}, "is empty"),
        ({"sources": 2}, r"must accept its 2 source\(s\): too many"),
        ({"follow_up": lambda x, y: x}, r"must accept its 1 source\(s\): missing a req"),
        ({"uses_outputs": True, "follow_domain": (0, 1)}, "and the keyword 'outputs': got an unexpected"),
    ],
)
def test_invalid_relations_are_rejected(options, why):
    with pytest.raises(ArgumentError, match=why):
        FunctionRelation(**{"name": "r", "domain": (0, 1), "follow_up": lambda x: x, **options})


@in_one_test(
    ("options", "why"),
    [
        ({"follow_up": lambda x: x[:2]}, "follow_up of the relation 'r' must return one row for each of 3 groups"),
        ({"follow_up": lambda x: np.zeros((3, 1, 1))}, r"shape \(3, 1, 1\)"),
        ({"equal": lambda x, y: (y[0], y[1][:2])}, "A side of the relation 'r'"),
        ({"expects": lambda x, y: y[0][:2] == 0}, "expects of the relation 'r' must return True or False"),
        ({"expects": lambda x, y: y[0]}, "expects of the relation 'r' must return True or False"),
        ({"applies": lambda x, y: True}, "applies of the relation 'r' must return True or False"),
        ({"make_inputs": lambda x: x[:2]}, "make_inputs of the relation 'r' must return one row"),
    ],
)
def test_functions_with_invalid_results_are_rejected(options, why):
    relation = FunctionRelation(
        **{"name": "r", "domain": (0, 1), "follow_up": lambda x: x, "follow_domain": (0, 1), **options}
    )
    with pytest.raises(TestSystemError, match=why):
        put(relation, np.sin, [[0.1], [0.2], [0.3]])


def test_a_declared_domain_with_other_columns_than_the_follow_up():
    relation = FunctionRelation(
        name="r", domain=[(0, 1)] * 2, follow_up=[lambda x: x] * 2, follow_domain=[(0, 1), (0, 1)]
    )
    for generator in ("MT-RT", "SFIDMT-ART"):
        with pytest.raises((ArgumentError, TestSystemError), match="columns"):
            dm.hunt(lambda x, y: x, relation, generator, budget=20)


def test_a_matrix_and_an_offset_that_do_not_fit():
    with pytest.raises(ArgumentError):
        Affine.of(np.eye(2), [1, 2, 3])
    with pytest.raises(ArgumentError, match="finite"):
        Affine.of([[np.inf]])


def test_relations_as_text():
    relation = FunctionRelation(
        name="twice", domain=(0, 1), follow_up=Affine.scaled(2, 1), statement="doubled: the same"
    )
    assert repr(relation) == "FunctionRelation('twice', 1-1)"
    assert "doubled" in str(relation)
    assert "(0, 1)" in str(relation)


# -- named arguments ----------------------------------------------------------------------------------------------------


def rise(x, a, b):
    return a * x + b


DOUBLED = FunctionRelation(
    name="doubled",
    domain={"x": (-3, 3), "a": NumberRange(0.1, 10, scale="log"), "b": range(10)},
    follow_up=lambda a: {"a": 2 * a},
    equal=lambda x, y: (y[1] - x[1]["b"], 2 * (y[0] - x[0]["b"])),
    relative=1e-9,
    absolute=1e-12,
)


def test_named_arguments_change_one_of_them():
    drawn = DOUBLED.draw_sources(200, RNG)
    assert DOUBLED.names == ("x", "a", "b")
    assert (drawn[:, 2] == np.rint(drawn[:, 2])).all()
    assert 0.3 < (drawn[:, 1] < 1).mean() < 0.7
    (follow_up,) = DOUBLED.follow_inputs(DOUBLED.follow(drawn))
    assert np.array_equal(follow_up, drawn * [1, 2, 1])
    assert verdicts(DOUBLED, rise, drawn) == [H] * 200
    assert V in verdicts(DOUBLED, lambda x, a, b: a * x + b + (x > 2), drawn)


@pytest.mark.parametrize(
    "function",
    [rise, lambda b, a, x: rise(x, a, b), lambda **named: rise(**named), lambda b, *, x, a: rise(x, a, b)],
    ids=["in order", "in another order", "any keywords", "keywords only"],
)
def test_functions_get_named_arguments_by_name(function):
    report = dm.check(function, relations=DOUBLED)
    assert report.passed, report.describe()
    assert dm.hunt(function, DOUBLED, budget=200, seed=1).passed


def test_functions_of_other_names_get_arguments_in_order():
    assert dm.check(lambda p, q, r: p * q + r, relations=DOUBLED).passed
    assert not dm.check(lambda p, q, r: q * q + r, relations=DOUBLED).passed


def test_a_follow_up_may_take_all_arguments_as_a_dict_or_return_rows():
    for change in (lambda row: {"a": 2 * row["a"]}, lambda x, a, b: np.column_stack([x, 2 * a, b])):
        relation = replace(DOUBLED, follow_up=change)
        assert verdicts(relation, rise, DOUBLED.draw_sources(50, RNG)) == [H] * 50


def test_several_named_sources_come_as_dicts():
    relation = FunctionRelation(
        name="sum",
        domain={"x": (0, 1), "y": (0, 1)},
        sources=2,
        follow_up=lambda p, q: {"x": p["x"] + q["x"], "y": p["y"] + q["y"]},
        equal=lambda x, y: (y[2], y[0] + y[1]),
    )
    report = dm.check(lambda x, y: 3 * x - y, relations=relation)
    assert report.passed, report.describe()
    assert dm.check(lambda x, y: x * y, relations=relation).faults


def test_changes_of_unknown_arguments_are_refused():
    relation = replace(DOUBLED, follow_up=lambda a: {"c": a})
    with pytest.raises(TestSystemError, match="changes 'c', which is no argument"):
        relation.follow(DOUBLED.draw_sources(3, RNG))
    with pytest.raises(ArgumentError, match="make_inputs does not know"):
        replace(DOUBLED, make_inputs=lambda x: x)
    other = replace(DOUBLED, name="other", domain={"x": (0, 1), "c": (0, 1), "b": (0, 1)}, follow_up=lambda x: {"x": x})
    with pytest.raises(ArgumentError, match="name the arguments of the function in different ways"):
        dm.check(rise, relations=[DOUBLED, other])


# -- tolerances that are numbers ----------------------------------------------------------------------------------------


def test_relative_and_absolute_numbers_allow_the_greater_difference():
    pairs = ([1.0, 1.0, 0.0, 0.0, 1e6, np.inf], [1 + 5e-10, 1 + 5e-9, 5e-13, 5e-12, 1e6 + 1e-4, np.inf])
    assert judged(*pairs, relative=1e-9, absolute=1e-12) == [H, V, H, V, H, U]
    assert judged(*pairs, relative=1e-9) == [H, V, V, V, H, U]
    assert judged(*pairs, absolute=1e-8) == [H, H, H, H, V, U]
    assert judged(*pairs, relative=1e-9, absolute=1e-12, at_most=lambda x, y: (y[1], y[0])) == [H, V, H, V, H, U]


def test_tolerances_are_numbers_of_one_kind():
    with pytest.raises(ArgumentError, match="two tolerances"):
        judged([1], [1], relative=1e-9, tolerance=0.1)
    for name, value in (("relative", -1.0), ("absolute", np.inf), ("absolute", True), ("relative", "1e-9")):
        with pytest.raises(ArgumentError, match=name):
            judged([1], [1], **{name: value})
    assert replace(DOUBLED).with_tolerance(0.5).allowance == (0.0, 0.5)


def test_reports_show_both_sides_and_the_tolerance():
    report = dm.check(lambda x, a, b: a * a * x + b, relations=DOUBLED)
    text = report.shrunk(0).describe()
    assert "should be equal to" in text
    assert "(up to 1e-09 of the greater side or 1e-12)" in text
    assert report.shrunk(0).example.case["a"] == round(report.shrunk(0).example.case["a"], 1)  # a plain number


# -- answers ------------------------------------------------------------------------------------------------------------


def test_errors_inside_the_domain_are_a_finding_with_the_plainest_input():
    def fragile(x, a, b):
        if a < 0.2 and x < -1:
            raise ZeroDivisionError("float division by zero")
        return rise(x, a, b)

    report = dm.check(fragile, relations=DOUBLED)
    assert [entry.relation for entry in report.faults] == ["answers"]
    example = report.shrunk(0)
    assert "ZeroDivisionError: float division by zero" in example.describe()
    assert all(float(f"{value:.2g}") == value for value in example.example.case.values())


def test_answers_that_are_no_numbers_are_a_finding_unless_they_are_declared():
    relation = FunctionRelation(name="even", domain=(-2, 2), follow_up=lambda x: -x)

    def root(x):
        return np.sqrt(1 - x * x)

    report = dm.check(root, relations=relation)
    assert [entry.relation for entry in report.faults] == ["answers"]
    assert not report.passed
    assert dm.check(root, relations=replace(relation, answers="any")).passed
    assert dm.check(root, relations=replace(relation, domain=(-1, 1))).passed


def test_infinite_answers_are_a_finding_where_finite_ones_are_promised():
    relation = FunctionRelation(name="even", domain=(-2, 2), follow_up=lambda x: -x)

    def pole(x):
        return np.where(np.abs(x) < 0.1, np.inf, 1 / np.maximum(np.abs(x), 0.01))

    assert dm.check(pole, relations=relation).passed
    report = dm.check(pole, relations=replace(relation, answers="finite"))
    assert [entry.relation for entry in report.faults] == ["answers"]
    with pytest.raises(ArgumentError, match="answers"):
        replace(relation, answers="none")


def test_hunts_say_which_groups_had_no_number():
    relation = FunctionRelation(name="even", domain=(-2, 2), follow_up=lambda x: -x)
    hunt = dm.hunt(lambda x: np.sqrt(1 - x * x), relation, budget=100)
    assert hunt.passed
    assert "could not be judged" in "".join(hunt.notes)
