"""Data sets by name: from the data home, from scikit-learn, or from OpenML."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from .._text import suggest_name
from ..errors import DataError
from ..space.table_files import read_table

if TYPE_CHECKING:
    import pandas as pd

HOME_VARIABLE = "DATAMORPHIC_DATA"
TARGET = "target"

SHIPPED = ("breast_cancer", "iris", "wine")  # with scikit-learn

#: OpenML's numbers of the data sets the published studies use
OPENML = {
    "banknote": 1462,
    "german_credit": 31,
    "haberman": 43,
    "ionosphere": 59,
    "mammography": 310,
    "mushroom": 24,
    "phoneme": 1489,
    "pima": 37,
    "red_wine": 40691,
    "sonar": 40,
}


def homes() -> list[Path]:
    """Return the folders that are searched, in order: $DATAMORPHIC_DATA, then ../shared/data if it exists."""
    given = os.environ.get(HOME_VARIABLE)
    return [*([Path(given)] if given else []), Path("..", "shared", "data")]


def available() -> list[str]:
    """Return the names that `load` finds without asking OpenML."""
    found = {file.stem for home in homes() if home.is_dir() for file in home.glob("*.csv")}
    return sorted(found | set(SHIPPED))


def load(name: str) -> pd.DataFrame:
    """Return a data set as a frame with the label in the column ``target``.

    Looks in ``$DATAMORPHIC_DATA``, then in ``../shared/data`` if it exists, then among the data sets that
    ship with scikit-learn, then at OpenML.

    Examples
    --------
    >>> load("iris").shape
    (150, 5)
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_]+", name):
        raise DataError(f"A data set's name has letters, digits and underscores. Got {name!r}.")
    for home in homes():
        file = home / f"{name}.csv"
        if file.is_file():
            return read_table(file)
    if name in SHIPPED:
        import sklearn.datasets

        frame: pd.DataFrame = getattr(sklearn.datasets, f"load_{name}")(as_frame=True).frame
        return frame
    if name in OPENML:
        return _from_openml(name)
    raise DataError(
        f"There is no data set {name!r}. {suggest_name(name, sorted({*available(), *OPENML}))} "
        f"Set ${HOME_VARIABLE} to a folder with {name}.csv to add it."
    )


def _from_openml(name: str) -> pd.DataFrame:
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(data_id=OPENML[name], as_frame=True, parser="auto")
    except Exception as error:  # no network, a proxy, a server that is down: all one to the user
        raise DataError(
            f"{name!r} is not in the data home and could not be fetched from OpenML ({type(error).__name__}). "
            f"Set ${HOME_VARIABLE} to a folder that has {name}.csv."
        ) from error
    frame: pd.DataFrame = bunch.data.copy()
    frame[TARGET] = bunch.target
    return frame
