"""Hunting with relations about changes of columns, such as the credit relations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.hunting.system_runner import find_source_box, fit_changes, to_change_function
from datamorphic.relations.algebra.change import Change, ChangeRelation
from datamorphic.relations.catalogue.credit import CREDIT_RANGES, credit_relations
from support.cases import LONG, in_one_test

COLUMNS = ["credit_score", "dti", "ltv", "upb"]


@pytest.fixture(scope="module")
def loans() -> pd.DataFrame:
    return dm.data.make_loan_book(1500, seed=3)[[*COLUMNS, "default"]]


@pytest.fixture(scope="module")
def tree(loans: pd.DataFrame) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=12, random_state=0).fit(loans[COLUMNS], loans["default"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "proposer",
    [
        {},
        {"selector": "MRGS-ART"},
        *([{"generator": "MT-RT"}, {"generator": "SFIDMT-ART"}, {"selector": "random"}] if LONG else []),
    ],
    ids=str,
)
def test_violations_are_hunted_with_generators_and_selectors(
    loans: pd.DataFrame, tree: DecisionTreeClassifier, proposer: dict[str, str]
) -> None:
    hunt = dm.hunt(tree, credit_relations(), data=loans, target="default", budget=600, stop_after=2, seed=1, **proposer)
    assert hunt.violated == 2
    relations = {name: number for number, name in enumerate(credit_relations())}
    for group in hunt.examples:
        source, follow_up = (pd.DataFrame([inputs], columns=COLUMNS).astype(np.int64) for inputs in group.inputs)
        relation = credit_relations()[list(relations)[group.relation]]
        pd.testing.assert_frame_equal(relation.change(source).frame, follow_up)
        before, after = (float(tree.predict_proba(frame)[0, 0]) for frame in (source, follow_up))
        assert group.outputs == pytest.approx((before, after))  # of the class "default"
        assert after > before
        for name, (low, high) in CREDIT_RANGES.items():
            assert low <= source[name].item() <= high
            assert low <= follow_up[name].item() <= high


@pytest.mark.slow
def test_a_constrained_model_is_left_alone(loans: pd.DataFrame) -> None:
    signs = [1, -1, -1, 0]  # of the second class, "paid"
    model = DecisionTreeClassifier(max_depth=8, monotonic_cst=signs, random_state=0)
    model.fit(loans[COLUMNS], loans["default"])
    hunt = dm.hunt(model, list(credit_relations()), "MT-RT", data=loans, target="default", budget=500)
    assert not hunt.found
    assert hunt.trials[0].counts[:, 0].sum() == 500  # all judged, none inapplicable


def test_real_applicants_can_be_the_candidates(loans: pd.DataFrame, tree: DecisionTreeClassifier) -> None:
    known = loans[(loans[COLUMNS] < [9999, 999, 999, 10**9]).all(axis=1)]
    hunt = dm.hunt(
        tree,
        credit_relations(),
        selector="MRGS-ART",
        data=known,
        target="default",
        budget=200,
        stop_after=3,
        candidates=known[COLUMNS].to_numpy(float),
    )
    rows = set(map(tuple, known[COLUMNS].to_numpy(float).tolist()))
    assert all(tuple(group.inputs[0].tolist()) in rows for group in hunt.examples)
    assert hunt.examples


def test_missing_values_are_no_obstacle(loans: pd.DataFrame) -> None:
    known = dm.data.replace_sentinels(loans)
    model = DecisionTreeClassifier(max_depth=12, random_state=0).fit(known[COLUMNS], known["default"])
    hunt = dm.hunt(model, "credit.HMR3", "MT-RT", data=known, target="default", budget=300)
    assert hunt.found


def test_follow_ups_stay_in_their_domain(loans: pd.DataFrame, tree: DecisionTreeClassifier) -> None:
    space = dm.Space.from_frame(loans[COLUMNS])
    relations = fit_changes(list(credit_relations(additive=True).values()), dm.wrap(tree), space)
    box = find_source_box(relations, space)
    assert (box.high[:3] == [850, 65, 98]).all()  # the data have sentinels
    for relation in relations:
        function = to_change_function(relation, space, box)
        follow_ups = function.follow(box.sample(500, np.random.default_rng(0)))
        assert function.follow_domains()[0].contains(follow_ups).all()


def test_a_tolerance_leaves_weak_violations_out(loans: pd.DataFrame, tree: DecisionTreeClassifier) -> None:
    relation = credit_relations()["credit.HMR1"]
    relation.tolerance = 1.0
    assert not dm.hunt(tree, relation, "MT-RT", data=loans, target="default", budget=50).found


class SameLoan(dm.Relation):
    name = "same loan"

    def follow_up(self, frame, rng):
        return frame


@in_one_test(
    ("relations", "message"),
    [
        (["credit.HMR1", SameLoan], "'credit.HMR1' compares probabilities, 'same loan' compares answers"),
        (credit_relations(outcome="ruin"), "no class 'ruin'"),
        (ChangeRelation("x", Change(column="upbs", factor=2)), "'upbs', which is not a column"),
        (ChangeRelation("x", Change(column="dti", factor=2, low=2000, high=3000)), r"in the range \[2000, 3000\]"),
        (
            [*credit_relations().values(), ChangeRelation("x", Change(column="dti", factor=2), outcome="paid")],
            "'credit.HMR1' is about the class 'default', 'x' about 'paid'",
        ),
        ("credit.HMR9", "There is no relation 'credit.HMR9'"),
    ],
)
def test_wrong_relations_are_refused(
    loans: pd.DataFrame, tree: DecisionTreeClassifier, relations: object, message: str
) -> None:
    with pytest.raises((ArgumentError, dm.errors.DataError), match=message):
        dm.hunt(tree, relations, data=loans, target="default")
