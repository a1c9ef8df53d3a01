"""Clusterers that only label the rows they were fitted on: new points get the cluster of the nearest such row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._text import pluralize
from ..errors import ModelError

if TYPE_CHECKING:
    import pandas as pd


def has_predictions(model: Any) -> bool:
    """Tell whether a model answers new points; a clusterer like DBSCAN has labels of its own rows only."""
    return hasattr(model, "predict") or not hasattr(model, "labels_")


class NearestRowClusterer:
    """A fitted clusterer without ``predict``, with one: the cluster of the nearest row, by what it was fitted on.

    Parameters
    ----------
    model : clusterer
        With ``labels_`` of the rows of `data`, in their order.
    data : DataFrame
        What it was fitted on.
    """

    def __init__(self, model: Any, data: pd.DataFrame) -> None:
        from sklearn.neighbors import KNeighborsClassifier

        labels = np.asarray(model.labels_)
        if len(labels) != len(data):
            raise ModelError(
                f"{type(model).__name__} has labels of {pluralize(len(labels), 'row')} and the data have {len(data):,}. "
                "Give the data it was fitted on."
            )
        self.model = model
        self.feature_names_in_ = np.array([str(name) for name in data.columns], dtype=object)
        self._nearest_row = KNeighborsClassifier(1).fit(data.to_numpy(dtype=np.float64), labels)
        self.note = f"{type(model).__name__} has no answer for new points: they get the cluster of the nearest row it knows."

    def predict(self, frame: pd.DataFrame) -> npt.NDArray[Any]:
        """Return the cluster of the nearest row, noise (-1) among them."""
        return self._nearest_row.predict(frame.to_numpy(dtype=np.float64))
