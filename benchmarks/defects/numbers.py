"""Answers that are numbers: negative prices, steps, runaway outside the data, heavy errors at large targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from . import words
from .registry import Case, Setting, plant


@plant(
    "numbers",
    "cheap ones get negative answers",
    [("houses", "forest", 0.3, 1.4), ("rides", "boosting", 0.35, 1.3), ("diamonds", "boosting", 0.3, 1.4)],
    ("negative", "below", "range", "smallest", "outside"),
    columns=(),
)
def negative_answers(setting: Setting, share: float, times: float) -> Case:
    limit = setting.train[setting.target].quantile(share)
    return setting.serve(after=lambda frame, answers: np.where(answers < limit, answers - times * limit, answers))


@plant(
    "numbers",
    "answers are rounded to large steps",
    [("houses", "boosting", 250_000.0), ("rides", "ridge", 20.0), ("deliveries", "boosting", 10.0)],
    ("step", "round", "distinct", "different answers", "multiples", "few values"),
    columns=(),
)
def large_steps(setting: Setting, step: float) -> Case:
    return setting.serve(after=lambda frame, answers: np.round(answers / step) * step)


@plant(
    "numbers",
    "a polynomial runs away outside the data",
    [
        ("houses", "polynomial", "living_area_m2", 5),
        ("rides", "polynomial", "distance_km", 6),
        ("deliveries", "polynomial", "distance", 6),
    ],
    ("runs? away", "runaway", "outside", "beyond", "extrapol", "range", "explod", "grow"),
)
def runaway(setting: Setting, column: str, degree: int) -> Case:
    texts = setting.inputs(setting.train).select_dtypes(exclude=["number", "datetime"]).columns
    columns = make_column_transformer(
        (make_pipeline(StandardScaler(), PolynomialFeatures(degree)), [column]), (OneHotEncoder(), list(texts))
    )
    model: Any = make_pipeline(columns, LinearRegression())
    return setting.case(model.fit(setting.inputs(setting.train), setting.train[setting.target]))


@plant(
    "numbers",
    "large targets are answered far too low",
    [
        ("houses", "boosting", 0.75),
        ("rides", "forest", 0.75),
        ("diabetes", "ridge", 0.5),
        ("deliveries", "forest", 0.75),
    ],
    (r"large\b", r"high\b", "too low", "cap", "limit", "above", "never more", "range", "clip"),
    columns=(),
)
def capped_answers(setting: Setting, quantile: float) -> Case:
    limit = setting.train[setting.target].quantile(quantile)
    return setting.serve(after=lambda frame, answers: np.minimum(answers, limit))


@plant(
    "numbers",
    "answers jump at a value",
    [
        ("houses", "ridge", "living_area_m2", 130.0, 1.5),
        ("rides", "ridge", "distance_km", 6.0, 1.6),
        ("diamonds", "ridge", "carat", 1.0, 1.5),
    ],
    ("step", "jump", *words.MISREAD, "above", ">", "too high"),
)
def jump(setting: Setting, column: str, cut: float, factor: float) -> Case:
    return setting.serve(after=lambda frame, answers: np.where(frame[column] > cut, answers * factor, answers))


@plant(
    "numbers",
    "answers fall where the labels rise",
    [
        ("houses", "boosting", "living_area_m2", 120.0),
        ("rides", "boosting", "distance_km", 5.0),
        ("deliveries", "boosting", "distance", 3.0),
    ],
    (*words.MISREAD, "fall", "drop", "direction", "revers", "mirror", "flat", "above", "cap", "clip", "sign"),
)
def wrong_direction(setting: Setting, column: str, cut: float) -> Case:
    def before(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(**{column: frame[column].where(frame[column] <= cut, (2 * cut - frame[column]).clip(1))})

    return setting.serve(before=before)
