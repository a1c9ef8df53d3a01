"""Data of the user for the experiment of Silveira et al. (2025): numbers and classes, or an error that says what is wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._lazy import pd
from .._text import format_short, pluralise, suggest_name
from .._validation import is_frame
from ..data.sets import TARGET
from ..errors import DataError
from ..runs.fingerprint import compute_data_hash
from ..space.encoding import to_numbers
from ..space.inference import validate_frame
from ..space.table_forms import to_plain_data
from .tree_trials import FOLDS


@dataclass(frozen=True)
class DataSet:
    """Rows of the user: numbers, and the label in the last column. Two are equal if their names and contents are."""

    name: str
    fingerprint: str
    frame: pd.DataFrame = field(repr=False, compare=False)

    @property
    def folds(self) -> int:
        """The number of folds: ten, or as many as there are rows of the rarest class."""
        return min(FOLDS, int(self.frame[TARGET].value_counts().min()))


def read_data_sets(data: Any, target: str) -> tuple[DataSet, ...]:
    """Return data of the user, one or several by name, or raise `DataError` if the experiment cannot be made with them."""
    several = isinstance(data, Mapping) and all(map(_is_table, data.values())) and bool(data)
    named = data if several else {"data": data}
    return tuple(_read_data_set(str(name), table, target) for name, table in named.items())


def _is_table(value: Any) -> bool:
    return is_frame(value) or hasattr(value, "frame") or isinstance(value, os.PathLike | str) or np.ndim(value) == 2


def _read_data_set(name: str, data: Any, target: str) -> DataSet:
    plain = to_plain_data(data)
    rows = validate_frame(getattr(plain, "frame", plain))
    if target not in rows.columns:
        raise DataError(f"The target column {target!r} is not in {name}. {suggest_name(target, rows.columns)}")
    inputs = rows.drop(columns=target)
    if not len(inputs.columns):
        raise DataError(f"{name} has no column beside the target {target!r}. Give at least one input.")
    if not len(rows):
        raise DataError(f"{name} has no rows. Give rows of at least two classes.")
    numbers = {
        f"{column} (input)" if column == TARGET else str(column): _read_input(name, inputs[column]) for column in inputs
    }
    if len(numbers) < len(inputs.columns):
        raise DataError(f"Two columns of {name} have the same name as text. Rename one.")
    frame = pd.DataFrame(numbers).assign(**{TARGET: _read_labels(name, rows[target])})
    return DataSet(name, compute_data_hash(frame), frame)


def _read_input(name: str, column: pd.Series[Any]) -> Any:
    """Return a column as numbers, or raise `DataError`."""
    place, remedy = f"The column {str(column.name)!r} of {name}", "Fill the gaps, or drop these rows: data.dropna()."
    values, is_text = to_numbers(column)
    if is_text.any():
        text = format_short(column[is_text].iloc[0])
        raise DataError(
            f"{place} holds texts such as {text!r}, but the trees and 3-NN of the experiment compare numbers. Encode it, for "
            "example with pandas.get_dummies(data, columns=[...]), or drop it."
        )
    if np.isnan(values).any():
        raise DataError(
            f"{place} has {pluralise(int(np.isnan(values).sum()), 'missing value')}, and 3-NN takes none. {remedy}"
        )
    if np.isinf(values).any():
        raise DataError(f"{place} has infinite values, and 3-NN takes none. {remedy}")
    return values


def _read_labels(name: str, column: pd.Series[Any]) -> list[str]:
    """Return labels as texts, or raise `DataError` if they cannot be told apart or split into folds."""
    if column.isna().any():
        count = pluralise(int(column.isna().sum()), "missing label")
        raise DataError(f"The target {column.name!r} of {name} has {count}. Label these rows, or drop them.")
    labels = column.map(format_short)
    sizes = labels.value_counts()
    if len(sizes) < 2:
        raise DataError(
            f"The target {column.name!r} of {name} is {sizes.index[0]!r} in every row. A tree needs at least two classes."
        )
    if sizes.min() < 2:
        raise DataError(
            f"The class {sizes.idxmin()!r} of {name} has a single row of {len(labels):,}, and cross-validation needs two of each "
            f"class ({pluralise(len(sizes), 'class', 'classes')} in all). Leave rare classes out, or group the values of a number."
        )
    return labels.tolist()
