"""Named types of what users pass to the public functions.

Type checkers see unions. At run time each name says with `Accepts` what it takes, which is what options are checked by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias

import numpy as np

from ._validation import is_integer, is_path

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd


@dataclass(frozen=True)
class Accepts:
    """What a named type takes, in words and as a function; a `table` may be given in any of its forms."""

    name: str
    expected: str
    test: Callable[[Any], bool] = lambda value: True
    table: bool = False


class SupportsPredict(Protocol):
    """A fitted model, such as an estimator of scikit-learn."""

    @property
    def predict(self) -> Callable[..., Any]: ...


class SupportsFit(Protocol):
    """A learner: `fit` makes it a model."""

    @property
    def fit(self) -> Callable[..., Any]: ...


class SupportsExecute(Protocol):
    """A system under test, as `datamorphic.wrap` returns it."""

    @property
    def execute(self) -> Callable[..., Any]: ...


class MarkedSource(Protocol):
    """Any object, because those with functions marked by the decorators have no attribute in common."""


class SupportsFrame(Protocol):
    """Rows that can be converted to a frame, such as `datamorphic.Points`."""

    @property
    def frame(self) -> pd.DataFrame: ...


class SupportsArrow(Protocol):
    """A table of Arrow, polars or another library that hands its columns over as Arrow does."""

    @property
    def __arrow_c_stream__(self) -> Callable[..., Any]: ...


class SupportsSample(Protocol):
    """A `datamorphic.Space`, from which inputs can be drawn."""

    @property
    def sample(self) -> Callable[..., Any]: ...


class SupportsRuns(Protocol):
    """An open run store: a `datamorphic.Store`."""

    url: str


class SupportsLanes(Protocol):
    """An engine, which distributes the rows of a batch."""

    @property
    def open_lanes(self) -> Callable[..., Any]: ...


class SupportsSubmit(Protocol):
    """A Dask client."""

    @property
    def submit(self) -> Callable[..., Any]: ...


if TYPE_CHECKING:
    #: the path of a file
    FilePath: TypeAlias = str | PathLike[str]

    #: a fitted model, a function of a frame, a system under test, a path of a model file, ``"weka:..."``, or the source of
    #: a test system (a class, an instance or a module)
    ModelLike: TypeAlias = (
        SupportsPredict | SupportsExecute | Callable[..., Any] | ModuleType | MarkedSource | str | PathLike[str]
    )

    #: an estimator to fit, a class or function that makes one, or ``"weka:..."``
    LearnerLike: TypeAlias = SupportsFit | Callable[..., Any] | str

    #: rows: a frame (of pandas, polars or Arrow), the path of a CSV or Parquet file, a matrix, a list of dicts, one case as a
    #: dict or sequence, `Points`, or a `Space` to draw from
    Rows: TypeAlias = (
        pd.DataFrame | pd.Series[Any] | npt.NDArray[Any] | Sequence[Any] | Mapping[str, Any] | SupportsArrow
    )
    DataLike: TypeAlias = Rows | PathLike[str] | SupportsFrame | SupportsSample

    #: what starts a random number generator; None for a different start each time
    SeedLike: TypeAlias = int | np.random.Generator | np.random.SeedSequence | None

    #: a run store: its path or URL, or the open store; None for none
    StoreLike: TypeAlias = str | PathLike[str] | SupportsRuns | None

    #: what computes: None or "serial", "threads:2", "processes:2", "dask://host:port", an engine or a Dask client
    EngineLike: TypeAlias = str | SupportsLanes | SupportsSubmit | None

else:

    def _is_seed(value: Any) -> bool:
        return value is None or hasattr(value, "spawn") or is_integer(value)

    def _is_store(value: Any) -> bool:
        return value is None or is_path(value) or hasattr(value, "url") or hasattr(value, "store")

    def _is_engine(value: Any) -> bool:
        return value is None or isinstance(value, str) or hasattr(value, "open_lanes") or hasattr(value, "submit")

    FilePath = Annotated[Any, Accepts("FilePath", "a path", is_path)]
    ModelLike = Annotated[Any, Accepts("ModelLike", "a model")]
    LearnerLike = Annotated[Any, Accepts("LearnerLike", "a learner")]
    Rows = Annotated[Any, Accepts("Rows", "rows", table=True)]
    DataLike = Annotated[Any, Accepts("DataLike", "data", table=True)]
    SeedLike = Annotated[Any, Accepts("SeedLike", "an int from 0, a NumPy generator or None", _is_seed)]
    StoreLike = Annotated[Any, Accepts("StoreLike", "a path or URL, a Store or None", _is_store)]
    EngineLike = Annotated[Any, Accepts("EngineLike", "the name of an engine, an engine or None", _is_engine)]
