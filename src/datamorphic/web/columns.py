"""The columns of a subject's data and its classes, for the choices of forms."""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

from .._lazy import pd
from ..data.subjects import subjects
from ..errors import DatamorphicError
from .subject import ChosenSubject

MAX_BYTES_READ = 30_000_000  # of a file; of larger ones only the first rows are read
MAX_ROWS_READ = 5_000  # of large files
MAX_CLASSES = 30  # a column with more values holds no classes


@dataclass(frozen=True, kw_only=True)
class SubjectColumns:
    """What the forms of a subject offer: its features, those of a kind, and the classes of its label.

    `message` says why they are not known, if so.
    """

    features: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    sequences: tuple[str, ...] = ()
    message: str = ""


def read_columns(subject: ChosenSubject) -> SubjectColumns:
    """Return the columns of a subject. It reads a file, so that it is called in a thread; results are kept."""
    if subject.kind == "demo":
        space = subjects[subject.subject].space
        names = () if space is None else tuple(map(str, space.names))
        return SubjectColumns(features=names, numeric=names)
    if not subject.data:
        return SubjectColumns(message="The columns are known when a data file is chosen.")
    path = Path(subject.data)
    try:
        changed = 0 if subject.data.startswith("data:") else path.stat().st_mtime_ns
        return _read_columns(subject.data, subject.target, changed)
    except (DatamorphicError, OSError) as error:
        return SubjectColumns(message=str(error))


@functools.lru_cache(maxsize=64)
def _read_columns(data: str, target: str, changed: int) -> SubjectColumns:
    """Return the columns of a file; `changed` is the time of its last change, so that a new version is read again."""
    frame = _read_rows(data)
    features = [column for column in frame.columns if str(column) != target]
    numeric = [column for column in features if pd.api.types.is_numeric_dtype(frame[column])]
    classes: list[str] = []
    if target in frame.columns:
        values = frame[target].dropna().unique().tolist()
        classes = [str(value) for value in sorted(values, key=str)] if len(values) <= MAX_CLASSES else []
    columns = SubjectColumns(
        features=tuple(map(str, features)), numeric=tuple(map(str, numeric)), classes=tuple(classes)
    )
    return _add_special_columns(columns, frame[features].head(MAX_ROWS_READ))


def _add_special_columns(columns: SubjectColumns, frame: pd.DataFrame) -> SubjectColumns:
    """Return the columns with those that hold texts, images and sequences; none if the rows make no space."""
    from ..space.space import Space

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            space = Space.from_frame(frame)
    except DatamorphicError:
        return columns
    blocks = [(placed_block.block.kind, placed_block.block.name) for placed_block in space.blocks]
    return replace(
        columns,
        texts=tuple(str(feature.name) for feature in space.features if feature.kind == "text"),
        images=tuple(name for kind, name in blocks if kind == "image"),
        sequences=tuple(name for kind, name in blocks if kind == "sequence"),
    )


def _read_rows(data: str) -> pd.DataFrame:
    from ..cli.load import load_data
    from ..space.table_files import find_csv_options

    if data.startswith("data:") or data.endswith(".parquet") or Path(data).stat().st_size <= MAX_BYTES_READ:
        return load_data(data)
    return pd.read_csv(data, nrows=MAX_ROWS_READ, **find_csv_options(data))
