"""The laws of the spec, searched on random spaces of 1 to 30 features of all kinds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import datamorphic as dm
from datamorphic.space import geometry
from support.cases import FEW_EXAMPLES
from support.space_strategies import is_discrete, spaces_with_points


@pytest.mark.slow
@FEW_EXAMPLES
@given(spaces_with_points(3))
def test_the_distance_is_a_metric(drawn):
    space, x, y, z = drawn
    for scaled in (False, True):
        direct = space.distance(x, y, scaled=scaled)
        assert space.distance(x, x, scaled=scaled) == 0
        assert (direct > 0) == (not x.same(y)[0])
        assert direct == space.distance(y, x, scaled=scaled)
        # Missing lies 1 from every value, so a way through it is a short cut: no law there.
        short_cut = (np.isnan(z.codes) & ~np.isnan(x.codes) & ~np.isnan(y.codes)).any()
        round_about = space.distance(x, z, scaled=scaled) + space.distance(z, y, scaled=scaled)
        assert short_cut or direct <= round_about * (1 + 1e-12)


@pytest.mark.slow
@FEW_EXAMPLES
@given(spaces_with_points(2))
def test_the_midpoint_is_nearer_to_both_ends(drawn):
    space, x, y = drawn
    middle = space.midpoint(x, y)
    apart = space.distance(x, y)[0]
    to_x, to_y = space.distance(x, middle)[0], space.distance(middle, y)[0]
    discrete = geometry.discrete_distance(space, x.codes, y.codes)[0]
    if apart == discrete <= 1:
        assert to_x == 0 or to_y == 0
    else:
        assert to_x < apart
        assert to_y < apart


@pytest.mark.slow
@FEW_EXAMPLES
@given(spaces_with_points(2))
def test_the_continuous_part_is_halved(drawn):
    space, x, y = drawn
    middle = space.midpoint(x, y)
    real = [j for j, f in enumerate(space.features) if f.kind == "continuous" and not f.nullable]
    np.testing.assert_allclose(middle.codes[:, real], (x.codes + y.codes)[:, real] / 2)


@pytest.mark.slow
@FEW_EXAMPLES
@given(spaces_with_points(1))
def test_moves_are_local_and_no_longer_than_their_step(drawn):
    space, x = drawn
    for kind, name in space.move_names:
        moved = space.move(x, kind, name)
        j = space.position(name)
        others = [i for i in range(len(space)) if i != j]
        np.testing.assert_array_equal(moved.codes[:, others], x.codes[:, others])
        step = space[name].step if kind in ("up", "down") else 1
        assert space.distance(x, moved)[0] <= step * (1 + 1e-9)


@pytest.mark.slow
@FEW_EXAMPLES
@given(spaces_with_points(2, most=12))
def test_the_path_reaches_its_target(drawn):
    space, x, y = drawn
    delta = 1e-3
    path = space.path(x, y, delta=delta)
    walked = path.walk()  # every move made one at a time
    end = walked.take(slice(len(walked) - 1, None))
    assert len(walked) == len(path) + 1
    assert walked.take(slice(0, 1)).same(x)[0]
    assert geometry.discrete_distance(space, end.codes, y.codes)[0] == 0
    assert space.distance(end, y)[0] <= delta
    assert space.distance(path.end, end)[0] <= 1e-9
    if is_discrete(space):
        assert end.same(y)[0]


@pytest.mark.slow
@given(spaces_with_points(2, most=5))
def test_integers_and_categories_alone_are_reached_without_midpoints_at_step_one(drawn):
    space, x, y = drawn
    simple = all(f.kind == "categorical" or (f.kind == "integer" and f.step == 1) for f in space)
    if simple:
        assert space.path(x, y).midpoints == 0


def test_a_path_equals_one_worked_out_by_hand():
    space = dm.Space([dm.Integer("n", 0, 9, step=4), dm.Categorical("c", ["a", "b", "c"], nullable=True)])
    path = space.path({"n": 1, "c": None}, {"n": 0, "c": "c"})
    assert list(path) == ["fill c", "up c", "up c", "midpoint"]
    assert path.gap == 0
    back = space.path({"n": 0, "c": "c"}, {"n": 9, "c": None})
    assert back.moves == ["up n", "up n", "clear c", "midpoint"]
    many = space.path(space.sample(4, seed=0), {"n": 5, "c": "a"})
    assert [p.gap for p in many] == [0, 0, 0, 0]
