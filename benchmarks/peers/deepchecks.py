"""Deepchecks: its full suite of tabular checks on the suite of defects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.defects.registry import Case

from . import defects
from .figures import Figure

TITLE, DISTRIBUTION = "Deepchecks", "deepchecks"
# the last version; with newer versions of scikit-learn many of its checks raise errors
REQUIREMENTS = (
    "deepchecks==0.19.1",
    "numpy<2",
    "pandas==2.2.3",
    "scikit-learn==1.3.2",
    "scipy==1.11.4",
    "category-encoders==2.6.4",
    "setuptools<81",
)
NOTES = (
    *defects.NOTES,
    "Deepchecks runs `full_suite()` with its default conditions and default numbers of samples on both halves and the model. Failed "
    "conditions are its findings, warnings too. A condition that fails on both halves is two findings. The weakest segment names its "
    "columns. The importance of features is given by the option that is meant for it: by permutation, as Deepchecks computes it, but "
    "with 5 repetitions instead of 30, and without a process per core. Services get an empty method `fit`, which it requires, and "
    "where a model gives no probabilities, its answers count as sure. Where it cannot use the model, it looks at the data alone. "
    "scikit-learn is an older version, as many of its checks raise errors with 1.5.",
)


class Adapter:
    """A model with the methods that Deepchecks requires."""

    def __init__(self, model: Any, numbers: bool) -> None:
        self.model = model
        if not numbers:
            self.classes_ = model.classes_
            self.predict_proba = self.find_scores

    def fit(self, inputs: object, labels: object = None) -> Adapter:
        return self

    def predict(self, inputs: pd.DataFrame) -> np.ndarray:
        return np.asarray(self.model.predict(inputs))

    def find_scores(self, inputs: pd.DataFrame) -> np.ndarray:
        if hasattr(self.model, "predict_proba"):
            return np.asarray(self.model.predict_proba(inputs))
        return (self.predict(inputs)[:, None] == np.asarray(self.classes_)).astype(float)


def look(case: Case, numbers: bool) -> list[str]:
    """Return the conditions that did not pass, with their details."""
    from deepchecks.tabular import Dataset
    from deepchecks.tabular.suites import full_suite

    target = case.options["target"]
    assert case.train is not None
    classes = case.train[target].nunique()
    label_type = "regression" if numbers else "binary" if classes == 2 else "multiclass"
    texts = case.train.drop(columns=target).select_dtypes(exclude=["number", "datetime"]).columns
    train, test = (
        Dataset(frame, label=target, cat_features=list(texts), label_type=label_type)
        for frame in (case.train, case.data)
    )
    model = case.model
    if not (hasattr(model, "fit") and (numbers or hasattr(model, "predict_proba"))):
        model = Adapter(model, numbers)
    # without importance, none is computed: the time for it is 0
    options: dict[str, Any] = {"with_display": False, "feature_importance_timeout": 0}
    try:
        importance = rate_features(model, case.data.drop(columns=target), case.data[target], numbers)
        result = full_suite().run(
            train_dataset=train, test_dataset=test, model=model, feature_importance=importance, **options
        )
    except Exception:  # it refuses the model
        result = full_suite().run(train_dataset=train, test_dataset=test, **options)
    return [
        f"{condition.category.value}: {check.get_header()}: {condition.name}: {condition.details}{find_segment(check)}"
        for check in result.get_not_passed_checks()
        for condition in check.conditions_results
        if not condition.is_pass()
    ]


def rate_features(model: Any, inputs: pd.DataFrame, labels: pd.Series, numbers: bool) -> pd.Series | None:
    """Return shares of importance as Deepchecks has them: what the score loses with a shuffled column."""
    from sklearn.inspection import permutation_importance

    def score(model: Any, inputs: pd.DataFrame, labels: pd.Series) -> float:
        answers = model.predict(inputs)
        return float(-np.sqrt(np.mean((answers - labels) ** 2)) if numbers else np.mean(answers == labels))

    losses = permutation_importance(model, inputs, labels, scoring=score, n_repeats=5, random_state=defects.SEED)
    shares = pd.Series(losses.importances_mean.clip(0), index=inputs.columns)
    return shares / shares.sum() if shares.sum() > 0 else None


def find_segment(check: Any) -> str:
    """Return the columns of the weakest segment, which the report shows, but not the details of the condition."""
    if not isinstance(check.value, dict) or "weak_segments_list" not in check.value:
        return ""
    segment = check.value["weak_segments_list"].iloc[0]
    return f" Columns: {segment['Feature1']}, {segment['Feature2']}"


def measure_theirs() -> list[Figure]:
    """Return the figures of Deepchecks."""
    return defects.measure_tool("deepchecks", REQUIREMENTS, look)


def measure_ours() -> list[Figure]:
    """Return the figures of `dm.test`."""
    return defects.measure_dm_test()
