"""Evidently: its presets of tests for drift and for the quality of models on the suite of defects."""

from __future__ import annotations

import re

from benchmarks.defects.registry import Case

from . import defects
from .figures import Figure

TITLE, DISTRIBUTION = "Evidently", "evidently"
REQUIREMENTS = ("evidently==0.7.23", "pandas==2.3.3")  # it cannot be imported with pandas 3
NOTES = (
    defects.SHORT_NOTE,
    "Evidently compares the halves with its preset for drift, and the answers with the labels of the test half by its preset for "
    "classification or regression, both with the tests that it generates by default. Failed tests are its findings. Its preset for a "
    "summary of the data is left out: tests of means and quantiles within 10% of the training data fail for every good model here. "
    "Without a reference, its tests of the errors of a regression compare each error with itself, and always fail. They are left out, too.",
)


SELF_COMPARISON = re.compile(r"Actual value (\S+) >= \1$")


def look(case: Case, numbers: bool) -> list[str]:
    """Return the tests that failed, with their descriptions."""
    from evidently import BinaryClassification, DataDefinition, Dataset, MulticlassClassification, Regression, Report
    from evidently.presets import ClassificationPreset, DataDriftPreset, RegressionPreset

    target = case.options["target"]
    assert case.train is not None
    frames = []
    for frame in (case.data, case.train):
        answers = case.model.predict(frame.drop(columns=target))
        frame = frame.assign(prediction=answers)
        if not numbers:
            frame = frame.astype({target: str, "prediction": str})
        frames.append(frame)
    inputs = case.train.drop(columns=target)
    texts = list(inputs.select_dtypes(exclude=["number", "datetime"]).columns)
    dates = list(inputs.select_dtypes("datetime").columns)
    amounts = [name for name in inputs if name not in (*texts, *dates)]
    fields = {"target": target, "prediction_labels": "prediction"}
    classes = sorted(frames[1][target].unique())
    if numbers:
        task = {"regression": [Regression(target=target, prediction="prediction")]}
        amounts += [target, "prediction"]
    else:
        texts += [target, "prediction"]
        kind = (
            BinaryClassification(pos_label=classes[-1], **fields)
            if len(classes) == 2
            else MulticlassClassification(**fields)
        )
        task = {"classification": [kind]}
    definition = DataDefinition(numerical_columns=amounts, categorical_columns=texts, datetime_columns=dates, **task)
    current, reference = (Dataset.from_pandas(frame, data_definition=definition) for frame in frames)
    preset = RegressionPreset() if numbers else ClassificationPreset()
    data = Report([DataDriftPreset()], include_tests=True).run(current, reference)
    quality = Report([preset], include_tests=True).run(current, None)
    return [
        f"{test.name}: {test.description}"
        for snapshot in (data, quality)
        for test in snapshot.tests_results
        if getattr(test.status, "value", test.status) == "FAIL" and not SELF_COMPARISON.search(test.description)
    ]


def measure_theirs() -> list[Figure]:
    """Return the figures of Evidently."""
    return defects.measure_tool("evidently", REQUIREMENTS, look)


def measure_ours() -> list[Figure]:
    """Return the figures of `dm.test`."""
    return defects.measure_dm_test()
