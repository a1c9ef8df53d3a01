"""Changed people keep the dependencies between columns, where a plain swap breaks them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.risk.fairness.counterfactuals import CounterfactualMaker
from datamorphic.risk.fairness.groups import MISSING, combine_groups, group_people
from datamorphic.risk.fairness.people import People
from support.fairness import draw_people


def build(frame, protected, inputs=None):
    inputs = list(frame.columns) if inputs is None else inputs
    space = dm.Space.from_frame(frame[inputs])
    extra = [name for name in protected if name not in inputs]
    return People.build(space.points(frame[inputs]), frame[extra], protected)


@pytest.fixture(scope="module")
def people():
    return build(draw_people(800), ["gender", "age"])


def change_to(people, column, value, donors):
    position = people.space.position(column)
    new_codes = np.full((len(people), 1), np.nan)
    new_codes[:] = value
    return CounterfactualMaker(people, np.random.default_rng(0)).change([position], new_codes, donors)


def test_a_husband_who_becomes_a_woman_becomes_a_wife(people):
    women = np.flatnonzero(people.codes[:, people.space.position("gender")] == 0)
    changed = change_to(people, "gender", 0, women)
    frame, own_frame = people.decode(changed.codes), people.decode(people.codes)
    husbands = (own_frame.relationship == "husband").to_numpy()
    assert husbands.any()  # whom a plain swap would leave as women
    assert changed.valid.all()
    assert not ((frame.gender == "f") & (frame.relationship == "husband")).any()
    assert (frame.relationship[husbands] == "wife").mean() > 0.3  # similar people, who may be single
    assert changed.repaired.tolist() == husbands.tolist()
    unchanged = ~husbands
    rest = [name for name in frame.columns if name != "gender"]
    assert frame.loc[unchanged, rest].equals(own_frame.loc[unchanged, rest])
    assert changed.alone.sum() == ((own_frame.gender == "m") & unchanged).sum()


def test_the_young_are_employed_for_few_years(people):
    ages = people.codes[:, people.space.position("age")]
    young = np.flatnonzero(ages < 30)
    changed = change_to(people, "age", 25, young)
    frame, own_frame = people.decode(changed.codes), people.decode(people.codes)
    plain_swap = own_frame.assign(age=25)
    assert (plain_swap.years > plain_swap.age).any()  # more years of employment than of life
    valid = frame[changed.valid]
    assert len(valid) > 0.9 * len(frame)
    assert (valid.years <= valid.age).all()
    assert (valid.years <= 12).all()  # nobody of 20 to 29 has more: the range is learnt from them
    assert (valid.age < 30).all()


def test_equalities_between_columns_are_kept():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"gender": rng.choice(["f", "m"], 300), "salary": rng.integers(10, 90, 300)})
    frame["title"] = np.where(frame.gender == "f", "Ms", "Mr")
    frame["bonus"] = rng.integers(0, 20, 300)
    frame["income"] = frame.salary + frame.bonus
    people = build(frame, ["gender"])
    women = np.flatnonzero(people.codes[:, 0] == 0)
    changed = people.decode(change_to(people, "gender", 0, women).codes)
    assert (changed.title == "Ms").all()
    assert (changed.income == changed.salary + changed.bonus).all()
    assert changed.income.equals(frame.income)


def test_nobody_similar_means_left_out():
    frame = pd.DataFrame({"gender": ["f"] * 60 + ["m"] * 60, "clinic": ["a"] * 60 + ["b"] * 60})
    people = build(frame, ["gender"])
    changed = change_to(people, "gender", 0, np.array([], dtype=np.intp))
    assert not changed.valid[60:].any()
    assert changed.valid[:60].all()


def test_missing_values_fit_everywhere():
    frame = draw_people(300)
    frame["years"] = frame.years.astype(float)
    frame.loc[::3, "years"] = np.nan
    people = build(frame, ["age"])
    changed = change_to(people, "age", 25, np.flatnonzero((frame.age < 30).to_numpy()))
    assert not changed.repaired[::3].any()
    assert changed.valid[::3].all()


def test_groups_of_categories_numbers_and_both(people):
    notes = []
    gender, age = group_people(people, "gender", notes), group_people(people, "age", notes)
    assert gender.labels == ("f", "m")
    assert len(age) == 3
    assert age.labels[0].startswith("below ")
    both = combine_groups([gender, age], notes)
    assert both.labels[0].startswith("f, below ")
    assert len(both) == 6
    assert both.title == "gender and age"
    assert np.bincount(both.codes).sum() == len(people)
    assert notes == []


def test_small_groups_and_missing_values_are_left_out():
    frame = pd.DataFrame({"x": np.arange(300.0), "origin": [f"c{i % 12}" for i in range(297)] + ["rare"] * 3})
    frame.loc[:9, "origin"] = None
    notes = []
    groups = group_people(build(frame, ["origin"]), "origin", notes)
    assert len(groups) == 6
    assert groups.labels[-1].startswith("other (")
    assert (groups.codes[:10] == MISSING).all()
    tiny = pd.DataFrame({"x": np.arange(100.0), "origin": ["a"] * 50 + ["b"] * 45 + ["c"] * 5})
    groups = group_people(build(tiny, ["origin"]), "origin", notes)
    assert groups.labels == ("a", "b")
    assert "c (5 people)" in notes[0]
