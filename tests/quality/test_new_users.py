"""What new users ran into when they first audited a model, without declaring anything.

A missing library is tested with the model files.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import datamorphic as dm


@pytest.fixture(scope="module")
def pima(real_data):
    return real_data("pima").sample(400, random_state=0).reset_index(drop=True)


@pytest.fixture(scope="module")
def churners(real_data):
    return real_data("bank_churners").sample(400, random_state=0).reset_index(drop=True)


def fit(data, model=None, unknown="ignore"):
    encoder = StandardScaler()
    if data.select_dtypes(exclude="number").columns.difference(["target"]).size:  # or without this step, which is slow
        encoder = make_column_transformer(
            (OneHotEncoder(handle_unknown=unknown), make_column_selector(dtype_exclude="number")), remainder=encoder
        )
    pipeline = make_pipeline(encoder, LogisticRegression(max_iter=2000) if model is None else model)
    return pipeline.fit(data.drop(columns="target"), data["target"])


def audit(model, data, **options):
    return dm.test(model, data, "target", budget="60s", progress=False, **options)


def named(result, *words, levels=("fault", "concern")):
    """The findings of some levels whose title, or that of their evidence, contains one of the words."""
    return [
        finding
        for finding in result.findings
        if finding.level in levels
        and any(word in piece.title for piece in (finding, *finding.evidence) for word in words)
    ]


def test_a_leaky_identifier_is_found(pima):
    order = np.argsort(pima["target"].to_numpy(), kind="stable")
    data = pima.assign(case_id=np.argsort(order) + 10_000)
    forest = RandomForestClassifier(20, random_state=0)
    assert named(audit(fit(data, forest), data, only=["identifiers", "leaks"]), "case_id")


def test_a_unit_error_above_a_value_is_found(pima):
    model = fit(pima)

    class InOtherUnits:
        classes_ = model.classes_
        feature_names_in_ = np.array(pima.columns.drop("target"))

        def predict(self, frame):
            column = frame.columns[1]
            large = frame[column] > 140
            return model.predict(frame.assign(**{column: frame[column].where(~large, frame[column] / 18)}))

    assert named(audit(InOtherUnits(), pima, only=["dependence", "response", "slices"]), pima.columns[1])


def test_an_encoder_that_raises_on_an_unseen_category_is_found(churners):
    findings = named(audit(fit(churners, unknown="error"), churners, only="interface"), "categor")
    assert "Education_Level" in findings[0].title


def test_an_undeclared_gender_is_offered(churners):
    result = audit(fit(churners), churners, only="suggestions")
    offers = named(result, "Gender", levels=("advice",))
    assert any("--protected Gender" in finding.remedy for finding in offers)
    assert not result.at_least("concern")


def test_probabilities_of_a_function_in_float32_are_no_fault(pima):
    model = fit(pima)
    result = audit(lambda frame: model.predict_proba(frame).astype(np.float32), pima)
    assert not result.at_least("concern")
    assert any("probabilities" in note for note in result.notes)


def test_boolean_answers_agree_with_labels_of_0_and_1(pima):
    data = pima.assign(target=pd.factorize(pima["target"], sort=True)[0])
    model = fit(data)
    result = audit(lambda frame: model.predict(frame) == 1, data)
    assert not result.at_least("concern")
    assert any("agrees with the label for 7" in note or "agrees with the label for 8" in note for note in result.notes)


def test_scores_that_wiggle_rank_below_changed_answers(pima):
    glucose = pima.columns[1]
    result = audit(
        fit(pima, RandomForestClassifier(15, random_state=0)),
        pima,
        expect={"monotone": {glucose: "up", pima.columns[5]: "up"}},
        only="monotone",
    )
    changes = [finding.answer_changes for finding in result.findings if finding.level == "fault"]
    assert changes == sorted(changes, key=lambda changed: changed is False)


def test_a_forest_trained_with_another_seed_is_advice(pima, tmp_path):
    first, second = (fit(pima, RandomForestClassifier(25, max_depth=6, random_state=seed)) for seed in range(2))
    inputs = pima.drop(columns="target")
    dm.explore(first, inputs, strategy="random_walk", walks=60, progress=False).save(tmp_path / "front.parquet")
    result = audit(second, pima, baseline=tmp_path / "front.parquet", only="baseline")
    rows_that_changed = int((first.predict(inputs) != second.predict(inputs)).sum())
    findings = [finding for finding in result.findings if finding.check == "baseline"]
    assert findings
    if not rows_that_changed:
        assert {finding.level for finding in findings} == {"advice"}
    assert all(finding.level != "fault" for finding in findings)
