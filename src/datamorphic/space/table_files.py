"""Read tables from CSV and Parquet files."""

from __future__ import annotations

import codecs
import re
import warnings
from pathlib import Path
from typing import Any

from .._files import to_local_path
from .._lazy import pd
from .._text import quote_formula, redact, unquote_formula
from .._typing import FilePath
from ..errors import AmbiguousData, DataError

TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".parquet")


def is_table_file(path: FilePath) -> bool:
    """Return whether a path ends like that of a table, such as ``.csv``."""
    return Path(path).suffix.lower() in TABLE_SUFFIXES


def read_table(path: FilePath) -> pd.DataFrame:
    """Return the frame in a CSV or Parquet file, without a saved index."""
    file = to_local_path(path, "table")
    kind = file.suffix.lower()
    if not file.is_file():
        raise DataError(f"There is no file {redact(str(path))!r}.")
    if kind not in TABLE_SUFFIXES:
        raise DataError(f"{file.name} is not understood as a table. Known files: .csv, .tsv, .parquet.")
    try:
        if kind == ".parquet":
            frame = stack_nested_arrays(pd.read_parquet(file))
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)  # the parser would drop fields
                options = find_csv_options(file)
                _reject_repeated_names(file, options)
                frame = _unquote_formulas(pd.read_csv(file, **options))
    except DataError:
        raise
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


def quote_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame for a CSV file, in which no text is a formula for spreadsheets; `read_table` restores the texts."""
    text_columns = [name for name, dtype in frame.dtypes.items() if dtype.kind == "O"]
    cells = frame[text_columns].astype(object).map(lambda cell: quote_formula(cell) if isinstance(cell, str) else cell)
    return frame.assign(**{str(name): cells[name] for name in text_columns}).rename(
        columns=lambda name: quote_formula(str(name))
    )


def _unquote_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with the texts that `quote_formulas` has quoted."""
    for name, dtype in frame.dtypes.items():
        if dtype.kind == "O":
            quoted = [text for text in frame[name].unique() if isinstance(text, str) and text.startswith("'")]
            texts = {text: plain for text in quoted if (plain := unquote_formula(text)) != text}
            if texts:
                frame[name] = frame[name].replace(texts)
    return frame.rename(columns=lambda name: unquote_formula(str(name)))


def stack_nested_arrays(frame: pd.DataFrame) -> pd.DataFrame:
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


def _reject_repeated_names(file: Path, options: dict[str, Any]) -> None:
    """Raise `DataError` if the first line of a CSV file has a name twice, which pandas would rename without a word."""
    names = pd.read_csv(file, header=None, nrows=1, dtype=str, **options).iloc[0].dropna()
    repeated = names[names.duplicated()]
    if len(repeated):
        name, renamed = repeated.iloc[0], f"{repeated.iloc[0]}.1"
        raise DataError(
            f"The column name {name!r} occurs more than once in the first line of {file.name}. Give each column a name of "
            f"its own there. If the model was fitted on what pandas makes of such a file, the second name is {renamed!r}."
        )


def find_csv_options(path: str | Path) -> dict[str, Any]:
    """Return the options with which `pandas.read_csv` reads a file correctly; none for most files."""
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
