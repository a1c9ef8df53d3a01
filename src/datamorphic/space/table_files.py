"""Read tables from CSV and Parquet files."""

from __future__ import annotations

import codecs
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import AmbiguousData, DataError

if TYPE_CHECKING:
    import pandas as pd


def read_table(path: str | Path) -> pd.DataFrame:
    """Return the frame in a CSV or Parquet file, without a saved index."""
    import pandas as pd

    file = Path(path)
    kind = file.suffix.lower()
    if not file.is_file():
        raise DataError(f"There is no file {str(path)!r}.")
    if kind not in (".csv", ".tsv", ".txt", ".parquet"):
        raise DataError(f"{file.name} is not understood as a table. Known files: .csv, .tsv, .parquet.")
    try:
        if kind == ".parquet":
            frame = _stack_nested_arrays(pd.read_parquet(file))
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)  # the parser would drop fields
                frame = pd.read_csv(file, **find_csv_options(file))
    except UnicodeError as error:
        raise DataError(
            f"{file.name} is not UTF-8 text ({error}). Save it as UTF-8 (for Latin-1: iconv -f latin1 -t utf-8), "
            'or read it with pandas.read_csv(..., encoding="latin-1") and give the frame.'
        ) from error
    except pd.errors.ParserWarning as error:
        raise DataError(
            f"{file.name} has rows with more fields than its header. Give each column a name there."
        ) from error
    except Exception as error:  # pandas and pyarrow raise many types
        raise DataError(f"{file.name} cannot be read as a table: {error}") from error
    return _drop_saved_index(frame, file.name)


def _stack_nested_arrays(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose images are arrays of numbers; pyarrow reads them as arrays of arrays."""
    import numpy as np

    def stack(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype == object and len(value):
            parts = [stack(part) for part in value]
            if all(isinstance(part, np.ndarray) and part.shape == parts[0].shape for part in parts):
                return np.stack(parts)
        return value

    for position, dtype in enumerate(frame.dtypes):
        if dtype.kind == "O" and len(frame) and isinstance(frame.iat[0, position], np.ndarray):
            frame = frame.assign(**{frame.columns[position]: [stack(value) for value in frame.iloc[:, position]]})
    return frame


def find_csv_options(path: str | Path) -> dict[str, Any]:
    """Return the options with which `pandas.read_csv` reads a file correctly; none for most files."""
    import pandas as pd

    file = Path(path)
    options: dict[str, Any] = {}
    with file.open("rb") as stream:
        head = stream.read(4096)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        options["encoding"] = "utf-16"
    elif b"\0" in head:
        raise UnicodeError("it has zero bytes, as UTF-16 text has")
    names = list(pd.read_csv(file, nrows=0, **options).columns)
    separators = [separator for separator in ";\t" if len(names) == 1 and separator in names[0]]
    if separators or file.suffix.lower() == ".tsv":
        options["sep"] = separators[0] if separators else "\t"
    if not isinstance(pd.read_csv(file, nrows=1, **options).index, pd.RangeIndex):
        options["index_col"] = False  # rows end with a separator, which must not shift columns
    if "sep" in options:
        point, comma = (
            len(pd.read_csv(file, decimal=mark, **options).select_dtypes("number").columns) for mark in ".,"
        )
        if comma > point:
            options["decimal"] = ","
    return options


def _drop_saved_index(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Drop columns without a name in which every value differs: they are an index that was saved with the data."""
    index_columns = [
        column
        for column in frame.columns
        if re.fullmatch(r"Unnamed: 0(\.\d+)?", str(column))
        and frame[column].dtype.kind != "f"
        and frame[column].is_unique
    ]
    if index_columns:
        warnings.warn(
            f"The first column of {name} has no name and a different value in each row. It was dropped as a saved index. "
            "Name it in the first line if it is a feature. Save with index=False to avoid the column.",
            AmbiguousData,
            stacklevel=3,
        )
    return frame.drop(columns=index_columns)
