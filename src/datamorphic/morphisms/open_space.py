"""Spaces without bounds, inferred from test cases, which need not show the range of a feature."""

from __future__ import annotations

import warnings

from .._lazy import pd
from ..errors import AmbiguousData
from ..space.features import Categorical
from ..space.points import Points
from ..space.space import Space
from ..space.text_feature import Text


def infer_open_points(frame: pd.DataFrame) -> Points:
    """Return a frame as points of an inferred space without bounds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AmbiguousData)
        inferred_space = Space.from_frame(frame)
    unbounded_features = [
        feature
        if isinstance(feature, Categorical | Text)
        else type(feature)(feature.name, step=feature.step, nullable=feature.nullable)  # type: ignore[call-arg]
        for feature in inferred_space.features
    ]
    return Space(unbounded_features, moves="open", dtypes=inferred_space.dtypes).points(frame)
