"""Seeded claims about models of the synthetic loan book, whose true risk is monotone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

import datamorphic as dm
from datamorphic.relations.algebra.base import HOLDS, VIOLATED
from datamorphic.relations.algebra.change import is_strong
from datamorphic.relations.catalogue.credit import credit_relations
from support.cases import LONG

pytestmark = pytest.mark.slow

SIGNS = {"credit_score": -1, "dti": 1, "ltv": 1}
KINDS = dict.fromkeys(("loan_term", "borrowers", "mortgage_insurance", "units"), "integer")


@pytest.fixture(scope="module")
def book() -> pd.DataFrame:
    """Loans without unavailable values."""
    loans = dm.data.make_loan_book(16_000 if LONG else 8_000, seed=0)
    return loans[dm.data.replace_sentinels(loans).notna().all(axis=1)].reset_index(drop=True)


def split(book: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return training loans, in which defaults are tripled, and test loans."""
    order = np.random.default_rng(seed).permutation(len(book))
    training, test = book.iloc[order[: len(book) * 3 // 4]], book.iloc[order[len(book) * 3 // 4 :]]
    defaults = training[training["default"] == "default"]
    return pd.concat([training, defaults, defaults]), test


def find_numbers(loans: pd.DataFrame) -> list[str]:
    return [str(name) for name in loans if name != "default" and pd.api.types.is_numeric_dtype(loans[name])]


def encode(loans: pd.DataFrame) -> Any:
    numbers = find_numbers(loans)
    codes = [name for name in loans if name != "default" and name not in numbers]
    return make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), codes))


def count_violations(model: Any, test: pd.DataFrame) -> list[tuple[int, int]]:
    """Return the numbers of violated and judged cases per relation."""
    column = list(model.classes_).index("default")
    before = model.predict_proba(test)[:, column]
    counts = []
    for relation in credit_relations().values():
        changed = relation.change(test)
        verdicts, _ = relation.judge_levels(before, model.predict_proba(changed.frame)[:, column], changed.inapplicable)
        counts.append((int((verdicts == VIOLATED).sum()), int(np.isin(verdicts, (HOLDS, VIOLATED)).sum())))
    return counts


@pytest.mark.parametrize("seed", range(3 if LONG else 1))
def test_logistic_regression_with_the_right_signs_violates_nothing(book: pd.DataFrame, seed: int) -> None:
    training, test = split(book, seed)
    model = make_pipeline(encode(book), LogisticRegression(max_iter=1000)).fit(
        training.drop(columns="default"), training["default"] == "default"
    )
    names = [name.partition("__")[2] for name in model[0].get_feature_names_out()]
    weights = dict(zip(names, model[1].coef_[0], strict=True))
    assert all(np.sign(weights[name]) == sign for name, sign in SIGNS.items())
    report = dm.check(
        model, test.drop(columns="default"), list(credit_relations()), inputs=4000, shrink=False, kinds=KINDS
    )
    assert report.table.violated.sum() == 0
    assert (report.table.holds == len(test)).all()


def test_violations_of_boosting_grow_with_its_trees(book: pd.DataFrame) -> None:
    sizes = [10, 20, 40, 80] if LONG else [5, 10, 20, 40]
    columns = find_numbers(book)
    relations = credit_relations().values()
    shares = []
    for seed in range(2 if LONG else 1):
        training, test = split(book.iloc[:10_000], seed)
        model = GradientBoostingClassifier(n_estimators=sizes[-1], random_state=seed)
        model.fit(training[columns], training["default"] == "default")
        frames = [test, *(relation.change(test).frame for relation in relations)]
        staged = [
            [levels[:, 1] for size, levels in enumerate(model.staged_predict_proba(frame[columns]), 1) if size in sizes]
            for frame in frames
        ]
        shares.append(
            [
                sum(
                    is_strong(*relation.judge_levels(staged[0][i], staged[number][i])).mean()
                    for number, relation in enumerate(relations, 1)
                )
                for i in range(len(sizes))
            ]
        )
    mean_shares = np.mean(shares, axis=0)
    assert spearmanr(sizes, mean_shares).statistic > 0.8
    assert mean_shares[-1] > 0.02


def test_monotone_constraints_remove_all_violations(book: pd.DataFrame) -> None:
    training, test = split(book, 0)
    columns = find_numbers(book)
    violated = []
    for signs in (None, {name: -sign for name, sign in SIGNS.items()}):  # of the second class, "paid"
        model = HistGradientBoostingClassifier(max_iter=25, early_stopping=False, monotonic_cst=signs, random_state=0)
        with threadpool_limits(1):
            model.fit(training[columns], training["default"])
            violated.append(sum(count for count, _ in count_violations(model, test[columns])))
        assert roc_auc_score(test["default"] == "default", model.predict_proba(test[columns])[:, 0]) > 0.68
    assert violated[0] > 100
    assert violated[1] == 0


def test_the_true_risk_discriminates_as_models_of_real_loans_do() -> None:
    for vintage, published in ((2016, 0.731), (2018, 0.760)):  # of the best models in Ying 2024, Tables 35 and 36
        loans = dm.data.make_loan_book(40_000, vintage=vintage, seed=11)
        truth = dm.data.default_probability(loans, vintage=vintage)
        assert published < roc_auc_score(loans["default"] == "default", truth) < published + 0.05
