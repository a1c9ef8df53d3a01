"""The table itself is wrong: copies, sentinels, spellings, units, impossible values, shifted rows, mixed types."""

from __future__ import annotations

import numpy as np
import pandas as pd

from . import words
from .registry import ANY_LEVEL, Case, Setting, plant


def _pick(setting: Setting, share: float) -> np.ndarray:
    return setting.rng.random(len(setting.test)) < share


# -- columns and rows that say nothing ------------------------------------------------------------------------------


@plant(
    "table",
    "a constant column",
    [
        ("loans", "forest", "channel", "web"),
        ("pima", "boosting", "trial", 1.0),
        ("mlc_churn", "forest", "region", "west"),
    ],
    ("constant", "one value", "same value"),
    levels=ANY_LEVEL,
)
def constant_column(setting: Setting, column: str, value: object) -> Case:
    train, test = (frame.assign(**{column: value}) for frame in (setting.train, setting.test))
    return setting.case(setting.fit(train), test, train)


@plant(
    "table",
    "a column is a copy of another one",
    [
        ("houses", "boosting", "area_sqft", "living_area_m2", 10.764),
        ("breast_cancer", "logistic", "radius_copy", "mean radius", 1.0),
        ("diamonds", "boosting", "weight_grams", "carat", 0.2),
    ],
    ("copy", "copies", "duplicate", "same as", "multiple of", "identical", "determined", "redundant"),
    levels=ANY_LEVEL,
)
def copied_column(setting: Setting, column: str, original: str, factor: float) -> Case:
    train, test = (frame.assign(**{column: frame[original] * factor}) for frame in (setting.train, setting.test))
    return setting.case(setting.fit(train), test, train)


@plant(
    "table",
    "rows are repeated",
    [("diabetes", "ridge", 0.35), ("rides", "forest", 0.3), ("deliveries", "forest", 0.3)],
    words.DUPLICATES,
    columns=(),
    levels=ANY_LEVEL,
)
def repeated_rows(setting: Setting, share: float) -> Case:
    copies = setting.test.sample(frac=share, random_state=setting.seed)
    test = pd.concat([setting.test, copies]).sample(frac=1, random_state=setting.seed)
    return setting.case(setting.fit(), test)


@plant(
    "table",
    "times have a gap",
    [("rides", "boosting", "pickup", 0.3, 0.55), ("loans", "logistic", "applied", 0.5, 0.7)],
    ("gap", "no rows between", "without rows"),
    levels=ANY_LEVEL,
)
def gap_in_time(setting: Setting, column: str, low: float, high: float) -> Case:
    ranks = setting.test[column].rank(pct=True)
    return setting.case(setting.fit(), setting.test[~ranks.between(low, high)])


# -- spellings and types --------------------------------------------------------------------------------------------


@plant(
    "table",
    "a category is spelt in several ways",
    [
        ("loans", "boosting", "employment", "employed", ("Employed", "employed ", "EMPLOYED")),
        ("machines", "forest", "tool", "drill", ("Drill", "drill ", "DRILL")),
        ("credit_data", "boosting", "Job", "fixed", ("Fixed", "fixed ", "FIXED")),
    ],
    ("spell", "letter case", "spaces", "capital", "written"),
)
def spellings(setting: Setting, column: str, value: str, variants: tuple[str, ...]) -> Case:
    def write(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng([setting.seed, seed])
        rows = (frame[column] == value) & (rng.random(len(frame)) < 0.6)
        others = rng.choice(np.array(variants, dtype=object), len(frame))
        return frame.assign(**{column: frame[column].astype(object).where(~rows, others)})

    train, test = write(setting.train, 1), write(setting.test, 2)
    return setting.case(setting.fit(train), test, train)


@plant(
    "table",
    "a label is spelt in several ways",
    [
        ("loans", "boosting", "defaulted", "yes", "Yes"),
        ("penguins", "forest", "target", "Gentoo", "gentoo "),
        ("hawks", "logistic", "target", "RT", "rt"),
        ("credit_data", "logistic", "Status", "good", "Good"),
    ],
    ("spell", "letter case", "spaces", "capital", "written", "never predicted", "never answered", "not among"),
    columns=lambda target, label, other: (target, label, other),
)
def label_spellings(setting: Setting, target: str, label: str, other: str) -> Case:
    rows = (setting.test[target] == label) & _pick(setting, 0.4)
    return setting.case(setting.fit(), setting.test.assign(**{target: setting.test[target].where(~rows, other)}))


@plant(
    "table",
    "numbers are partly text",
    [("pima", "forest", "bmi", 0.3), ("loans", "logistic", "income", 0.3), ("hpc_data", "forest", "compounds", 0.3)],
    ("text", "mixed", "type"),
)
def mixed_types(setting: Setting, column: str, share: float) -> Case:
    rows = _pick(setting, share)
    values = setting.test[column].astype(object)
    test = setting.test.assign(**{column: values.where(~rows, values.astype(str))})
    return setting.serve(
        before=lambda frame: frame.assign(**{column: pd.to_numeric(frame[column], errors="coerce")}), test=test
    )


@plant(
    "table",
    "numbers are text with thousands separators",
    [
        ("houses", "boosting", "lot_area_m2"),
        ("bank_churners", "forest", "Credit_Limit"),
        ("credit_data", "boosting", "Price"),
    ],
    ("text", "numbers", "separator", "type"),
)
def numbers_as_text(setting: Setting, column: str) -> Case:
    test = setting.test.assign(**{column: [f"{value:,.1f}" for value in setting.test[column].fillna(500)]})
    return setting.serve(
        before=lambda frame: frame.assign(**{column: pd.to_numeric(frame[column], errors="coerce")}), test=test
    )


# -- values that are none -----------------------------------------------------------------------------------------------


@plant(
    "table",
    "a sentinel stands for a missing value",
    [
        ("loans", "logistic", "credit_score", -999.0, 0.2),
        ("patients", "forest", "glucose_mmol", 9_999.0, 0.15),
        ("houses", "boosting", "living_area_m2", 99_999.0, 0.12),
        ("machines", "logistic", "vibration_mm", -999.0, 0.15),
        ("deliveries", "boosting", "distance", -999.0, 0.15),
    ],
    (*words.SENTINELS, "-999", "9999", "99999"),
)
def sentinel(setting: Setting, column: str, value: float, share: float) -> Case:
    test = setting.test.assign(**{column: setting.test[column].astype(float).mask(_pick(setting, share), value)})
    return setting.case(setting.fit(), test)


@plant(
    "table",
    "1900-01-01 stands for an unknown date",
    [("rides", "boosting", "pickup", 0.2), ("houses", "ridge", "sold", 0.15)],
    (*words.SENTINELS, "1900"),
)
def sentinel_date(setting: Setting, column: str, share: float) -> Case:
    test = setting.test.assign(**{column: setting.test[column].mask(_pick(setting, share), pd.Timestamp("1900-01-01"))})
    return setting.case(setting.fit(), test)


@plant(
    "table",
    "a column has two units",
    [
        ("patients", "boosting", "weight_kg", 2.2046, 0.3),
        ("loans", "forest", "income", 1 / 12, 0.3),
        ("penguins", "SVC", "body_mass_g", 0.001, 0.3),
        ("diabetes", "ridge", "bmi", 100.0, 0.3),
        ("machines", "boosting", "process_temperature_c", 10.0, 0.2),
        ("diamonds", "boosting", "x", 0.1, 0.3),
    ],
    ("unit", "scale", "factor", "two groups", "mixture", "clusters"),
)
def two_units(setting: Setting, column: str, factor: float, share: float) -> Case:
    values = setting.test[column].astype(float)
    return setting.case(
        setting.fit(), setting.test.assign(**{column: values.where(~_pick(setting, share), values * factor)})
    )


@plant(
    "table",
    "impossible values",
    [
        ("patients", "boosting", "age", -1.0, 0.12),
        ("pima", "boosting", "age", 10.0, 0.12),
        ("loans", "boosting", "term_months", -1.0, 0.15),
        ("german_credit", "boosting", "age", -1.0, 0.15),
        ("credit_data", "forest", "Age", -1.0, 0.12),
    ],
    ("impossible", "negative", "below 0", "below zero", "above 100", "over 100", "outside", "implausible", "range"),
)
def impossible_values(setting: Setting, column: str, factor: float, share: float) -> Case:
    values = setting.test[column].astype(float)
    return setting.case(
        setting.fit(), setting.test.assign(**{column: values.where(~_pick(setting, share), values * factor)})
    )


@plant(
    "table",
    "rows are shifted by a column",
    [
        ("pima", "logistic", 0.15),
        ("patients", "forest", 0.12),
        ("wheat_seeds", "SVC", 0.2),
        ("mlc_churn", "logistic", 0.15),
    ],
    ("shifted", "one column", "wrong column", "next column", "neighbouring column", "swapped", "misaligned"),
    columns=(),
)
def shifted_cells(setting: Setting, share: float) -> Case:
    numeric = setting.inputs(setting.test).select_dtypes("number").columns
    rows = _pick(setting, share)
    moved = setting.test[numeric].shift(1, axis=1)
    moved[numeric[0]] = setting.test[numeric[-1]]
    cells = np.where(rows[:, None], moved.astype(float), setting.test[numeric].astype(float))
    test = setting.test.assign(**dict(zip(numeric, cells.T, strict=True)))
    return setting.case(setting.fit(), test)


@plant(
    "table",
    "labels belong to the row before",
    [
        ("breast_cancer", "forest", 0.5),
        ("rides", "boosting", 0.4),
        ("banknote", "logistic", 0.5),
        ("hpc_data", "forest", 0.5),
    ],
    (
        "shifted",
        "row before",
        "previous row",
        "neighbouring row",
        "rows? (from|of|after)",
        "wrong row",
        "misaligned",
        "moved",
    ),
    columns=(),
)
def shifted_labels(setting: Setting, share: float) -> Case:
    labels = setting.test[setting.target]
    rows = np.arange(len(labels)) >= (1 - share) * len(labels)
    return setting.case(
        setting.fit(), setting.test.assign(**{setting.target: np.where(rows, np.roll(labels, 1), labels)})
    )


@plant(
    "table",
    "labels of a group are wrong in the test data",
    [
        ("loans", "boosting", "country", "CH", 0.8),
        ("patients", "boosting", "site", "D", 0.8),
        ("mlc_churn", "boosting", "area_code", "area_code_510", 0.8),
    ],
    ("{1}",),
)
def wrong_test_labels(setting: Setting, column: str, value: str, share: float) -> Case:
    from .training import flip_labels

    rows = (setting.test[column] == value).to_numpy() & _pick(setting, share)
    labels = flip_labels(setting.test[setting.target], rows)
    return setting.case(setting.fit(), setting.test.assign(**{setting.target: labels}))
