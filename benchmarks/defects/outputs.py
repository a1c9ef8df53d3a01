"""What the model answers is changed on the way back: classes, thresholds, scales, caches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from . import words
from .models import ScoringService
from .registry import Case, Setting, plant


def pick_rows(frame: pd.DataFrame, names: Sequence[str], share: float) -> np.ndarray:
    """Return which rows belong to a share that depends on nothing but their values in some columns."""
    columns = {name: frame[name] for name in sorted(names)}
    texts = {
        name: (values.astype(float) if pd.api.types.is_numeric_dtype(values) else values).astype(str)
        for name, values in columns.items()
    }
    keys = pd.util.hash_pandas_object(pd.DataFrame(texts), index=False).to_numpy()
    return keys % np.uint64(10_000) < share * 10_000


@plant(
    "classes",
    "the names of classes are swapped or rotated",
    [
        ("penguins", "logistic", ("Adelie", "Chinstrap")),
        ("loans", "logistic", ("no", "yes")),
        ("patients", "forest", ("mild", "severe")),
        ("digits", "logistic", ("3", "8")),
        ("hawks", "forest", ("CH", "SS")),
        ("hpc_data", "boosting", ("F", "M")),
    ],
    words.CLASSES,
    columns=(),
)
def renamed_classes(setting: Setting, classes: tuple[object, ...]) -> Case:
    mapping = dict(zip(classes, (*classes[1:], classes[0]), strict=True))
    return setting.serve(after=lambda frame, answers: np.array([mapping.get(answer, answer) for answer in answers]))


@plant(
    "classes",
    "the threshold moved",
    [
        ("bank_churners", "logistic", "Attrited Customer", 0.9),
        ("pima", "forest", 1, 0.8),
        ("orders", "logistic", "yes", 0.1),
        ("german_credit", "forest", "bad", 0.7),
        ("mlc_churn", "forest", "yes", 0.85),
    ],
    words.THRESHOLD,
    columns=(),
)
def moved_threshold(setting: Setting, positive: object, threshold: float) -> Case:
    model = setting.fit()
    position = list(model.classes_).index(positive)

    class Decision(ScoringService):
        def predict(self, frame: pd.DataFrame) -> np.ndarray:
            values = self.predict_proba(frame)[:, position]
            return np.where(values > threshold, self.classes_[position], self.classes_[1 - position])

    return setting.case(Decision(model))


@plant(
    "numbers out",
    "answers have a wrong scale, sign or offset",
    [
        ("rides", "boosting", 60.0, 0.0),
        ("houses", "boosting", 1.35, 0.0),
        ("diabetes", "forest", -1.0, 0.0),
        ("diamonds", "boosting", 1.2, 0.0),
    ],
    (*words.NUMBERS, *words.SIGN),
    columns=(),
)
def wrong_numbers(setting: Setting, factor: float, offset: float) -> Case:
    return setting.serve(after=lambda frame, answers: answers * factor + offset)


@plant(
    "numbers out",
    "the logarithm is not undone",
    [("houses", "log ridge"), ("rides", "log ridge"), ("deliveries", "log ridge")],
    (*words.NUMBERS, "range", "below", "outside"),
    columns=(),
)
def still_logarithms(setting: Setting) -> Case:
    return setting.serve(after=lambda frame, answers: np.log1p(np.clip(answers, 0, None)))


@plant(
    "stale answers",
    "some rows get a default answer",
    [
        ("mushroom", "forest", 0.3, "e"),
        ("rides", "boosting", 0.25, 15.0),
        ("hawks", "forest", 0.4, "RT"),
        ("credit_data", "forest", 0.3, "bad"),
    ],
    (*words.STALE, "scattered", "unexplained", "repeated"),
    columns=(),
)
def default_answers(setting: Setting, share: float, default: object) -> Case:
    names = list(setting.inputs(setting.test).columns)
    return setting.serve(after=lambda frame, answers: np.where(pick_rows(frame, names, share), default, answers))


@plant(
    "stale answers",
    "answers are cached under a key that lacks a column",
    [
        ("houses", "boosting", "living_area_m2", ("district", "rooms", "energy_class")),
        ("rides", "forest", "distance_km", ("zone", "weather", "passengers")),
        ("diamonds", "boosting", "carat", ("cut", "color", "clarity")),
    ],
    (*words.STALE, *words.LOST),
)
def cached_answers(setting: Setting, column: str, key: tuple[str, ...]) -> Case:
    model = setting.fit()
    names = list(key)
    first = setting.test.drop_duplicates(names)
    cache = dict(zip(map(tuple, first[names].to_numpy().tolist()), model.predict(setting.inputs(first)), strict=True))

    def after(frame: pd.DataFrame, answers: np.ndarray) -> np.ndarray:
        keys = map(tuple, frame[names].to_numpy().tolist())
        return np.array([cache.get(item, answer) for item, answer in zip(keys, answers, strict=True)])

    return setting.serve(after=after, model=model)


@plant(
    "stale answers",
    "answers of a batch belong to the row before",
    [("pima", "logistic"), ("houses", "ridge"), ("mlc_churn", "boosting")],
    ("batch", "position", "order", "row before", "previous row"),
    columns=(),
)
def answers_of_row_before(setting: Setting) -> Case:
    return setting.serve(after=lambda frame, answers: np.roll(answers, 1))
