"""Data sets by name: from the data home, from scikit-learn, or from OpenML."""

from __future__ import annotations

import codecs
import os
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._text import suggest_name
from ..errors import AmbiguousData, DataError

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


def read_table(path: str | Path) -> pd.DataFrame:
    """Return the frame in a CSV or Parquet file, without the index that was saved beside it."""
    import pandas as pd

    file = Path(path)
    kind = file.suffix.lower()
    if not file.is_file():
        raise DataError(f"There is no file {str(path)!r}.")
    if kind not in (".csv", ".tsv", ".txt", ".parquet"):
        raise DataError(f"{file.name} is not understood as a table. Known files: .csv, .tsv, .parquet.")
    try:
        if kind == ".parquet":
            frame = pd.read_parquet(file)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)  # it would lose fields
                frame = pd.read_csv(file, **csv_options(file))
    except UnicodeError as error:
        raise DataError(
            f"{file.name} is no text in UTF-8 ({error}). Save it as UTF-8 (iconv -f latin1 -t utf-8, say, if it is "
            'Latin-1), or read it with pandas.read_csv(..., encoding="latin-1") and give the frame.'
        ) from error
    except pd.errors.ParserWarning as error:
        raise DataError(
            f"{file.name} has rows with more fields than its header has names, so which field belongs to which name "
            "is not known. Give each column a name in the first line."
        ) from error
    except Exception as error:  # each reader has its own ways to dislike a file
        raise DataError(f"{file.name} cannot be read as a table: {error}") from error
    return _without_index(frame, file.name)


def csv_options(path: str | Path) -> dict[str, Any]:
    """Return what `pandas.read_csv` must be told to read a file rightly; nothing for most files."""
    import pandas as pd

    file = Path(path)
    options: dict[str, Any] = {}
    with file.open("rb") as opened:
        head = opened.read(4096)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        options["encoding"] = "utf-16"
    elif b"\0" in head:
        raise UnicodeError("it holds zero bytes, as UTF-16 does")
    names = list(pd.read_csv(file, nrows=0, **options).columns)
    marks = [mark for mark in ";\t" if len(names) == 1 and mark in names[0]]
    if marks or file.suffix.lower() == ".tsv":
        options["sep"] = marks[0] if marks else "\t"
    if not isinstance(pd.read_csv(file, nrows=1, **options).index, pd.RangeIndex):
        options["index_col"] = False  # a separator at the end of a row shifts no column
    if "sep" in options:
        point, comma = (
            len(pd.read_csv(file, decimal=mark, **options).select_dtypes("number").columns) for mark in ".,"
        )
        if comma > point:
            options["decimal"] = ","
    return options


def _without_index(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Leave out columns without a name that tell rows apart: an index that was saved with the data is no feature."""
    saved = [
        column
        for column in frame.columns
        if re.fullmatch(r"Unnamed: 0(\.\d+)?", str(column))
        and frame[column].dtype.kind != "f"
        and frame[column].is_unique
    ]
    if saved:
        warnings.warn(
            f"The first column of {name} has no name and another value in each row: it is taken for a saved index and "
            "left out. Name it in the first line if it is a feature; save with index=False to leave it away.",
            AmbiguousData,
            stacklevel=3,
        )
    return frame.drop(columns=saved)


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
