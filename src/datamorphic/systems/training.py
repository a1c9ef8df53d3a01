"""`Training`: training data with the cases to label, and `TrainingBatch`: a batch of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import pluralise
from ..errors import DataError
from ..space.points import RowSelection

Array = npt.NDArray[Any]
Table: TypeAlias = "pd.DataFrame | npt.NDArray[Any]"
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
# how a learner is fitted and queried, if not once and with all cases together
QueryForm = Literal[
    "together", "again", "alone", "backwards", "after other data", "as frames", "with scores", "with probabilities"
]


@dataclass(frozen=True, eq=False)
class Training:
    """What a learner gets: training rows `x` with labels `y`, and test cases `t`.

    Its methods return changed copies. They accept frames with any columns as well as arrays of numbers.

    Attributes
    ----------
    x, t : DataFrame, or array of float64 with one column per attribute
        Training rows and test cases with the same attributes.
    y : ndarray
        The label of each training row.
    labels : tuple, optional
        The declared labels in their order; some may occur in no row. By default the labels that occur.
    weights : ndarray, optional
        The weight of each training row, for learners that support weights.
    seed_shift : int
        What a clusterer adds to its ``random_state``, to see whether its clusters depend on it.
    query : QueryForm
        How the learner is fitted and queried: with all test cases at once, at once for the second time, one by one, last to
        first, after a fit to other labels, as frames, or with scores or probabilities that are checked.
    parameters : tuple of (name, value)
        Parameters of the learner that are set before it is fitted.
    for_second : bool
        Whether the second learner of a `LearnerPair` is trained.

    Examples
    --------
    >>> data = Training(np.array([[1.0, 5.0], [2.0, 6.0]]), np.array(["a", "b"]), np.array([[1.5, 5.0]]))
    >>> data.rows([1, 1, 0]).y.tolist(), data.with_attribute(7.0).t.tolist()
    (['b', 'b', 'a'], [[1.5, 5.0, 7.0]])
    """

    x: Any
    y: Array
    t: Any
    labels: tuple[Any, ...] | None = None
    weights: Floats | None = None
    seed_shift: int = 0
    query: QueryForm = "together"
    parameters: tuple[tuple[str, Any], ...] = ()
    for_second: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "y", np.asarray(self.y))
        frames = [hasattr(table, "columns") for table in (self.x, self.t)]
        if frames[0] != frames[1]:
            raise DataError("Training rows and test cases must both be frames or both be arrays. Got one of each.")
        if frames[0]:
            columns = list(self.x.columns)
            if len(set(columns)) < len(columns) or not columns:
                raise DataError(f"Training rows need columns with unique names. Got {columns}.")
            if list(self.t.columns) != columns:
                raise DataError(f"Test cases need the columns of the training rows, {columns}. Got {list(self.t)}.")
        elif not (np.ndim(self.x) == np.ndim(self.t) == 2 and self.x.shape[1] == self.t.shape[1] > 0):
            shapes = " and ".join(str(np.shape(table)) for table in (self.x, self.t))
            raise DataError(f"Training rows and test cases need a column for each attribute. Got shapes {shapes}.")
        if self.y.shape != self.x.shape[:1]:
            rows = pluralise(self.x.shape[0], "training row")
            raise DataError(f"{rows} need a label each. Got shape {self.y.shape}.")
        if not self.x.shape[0] or not self.t.shape[0]:
            raise DataError("A learner needs at least one training row and one test case. Got none.")

    def __len__(self) -> int:
        """Return the number of test cases."""
        return int(self.t.shape[0])

    @property
    def framed(self) -> bool:
        """Whether rows are frames, with columns of any kind."""
        return hasattr(self.x, "columns")

    @cached_property
    def classes(self) -> Array:
        """The different labels that occur, sorted if possible."""
        if self.y.dtype.kind in "iub":
            return np.unique(self.y)
        labels = list(dict.fromkeys(self.y.tolist()))
        with suppress(TypeError):
            labels = sorted(labels)
        return np.fromiter(labels, dtype=self.y.dtype, count=len(labels))

    @property
    def declared(self) -> list[Any]:
        """The labels a case may get: those declared, or those that occur."""
        return list(self.classes.tolist() if self.labels is None else self.labels)

    @property
    def other_labels(self) -> Array:
        """Other labels of the training rows, of another number of classes: what a learner may have been fitted to before."""
        if self.y.dtype.kind == "f":
            return 2 * self.y[::-1]
        labels, codes = np.unique(self.y, return_inverse=True)
        if len(labels) > 2:
            return labels[np.minimum(codes, 1)]
        new_label: Any = labels.max() + 1 if labels.dtype.kind in "iu" else f"{labels[-1]} too"
        return _join_labels(self.y[:-1], np.array([new_label]))

    @cached_property
    def numeric(self) -> Places:
        """The positions of the numeric attributes."""
        if not self.framed:
            return np.arange(self.x.shape[1])
        names = [part.select_dtypes("number", exclude=["timedelta", "complex"]).columns for part in (self.x, self.t)]
        return np.flatnonzero(self.x.columns.isin(names[0]) & self.x.columns.isin(names[1]))

    @cached_property
    def numbers(self) -> Floats:
        """The numeric attributes of training rows, followed by those of test cases."""
        if not self.framed:
            return np.concatenate([self.x, self.t])
        parts = [part.iloc[:, self.numeric].to_numpy(np.float64, na_value=np.nan) for part in (self.x, self.t)]
        return np.concatenate(parts)

    @cached_property
    def has_missing_values(self) -> bool:
        """Whether a value of a training row or test case is missing."""
        if not self.framed:
            return bool(np.isnan(self.numbers).any())
        return any(bool(part.isna().to_numpy().any()) for part in (self.x, self.t))

    def with_numbers(self, numbers: Floats) -> Training:
        """Return the data with other values of the numeric attributes."""
        rows = self.x.shape[0]
        if not self.framed:
            return replace(self, x=numbers[:rows], t=numbers[rows:])
        names = list(self.x.columns[self.numeric])
        x, t = self.x.copy(), self.t.copy()
        x[names], t[names] = numbers[:rows], numbers[rows:]
        return replace(self, x=x, t=t)

    def rows(self, rows: RowSelection) -> Training:
        """Return the data with these training rows, in this order."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, x=take_rows(self.x, rows), y=self.y[rows], weights=weights)

    def cases(self, cases: RowSelection) -> Training:
        """Return the data with these test cases."""
        return replace(self, t=take_rows(self.t, cases))

    def attributes(self, places: RowSelection) -> Training:
        """Return the data with these attributes, in this order."""
        if self.framed:
            return replace(self, x=self.x.iloc[:, places], t=self.t.iloc[:, places])
        return replace(self, x=self.x[:, places], t=self.t[:, places])

    def with_attribute(self, x: object, t: object = None, *, name: str = "added", first: bool = False) -> Training:
        """Return the data with one more attribute.

        `x` holds its values in the training rows and `t` those in the cases. A single value serves for both.
        """
        t = x if t is None else t
        if not self.framed:
            tables = []
            for table, value in ((self.x, x), (self.t, t)):
                column = np.broadcast_to(np.asarray(value, dtype=np.float64), table.shape[0])
                tables.append(np.column_stack([column, table] if first else [table, column]))
            return replace(self, x=tables[0], t=tables[1])
        title: Any = name
        while title in self.x.columns:
            title += "_"
        if all(isinstance(column, int | np.integer) for column in self.x.columns):
            title = max(self.x.columns) + 1  # scikit-learn rejects names of mixed types
        frames = self.x.copy(), self.t.copy()
        for frame, value in zip(frames, (x, t), strict=True):
            frame.insert(0 if first else frame.shape[1], title, value)
        return replace(self, x=frames[0], t=frames[1])

    def appended(self, t: Table, labels: Array) -> Training:
        """Return the data with more training rows at the end."""
        if self.framed:
            x = pd.concat([self.x, t], ignore_index=True)
            if not x.dtypes.equals(self.x.dtypes):
                x = x.astype(self.x.dtypes.to_dict())
        else:
            x = np.concatenate([self.x, t])
        return replace(self, x=x, y=_join_labels(self.y, labels))

    def labelled(self, y: npt.ArrayLike, labels: Iterable[Any] | None = None) -> Training:
        """Return the data with other labels.

        If labels are declared, the new ones are `labels` and those of `y`.
        """
        y = np.asarray(y)
        if self.labels is None:
            return replace(self, y=y)
        declared = self.labels if labels is None else labels
        return replace(self, y=y, labels=tuple(dict.fromkeys([*declared, *sorted(set(y.tolist()), key=str)])))

    @property
    def frame(self) -> pd.DataFrame:
        """The training rows as a frame, with their labels in the last column."""
        x = self.x if self.framed else pd.DataFrame(self.x, columns=[f"a{i}" for i in range(self.x.shape[1])])
        return x.assign(**{"label" if "label" not in x else "label_": self.y})


def take_rows(table: Table, rows: RowSelection) -> Any:
    """Return rows of a table."""
    return table.iloc[rows].reset_index(drop=True) if hasattr(table, "iloc") else table[rows]


def _to_bytes(table: Any) -> bytes:
    if hasattr(table, "columns"):
        return repr((list(table.columns), table.to_numpy(dtype=object).tolist())).encode(errors="surrogatepass")
    array = np.asarray(table.toarray() if hasattr(table, "toarray") else table)
    return repr(array.tolist()).encode() if array.dtype == object else array.tobytes()


def _join_labels(first: Array, second: Array) -> Array:
    """Join labels without truncating text or turning numbers into text."""
    if first.dtype.kind == second.dtype.kind and first.dtype.kind in "iubfU":
        return np.concatenate([first, second])
    labels = [*first.tolist(), *second.tolist()]
    objects = np.fromiter(labels, dtype=object, count=len(labels))
    array = np.array(labels) if len({type(value) for value in labels}) == 1 else objects
    return array if array.ndim == 1 else objects


class TrainingBatch:
    """A batch for a learner: each row is one test case with its training data.

    `training_index` and `case_index` hold for each row the number of its training data, and of its case there. By default
    all cases of all data.
    """

    __slots__ = ("case_index", "training_index", "trainings", "width")

    def __init__(
        self,
        trainings: Sequence[Training],
        training_index: Places | None = None,
        case_index: Places | None = None,
        width: int | None = None,
    ) -> None:
        self.trainings = trainings
        if training_index is None or case_index is None:
            sizes = np.fromiter((len(training) for training in trainings), dtype=np.intp, count=len(trainings))
            training_index = np.repeat(np.arange(len(trainings)), sizes)
            case_index = np.arange(len(training_index)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self.training_index, self.case_index = training_index, case_index
        # as many score columns as the most labels, so that outputs of parts of a batch can be joined
        self.width = max((len(training.declared) for training in trainings), default=0) if width is None else width

    def __len__(self) -> int:
        return len(self.training_index)

    def take(self, rows: RowSelection) -> TrainingBatch:
        """Return some of the rows."""
        return TrainingBatch(self.trainings, self.training_index[rows], self.case_index[rows], self.width)

    def parts(self) -> list[tuple[Training, Places]]:
        """Return each training with only the cases in this batch, and their rows."""
        order = np.argsort(self.training_index, kind="stable")
        starts = np.flatnonzero(np.diff(self.training_index[order], prepend=-1))
        result = []
        for rows in np.split(order, starts[1:]):
            training, cases = self.trainings[self.training_index[rows[0]]], self.case_index[rows]
            if len(cases) != len(training) or (cases != np.arange(len(cases))).any():
                training = training.cases(cases)
            result.append((training, rows))
        return result

    @property
    def frame(self) -> pd.DataFrame:
        """The size of the training data of each row."""
        trainings = [self.trainings[k] for k in self.training_index]
        sizes = [(*training.x.shape, len(training.classes)) for training in trainings]
        return pd.DataFrame(sizes, columns=["rows", "attributes", "labels"])

    def iter_bytes(self) -> Iterator[bytes]:
        """Yield the content as bytes, the same in every process."""
        trainings, *places, width = self.__getstate__()
        yield from (place.astype(np.int64).tobytes() for place in places)
        for training in trainings:
            details = (training.seed_shift, training.query, training.parameters, *[True][: training.for_second])
            yield repr((width, training.y.tolist(), training.labels, *details)).encode()
            for table in (training.x, training.t, training.weights):
                yield _to_bytes(table)

    def __getstate__(self) -> tuple[Any, ...]:
        # only the training data in use are sent
        used_index, training_index = np.unique(self.training_index, return_inverse=True)
        return [self.trainings[k] for k in used_index], training_index, self.case_index, self.width

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.trainings, self.training_index, self.case_index, self.width = state

    def __repr__(self) -> str:
        return f"Trainings({pluralise(len(self.trainings), 'training set')}, {pluralise(len(self), 'case')})"
