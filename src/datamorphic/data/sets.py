"""Data sets by name: from a data folder, from scikit-learn, or from OpenML."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .._lazy import pd
from .._text import suggest_name
from .._validation import check_types
from ..errors import DataError
from ..space.table_files import read_table

HOME_VARIABLE = "DATAMORPHIC_DATA"
TARGET = "target"

SHIPPED = ("breast_cancer", "iris", "wine")  # with scikit-learn

#: ids at OpenML of the data sets of the published studies
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


def list_homes() -> list[Path]:
    """Return the folders that `load` searches, in order: ``$DATAMORPHIC_DATA``, then the user's data folder."""
    from platformdirs import user_data_path

    folder = os.environ.get(HOME_VARIABLE)
    return [*([Path(folder)] if folder else []), user_data_path("datamorphic", appauthor=False) / "data"]


def available() -> list[str]:
    """Return the names of the data sets that `load` finds without a download."""
    stored_names = {file.stem for home in list_homes() if home.is_dir() for file in home.glob("*.csv")}
    return sorted(stored_names | set(SHIPPED))


@check_types
def load(name: str) -> pd.DataFrame:
    """Load a data set by name, as a frame with the label in the column ``target``.

    Searches ``$DATAMORPHIC_DATA``, then the folder ``data`` in the user's data folder of datamorphic
    (``~/.local/share/datamorphic/data`` on Linux), then the data sets that ship with scikit-learn, then OpenML.

    Examples
    --------
    >>> load("iris").shape
    (150, 5)
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_]+", name):
        raise DataError(f"The name of a data set has letters, digits and underscores only. Got {name!r}.")
    for home in list_homes():
        file = home / f"{name}.csv"
        if file.is_file():
            return read_table(file)
    if name in SHIPPED:
        import sklearn.datasets

        frame: pd.DataFrame = getattr(sklearn.datasets, f"load_{name}")(as_frame=True).frame
        return frame
    if name in OPENML:
        return _download_from_openml(name)
    raise DataError(
        f"There is no data set {name!r}. {suggest_name(name, sorted({*available(), *OPENML}))} "
        f"Set ${HOME_VARIABLE} to a folder with {name}.csv to add it."
    )


def _download_from_openml(name: str) -> pd.DataFrame:
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(data_id=OPENML[name], as_frame=True, parser="auto")
    except Exception as error:  # no network, a proxy, a server that is down
        raise DataError(
            f"{name!r} is not in a data folder and could not be downloaded from OpenML ({type(error).__name__}). "
            f"Set ${HOME_VARIABLE} to a folder that has {name}.csv."
        ) from error
    frame: pd.DataFrame = bunch.data.copy()
    frame[TARGET] = bunch.target
    return frame
