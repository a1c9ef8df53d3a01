"""Relations between columns are found in data, are not found in random data, and serve as constraints."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.space import geometry
from datamorphic.space.constraints import Compare, Dependency, LinearEquality
from datamorphic.space.serialisation import space_from_dict, space_to_dict
from support.cases import LONG


def describe(frame, **options):
    return [constraint.describe() for constraint in dm.find_constraints(frame, **options)]


def accounts(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(18, 90, rows), "balance": rng.integers(0, 2500, rows)})
    frame["available"] = np.round(rng.gamma(2, 3000, rows), 1)
    frame["limit"] = frame["balance"] + frame["available"]
    return frame


# -- equalities ---------------------------------------------------------------------------------------------------------


def test_a_total_and_its_parts_are_found_as_one_equality():
    assert describe(accounts()) == ["limit = balance + available"]


def test_multiples_copies_shares_and_sums_of_four():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(50, 9, (200, 4)), columns=list("abcd"))
    frame["sum"] = frame.sum(axis=1)
    frame["yearly"] = 12 * frame["a"]
    shares = rng.dirichlet([2, 3, 4], 200) * 100
    frame[["p", "q"]] = shares[:, :2]
    frame["r"] = 100 - frame["p"] - frame["q"]
    assert describe(frame) == ["yearly = 12 × a", "p + q + r = 100", "sum = a + b + c + d"]


def test_differences_and_means_with_a_constant():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"start": rng.integers(0, 500, 200), "days": rng.integers(1, 60, 200)})
    frame["end"] = frame["start"] + frame["days"] + 3
    frame["first"], frame["second"] = rng.integers(0, 100, 200), rng.integers(0, 100, 200)
    frame["mean"] = (frame["first"] + frame["second"]) / 2
    assert describe(frame) == ["end = start + days + 3", "2 × mean = first + second"]


def test_rounded_values_are_equal_to_within_their_rounding():
    rng = np.random.default_rng(3)
    exact = rng.uniform(0, 1000, (300, 2))
    frame = pd.DataFrame(np.round(exact, 1), columns=["a", "b"]).assign(total=np.round(exact.sum(axis=1), 1))
    assert not np.allclose(frame["a"] + frame["b"], frame["total"], atol=1e-6)
    [equality] = dm.find_constraints(frame)
    assert equality.describe() == "total = a + b"
    assert dm.Space.from_frame(frame, constraints=[equality]).valid(frame).all()


def test_one_row_that_breaks_an_equality_is_enough_to_drop_it():
    frame = accounts()
    frame.loc[17, "limit"] += 1
    assert "limit = balance + available" not in describe(frame)


def test_missing_values_are_skipped_relation_by_relation():
    frame = accounts()
    frame["limit"] = frame["limit"].astype(float)
    frame.loc[::7, "limit"] = np.nan
    frame.loc[::5, "age"] = np.nan
    assert describe(frame) == ["limit = balance + available"]


def test_the_target_is_left_out():
    assert describe(accounts(), target="limit") == []


def test_one_hot_columns_are_one_group():
    colour = np.random.default_rng(4).integers(0, 4, 200)
    frame = pd.DataFrame({f"is_{i}": (colour == i).astype(int) for i in range(4)})
    assert describe(frame) == ["one of is_0, is_1, is_2, is_3"]


# -- orders ---------------------------------------------------------------------------------------------------------------


def test_a_chain_of_orders_is_found_without_what_follows():
    values = np.sort(np.random.default_rng(5).gamma(2, 10, (300, 3)), axis=1)
    assert describe(pd.DataFrame(values, columns=["low", "mid", "high"])) == ["low ≤ mid", "mid ≤ high"]


def test_ranges_imply_no_order_and_correlation_alone_gives_none():
    rng = np.random.default_rng(6)
    size = rng.uniform(0, 10, 500)
    frame = pd.DataFrame({"small": size, "apart": size + 20, "near": size + 3 + rng.uniform(0, 2, 500)})
    assert describe(frame[["small", "apart"]]) == ["apart = small + 20"]
    assert describe(frame[["small", "near"]]) == []  # the two columns never come close to each other


def test_orders_that_follow_from_an_equality_are_left_out():
    rng = np.random.default_rng(11)
    frame = pd.DataFrame({"half": rng.gamma(2, 50, 300), "part": rng.gamma(2, 50, 300)})
    frame = frame.assign(whole=2 * frame["half"], total=frame["half"] + frame["part"])
    assert describe(frame) == ["whole = 2 × half", "total = half + part"]


def test_pixels_have_no_orders():
    from sklearn.datasets import load_digits

    frame = load_digits(as_frame=True).frame
    assert describe(frame, target="target") == []
    few = frame[["pixel_6_7", "pixel_6_6"]]
    assert describe(few) == ["pixel_6_7 ≤ pixel_6_6"]


def test_columns_of_other_units_have_no_order():
    rng = np.random.default_rng(7)
    ratio = rng.uniform(0, 1, 500) * rng.integers(0, 2, 500)
    assert describe(pd.DataFrame({"ratio": ratio, "euros": np.ceil(ratio * rng.uniform(500, 3000, 500))})) == []


def test_dates_are_compared_as_days():
    rng = np.random.default_rng(10)
    ordered = pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 400, 300), "D")
    frame = pd.DataFrame({"ordered": ordered, "paid": ordered + pd.to_timedelta(rng.integers(0, 200, 300), "D")})
    assert describe(frame) == ["ordered ≤ paid"]


# -- dependencies ---------------------------------------------------------------------------------------------------------


def places(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    city = rng.choice(["Rome", "Pisa", "Oslo", "Bergen", "Paris"], rows)
    land = pd.Series(city).map({"Rome": "I", "Pisa": "I", "Oslo": "N", "Bergen": "N", "Paris": "F"})
    zone = land.map({"I": "south", "N": "north", "F": "south"})
    return pd.DataFrame({"city": city, "land": land, "zone": zone, "age": rng.integers(18, 90, rows)})


def test_a_chain_of_dependencies_is_found_without_what_follows():
    assert describe(places()) == ["city determines land", "land determines zone"]


def test_an_age_determines_its_group():
    frame = pd.DataFrame({"age": np.random.default_rng(8).integers(18, 70, 500)})
    frame["group"] = pd.cut(frame["age"], [0, 30, 50, 99], labels=["young", "middle", "old"]).astype(str)
    assert describe(frame) == ["age determines group"]


def test_an_identifier_determines_nothing():
    frame = pd.DataFrame({"id": np.arange(300), "colour": np.random.default_rng(9).choice(list("abc"), 300)})
    assert describe(frame) == []


# -- chance ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12 if LONG else 3))
def test_random_data_have_no_relations(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(30, 600))
    frame = pd.DataFrame(rng.normal(0, 1, (rows, 4)), columns=list("abcd"))
    frame["e"] = frame["a"] + rng.normal(0, 0.1, rows)
    for i, high in enumerate((2, 3, 8, 50)):
        frame[f"n{i}"] = rng.integers(0, high, rows)
        frame[f"c{i}"] = rng.choice(list("uvwxyz")[: min(high, 6)], rows)
    frame["rare"] = np.where(np.arange(rows) == 0, "yes", "no")
    assert describe(frame) == []


def test_few_rows_prove_nothing():
    assert describe(accounts(rows=12)) == []
    assert describe(pd.DataFrame({"a": [1, 2] * 15, "b": ["x"] * 29 + ["y"]})) == []


def test_real_data(real_data):
    churners = real_data("bank_churners")
    assert describe(churners, target="target") == ["Credit_Limit = Total_Revolving_Bal + Avg_Open_To_Buy"]
    assert describe(real_data("red_wine"), target="target") == ["free sulfur dioxide ≤ total sulfur dioxide"]


# -- constraints ----------------------------------------------------------------------------------------------------------


def exercised(space, points):
    """Points after every move and after midpoints, as a walk makes them."""
    parts = [space.midpoint(points, points.take(slice(None, None, -1)))]
    parts += [space.move(points, kind, name) for kind, name in space.move_names]
    return parts


@pytest.mark.parametrize("frame", [accounts(100), places(100)], ids=["equality", "dependencies"])
def test_moves_midpoints_and_draws_keep_relations(frame):
    space = dm.Space.from_frame(frame, constraints=dm.find_constraints(frame))
    assert space.constraints
    points = space.points(frame)
    parts = exercised(space, points)
    assert all(space.valid(part).all() for part in parts)
    moved = [not part.same(points).all() for part in parts]
    assert sum(moved) >= len(moved) - 4  # a column that others determine does not move alone
    assert space.valid(space.sample(50, seed=1)).all()


def test_whole_numbers_stay_whole_in_equalities():
    space = dm.Space([dm.Integer(name, 0, 99) for name in "abc"], constraints=["c == a + b"])
    points = space.sample(200, seed=0, points=True)
    middle = space.midpoint(points, points.take(slice(None, None, -1)))
    assert space.valid(middle).all()
    assert (middle.codes == np.rint(middle.codes)).all()
    assert (~middle.same(points)).mean() > 0.8


def test_an_equality_is_declared_as_text():
    space = dm.Space([dm.Continuous(name, 0, 100) for name in ("a", "b - c", "d")], constraints=["a == b - c"])
    assert space.constraints == (Compare("a", "==", "b - c"),)  # a feature may have such a name
    equality = LinearEquality.parse("total == 12 * monthly + 5")
    assert dict(equality.terms) == {"total": 1.0, "monthly": -12.0}
    assert equality.constant == 5.0
    assert str(equality) == "total == 12 * monthly + 5"
    assert LinearEquality.parse(str(equality)) == equality
    with pytest.raises(dm.errors.SpaceError, match="There is no feature 'x'"):
        dm.Space([dm.Continuous("a", 0, 1)], constraints=["a == x + y"])
    with pytest.raises(dm.errors.SpaceError, match="cannot be parsed"):
        dm.Space([dm.Continuous("a", 0, 1)], constraints=["a == x * y + 1"])
    with pytest.raises(dm.errors.SpaceError, match="which is categorical"):
        dm.Space([dm.Continuous("a", 0, 1), dm.Categorical("c", ["u"])], constraints=["a == 2 * c"])


def test_changed_rows_are_repaired_in_other_features():
    space = dm.Space([dm.Continuous(name, 0, 100) for name in "abc"], constraints=["c == a + b"])
    origin = np.array([[10.0, 20.0, 30.0]])
    np.testing.assert_allclose(geometry.repair(space, np.array([[15.0, 20.0, 30.0]]), origin), [[15, 20, 35]])
    np.testing.assert_allclose(geometry.repair(space, np.array([[10.0, 20.0, 50.0]]), origin), [[30, 20, 50]])
    beyond_repair = np.array([[90.0, 90.0, 30.0]])
    np.testing.assert_allclose(geometry.repair(space, beyond_repair, origin), beyond_repair)


def test_a_broken_order_is_repaired_by_the_feature_that_was_not_changed():
    space = dm.Space([dm.Continuous("free", 0, 70), dm.Integer("total", 0, 300)], constraints=["free <= total"])
    origin = np.array([[10.0, 20.0]])
    np.testing.assert_array_equal(geometry.repair(space, np.array([[30.5, 20.0]]), origin), [[30.5, 31.0]])
    np.testing.assert_array_equal(geometry.repair(space, np.array([[10.0, 3.0]]), origin), [[3.0, 3.0]])
    np.testing.assert_array_equal(geometry.repair(space, np.array([[30.0, 3.0]]), origin), [[30.0, 3.0]])


def test_a_dependency_repairs_the_feature_that_it_determines():
    frame = places()
    space = dm.Space.from_frame(frame, constraints=dm.find_constraints(frame))
    case = {"city": "Oslo", "land": "N", "zone": "north", "age": 30}
    assert space.up(case, "city") == {"city": "Paris", "land": "F", "zone": "south", "age": 30}
    assert space.up(case, "zone") == case


def test_relations_survive_json():
    for frame in (accounts(), places()):
        space = dm.Space.from_frame(frame, constraints=dm.find_constraints(frame))
        again = space_from_dict(json.loads(json.dumps(space_to_dict(space))))
        assert again == space
        assert again.constraints == space.constraints


def test_a_dependency_needs_a_function():
    with pytest.raises(dm.errors.SpaceError, match="every value of the first occurs once"):
        Dependency(pd.DataFrame({"city": ["Rome", "Rome"], "land": ["I", "N"]}))
