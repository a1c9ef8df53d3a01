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

    def predict(self, X: Any, /) -> Any:
        """Return one label or number per row."""
        ...


class SupportsFit(Protocol):
    """A learner: `fit` makes it a model."""

    def fit(self, X: Any, y: Any, /) -> Any:
        """Learn from rows and their labels."""
        ...


class SupportsExecute(Protocol):
    """A system under test, as `datamorphic.wrap` returns it."""

    name: str

    def execute(self, data: Any, /) -> Any:
        """Return the outputs of a batch."""
        ...


class MarkedSource(Protocol):
    """An object with functions marked by the decorators, such as ``@datamorphism``.

    No attribute is common to all of them, so that any object has this type.
    """


class SupportsFrame(Protocol):
    """Rows that can be shown as a frame, such as `datamorphic.Points`."""

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a frame."""
        ...


class SupportsSample(Protocol):
    """A `datamorphic.Space`, from which inputs can be drawn."""

    def sample(self, n: int, /) -> Any:
        """Return inputs drawn at random."""
        ...


class SupportsRuns(Protocol):
    """An open run store: a `datamorphic.Store`."""

    url: str


class SupportsLanes(Protocol):
    """An engine, which shares out the rows of a batch."""

    def open_lanes(self, system: Any, timeout: float | None, /) -> Any:
        """Return the systems that answer side by side."""
        ...


class SupportsSubmit(Protocol):
    """A Dask client."""

    def submit(self, function: Any, /, *arguments: Any) -> Any:
        """Run a function on the cluster."""
        ...


#: the path of a file
FilePath: TypeAlias = str | PathLike[str]

#: a fitted model, a function of a frame, a system under test, a path of a model file, ``"weka:..."``, or the source of
#: a test system (a class, an instance or a module)
ModelLike: TypeAlias = (
    SupportsPredict | SupportsExecute | Callable[..., Any] | ModuleType | MarkedSource | str | PathLike[str]
)

#: an estimator to fit, a class or function that makes one, or ``"weka:..."``
LearnerLike: TypeAlias = SupportsFit | Callable[..., Any] | str

#: rows: a frame, a matrix, a list of dicts, one case as a dict or sequence, `Points`, or a `Space` to draw from
DataLike: TypeAlias = "pd.DataFrame | pd.Series[Any] | npt.NDArray[Any] | Sequence[Any] | Mapping[str, Any] | SupportsFrame | SupportsSample"

#: what starts a random number generator; None for a different start each time
SeedLike: TypeAlias = int | np.random.Generator | np.random.SeedSequence | None

#: a run store: its path or URL, or the open store; None for none
StoreLike: TypeAlias = str | PathLike[str] | SupportsRuns | None

#: what computes: None or "serial", "threads:2", "processes:2", "dask://host:port", an engine or a Dask client
EngineLike: TypeAlias = str | SupportsLanes | SupportsSubmit | None
