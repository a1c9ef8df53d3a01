"""Values at the edge: missing, unseen, dates, and numbers that do not fit into their type."""

from __future__ import annotations

import numpy as np
import pandas as pd

from . import words
from .models import Service
from .registry import Case, Setting, plant


@plant(
    "edges",
    "missing is answered as 0",
    [("loans", "logistic", "credit_score"), ("credit_data", "boosting", "Income")],
    ("missing",),
)
def missing_as_zero(setting: Setting, column: str) -> Case:
    return setting.serve(before=lambda frame: frame.assign(**{column: frame[column].fillna(0)}))


@plant(
    "edges",
    "missing is answered as 0, and is rare in the data",
    [
        ("wine", "logistic", "alcohol", 0.04),
        ("bank_churners", "boosting", "Total_Trans_Ct", 0.02),
        ("deliveries", "boosting", "distance", 0.03),
    ],
    ("missing",),
)
def rare_missing_as_zero(setting: Setting, column: str, share: float) -> Case:
    gaps = setting.rng.random(len(setting.test)) < share
    test = setting.test.assign(**{column: setting.test[column].astype(float).mask(gaps)})
    return setting.serve(before=lambda frame: frame.assign(**{column: frame[column].fillna(0)}), test=test)


@plant(
    "edges",
    "an unseen category is answered as a known one",
    [
        ("houses", "forest", "district", "altstadt"),
        ("loans", "boosting", "employment", "unemployed"),
        ("german_credit", "forest", "checking_status", "A11"),
        ("diamonds", "forest", "color", "D"),
    ],
    ("unseen", "unknown", "never seen", "new categor", "new value", "not in the data"),
)
def unseen_as_known(setting: Setting, column: str, known: str) -> Case:
    levels = set(setting.train[column])
    return setting.serve(
        before=lambda frame: frame.assign(**{column: frame[column].where(frame[column].isin(levels), known)})
    )


@plant(
    "edges",
    "dates after a year become 1970",
    [("houses", "ridge", "sold", "2022-06-01"), ("loans", "logistic", "applied", "2023-01-01")],
    (*words.MISREAD, "1970", "date", "after", "from 20", "later", "no effect", "constant", "{1}"),
)
def lost_dates(setting: Setting, column: str, limit: str) -> Case:
    epoch = pd.Timestamp("1970-01-01")
    return setting.serve(
        before=lambda frame: frame.assign(
            **{column: pd.to_datetime(frame[column]).where(lambda dates: dates < pd.Timestamp(limit), epoch)}
        )
    )


@plant(
    "edges",
    "a column overflows its type",
    [
        ("loans", "logistic", "income", "int16"),
        ("houses", "boosting", "living_area_m2", "int8"),
        ("pima", "forest", "glucose", "int8"),
        ("mlc_churn", "boosting", "total_day_minutes", "int8"),
    ],
    ("overflow", "wrap", "above", "over", ">", "more than", "jump", *words.MISREAD),
)
def overflow(setting: Setting, column: str, dtype: str) -> Case:
    return setting.serve(
        before=lambda frame: frame.assign(
            **{column: frame[column].fillna(0).astype(np.int64).to_numpy().astype(dtype).astype(float)}
        )
    )


@plant(
    "edges",
    "times as whole numbers lose their digits as float32",
    [("rides", "boosting", "pickup")],
    ("float32", "digits", "precision", "round", "step", *words.MISREAD, *words.LOST),
    columns=lambda column: (f"{column}_code",),
)
def lost_digits(setting: Setting, column: str) -> Case:
    code = f"{column}_code"

    def write(frame: pd.DataFrame) -> pd.DataFrame:  # 202403011730 is 1 March 2024, 17:30
        return frame.assign(**{code: frame[column].dt.strftime("%Y%m%d%H%M").astype(np.int64)}).drop(columns=column)

    def read(frame: pd.DataFrame, dtype: type) -> pd.DataFrame:
        texts = frame[code].astype(dtype).astype(np.int64).astype(str)
        times = pd.to_datetime(texts, format="%Y%m%d%H%M", errors="coerce").fillna(pd.Timestamp("2024-06-30"))
        return frame.assign(**{column: times}).drop(columns=code)

    train, test = write(setting.train), write(setting.test)
    service = Service(setting.fit(read(train, np.int64)), lambda frame: read(frame, np.float32))
    service.feature_names_in_ = np.asarray(setting.inputs(train).columns, dtype=object)
    return setting.case(service, test, train)
