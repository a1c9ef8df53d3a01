"""Predictions for clusterers that only label the rows they were fitted on."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import pluralise
from .._typing import ModelLike
from ..errors import ModelError


def has_predictions(model: object) -> bool:
    """Return whether a model can label new points; clusterers such as DBSCAN cannot."""
    return hasattr(model, "predict") or not hasattr(model, "labels_")


class NearestRowClusterer:
    """A clusterer fitted on `data`, with ``labels_`` of their rows, that labels a new point like the nearest row."""

    def __init__(self, model: ModelLike, data: pd.DataFrame) -> None:
        from sklearn.neighbors import KNeighborsClassifier

        labels = np.asarray(getattr(model, "labels_", ()))
        if len(labels) != len(data):
            raise ModelError(
                f"{type(model).__name__} has labels of {pluralise(len(labels), 'row')}, but the data have {len(data):,}. "
                "Pass the data it was fitted on."
            )
        self.model = model
        self.feature_names_in_ = np.array([str(name) for name in data.columns], dtype=object)
        self._nearest_row = KNeighborsClassifier(1).fit(data.to_numpy(dtype=np.float64), labels)
        kind = type(model).__name__
        self.note = f"{kind} cannot label new points: they get the cluster of the nearest row it was fitted on."

    def predict(self, frame: pd.DataFrame) -> npt.NDArray[Any]:
        """Return the cluster of the nearest row; noise (-1) is one of the clusters."""
        return self._nearest_row.predict(frame.to_numpy(dtype=np.float64))
