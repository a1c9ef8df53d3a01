"""Giskard 2: its scan on the suite of defects."""

from __future__ import annotations

import os
import tempfile

import numpy as np
import pandas as pd

from benchmarks.defects.registry import Case

from . import defects
from .figures import Figure

TITLE, DISTRIBUTION = "Giskard scan", "giskard"
REQUIREMENTS = ("giskard==2.19.2", "numpy<2", "pandas==2.2.3", "scikit-learn==1.5.2", "setuptools<81")
NOTES = (
    defects.SHORT_NOTE,
    "Giskard scans the model with the test half, as it has no use for the training half. Where a service gives no "
    "probabilities, its answers count as sure. Issues of any level are its findings.",
)


def look(case: Case, numbers: bool) -> list[str]:
    """Return the issues of the scan."""
    home = tempfile.mkdtemp()
    os.environ |= {"GSK_HOME": home, "GSK_DISABLE_ANALYTICS": "true", "GSK_LOGLEVEL": "ERROR"}
    import giskard

    target = case.options["target"]
    inputs = case.data.drop(columns=target)
    dates = list(inputs.select_dtypes("datetime").columns)
    classes = [] if numbers else list(case.model.classes_)

    def answer(frame: pd.DataFrame) -> np.ndarray:
        frame = frame.assign(**{name: pd.to_datetime(frame[name], errors="coerce") for name in dates})
        if numbers:
            return np.asarray(case.model.predict(frame), dtype=float)
        if hasattr(case.model, "predict_proba"):
            return np.asarray(case.model.predict_proba(frame))
        answers = np.asarray(case.model.predict(frame))
        return (answers[:, None] == np.array(classes, dtype=answers.dtype)).astype(float)

    options = {} if numbers else {"classification_labels": classes}
    model = giskard.Model(
        answer, model_type="regression" if numbers else "classification", feature_names=list(inputs), **options
    )
    others = inputs.select_dtypes(exclude=["number"])
    categories = [name for name in others if name in dates or others[name].nunique() < len(others) / 2]  # else texts
    data = case.data.astype(dict.fromkeys(dates, str))
    if classes:
        data = data[data[target].isin(classes)]  # it refuses labels that the model does not know
    issues = giskard.scan(model, giskard.Dataset(data, target=target, cat_columns=categories), verbose=False).issues
    return [
        f"{issue.level.value}: {issue.group.name}: {issue.description} {issue.features} {issue.slicing_fn}"
        for issue in issues
    ]


def measure_theirs() -> list[Figure]:
    """Return the figures of Giskard's scan."""
    return defects.measure_tool("giskard_scan", REQUIREMENTS, look)


def measure_ours() -> list[Figure]:
    """Return the figures of `dm.test`."""
    return defects.measure_dm_test()
