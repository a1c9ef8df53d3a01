"""The relations HMR1 to HMR5 of credit risk models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.errors import ArgumentError, DataError
from datamorphic.relations.catalogue.credit import CREDIT_RELATIONS, credit_relations

COLUMNS = ["credit_score", "dti", "ltv"]


@pytest.fixture(scope="module")
def loans() -> pd.DataFrame:
    book = dm.data.make_loan_book(2000, seed=2)
    return book[[*COLUMNS, "default"]]


@pytest.fixture(scope="module")
def tree(loans: pd.DataFrame) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(random_state=0).fit(loans[COLUMNS], loans["default"])


def test_parameters_are_the_published_ones() -> None:
    relations = credit_relations()
    assert list(relations) == [f"credit.HMR{i}" for i in range(1, 6)]
    loan = pd.DataFrame({"credit_score": [661], "dti": [32], "ltv": [67]})  # Ying 2024, section 8.3.3.2
    changed = [relation.change(loan).frame.iloc[0].tolist() for relation in relations.values()]
    assert changed == [[727, 32, 67], [661, 29, 67], [661, 32, 60], [727, 32, 60], [727, 29, 60]]
    for relation in relations.values():
        assert relation.direction == "down"
        assert not relation.necessary
    sentinels = pd.DataFrame({"credit_score": [9999, 700, 700], "dti": [30, 999, 30], "ltv": [80, 80, 999]})
    masks = [relation.change(sentinels).inapplicable.tolist() for relation in relations.values()]
    t, f = True, False
    assert masks == [[t, f, f], [f, t, f], [f, f, t], [t, f, t], [t, t, t]]


def test_additive_forms_add() -> None:
    loan = pd.DataFrame({"credit_score": [661], "dti": [2], "ltv": [67]})
    relations = credit_relations(additive=True)
    assert relations["credit.HMR5+"].change(loan).frame.iloc[0].tolist() == [731, 0, 60]
    assert relations["credit.HMR2+"].change(loan).clipped.tolist() == [True]


def test_columns_of_other_names_are_changed() -> None:
    relations = credit_relations({"credit_score": "fico"})
    assert relations["credit.HMR4"].about == ("fico", "ltv")
    with pytest.raises(ArgumentError, match=r"'credit_scor'.*credit_score"):
        credit_relations({"credit_scor": "fico"})


def test_they_are_known_by_name(loans: pd.DataFrame, tree: DecisionTreeClassifier) -> None:
    report = dm.check(tree, loans[COLUMNS], ["credit.HMR1", "credit.HMR5"], inputs=2000, shrink=False)
    assert list(report.table.relation) == ["credit.HMR1", "credit.HMR5"]
    assert (report.table.violated > 0).all()
    assert report.passed  # hypotheses
    with pytest.raises(ArgumentError, match=r"credit\.HMR"):
        dm.check(tree, loans[COLUMNS], "credit.HMR6")
    assert len(CREDIT_RELATIONS) == 10


@pytest.mark.parametrize(
    "labels",
    [("paid", "default"), ("good", "bad"), (0, 1), (False, True), ("0", "1")],
    ids=lambda labels: str(labels[1]),
)
def test_the_class_that_means_default_is_found(labels: tuple[object, object]) -> None:
    """A model whose default grows with the score violates HMR1 everywhere, the right one nowhere."""
    frame = pd.DataFrame({"credit_score": [500, 550, 600, 650] * 10, "dti": 30, "ltv": 80})
    kinds = dict.fromkeys(COLUMNS, "integer")
    for wrong in (True, False):
        defaults = (frame.credit_score > 575) == wrong
        y = np.array([labels[int(value)] for value in defaults])
        model = LogisticRegression(C=1e-4).fit(frame, y)
        report = dm.check(model, frame, "credit.HMR1", inputs=40, shrink=False, kinds=kinds)
        assert report.table.violated.item() == (40 if wrong else 0)


def test_an_unclear_or_unknown_outcome_is_not_guessed(loans: pd.DataFrame) -> None:
    renamed = loans["default"].map({"default": "late", "paid": "on time"})
    model = DecisionTreeClassifier(max_depth=2).fit(loans[COLUMNS], renamed)
    with pytest.raises(ArgumentError, match=r"The model has: 'late', 'on time'\. Name one: outcome="):
        dm.check(model, loans[COLUMNS], "credit.HMR1", inputs=50)
    named = credit_relations(outcome="late")["credit.HMR1"]
    assert dm.check(model, loans[COLUMNS], named, inputs=50).table.inapplicable.item() < 5
    with pytest.raises(ArgumentError, match="no class 'never'"):
        dm.check(model, loans[COLUMNS], credit_relations(outcome="never")["credit.HMR1"], inputs=50)


def test_a_missing_column_is_named(loans: pd.DataFrame) -> None:
    model = DecisionTreeClassifier(max_depth=2).fit(loans[["dti", "ltv"]], loans["default"])
    with pytest.raises(DataError, match="'credit_score', which is not a column of the data"):
        dm.check(model, loans[["dti", "ltv"]], "credit.HMR4", inputs=50)


def test_probabilities_are_preferred_to_decision_values(loans: pd.DataFrame) -> None:
    """Logistic regression has both; strong and weak are about probabilities."""
    model = LogisticRegression(max_iter=2000).fit(loans[COLUMNS], loans["default"])
    relation = credit_relations()["credit.HMR1"]
    assert relation.system(dm.wrap(model)).score_kind == "probability"
