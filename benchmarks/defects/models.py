"""Models of the suite: pipelines as users write them, and services in front of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor, make_column_selector, make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "logistic": lambda seed: LogisticRegression(max_iter=3_000),
    "tree": lambda seed: DecisionTreeClassifier(max_depth=6, min_samples_leaf=5, random_state=seed),
    "stump": lambda seed: DecisionTreeClassifier(max_depth=2, random_state=seed),
    "deep tree": lambda seed: DecisionTreeClassifier(random_state=seed),
    "forest": lambda seed: RandomForestClassifier(60, min_samples_leaf=3, random_state=seed),
    "extra trees": lambda seed: ExtraTreesClassifier(60, min_samples_leaf=3, random_state=seed),
    "boosting": lambda seed: HistGradientBoostingClassifier(max_iter=60, random_state=seed),
    "gradient boosting": lambda seed: GradientBoostingClassifier(n_estimators=60, random_state=seed),
    "neighbours": lambda seed: KNeighborsClassifier(9),
    "SVC": lambda seed: SVC(),
    "MLP": lambda seed: MLPClassifier((24,), alpha=0.1, max_iter=1_000, early_stopping=True, random_state=seed),
    "naive Bayes": lambda seed: GaussianNB(),
    "balanced logistic": lambda seed: LogisticRegression(max_iter=3_000, class_weight="balanced"),
}
REGRESSORS: dict[str, Callable[[int], Any]] = {
    "linear": lambda seed: LinearRegression(),
    "ridge": lambda seed: Ridge(),
    "tree": lambda seed: DecisionTreeRegressor(max_depth=7, min_samples_leaf=5, random_state=seed),
    "stump": lambda seed: DecisionTreeRegressor(max_depth=2, random_state=seed),
    "deep tree": lambda seed: DecisionTreeRegressor(random_state=seed),
    "forest": lambda seed: RandomForestRegressor(60, min_samples_leaf=2, random_state=seed),
    "boosting": lambda seed: HistGradientBoostingRegressor(max_iter=100, random_state=seed),
    "neighbours": lambda seed: KNeighborsRegressor(9),
    "SVR": lambda seed: TransformedTargetRegressor(SVR(C=10), transformer=StandardScaler()),
    "log ridge": lambda seed: TransformedTargetRegressor(Ridge(), func=np.log1p, inverse_func=np.expm1),
}


class DateParts(TransformerMixin, BaseEstimator):
    """Replace dates by their hour, weekday, month and the number of days since 2019."""

    def fit(self, frame: pd.DataFrame, labels: object = None) -> DateParts:
        self.dates_ = [name for name in frame.columns if pd.api.types.is_datetime64_any_dtype(frame[name])]
        self.feature_names_in_ = np.asarray(frame.columns, dtype=object)
        return self

    def transform(self, frame: pd.DataFrame) -> pd.DataFrame:
        parts = {}
        for name in self.dates_:
            dates = pd.to_datetime(frame[name], errors="coerce")
            parts[f"{name}_hour"] = dates.dt.hour
            parts[f"{name}_weekday"] = dates.dt.day_of_week
            parts[f"{name}_month"] = dates.dt.month
            parts[f"{name}_days"] = (dates - pd.Timestamp("2019-01-01")).dt.days
        return frame.drop(columns=self.dates_).assign(**parts)


def prepare(fill: str = "median", unknown: str = "ignore", fill_value: float = 0.0) -> Pipeline:
    """Return a transformer of mixed columns: dates taken apart, gaps filled, numbers scaled, categories encoded."""
    numbers = make_pipeline(SimpleImputer(strategy=fill, fill_value=fill_value), StandardScaler())
    texts = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="unknown"),
        OneHotEncoder(handle_unknown=unknown, sparse_output=False),
    )
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")), (texts, make_column_selector(dtype_exclude="number"))
    )
    return make_pipeline(DateParts(), columns)


def make_model(kind: str, numbers: bool, seed: int = 0, **options: Any) -> Pipeline:
    """Return an unfitted pipeline of a kind, for classes or for numbers."""
    return make_pipeline(prepare(**options), (REGRESSORS if numbers else CLASSIFIERS)[kind](seed))


class Service:
    """A model behind a service, which changes its inputs or its answers on the way."""

    def __init__(
        self,
        model: Any,
        before: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
        after: Callable[[pd.DataFrame, np.ndarray], np.ndarray] | None = None,
    ) -> None:
        self.model, self.before, self.after = model, before, after
        self.feature_names_in_ = np.asarray(model.feature_names_in_, dtype=object)
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_

    def read(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the inputs as the model gets them."""
        return frame if self.before is None else self.before(frame.copy())

    def predict(self, frame: pd.DataFrame) -> np.ndarray:
        answers = self.model.predict(self.read(frame))
        return answers if self.after is None else self.after(frame, answers)


class ScoringService(Service):
    """A service that also gives probabilities, from which its answers follow."""

    def __init__(
        self,
        model: Any,
        before: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
        scores: Callable[[pd.DataFrame, np.ndarray], np.ndarray] | None = None,
    ) -> None:
        super().__init__(model, before)
        self.scores = scores

    def predict_proba(self, frame: pd.DataFrame) -> np.ndarray:
        scores = self.model.predict_proba(self.read(frame))
        return scores if self.scores is None else self.scores(frame, scores)

    def predict(self, frame: pd.DataFrame) -> np.ndarray:
        return self.classes_[self.predict_proba(frame).argmax(axis=1)]
