"""Deepchecks: its full suite of tabular checks on the suite of defects."""

from __future__ import annotations

from typing import Any

from benchmarks.defects.registry import Case

from . import defects
from .figures import Figure

TITLE, DISTRIBUTION = "Deepchecks", "deepchecks"
# the last version; it needs parts of libraries that newer ones no longer have
REQUIREMENTS = (
    "deepchecks==0.19.1",
    "numpy<2",
    "pandas==2.2.3",
    "scikit-learn==1.5.2",
    "category-encoders==2.6.4",
    "setuptools<81",
)
NOTES = (
    *defects.NOTES,
    "Deepchecks runs `full_suite()` with its default conditions on both halves and the model. Where it cannot use "
    "the model (services whose answers have no probabilities), it looks at the data alone.",
)
IMPORTANCE_SECONDS = 20  # for the importance of features, which some checks need


def look(case: Case, numbers: bool) -> list[str]:
    """Return the conditions that did not pass, with their details."""
    from deepchecks.tabular import Dataset
    from deepchecks.tabular.suites import full_suite

    target = case.options["target"]
    assert case.train is not None
    classes = case.train[target].nunique()
    label_type = "regression" if numbers else "binary" if classes == 2 else "multiclass"
    texts = case.train.drop(columns=target).select_dtypes(exclude=["number", "datetime"]).columns
    train, test = (
        Dataset(frame, label=target, cat_features=list(texts), label_type=label_type)
        for frame in (case.train, case.data)
    )
    options: dict[str, Any] = {"with_display": False, "feature_importance_timeout": IMPORTANCE_SECONDS}
    try:
        result = full_suite().run(train_dataset=train, test_dataset=test, model=case.model, **options)
    except TimeoutError:
        raise
    except Exception:  # it refuses the model
        result = full_suite().run(train_dataset=train, test_dataset=test, **options)
    return [
        f"{check.get_header()}: {condition.name}: {condition.details}"
        for check in result.get_not_passed_checks()
        for condition in check.conditions_results
        if not condition.is_pass
    ]


def measure_theirs() -> list[Figure]:
    """Return the figures of Deepchecks."""
    return defects.measure_tool("deepchecks", __file__, look)


def measure_ours() -> list[Figure]:
    """Return the figures of `dm.test`."""
    return defects.measure_dm_test()
