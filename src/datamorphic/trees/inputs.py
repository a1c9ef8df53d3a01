"""Convert rows of the user to the numbers that trees compare, and validate them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import format_short, pluralise, suggest_name, to_text
from .._typing import DataLike
from ..errors import ArgumentError, DataError, ModelError
from ..space.encoding import to_numbers
from ..space.inference import validate_frame
from ..space.points import Points
from ..space.space import Space
from .forest import Forest
from .pipeline import Preprocessing
from .pmml.domains import Domain, add_other_categories, encode_categories, replace_with_missing

Singles = npt.NDArray[np.float32]
TreeMatrix = npt.NDArray[np.float32] | npt.NDArray[np.float64]
LIGHTGBM_ZERO_TOLERANCE = float(np.float32(1e-35))  # only LightGBM compares doubles here: this is 0 for it
MAX_CODE = 1e30  # beyond, sums in single precision overflow in scikit-learn


@dataclass(frozen=True, kw_only=True)
class TreeInputs:
    """Converts rows of the user to the numbers that trees compare; see `Forest` for most fields."""

    owner: str
    names: tuple[str, ...]  # of the columns, in the order of the trees
    preprocessing: Preprocessing | None = None
    takes_missing: bool = True
    single: bool = True
    categories: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)
    missing_markers: Mapping[int, float] = field(default_factory=dict)
    space: Space | None = None  # the values that columns may have, if known
    coded: bool = False  # whether the trees compare the codes of that space: so for surrogates
    domains: Mapping[int, Domain] = field(default_factory=dict)

    def to_tree_matrix(self, frame: pd.DataFrame) -> TreeMatrix:
        """Return rows as the trees compare them; missing values are NaN."""
        if self.preprocessing is not None:
            try:
                values = self.preprocessing.transform(frame)
            except Exception as error:  # a step of the pipeline may raise anything
                raise DataError(
                    f"The steps before the trees failed on these data: {type(error).__name__}: {to_text(error)}"
                ) from error
            matrix = self._round_to_precision(values)
        elif self.coded:
            assert self.space is not None
            matrix = to_single_precision(self.space.points(frame).codes)
        else:
            matrix = self._round_to_precision(self.to_numbers(frame))
        if self.missing_markers and not self.coded:
            matrix = matrix.copy()  # the array may belong to the user
            for column, number in self.missing_markers.items():
                near = np.abs(matrix[:, column] - number) <= (0 if self.single else LIGHTGBM_ZERO_TOLERANCE)
                matrix[near, column] = np.nan
        if self.domains:
            matrix = self._apply_domains(matrix.copy(), frame)
        if np.isfinite(matrix).all():
            return matrix
        problem = "is infinite or too large for single precision"
        _refuse_bad_values(frame, np.isinf(matrix), problem, "Replace or rescale it.")
        if not self.takes_missing:
            problem = f"is missing, but {self.owner} takes no missing values"
            _refuse_bad_values(frame, np.isnan(matrix), problem, "Fill it in or leave the row out.")
        return matrix

    def to_numbers(self, frame: pd.DataFrame) -> npt.NDArray[Any]:
        """Return rows as numbers, with categories as codes."""
        for column, domain in self.domains.items():
            frame = replace_with_missing(frame, column, domain.missing)
        if not self.categories:
            is_numeric = all(dtype.kind in "fiub" for dtype in frame.dtypes)
            array = frame.to_numpy() if is_numeric else convert_to_numbers(frame)
            return array if array.dtype.kind in "fiub" else convert_to_numbers(frame)
        matrix = np.empty((len(frame), len(frame.columns)))
        others = [j for j in range(len(frame.columns)) if j not in self.categories]
        matrix[:, others] = convert_to_numbers(frame.iloc[:, others])
        for column, values in self.categories.items():
            matrix[:, column] = self._encode_categories(frame, column, values)
        return matrix

    def _encode_categories(self, frame: pd.DataFrame, column: int, values: Sequence[Any]) -> npt.NDArray[np.float64]:
        """Return the codes of a categorical column, and treat other values."""
        series = frame.iloc[:, column]
        codes, domain = encode_categories(series, values), self.domains.get(column)
        is_other = np.isnan(codes) & series.notna().to_numpy()
        if domain is None or domain.invalid_policy == "missing" or not is_other.any():
            return codes
        is_text = isinstance(next(iter(values), None), str)
        is_other_type = np.array([isinstance(value, str) != is_text for value in series.astype(object)]) & is_other
        problem = "is not a text, but the trees compare texts" if is_text else "is a text, but the trees compare none"
        if len(values) > 1 or domain.invalid_policy == "refused":  # otherwise no tree compares the column
            _refuse_bad_values(frame, is_other_type, problem, "Give the column the type it had for fitting.", column)
        if domain.invalid_policy == "refused":
            problem = f"is a value for which {self.owner} has no answer"
            _refuse_bad_values(frame, is_other, problem, "Leave the row out.", column)
        return np.where(is_other, len(values) - 1, codes)

    def _apply_domains(self, matrix: TreeMatrix, frame: pd.DataFrame) -> TreeMatrix:
        """Replace markers of missing values and invalid numbers by NaN, or refuse them."""
        for column in self.domains.keys() - self.categories.keys():
            column_values, domain = matrix[:, column], self.domains[column]
            is_marker, is_invalid = domain.find_missing(column_values), domain.find_invalid(column_values)
            if domain.invalid_policy == "refused":
                problem = f"is outside the values for which {self.owner} has an answer"
                _refuse_bad_values(frame, is_invalid & ~is_marker, problem, "Leave the row out.", column)
            column_values[is_marker | is_invalid] = np.nan
        return matrix

    def _round_to_precision(self, values: npt.ArrayLike) -> TreeMatrix:
        dtype: Any = np.float32 if self.single else np.float64
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(values, dtype=dtype)


def convert_to_numbers(frame: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Return a frame as a matrix of numbers, or raise `DataError`."""
    matrix = np.empty((len(frame), len(frame.columns)))
    for j, name in enumerate(frame.columns):
        matrix[:, j], text = to_numbers(frame[name])
        _refuse_bad_values(frame, text, "is not a number, but trees compare numbers", "Encode it as for fitting.", j)
    return matrix


def to_single_precision(codes: npt.NDArray[np.float64]) -> Singles:
    """Return codes of a space in single precision, clipped to avoid overflow."""
    return np.clip(codes, -MAX_CODE, MAX_CODE).astype(np.float32, order="C")


def _refuse_bad_values(
    frame: pd.DataFrame, bad: npt.NDArray[np.bool_], problem: str, remedy: str, only_column: int | None = None
) -> None:
    """Raise `DataError` for the first bad value, of `only_column` if given."""
    if not bad.any():
        return
    row, column = (int(indices[0]) for indices in np.nonzero(bad if only_column is None else bad[:, None]))
    column = column if only_column is None else only_column
    more = int(bad.sum()) - 1
    more_text = f" ({more:,} more like it)" if more else ""
    label = frame.index[[row]].tolist()[0]
    value = format_short(frame.iloc[row, column])
    raise DataError(f"Column {frame.columns[column]!r}, row {label!r}: {value!r} {problem}{more_text}. {remedy}")


def read_data(
    forest: Forest, data: DataLike, *, target: str | None = None, space: Space | None = None
) -> tuple[TreeInputs, pd.DataFrame, list[str]]:
    """Return the inputs of a forest, its rows, and notes on ignored columns."""
    owner, columns = forest.owner, forest.columns
    # preprocessing keeps the columns, so the data have as many as the trees
    frame, notes = read_table(owner, data, None if columns is None else list(columns), forest.width, target)
    absent = [name for name in frame.columns if space is not None and name not in space.names]
    if space is not None and absent:
        raise ArgumentError(
            f"The space has no feature {absent[0]!r}, which {owner} uses. {suggest_name(absent[0], space.names)}"
        )
    names = tuple(str(name) for name in frame.columns)
    categories = dict(forest.categories)
    for column, values in forest.categories.items():
        if column in forest.domains and forest.domains[column].invalid_policy == "kept":
            feature = space[names[column]] if space is not None else None
            categories[column] = add_other_categories(values, frame.iloc[:, column], feature)
    inputs = TreeInputs(
        owner=owner,
        names=names,
        preprocessing=forest.preprocessing,
        takes_missing=forest.takes_missing,
        single=forest.single,
        categories=categories,
        missing_markers=forest.missing_markers,
        space=space,
        domains=forest.domains,
    )
    return inputs, frame, notes


def read_table(
    owner: str, data: DataLike, columns: list[str] | None, width: int, target: str | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows with the columns of a model, and notes on ignored columns."""
    if isinstance(data, Points):
        data = data.frame
    if isinstance(data, pd.DataFrame | pd.Series):
        frame = validate_frame(data)
    else:
        frame = _to_frame(data, columns, width, owner, target)
        target = None
    if target is not None:
        if target not in frame.columns:
            raise DataError(f"The target column {target!r} is not in the data. {suggest_name(target, frame.columns)}")
        if columns is not None and target in columns:
            raise DataError(f"The target column {target!r} is one of the inputs that {owner} was fitted on.")
        frame = frame.drop(columns=[target])
    notes: list[str] = []
    if columns is not None:
        missing = [name for name in columns if name not in frame.columns]
        if missing:
            listed = ", ".join(map(repr, missing[:6])) + (", ..." if len(missing) > 6 else "")
            raise ModelError(
                f"{owner} was fitted on {pluralise(len(columns), 'column')}, but {len(missing)} of them are not in the "
                f"data: {listed}. {suggest_name(missing[0], frame.columns)}"
            )
        extra = [str(name) for name in frame.columns if name not in columns]
        if extra:
            notes.append(f"Columns that are not inputs of the model were ignored: {', '.join(extra[:5])}.")
        frame = frame[columns]
    elif width != len(frame.columns):
        raise ModelError(
            f"{owner} was fitted on {pluralise(width, 'column')} but the data have {len(frame.columns)}. Give the "
            "columns it was fitted on, in the same order. If the target is among them, name it: target=..."
        )
    if not len(frame):
        raise DataError("The data have no rows, so no leaf can be reached. Give the rows you test with.")
    return frame, notes


def _to_frame(data: DataLike, columns: list[str] | None, width: int, owner: str, target: str | None) -> Any:
    """Return an array as a frame with named columns."""
    if target is not None:
        raise ArgumentError(f"The target {target!r} names a column, but the data are not a frame. Leave target out.")
    try:
        array = np.asarray(data)
    except ValueError:
        raise DataError("The rows of the data have different lengths. Each row needs all values.") from None
    if array.ndim != 2:
        raise DataError(
            f"The data must be a frame, or a matrix with one row per case. Got {type(data).__name__} of shape {array.shape}."
        )
    if array.shape[1] != width:
        raise ModelError(
            f"{owner} was fitted on {pluralise(width, 'column')} but the data have {array.shape[1]}. Leave out the "
            "columns that are not inputs, such as the target."
        )
    frame = pd.DataFrame(array, columns=columns or [f"x{j}" for j in range(width)])
    return frame.infer_objects() if array.dtype == object else frame
