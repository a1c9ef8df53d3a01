"""scikit-learn-like models: asked with what they were fitted on, a frame or an array."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import did_you_mean, plural
from ..errors import ModelError
from ..outputs import Outputs
from ..space.points import Batch
from .answers import Labels, as_outputs
from .base import Executor, ScoreKind

if TYPE_CHECKING:
    import pandas as pd

    from ..space.space import Space


class Estimator(Executor):
    """Anything with ``predict``; scores come from ``decision_function`` or ``predict_proba``."""

    def __init__(
        self,
        model: Any,
        space: Space | None = None,
        *,
        name: str | None = None,
        labels: Iterable[Any] | None = None,
    ) -> None:
        self.model, self.space = model, space
        self.name = name or type(model).__name__
        _check_fitted(model)
        # A pipeline asks its first step for these and raises AttributeError where that step has none.
        names = getattr(model, "feature_names_in_", None)
        self.columns = None if names is None else [str(each) for each in names]
        self.width: int | None = getattr(model, "n_features_in_", None)
        self.labels = tuple(labels) if labels is not None else _labels(model)
        self.score_kind = _score_kind(model) if self.labels else None
        if space is not None:
            self._check_columns(space.names)

    def answer(self, batch: Batch, scores: bool) -> Outputs:
        """Ask the model to predict, and for scores if they are wanted."""
        given = self.input(batch.frame)
        predicted = self.model.predict(given)
        if getattr(predicted, "ndim", 1) == 2 and predicted.shape[1] > 1:
            self.labels = self.score_kind = None  # several labels at once: classes_ lists their parts
        found = as_outputs(predicted, len(batch), self.labels)
        if not scores or self.score_kind is None:
            return found
        return Outputs(found.values, found.status, self._scores(given), found.messages)

    def input(self, frame: pd.DataFrame) -> Any:
        """Return a frame as the model wants it: its columns in its order, or an array."""
        if self.columns is not None:
            self._check_columns(tuple(frame.columns))
            return frame if list(frame.columns) == self.columns else frame[self.columns]
        if self.width is not None:
            self._check_columns(tuple(frame.columns))
            return frame.to_numpy()
        return frame

    def _check_columns(self, given: tuple[str, ...]) -> None:
        if self.columns is not None:
            missing = [name for name in self.columns if name not in given]
            if missing:
                listed = ", ".join(map(repr, missing[:6])) + (", ..." if len(missing) > 6 else "")
                raise ModelError(
                    f"{self.name} was fitted on {plural(len(self.columns), 'column')}, and {len(missing)} of them are "
                    f"not in the data: {listed}. {did_you_mean(missing[0], given)}"
                )
        elif self.width is not None and self.width != len(given):
            raise ModelError(
                f"{self.name} was fitted on {plural(self.width, 'column')} and the data have {len(given)}. "
                "Leave out the columns that are no features, the target for one."
            )

    def _scores(self, given: Any) -> npt.NDArray[np.float64] | None:
        ask = self.model.decision_function if self.score_kind == "decision" else self.model.predict_proba
        scores = np.asarray(ask(given), dtype=np.float64)
        if scores.ndim == 1:  # two classes, one decision value: positive means the second
            scores = np.column_stack([-scores, scores])
        if self.labels is not None and scores.shape[1] == len(self.labels):
            return scores
        # one value a pair of classes (SVC, "ovo"), or the like: no score a class
        self.score_kind = (
            "probability" if self.score_kind == "decision" and hasattr(self.model, "predict_proba") else None
        )
        return self._scores(given) if self.score_kind else None


def _check_fitted(model: Any) -> None:
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, BaseEstimator):
        return  # other libraries have other ways to tell; asking them will
    try:
        check_is_fitted(model)
    except TypeError:
        return  # a model that was never meant to be fitted
    except NotFittedError:
        kind = type(model).__name__
        raise ModelError(f"This {kind} is not fitted. Fit it first: model.fit(X, y).") from None


def _labels(model: Any) -> Labels | None:
    try:
        classes = np.asarray(getattr(model, "classes_", None))
    except ValueError:  # several outputs, each with its own classes
        return None
    return tuple(classes.tolist()) if classes.ndim == 1 and len(classes) else None


def _score_kind(model: Any) -> ScoreKind | None:
    if hasattr(model, "decision_function"):
        return "decision"
    return "probability" if hasattr(model, "predict_proba") else None
