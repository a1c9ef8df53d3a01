"""What trees are given: the user's rows as the numbers they compare, checked on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import did_you_mean, plural, short
from ..errors import ArgumentError, DataError, ModelError
from ..space.columns import as_numbers
from ..space.infer import check_frame
from ..space.points import Points
from ..space.space import Space
from .domains import Domain, codes_among, with_others, without
from .forest import Forest
from .steps import Before

if TYPE_CHECKING:
    import pandas as pd

Singles = npt.NDArray[np.float32]
Seen = npt.NDArray[np.float32] | npt.NDArray[np.float64]
NEARLY_ZERO = float(np.float32(1e-35))  # LightGBM, the one in double precision, takes it for the 0 that is missing
LARGEST_CODE = 1e30  # beyond it scikit-learn's sums of single precision overflow


@dataclass(frozen=True)
class Inputs:
    """How the rows of a user become what trees compare.

    Attributes
    ----------
    owner : str
        Whose trees they are, for messages.
    names : tuple of str
        The columns, in the order of the trees.
    before : Before or None
        What is done to the rows before.
    takes_missing : bool
        Whether the trees take missing values.
    single : bool
        Whether they compare in single precision.
    categories : mapping
        For columns of categories, by their place: the values that the codes 0, 1, ... stand for.
    gone : mapping
        For columns where a number stands for a missing value, by their place: that number.
    space : Space or None
        What values a column may have, where that is known.
    coded : bool
        Whether the trees get the codes of that space rather than the values themselves.
    domains : mapping
        For columns of which the model says what they may hold, by their place: that.
    """

    owner: str
    names: tuple[str, ...]
    before: Before | None = None
    takes_missing: bool = True
    single: bool = True
    categories: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)
    gone: Mapping[int, float] = field(default_factory=dict)
    space: Space | None = None
    coded: bool = False
    domains: Mapping[int, Domain] = field(default_factory=dict)

    def seen(self, frame: pd.DataFrame) -> Seen:
        """Return the rows as the trees see them, in the precision they compare in; missing values are NaN."""
        values: Any
        if self.before is not None:
            try:
                values = self.before.transform(frame)
            except Exception as error:  # whatever a step of a pipeline does not like
                raise DataError(
                    f"The steps before the trees do not take these data: {type(error).__name__}: {error}"
                ) from error
            seen = self._rounded(values)
        elif self.coded:
            assert self.space is not None
            seen = singles(self.space.points(frame).codes)
        else:
            seen = self._rounded(self.plain(frame))
        if self.gone and not self.coded:
            seen = seen.copy()  # it may be the user's own
            for column, number in self.gone.items():
                near = np.abs(seen[:, column] - number) <= (0 if self.single else NEARLY_ZERO)
                seen[near, column] = np.nan
        if self.domains:
            seen = self._valid(seen.copy(), frame)
        if np.isfinite(seen).all():
            return seen
        _refuse(frame, np.isinf(seen), "is infinite, or too large for single precision", "Replace or rescale it.")
        if not self.takes_missing:
            why = f"is missing, and {self.owner} takes no missing values"
            _refuse(frame, np.isnan(seen), why, "Fill it, or leave the row out.")
        return seen

    def plain(self, frame: pd.DataFrame) -> npt.NDArray[Any]:
        """Return the rows as numbers: categories as their codes, all else as it is."""
        for column, domain in self.domains.items():
            frame = without(frame, column, domain.missing)
        if not self.categories:
            plain = frame.to_numpy() if all(dtype.kind in "fiub" for dtype in frame.dtypes) else numbers(frame)
            return plain if plain.dtype.kind in "fiub" else numbers(frame)
        matrix = np.empty((len(frame), len(frame.columns)))
        others = [j for j in range(len(frame.columns)) if j not in self.categories]
        matrix[:, others] = numbers(frame.iloc[:, others])
        for column, values in self.categories.items():
            matrix[:, column] = self._codes(frame, column, values)
        return matrix

    def _codes(self, frame: pd.DataFrame, column: int, values: Sequence[Any]) -> npt.NDArray[np.float64]:
        """Return the codes of a column of categories, and do with others what the model says."""
        own = frame.iloc[:, column]
        codes, domain = codes_among(own, values), self.domains.get(column)
        others = np.isnan(codes) & own.notna().to_numpy()
        if domain is None or domain.others == "missing" or not others.any():
            return codes
        text = isinstance(next(iter(values), None), str)
        unlike = np.array([isinstance(each, str) != text for each in own.astype(object)]) & others
        wrong = "is no text, and trees ask for texts" if text else "is a text, and trees ask for none"
        if len(values) > 1 or domain.others == "refused":  # else no tree asks for any
            _refuse(frame, unlike, wrong, "Give the column the type it had for fitting.", column)
        if domain.others == "refused":
            _refuse(
                frame, others, f"is no value for which {self.owner} has an answer", "Leave the row out.", column
            )
        return np.where(others, len(values) - 1, codes)

    def _valid(self, seen: Seen, frame: pd.DataFrame) -> Seen:
        """Return numbers without those that stand for missing ones or are invalid by the word of the model."""
        for column in self.domains.keys() - self.categories.keys():
            own, domain = seen[:, column], self.domains[column]
            invalid = domain.gone(own) | domain.outside(own)
            if domain.others == "refused":
                outside = invalid & ~domain.gone(own)
                why = f"is outside of the values for which {self.owner} has an answer"
                _refuse(frame, outside, why, "Leave the row out.", column)
            own[invalid] = np.nan
        return seen

    def _rounded(self, values: Any) -> Seen:
        with np.errstate(over="ignore"):
            if self.single:
                return np.ascontiguousarray(values, dtype=np.float32)
            return np.ascontiguousarray(values, dtype=np.float64)


def numbers(frame: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Return a frame as a matrix of numbers, or name the value that is none."""
    matrix = np.empty((len(frame), len(frame.columns)))
    for j, name in enumerate(frame.columns):
        matrix[:, j], text = as_numbers(frame[name])
        _refuse(frame, text, "is no number, and trees compare numbers", "Encode it as for fitting.", j)
    return matrix


def singles(codes: npt.NDArray[np.float64]) -> Singles:
    """Return codes of a space as trees take them."""
    return np.clip(codes, -LARGEST_CODE, LARGEST_CODE).astype(np.float32, order="C")


def _refuse(
    frame: pd.DataFrame, bad: npt.NDArray[np.bool_], what: str, remedy: str, only: int | None = None
) -> None:
    """Raise an error about the first bad value, if there is one; with `only` they are of that column."""
    if not bad.any():
        return
    row, column = (int(place[0]) for place in np.nonzero(bad if only is None else bad[:, None]))
    column = column if only is None else only
    more = int(bad.sum()) - 1
    others = f" ({more:,} more like it)" if more else ""
    label = frame.index[row]
    label = label.item() if isinstance(label, np.generic) else label
    value = short(frame.iloc[row, column])
    raise DataError(f"Column {frame.columns[column]!r}, row {label!r}: {value!r} {what}{others}. {remedy}")


def read(
    forest: Forest, data: Any, *, target: str | None = None, space: Space | None = None
) -> tuple[Inputs, pd.DataFrame, list[str]]:
    """Return how trees are given inputs, the rows of the data with their columns, and what was left out.

    Parameters
    ----------
    forest : Forest
        The trees of a model.
    data : DataFrame, array or Points
        The rows.
    target : str, optional
        A column that is no input.
    space : Space, optional
        What values the columns may have.
    """
    owner, known = forest.owner, forest.columns
    # the steps before keep the columns: as many come in as the trees get
    frame, notes = table(owner, data, None if known is None else list(known), forest.width, target)
    if space is not None:
        absent = [name for name in frame.columns if name not in space.names]
        if absent:
            raise ArgumentError(
                f"The space has no feature {absent[0]!r}, which {owner} looks at. {did_you_mean(absent[0], space.names)}"
            )
    names = tuple(str(name) for name in frame.columns)
    categories = {
        column: with_others(values, frame.iloc[:, column], space[names[column]] if space is not None else None)
        if column in forest.domains and forest.domains[column].others == "kept"
        else values
        for column, values in forest.categories.items()
    }
    inputs = Inputs(
        owner,
        names,
        forest.before,
        forest.takes_missing,
        forest.single,
        categories,
        forest.gone,
        space,
        domains=forest.domains,
    )
    return inputs, frame, notes


def table(
    owner: str, data: Any, known: list[str] | None, width: int, target: str | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of the data with the columns a model knows, or as many as it takes, and what was left out."""
    import pandas as pd

    if isinstance(data, Points):
        data = data.frame
    if isinstance(data, pd.DataFrame | pd.Series):
        frame = check_frame(data)
    else:
        frame = _as_frame(data, known, width, owner, target)
        target = None
    if target is not None:
        if target not in frame.columns:
            raise DataError(
                f"The target column {target!r} is not in the data. {did_you_mean(target, frame.columns)}"
            )
        if known is not None and target in known:
            raise DataError(f"The target column {target!r} is one of the inputs that {owner} was fitted on.")
        frame = frame.drop(columns=[target])
    notes: list[str] = []
    if known is not None:
        missing = [name for name in known if name not in frame.columns]
        if missing:
            listed = ", ".join(map(repr, missing[:6])) + (", ..." if len(missing) > 6 else "")
            raise ModelError(
                f"{owner} was fitted on {plural(len(known), 'column')}, and {len(missing)} of them are not in the "
                f"data: {listed}. {did_you_mean(missing[0], frame.columns)}"
            )
        extra = [str(name) for name in frame.columns if name not in known]
        if extra:
            notes.append(f"Columns that are no inputs of the model were left out: {', '.join(extra[:5])}.")
        frame = frame[known]
    elif width != len(frame.columns):
        raise ModelError(
            f"{owner} was fitted on {plural(width, 'column')} and the data have {len(frame.columns)}. Give the "
            "columns it was fitted on, in their order; name the target, if it is among them: target=..."
        )
    if not len(frame):
        raise DataError("The data have no rows: no leaf can be reached. Give the rows you test with.")
    return frame, notes


def _as_frame(data: Any, known: list[str] | None, width: int, owner: str, target: str | None) -> Any:
    """Return an array as a frame, its columns named."""
    import pandas as pd

    if target is not None:
        raise ArgumentError(f"The target {target!r} names a column, and the data are no frame. Leave it out.")
    try:
        array = np.asarray(data)
    except ValueError:
        raise DataError("The rows of the data have different lengths. Each case needs all values.") from None
    if array.ndim != 2:
        raise DataError(
            f"The data must be a frame, or a matrix with one row a case. Got {type(data).__name__} of shape {array.shape}."
        )
    if array.shape[1] != width:
        raise ModelError(
            f"{owner} was fitted on {plural(width, 'column')} and the data have {array.shape[1]}. Leave out the "
            "columns that are no inputs, the target for one."
        )
    names = known if known is not None else [f"x{j}" for j in range(array.shape[1])]
    frame = pd.DataFrame(array, columns=names)
    return frame.infer_objects() if array.dtype == object else frame
