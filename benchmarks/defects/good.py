"""Good models, also weak ones and ones on untidy but honest data: a test has nothing to say against them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .registry import Case, Setting, approve


@approve(
    "classifiers",
    "as it is",
    [
        ("bank_churners", "logistic"),
        ("bank_churners", "forest"),
        ("bank_churners", "boosting"),
        ("pima", "logistic"),
        ("pima", "forest"),
        ("pima", "SVC"),
        ("pima", "naive Bayes"),
        ("red_wine_taste", "gradient boosting"),
        ("red_wine_taste", "MLP"),
        ("phoneme", "boosting"),
        ("phoneme", "neighbours"),
        ("mushroom", "logistic"),
        ("mushroom", "tree"),
        ("penguins", "SVC"),
        ("penguins", "forest"),
        ("ionosphere", "extra trees"),
        ("sonar", "SVC"),
        ("wheat_seeds", "logistic"),
        ("banknote", "MLP"),
        ("breast_cancer", "logistic"),
        ("breast_cancer", "boosting"),
        ("wine", "forest"),
        ("iris", "naive Bayes"),
        ("digits", "logistic"),
        ("cleveland", "forest"),
        ("haberman", "logistic"),
        ("german_credit", "logistic"),
        ("german_credit", "forest"),
        ("german_credit", "boosting"),
        ("hawks", "forest"),
        ("hawks", "logistic"),
        ("hawks", "SVC"),
        ("credit_data", "logistic"),
        ("credit_data", "forest"),
        ("credit_data", "boosting"),
        ("hpc_data", "logistic"),
        ("hpc_data", "forest"),
        ("hpc_data", "boosting"),
    ],
)
@approve(
    "imbalanced",
    "as it is",
    [
        ("mammography", "forest"),
        ("mammography", "logistic"),
        ("mammography", "boosting"),
        ("oil_spill", "forest"),
        ("oil_spill", "logistic"),
        ("mlc_churn", "logistic"),
        ("mlc_churn", "forest"),
        ("mlc_churn", "boosting"),
    ],
)
@approve(
    "dates, gaps and categories",
    "as it is",
    [
        ("loans", "logistic"),
        ("loans", "boosting"),
        ("loans", "forest"),
        ("patients", "logistic"),
        ("patients", "boosting"),
        ("patients", "MLP"),
        ("orders", "logistic"),
        ("orders", "boosting"),
        ("comments", "forest"),
        ("machines", "logistic"),
        ("machines", "boosting"),
        ("machines", "forest"),
    ],
)
@approve(
    "numbers",
    "as it is",
    [
        ("rides", "boosting"),
        ("rides", "forest"),
        ("rides", "log ridge"),
        ("houses", "boosting"),
        ("houses", "forest"),
        ("houses", "log ridge"),
        ("diabetes", "ridge"),
        ("diabetes", "forest"),
        ("diabetes", "SVR"),
        ("red_wine", "forest"),
        ("red_wine", "ridge"),
        ("diamonds", "boosting"),
        ("diamonds", "forest"),
        ("diamonds", "log ridge"),
        ("deliveries", "boosting"),
        ("deliveries", "forest"),
        ("deliveries", "ridge"),
    ],
)
@approve(
    "weak",
    "a linear model on curved data",
    [
        ("rides", "ridge"),
        ("houses", "linear"),
        ("phoneme", "logistic"),
        ("banknote", "naive Bayes"),
        ("diamonds", "ridge"),
    ],
)
@approve(
    "weak",
    "a shallow tree",
    [
        ("loans", "stump"),
        ("patients", "stump"),
        ("houses", "stump"),
        ("wine", "stump"),
        ("phoneme", "stump"),
        ("machines", "stump"),
        ("credit_data", "stump"),
    ],
)
@approve(
    "weak",
    "a tree that is fully grown",
    [
        ("loans", "deep tree"),
        ("pima", "deep tree"),
        ("rides", "deep tree"),
        ("diabetes", "deep tree"),
        ("deliveries", "deep tree"),
    ],
)
@approve("weak", "nearest neighbours of many columns", [("houses", "neighbours"), ("loans", "neighbours")])
def as_it_is(setting: Setting) -> Case:
    return setting.case(setting.fit())


@approve(
    "noise",
    "a part of all labels is wrong",
    [
        ("phoneme", "forest", 0.2),
        ("breast_cancer", "forest", 0.15),
        ("loans", "boosting", 0.15),
        ("patients", "forest", 0.15),
        ("hpc_data", "forest", 0.15),
    ],
)
def noisy_labels(setting: Setting, share: float) -> Case:
    def blur(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng([setting.seed, seed])
        labels = frame[setting.target]
        drawn = rng.permutation(labels.to_numpy())
        return frame.assign(**{setting.target: labels.where(rng.random(len(labels)) > share, drawn)})

    train, test = blur(setting.train, 1), blur(setting.test, 2)
    return setting.case(setting.fit(train), test, train)


@approve(
    "small",
    "few rows",
    [
        ("loans", "logistic", 80),
        ("houses", "forest", 100),
        ("pima", "forest", 60),
        ("patients", "tree", 120),
        ("credit_data", "logistic", 100),
    ],
)
def few_rows(setting: Setting, rows: int) -> Case:
    train, test = setting.train[: 4 * rows], setting.test[:rows]
    return setting.case(setting.fit(train), test, train)


@approve(
    "untidy",
    "natural outliers",
    [
        ("houses", "boosting", "lot_area_m2"),
        ("loans", "forest", "income"),
        ("diabetes", "forest", "s6"),
        ("deliveries", "boosting", "distance"),
    ],
)
def outliers(setting: Setting, column: str) -> Case:
    def stretch(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng([setting.seed, seed])
        rows = rng.random(len(frame)) < 0.01
        tail = frame[column] * np.exp(np.abs(rng.normal(0, 0.9, len(frame))))
        return frame.assign(**{column: frame[column].where(~rows, tail)})

    train, test = stretch(setting.train, 1), stretch(setting.test, 2)
    return setting.case(setting.fit(train), test, train)


@approve(
    "untidy",
    "gaps that were there in training, too",
    [
        ("pima", "boosting", 0.15),
        ("bank_churners", "logistic", 0.1),
        ("breast_cancer", "forest", 0.2),
        ("mlc_churn", "boosting", 0.1),
    ],
)
def gaps(setting: Setting, share: float) -> Case:
    def hide(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng([setting.seed, seed])
        names = setting.inputs(frame).select_dtypes("number").columns[:4]
        return frame.assign(**{name: frame[name].astype(float).mask(rng.random(len(frame)) < share) for name in names})

    train, test = hide(setting.train, 1), hide(setting.test, 2)
    return setting.case(setting.fit(train), test, train)


@approve(
    "untidy",
    "two currencies, told apart by a column of their own",
    [("loans", "boosting", "income", "currency", "SEK", 11.2), ("houses", "forest", "price", "district", "", 1.0)],
)
def honest_units(setting: Setting, column: str, group: str, value: str, factor: float) -> Case:
    train, test = (
        frame.assign(**{column: frame[column].where(frame[group] != value, frame[column] * factor)})
        for frame in (setting.train, setting.test)
    )
    return setting.case(setting.fit(train), test, train)


@approve(
    "drift",
    "harmless drift of the data",
    [
        ("loans", "logistic", "age"),
        ("houses", "boosting", "year_built"),
        ("patients", "boosting", "systolic"),
        ("bank_churners", "forest", "Customer_Age"),
        ("german_credit", "logistic", "age"),
        ("diamonds", "boosting", "depth"),
    ],
)
def harmless_drift(setting: Setting, column: str) -> Case:
    """Test on more of the rows with large values: the labels follow the same rule as before."""
    ranks = setting.test[column].rank(pct=True)
    test = setting.test[setting.rng.random(len(setting.test)) < 0.25 + 0.75 * ranks]
    return setting.case(setting.fit(), test, reference=True)


@approve(
    "drift",
    "later rows by date",
    [("rides", "boosting", "pickup"), ("loans", "boosting", "applied"), ("orders", "logistic", "ordered")],
)
def later_rows(setting: Setting, column: str) -> Case:
    frame = pd.concat([setting.train, setting.test]).sort_values(column).reset_index(drop=True)
    train, test = frame[: int(0.7 * len(frame))], frame[int(0.7 * len(frame)) :]
    return setting.case(setting.fit(train), test, train, reference=True)
