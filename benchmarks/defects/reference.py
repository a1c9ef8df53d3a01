"""The data changed after training: drift that costs accuracy, new categories, other shares, ranges left."""

from __future__ import annotations

import pandas as pd

from . import words
from .registry import Case, Setting, plant
from .training import flip_labels


@plant(
    "drift",
    "the labels follow another rule than in training",
    [
        ("houses", "boosting", "district", ("docks", "mills", "station"), 1.5),
        ("rides", "forest", "zone", ("centre", "north"), 1.5),
        ("diamonds", "boosting", "color", ("I", "J"), 1.5),
    ],
    words.DRIFT,
    columns=lambda column, values, factor: () if values is None else (column,),
)
def other_numbers(setting: Setting, column: str, values: tuple[str, ...] | None, factor: float) -> Case:
    labels = setting.test[setting.target]
    rows = setting.test[column].isin(values) if values else pd.Series(True, index=labels.index)
    test = setting.test.assign(**{setting.target: labels.where(~rows, labels * factor)})
    return setting.case(setting.fit(), test, reference=True)


@plant(
    "drift",
    "the labels of a group follow another rule than in training",
    [
        ("loans", "boosting", "employment", ("self-employed", "retired"), 0.8),
        ("mushroom", "forest", "habitat", ("g",), 0.6),
        ("german_credit", "forest", "housing", ("A151", "A153"), 0.8),
        ("hpc_data", "forest", "day", ("Mon", "Tue"), 0.6),
    ],
    (*words.DRIFT, "worse"),
)
def other_classes(setting: Setting, column: str, values: tuple[str, ...], share: float) -> Case:
    rows = setting.test[column].isin(values).to_numpy() & (setting.rng.random(len(setting.test)) < share)
    labels = flip_labels(setting.test[setting.target], rows)
    return setting.case(setting.fit(), setting.test.assign(**{setting.target: labels}), reference=True)


@plant(
    "drift",
    "a sensor drifted",
    [
        ("pima", "logistic", "glucose", 1.0, 45.0),
        ("patients", "boosting", "temperature_c", 1.0, 1.8),
        ("banknote", "forest", "variance", 1.0, 2.5),
        ("machines", "forest", "vibration_mm", 1.7, 0.0),
        ("deliveries", "forest", "distance", 1.609, 0.0),
    ],
    (*words.DRIFT, *words.SHIFT, *words.SCALE),
)
def drifted_sensor(setting: Setting, column: str, factor: float, offset: float) -> Case:
    test = setting.test.assign(**{column: setting.test[column] * factor + offset})
    return setting.case(setting.fit(), test, reference=True)


@plant(
    "drift",
    "a category is new",
    [
        ("rides", "boosting", "weather", "snow", "storm", 1.6),
        ("houses", "forest", "district", "hill", "new town", 0.55),
        ("deliveries", "boosting", "day", "Fri", "holiday", 1.6),
    ],
    ("{2}",),
)
def new_category(setting: Setting, column: str, old: str, new: str, factor: float) -> Case:
    rows = setting.test[column].eq(old) | (setting.rng.random(len(setting.test)) < 0.15)
    labels = setting.test[setting.target]
    test = setting.test.assign(
        **{column: setting.test[column].where(~rows, new), setting.target: labels.where(~rows, labels * factor)}
    )
    return setting.case(setting.fit(), test, reference=True)


@plant(
    "drift",
    "the shares of the classes changed",
    [
        ("loans", "logistic", "yes", 6),
        ("mammography", "logistic", 1, 12),
        ("hawks", "forest", "CH", 8),
        ("mlc_churn", "logistic", "yes", 6),
    ],
    ("share", "rate of", "more often", "class(es)? (is|are|was|were) ", "proportion", "frequen"),
    columns=lambda label, times: (str(label),),
)
def other_shares(setting: Setting, label: object, times: int) -> Case:
    rare = setting.test[setting.target] == label
    test = setting.test[rare | (setting.rng.random(len(setting.test)) < 1 / times)]
    return setting.case(setting.fit(), test, reference=True)


@plant(
    "drift",
    "the data left the range of the training data",
    [
        ("houses", "boosting", "living_area_m2", 0.6),
        ("rides", "tree", "distance_km", 0.6),
        ("machines", "boosting", "wear_min", 0.5),
        ("diamonds", "boosting", "carat", 0.6),
    ],
    (*words.RANGE, *words.DRIFT),
)
def left_range(setting: Setting, column: str, quantile: float) -> Case:
    limit = setting.train[column].quantile(quantile)
    train = setting.train[setting.train[column] <= limit].reset_index(drop=True)
    outside = setting.test[column] > limit
    test = setting.test[outside | (setting.rng.random(len(setting.test)) < 0.4)]
    return setting.case(setting.fit(train), test, train, reference=True)


@plant(
    "drift",
    "a column is empty now",
    [
        ("loans", "boosting", "credit_score", 0.9),
        ("pima", "logistic", "glucose", 0.8),
        ("credit_data", "logistic", "Seniority", 0.9),
    ],
    ("missing", "empty", "drift", "gap"),
)
def emptied_column(setting: Setting, column: str, share: float) -> Case:
    values = setting.test[column].astype(float).mask(setting.rng.random(len(setting.test)) < share)
    return setting.case(setting.fit(), setting.test.assign(**{column: values}), reference=True)
