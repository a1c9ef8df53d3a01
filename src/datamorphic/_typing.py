"""Named types of what users pass to the public functions.

They only serve annotations. What is really accepted is decided, and explained, by the function that takes the value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd


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
Rows: TypeAlias = "pd.DataFrame | pd.Series[Any] | npt.NDArray[Any] | Sequence[Any] | Mapping[str, Any] | SupportsArrow"
DataLike: TypeAlias = "Rows | PathLike[str] | SupportsFrame | SupportsSample"

#: what starts a random number generator; None for a different start each time
SeedLike: TypeAlias = int | np.random.Generator | np.random.SeedSequence | None

#: a run store: its path or URL, or the open store; None for none
StoreLike: TypeAlias = str | PathLike[str] | SupportsRuns | None

#: what computes: None or "serial", "threads:2", "processes:2", "dask://host:port", an engine or a Dask client
EngineLike: TypeAlias = str | SupportsLanes | SupportsSubmit | None
