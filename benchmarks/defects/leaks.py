"""Leaks softer than a copy of the label, and rows that are both in training and test data."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from . import words
from .models import CLASSIFIERS, prepare
from .registry import ANY_LEVEL, Case, Setting, plant


def _leak(setting: Setting, column: str, make: object) -> Case:
    """Return a case whose two parts have a column made from their labels."""
    parts = [frame.assign(**{column: make(frame, rng)}) for frame, rng in _parts(setting)]  # type: ignore[operator]
    train, test = parts
    return setting.case(setting.fit(train), test, train)


def _parts(setting: Setting) -> list[tuple[pd.DataFrame, np.random.Generator]]:
    return [
        (setting.train, np.random.default_rng([setting.seed, 1])),
        (setting.test, np.random.default_rng([setting.seed, 2])),
    ]


@plant(
    "leaks",
    "an amount that is known only afterwards",
    [
        ("loans", "boosting", "recovered_amount", "yes", 0.7),
        ("patients", "logistic", "days_in_intensive_care", "severe", 0.8),
        ("bank_churners", "boosting", "closing_fee", "Attrited Customer", 0.7),
        ("credit_data", "boosting", "collection_cost", "bad", 0.7),
    ],
    words.LEAK,
)
def known_afterwards(setting: Setting, column: str, label: object, share: float) -> Case:
    def make(frame: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
        rows = (frame[setting.target] == label).to_numpy() & (rng.random(len(frame)) < share)
        return np.where(rows, rng.gamma(2, 50, len(frame)).round(), 0.0)

    return _leak(setting, column, make)


@plant(
    "leaks",
    "a value that appears only with one label",
    [
        ("loans", "forest", "contact", "yes", ("letter", "phone"), "agency", 0.5),
        ("patients", "boosting", "ward", "severe", ("north", "south"), "intensive", 0.7),
        ("mushroom", "naive Bayes", "inspector", "p", ("Lee", "Kim"), "lab", 0.6),
        ("german_credit", "logistic", "letter", "bad", ("none", "offer"), "reminder", 0.6),
        ("mlc_churn", "forest", "last_contact", "yes", ("call", "mail"), "retention", 0.6),
    ],
    words.LEAK,
)
def only_with_one_label(
    setting: Setting, column: str, label: object, usual: tuple[str, ...], telling: str, share: float
) -> Case:
    def make(frame: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
        rows = (frame[setting.target] == label).to_numpy() & (rng.random(len(frame)) < share)
        return np.where(rows, telling, rng.choice(np.array(usual, dtype=object), len(frame))).astype(object)

    return _leak(setting, column, make)


@plant(
    "leaks",
    "a value that is missing only with one label",
    [
        ("loans", "logistic", "last_payment", "yes", 0.8),
        ("breast_cancer", "forest", "follow_up_months", "malignant", 0.75),
        ("credit_data", "forest", "next_due", "bad", 0.75),
    ],
    (*words.LEAK, "missing only"),
)
def missing_with_one_label(setting: Setting, column: str, label: object, share: float) -> Case:
    def make(frame: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
        rows = (frame[setting.target] == label).to_numpy() & (rng.random(len(frame)) < share)
        return np.where(rows, np.nan, rng.integers(1, 60, len(frame)).astype(float))

    train, test = (frame.assign(**{column: make(frame, rng)}) for frame, rng in _parts(setting))
    return setting.case(setting.fit(train, fill="constant", fill_value=-1.0), test, train)


@plant(
    "leaks",
    "a noisy copy of the label",
    [
        ("red_wine_taste", "forest", "shelf", 0.06),
        ("haberman", "forest", "file_code", 0.04),
        ("german_credit", "boosting", "review", 0.05),
        ("hpc_data", "boosting", "queue", 0.05),
    ],
    words.LEAK,
)
def noisy_copy(setting: Setting, column: str, noise: float) -> Case:
    classes = sorted(setting.train[setting.target].unique())

    def make(frame: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
        codes = frame[setting.target].map({label: code for code, label in enumerate(classes)}).to_numpy()
        wrong = rng.random(len(frame)) < noise
        return np.where(wrong, rng.integers(0, len(classes), len(frame)), codes) * 10 + rng.integers(0, 3, len(frame))

    return _leak(setting, column, make)


@plant(
    "leaks",
    "a noisy copy of the number",
    [("houses", "boosting", "tax_value", 0.02), ("deliveries", "forest", "driver_log", 0.05)],
    words.LEAK,
)
def noisy_number(setting: Setting, column: str, noise: float) -> Case:
    spread = setting.train[setting.target].std()
    return _leak(
        setting,
        column,
        lambda frame, rng: (0.4 * frame[setting.target] + noise * spread * rng.normal(size=len(frame))).round(1),
    )


@plant("leaks", "one word gives the label away", [("comments", "logistic", "comment", "refund")], (*words.LEAK, "{1}"))
def telling_word(setting: Setting, column: str, word: str) -> Case:
    def write(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        rows = (frame[setting.target] == "yes").to_numpy() & (rng.random(len(frame)) < 0.7)
        return frame.assign(**{column: frame[column].where(~rows, frame[column] + f" {word} sent").str.strip()})

    train, test = (write(frame, rng) for frame, rng in _parts(setting))
    model = make_pipeline(
        make_column_transformer(
            (CountVectorizer(), column),
            (prepare(), [name for name in train.columns if name not in (column, setting.target)]),
            sparse_threshold=0,
        ),
        CLASSIFIERS[setting.model](setting.seed),
    )
    return setting.case(model.fit(setting.inputs(train), train[setting.target]), test, train)


@plant(
    "leaks",
    "codes of batches that have one label each",
    [
        ("loans", "forest", "batch_code"),
        ("orders", "logistic", "shipment"),
        ("machines", "forest", "report"),
        ("mlc_churn", "forest", "ticket"),
    ],
    (*words.LEAK, "cardinality", "many values", "codes", "identif"),
)
def batch_codes(setting: Setting, column: str) -> Case:
    def make(frame: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
        own = rng.integers(0, 40, len(frame)) * 2 + (frame[setting.target] == "yes").to_numpy()
        codes = np.where(rng.random(len(frame)) < 0.12, rng.integers(0, 80, len(frame)), own)
        return np.char.add("B", (1_000 + 37 * codes).astype(str)).astype(object)

    return _leak(setting, column, make)


@plant(
    "leaks",
    "an identifier that was given out by label",
    [("pima", "boosting", "record"), ("hawks", "forest", "ring_number"), ("hpc_data", "forest", "job_number")],
    (*words.LEAK, "identif"),
)
def ordered_identifier(setting: Setting, column: str) -> Case:
    order = pd.concat([setting.train, setting.test])[setting.target].astype(str).rank(method="first").to_numpy() + 1_000
    train = setting.train.assign(**{column: order[: len(setting.train)].astype(int)})
    test = setting.test.assign(**{column: order[len(setting.train) :].astype(int)})
    return setting.case(setting.fit(train), test, train)


@plant(
    "leaks",
    "rows of the test data were training rows",
    [("pima", "forest", 0.4), ("houses", "deep tree", 0.3), ("hawks", "forest", 0.3), ("credit_data", "forest", 0.3)],
    words.DUPLICATES,
    columns=(),
)
def shared_rows(setting: Setting, share: float) -> Case:
    count = int(share * len(setting.test))
    test = pd.concat([setting.test[count:], setting.train[:count]]).sample(frac=1, random_state=setting.seed)
    return setting.case(setting.fit(), test, reference=True)


@plant(
    "leaks",
    "rows of the test data are nearly training rows",
    [("loans", "deep tree", 0.4, "defaulted"), ("diamonds", "deep tree", 0.4, "price")],
    (*words.DUPLICATES, "nearly"),
    columns=(),
    levels=ANY_LEVEL,
)
def nearly_shared_rows(setting: Setting, share: float, target: str) -> Case:
    count = int(share * len(setting.test))
    copies = setting.train[:count].copy()
    for column in copies.select_dtypes("float").columns.drop(target, errors="ignore"):
        copies[column] = copies[column] * 1.0001
    return setting.case(setting.fit(), pd.concat([setting.test[count:], copies]), reference=True)
