"""The model was trained wrongly: features lost, groups corrupted or absent, classes weighted wrongly."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline

from . import words
from .models import make_model
from .registry import Case, Setting, plant


@plant(
    "features",
    "a feature was lost on the way",
    [
        ("bank_churners", "boosting", "Total_Trans_Ct"),
        ("pima", "forest", "glucose"),
        ("rides", "boosting", "distance_km"),
        ("mushroom", "tree", "odor"),
        ("german_credit", "boosting", "checking_status"),
        ("credit_data", "boosting", "Records"),
    ],
    words.LOST,
)
def lost_feature(setting: Setting, column: str) -> Case:
    values = setting.train[column]
    constant = values.median() if pd.api.types.is_numeric_dtype(values) else values.mode()[0]
    return setting.serve(before=lambda frame: frame.assign(**{column: constant}))


@plant(
    "features",
    "a feature was not used in training",
    [("houses", "ridge", "district"), ("machines", "logistic", "tool"), ("deliveries", "boosting", "hour")],
    words.LOST,
)
def unused_feature(setting: Setting, column: str) -> Case:
    values = setting.train[column]
    constant = values.median() if pd.api.types.is_numeric_dtype(values) else values.mode()[0]
    model = setting.fit(setting.train.assign(**{column: constant}))
    return setting.case(model)


@plant(
    "features",
    "a category is merged with another one",
    [
        ("houses", "boosting", "district", "altstadt", "fields"),
        ("mushroom", "boosting", "odor", "f", "n"),
        ("machines", "boosting", "tool", "mill", "lathe"),
        ("diamonds", "boosting", "clarity", "I1", "IF"),
    ],
    ("{1}",),
)
def merged_category(setting: Setting, column: str, value: str, other: str) -> Case:
    return setting.serve(before=lambda frame: frame.assign(**{column: frame[column].replace(value, other)}))


@plant(
    "groups",
    "a group was never seen in training",
    [
        ("rides", "forest", "zone", "airport"),
        ("loans", "forest", "employment", "unemployed"),
        ("patients", "boosting", "smoker", "current"),
        ("german_credit", "logistic", "checking_status", "A14"),
        ("mlc_churn", "boosting", "international_plan", "yes"),
    ],
    ("{1}",),
)
def unseen_group(setting: Setting, column: str, value: str) -> Case:
    train = setting.train[setting.train[column] != value]
    return setting.case(setting.fit(train), train=train)


def flip_labels(labels: pd.Series, rows: np.ndarray) -> pd.Series:
    """Return the labels with the next class in some rows."""
    classes = sorted(labels.unique())
    return labels.where(~rows, labels.map(dict(zip(classes, [*classes[1:], classes[0]], strict=True))))


@plant(
    "groups",
    "training labels of a group were corrupted",
    [
        ("loans", "boosting", "country", "FR", 0.75),
        ("patients", "boosting", "site", "B", 0.75),
        ("mushroom", "boosting", "population", "y", 0.85),
        ("machines", "boosting", "plant", "Graz", 0.75),
        ("credit_data", "boosting", "Home", "rent", 0.75),
    ],
    ("{1}",),
)
def corrupted_group(setting: Setting, column: str, value: str, share: float) -> Case:
    train = setting.train
    rows = (train[column] == value).to_numpy() & (setting.rng.random(len(train)) < share)
    corrupted = train.assign(**{setting.target: flip_labels(train[setting.target], rows)})
    return setting.case(setting.fit(corrupted), train=corrupted)


@plant(
    "groups",
    "training labels above a value were corrupted",
    [
        ("pima", "forest", "age", 40, 0.8),
        ("phoneme", "boosting", "V3", 1.2, 0.85),
        ("breast_cancer", "boosting", "mean texture", 20, 0.85),
        ("hawks", "forest", "tail", 215, 0.8),
        ("mlc_churn", "boosting", "total_day_minutes", 230, 0.8),
    ],
    ("above", "over", ">", "more than", "at least", "older"),
)
def corrupted_above(setting: Setting, column: str, cut: float, share: float) -> Case:
    train = setting.train
    rows = (train[column] > cut).to_numpy() & (setting.rng.random(len(train)) < share)
    corrupted = train.assign(**{setting.target: flip_labels(train[setting.target], rows)})
    return setting.case(setting.fit(corrupted), train=corrupted)


@plant(
    "groups",
    "numbers of a group were recorded wrongly in training",
    [
        ("houses", "boosting", "district", "docks", 0.6),
        ("rides", "forest", "weather", "rain", 0.6),
        ("diamonds", "boosting", "cut", "Premium", 0.6),
    ],
    ("{1}", "above", ">"),
)
def wrong_numbers_of_group(setting: Setting, column: str, value: object, factor: float) -> Case:
    values = setting.train[column]
    rows = values > value if isinstance(value, float) else values == value
    labels = setting.train[setting.target]
    corrupted = setting.train.assign(**{setting.target: labels.where(~rows, labels * factor)})
    return setting.case(setting.fit(corrupted), train=corrupted)


@plant(
    "class weights",
    "a rare class loses its recall",
    [
        ("patients", "logistic", "severe", 0.05),
        ("bank_churners", "boosting", "Attrited Customer", 0.04),
        ("mammography", "forest", 1, 0.05),
        ("hawks", "logistic", "CH", 0.02),
        ("machines", "logistic", "yes", 0.15),
        ("hpc_data", "boosting", "L", 0.02),
    ],
    (
        "recall",
        "rarely",
        "missed",
        "misses",
        "not recognised",
        "not predicted",
        "never predicted",
        "threshold",
        "seldom",
    ),
    columns=lambda label, weight: (str(label),),
)
def lost_recall(setting: Setting, label: object, weight: float) -> Case:
    weights = np.where(setting.train[setting.target] == label, weight, 1.0)
    return setting.case(setting.fit(weights=weights))


class InFoldEncoder(TransformerMixin, BaseEstimator):
    """Replace a category by the mean label of its own training rows, without leaving any out."""

    def __init__(self, column: str, positive: str) -> None:
        self.column, self.positive = column, positive

    def fit(self, frame: pd.DataFrame, labels: pd.Series) -> InFoldEncoder:
        hits = (np.asarray(labels) == self.positive).astype(float)
        self.means_ = pd.Series(hits).groupby(frame[self.column].to_numpy()).mean()
        self.feature_names_in_ = np.asarray(frame.columns, dtype=object)
        return self

    def transform(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(**{self.column: frame[self.column].map(self.means_).fillna(self.means_.mean())})


@plant(
    "encoding",
    "a category of many values is encoded by the labels of its own rows",
    [
        ("orders", "boosting", "customer"),
        ("loans", "forest", "branch"),
        ("machines", "boosting", "operator"),
        ("mlc_churn", "boosting", "agent"),
    ],
    words.ENCODED,
)
def encoded_in_fold(setting: Setting, column: str) -> Case:
    codes = setting.rng.integers(0, 700, len(setting.train) + len(setting.test))
    names = np.char.add(f"{column[0].upper()}", codes.astype(str)).astype(object)
    train = setting.train.assign(**{column: names[: len(setting.train)]})
    test = setting.test.assign(**{column: names[len(setting.train) :]})
    model = make_pipeline(InFoldEncoder(column, "yes"), make_model(setting.model, setting.numbers, setting.seed))
    return setting.case(model.fit(setting.inputs(train), train[setting.target]), test, train)


@plant(
    "sampling",
    "only a part of the range was in training",
    [
        ("rides", "forest", "distance_km", 5.0),
        ("houses", "forest", "living_area_m2", 110),
        ("diamonds", "forest", "carat", 1.0),
    ],
    (*words.RANGE, *words.CLIP),
)
def narrow_training(setting: Setting, column: str, limit: float) -> Case:
    train = setting.train[setting.train[column] <= limit].reset_index(drop=True)
    return setting.case(setting.fit(train), train=train)
