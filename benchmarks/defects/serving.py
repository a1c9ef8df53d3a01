"""Serving differs from training: what reaches the model is not what it was fitted to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from . import words
from .registry import Case, Setting, plant


def swap_values(values: pd.Series, first: object, second: object) -> pd.Series:
    """Return the values with two of them exchanged."""
    return values.where(~values.isin([first, second]), values.map({first: second, second: first}))


def swap_day_and_month(dates: pd.Series) -> pd.Series:
    """Return dates as a reader with the wrong order of day and month gets them, where both orders are dates."""
    moved = pd.to_datetime(
        {"year": dates.dt.year, "month": dates.dt.day.clip(upper=12), "day": dates.dt.month, "hour": dates.dt.hour}
    )
    return dates.where(dates.dt.day > 12, moved)


# -- units, factors and shifts ------------------------------------------------------------------------------


@plant(
    "units",
    "a column is in another unit",
    [
        ("rides", "boosting", "distance_km", 1 / 1.609),
        ("houses", "forest", "living_area_m2", 10.764),
        ("patients", "logistic", "glucose_mmol", 18.0),
        ("loans", "boosting", "income", 1 / 12),
        ("pima", "forest", "glucose", 1 / 18),
        ("bank_churners", "boosting", "Total_Trans_Amt", 0.1),
        ("red_wine_taste", "SVC", "alcohol", 0.01),
        ("german_credit", "logistic", "duration_months", 30.4),
        ("diamonds", "boosting", "carat", 0.2),
    ],
    words.SCALE,
)
def another_unit(setting: Setting, column: str, factor: float) -> Case:
    return setting.serve(before=lambda frame: frame.assign(**{column: frame[column] * factor}))


@plant(
    "units",
    "a column is in degrees Fahrenheit",
    [("patients", "boosting", "temperature_c"), ("machines", "logistic", "process_temperature_c")],
    words.SCALE + words.SHIFT,
)
def fahrenheit(setting: Setting, column: str) -> Case:
    return setting.serve(before=lambda frame: frame.assign(**{column: frame[column] * 1.8 + 32}))


@plant(
    "units",
    "a column is in another unit where a category has one value",
    [
        ("patients", "boosting", "glucose_mmol", 18.0, "site", "B"),
        ("rides", "forest", "distance_km", 1 / 1.609, "zone", "centre"),
        ("houses", "boosting", "living_area_m2", 10.764, "district", "docks"),
        ("deliveries", "boosting", "distance", 1 / 1.609, "day", "Sat"),
    ],
    words.SCALE,
)
def another_unit_in_group(setting: Setting, column: str, factor: float, group: str, value: str) -> Case:
    def before(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(**{column: frame[column].where(frame[group] != value, frame[column] * factor)})

    return setting.serve(before=before)


@plant(
    "units",
    "a column is in another unit above a value",
    [
        ("loans", "boosting", "amount", 10_000, 0.001),
        ("german_credit", "logistic", "duration_months", 20, 12.0),
        ("diamonds", "forest", "carat", 1.0, 0.2),
    ],
    (*words.SCALE, "above", "over", ">"),
)
def another_unit_above(setting: Setting, column: str, cut: float, factor: float) -> Case:
    def before(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(**{column: frame[column].where(frame[column] <= cut, frame[column] * factor)})

    return setting.serve(before=before)


@plant(
    "shifts",
    "times are shifted by hours",
    [("rides", "boosting", "pickup", 5), ("rides", "forest", "pickup", -8)],
    words.SHIFT,
)
def shifted_hours(setting: Setting, column: str, hours: int) -> Case:
    return setting.serve(
        before=lambda frame: frame.assign(**{column: pd.to_datetime(frame[column]) + pd.Timedelta(hours=hours)})
    )


@plant("shifts", "times are shifted by days", [("rides", "tree", "pickup", 3)], words.SHIFT)
def shifted_days(setting: Setting, column: str, days: int) -> Case:
    return setting.serve(
        before=lambda frame: frame.assign(**{column: pd.to_datetime(frame[column]) + pd.Timedelta(days=days)})
    )


@plant(
    "shifts",
    "a column is shifted by a constant",
    [
        ("pima", "logistic", "glucose", 40),
        ("phoneme", "neighbours", "V2", 1.0),
        ("diabetes", "ridge", "bmi", 0.06),
        ("deliveries", "forest", "hour", 2.0),
    ],
    words.SHIFT,
)
def shifted(setting: Setting, column: str, offset: float) -> Case:
    return setting.serve(before=lambda frame: frame.assign(**{column: frame[column] + offset}))


@plant(
    "shifts",
    "the values of a column belong to the row before",
    [("pima", "forest", "glucose"), ("penguins", "SVC", "bill_length_mm"), ("hpc_data", "boosting", "compounds")],
    ("row before", "previous row", "neighbouring row", "batch", "position", "row order", "order of (the )?rows"),
    columns=(),
)
def shifted_rows_of_column(setting: Setting, column: str) -> Case:
    return setting.serve(before=lambda frame: frame.assign(**{column: np.roll(frame[column].to_numpy(), 1)}))


# -- columns and categories -----------------------------------------------------------------------------------


@plant(
    "swaps",
    "two columns are swapped",
    [
        ("penguins", "logistic", "bill_length_mm", "bill_depth_mm"),
        ("banknote", "forest", "variance", "skewness"),
        ("phoneme", "forest", "V1", "V2"),
        ("iris", "logistic", "petal length (cm)", "petal width (cm)"),
        ("hawks", "logistic", "wing", "tail"),
        ("hpc_data", "forest", "compounds", "input_fields"),
    ],
    words.SWAP,
    columns=lambda first, second: (first, second),
)
def swapped_columns(setting: Setting, first: str, second: str) -> Case:
    return setting.serve(before=lambda frame: frame.assign(**{first: frame[second], second: frame[first]}))


@plant(
    "swaps",
    "two categories are swapped",
    [
        ("mushroom", "logistic", "odor", "n", "f"),
        ("houses", "forest", "district", "altstadt", "fields"),
        ("loans", "logistic", "purpose", "home", "debts"),
        ("patients", "forest", "smoker", "never", "current"),
        ("german_credit", "forest", "checking_status", "A11", "A14"),
        ("credit_data", "logistic", "Records", "no", "yes"),
    ],
    words.CODES,
)
def swapped_categories(setting: Setting, column: str, first: object, second: object) -> Case:
    return setting.serve(before=lambda frame: frame.assign(**{column: swap_values(frame[column], first, second)}))


@plant(
    "swaps",
    "the coding of a category is permuted",
    [
        ("houses", "ridge", "district"),
        ("loans", "forest", "purpose"),
        ("orders", "logistic", "category"),
        ("machines", "forest", "tool"),
        ("diamonds", "forest", "clarity"),
    ],
    words.CODES,
)
def permuted_codes(setting: Setting, column: str) -> Case:
    levels = sorted(setting.train[column].unique())
    mapping = dict(zip(levels, [*levels[1:], levels[0]], strict=True))
    return setting.serve(before=lambda frame: frame.assign(**{column: frame[column].replace(mapping)}))


@plant(
    "dates", "day and month are swapped", [("rides", "boosting", "pickup"), ("rides", "forest", "pickup")], words.DATES
)
def day_and_month(setting: Setting, column: str) -> Case:
    return setting.serve(
        before=lambda frame: frame.assign(**{column: swap_day_and_month(pd.to_datetime(frame[column]))})
    )


@plant(
    "sign",
    "a column has the wrong sign",
    [
        ("banknote", "logistic", "variance"),
        ("phoneme", "boosting", "V1"),
        ("diabetes", "forest", "s5"),
        ("ionosphere", "SVC", "f4"),
        ("mlc_churn", "boosting", "total_day_minutes"),
    ],
    words.SIGN,
)
def wrong_sign(setting: Setting, column: str) -> Case:
    return setting.serve(before=lambda frame: frame.assign(**{column: -frame[column]}))


# -- missing values, limits, digits and spelling ----------------------------------------------------------------


def _hide(setting: Setting, frame: pd.DataFrame, column: str, share: float) -> pd.DataFrame:
    rng = np.random.default_rng([setting.seed, len(frame), 7])
    return frame.assign(**{column: frame[column].astype(float).mask(rng.random(len(frame)) < share)})


@plant(
    "missing values",
    "a gap is filled by another rule than in training",
    [
        ("patients", "logistic", "creatinine_umol", 0.0, 0.0),
        ("loans", "boosting", "credit_score", 0.0, 0.0),
        ("houses", "boosting", "lot_area_m2", 4_000.0, 0.0),
        ("bank_churners", "boosting", "Total_Trans_Ct", -1.0, 0.25),
        ("machines", "boosting", "wear_min", 0.0, 0.3),
        ("credit_data", "boosting", "Income", 0.0, 0.3),
    ],
    (*words.FILL, *words.MISREAD),
)
def filled_otherwise(setting: Setting, column: str, value: float, hidden: float) -> Case:
    train, test = (_hide(setting, frame, column, hidden) for frame in (setting.train, setting.test))
    case = setting.serve(
        before=lambda frame: frame.assign(**{column: frame[column].fillna(value)}), model=setting.fit(train), test=test
    )
    if "reference" in case.options:
        case.options["reference"] = train
    return case


@plant(
    "limits",
    "a column is clipped",
    [
        ("houses", "boosting", "living_area_m2", 0, 90),
        ("rides", "boosting", "distance_km", 0, 4),
        ("bank_churners", "boosting", "Total_Trans_Ct", 60, 999),
        ("pima", "logistic", "glucose", 0, 120),
        ("machines", "forest", "wear_min", 0, 100),
        ("deliveries", "boosting", "distance", 0, 2.5),
    ],
    words.CLIP,
)
def clipped(setting: Setting, column: str, low: float, high: float) -> Case:
    return setting.serve(before=lambda frame: frame.assign(**{column: frame[column].clip(low, high)}))


@plant(
    "digits",
    "a column is rounded too coarsely",
    [
        ("banknote", "neighbours", "variance", 5.0),
        ("rides", "forest", "distance_km", 10.0),
        ("deliveries", "forest", "hour", 5.0),
    ],
    words.ROUND,
)
def rounded(setting: Setting, column: str, step: float) -> Case:
    return setting.serve(before=lambda frame: frame.assign(**{column: (frame[column] / step).round() * step}))


@plant(
    "spelling",
    "the service writes a category in other letters",
    [
        ("houses", "forest", "district"),
        ("loans", "boosting", "employment"),
        ("german_credit", "logistic", "checking_status"),
        ("mlc_churn", "boosting", "international_plan"),
    ],
    (*words.SPELLING, *words.LOST),
)
def other_letters(setting: Setting, column: str) -> Case:
    return setting.serve(before=lambda frame: frame.assign(**{column: frame[column].str.swapcase()}))


@plant(
    "spelling",
    "the data write a category in other letters or with spaces than in training",
    [("houses", "boosting", "district", 0.4), ("hpc_data", "logistic", "protocol", 0.4)],
    words.SPELLING,
)
def other_letters_in_data(setting: Setting, column: str, share: float) -> Case:
    changed = setting.rng.random(len(setting.test)) < share
    values = setting.test[column]
    test = setting.test.assign(**{column: values.where(~changed, values.str.title() + " ")})
    return setting.case(setting.fit(), test)


# -- two at once ------------------------------------------------------------------------------------------------


def _two(setting: Setting, changes: Sequence[tuple[str, float, float]]) -> Case:
    def before(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(**{column: frame[column] * factor + offset for column, factor, offset in changes})

    return setting.serve(before=before)


@plant(
    "two at once",
    "two columns are misread",
    [
        ("pima", "logistic", ("glucose", 1 / 18, 0), ("bmi", 2.2046, 0)),
        ("patients", "boosting", ("glucose_mmol", 18.0, 0), ("temperature_c", 1.8, 32)),
        ("houses", "ridge", ("living_area_m2", 10.764, 0), ("year_built", 1, -100)),
        ("hawks", "SVC", ("wing", 0.1, 0), ("weight", 0.03527, 0)),
        ("diamonds", "forest", ("carat", 0.2, 0), ("x", 10, 0)),
    ],
    (*words.SCALE, *words.SHIFT),
    columns=lambda first, second: (first[0], second[0]),
)
def two_units(setting: Setting, *changes: tuple[str, float, float]) -> Case:
    return _two(setting, changes)


@plant(
    "two at once",
    "miles and a wrong time zone",
    [("rides", "forest", "distance_km", "pickup")],
    (*words.SCALE, *words.SHIFT),
    columns=lambda first, second: (first, second),
)
def miles_and_hours(setting: Setting, distance: str, time: str) -> Case:
    return setting.serve(
        before=lambda frame: frame.assign(
            **{distance: frame[distance] / 1.609, time: pd.to_datetime(frame[time]) - pd.Timedelta(hours=9)}
        )
    )
