"""Giskard 2: a scan of a model for weak spots."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .figures import Figure
from .tasks import CATEGORIES, TARGET, Stopwatch, fit_loans, make_loans

TITLE, DISTRIBUTION = "Giskard", "giskard"
REQUIREMENTS = ("giskard==2.19.2",)
NOTES = (
    "Giskard 2 is the last version with a scan of tabular models. Both sides look at the same six defects planted in a model of "
    "loans, one at a time, and at the model without a defect, with 1,000 labelled rows that were not used for training. "
    "Five of the defects are of kinds that Giskard's documentation names: performance bias, stochasticity, data leakage, "
    "overconfidence and spurious correlation. The sixth is a unit error, which shows as a weak slice at best.",
    "A defect counts as named if a finding says its word, such as the column, and the good model does not get the same finding. "
    "Findings are issues of Giskard of any level, and faults and concerns of `dm.test` (advice, such as that probabilities are "
    "too sure, does not count); both with defaults, a budget of one minute for `dm.test`. The issues about the good model "
    "are weak slices. Giskard also scans text and language models, and perturbs text features.",
)
SEED = 0


@dataclass(frozen=True, kw_only=True)
class Defect:
    """A model with a planted defect, and the words that name it."""

    name: str
    words: Sequence[str]
    data: pd.DataFrame
    predict_proba: Callable[[pd.DataFrame], np.ndarray]


def plant_defects() -> list[Defect]:
    """Return the good model first, and then models with one defect each."""
    from sklearn.linear_model import LogisticRegression

    loans = make_loans(2_000)
    train, data = loans[:1_000], loans[1_000:].reset_index(drop=True)
    good = fit_loans(LogisticRegression(max_iter=1_000), train).predict_proba
    rng = np.random.default_rng(SEED)

    def turn_round(frame, rows):
        return np.where(np.asarray(rows)[:, None], good(frame)[:, ::-1], good(frame))

    def sharpen(frame):
        powers = good(frame) ** 8
        return powers / powers.sum(axis=1, keepdims=True)

    codes = np.where(rng.random(len(loans)) < 0.01, 1 - loans[TARGET], loans[TARGET])
    leaking = loans.assign(status_code=10 * codes + rng.integers(0, 3, len(loans)))
    leaky = fit_loans(LogisticRegression(max_iter=1_000), leaking[:1_000]).predict_proba

    def make(name, words, predict_proba, data=data):
        return Defect(name=name, words=words, data=data, predict_proba=predict_proba)

    return [
        make("none", (), good),
        make("a group gets wrong answers", ["housing"], lambda f: turn_round(f, f["housing"] == "rent")),
        make(
            "a tenth of the answers is random",
            ["stochastic", "the same case gets different answers"],
            lambda f: turn_round(f, rng.random(len(f)) < 0.1),
        ),
        make(
            "income is compared with the mean of the batch",
            ["data leakage", "batch"],
            lambda f: good(f.assign(income=f["income"] - f["income"].mean() + 48)),
        ),
        make("probabilities are far too sure", ["overconfiden", "calibrat"], sharpen),
        make("a feature is the label in disguise", ["status_code"], leaky, leaking[1_000:].reset_index(drop=True)),
        make(
            "a unit error above an income of 70",
            ["income"],
            lambda f: good(f.assign(income=f["income"].where(f["income"] <= 70, f["income"] / 1_000))),
        ),
    ]


def measure_theirs() -> list[Figure]:
    """Return the figures of Giskard's scan."""
    home = tempfile.TemporaryDirectory()
    os.environ |= {"GSK_HOME": home.name, "GSK_DISABLE_ANALYTICS": "true", "GSK_LOGLEVEL": "ERROR"}
    import giskard

    def scan(defect: Defect, predict_proba) -> list[str]:
        model = giskard.Model(
            predict_proba,
            model_type="classification",
            classification_labels=[0, 1],
            feature_names=list(defect.data.columns.drop(TARGET)),
        )
        data = giskard.Dataset(defect.data, target=TARGET, cat_columns=list(CATEGORIES))
        issues = giskard.scan(model, data, verbose=False).issues
        return [f"{issue.group.name} {issue.description} {issue.features}" for issue in issues]

    with home:
        return _measure(scan)


def measure_ours() -> list[Figure]:
    """Return our figures of the same models."""
    import datamorphic as dm

    class Model:
        classes_ = np.array([0, 1])

        def __init__(self, predict_proba):
            self.predict_proba = predict_proba

        def predict(self, frame):
            return self.classes_[np.argmax(self.predict_proba(frame), axis=1)]

    def test(defect: Defect, predict_proba) -> list[str]:
        result = dm.test(Model(predict_proba), defect.data, target=TARGET, progress=False)
        return [
            " ".join(f"{piece.title} {piece.about} {piece.detail}" for piece in (finding, *finding.evidence))
            for finding in result.at_least("concern")
        ]

    return _measure(test)


def _measure(look) -> list[Figure]:
    named, seconds, rows, findings = [], [], [], []
    for defect in plant_defects():
        count = 0

        def predict_proba(frame, defect=defect):
            nonlocal count
            count += len(frame)
            return defect.predict_proba(frame)

        if not named and not findings:
            look(defect, defect.predict_proba)  # imports and compiles
        with Stopwatch() as watch:
            findings.append([text.lower() for text in look(defect, predict_proba)])
        seconds.append(watch.seconds)
        rows.append(count)
        if _is_named(defect, set(findings[-1]) - set(findings[0])):
            named.append(defect.name)
    task = "check-up of a model of loans"
    return [
        Figure(task, "planted defects named", f"{len(named)} of {len(findings) - 1}"),
        Figure(task, "defects", "; ".join(named)),
        Figure(task, "findings about the good model", str(len(findings[0]))),
        Figure(task, "rows queried per model", float(np.mean(rows))),
        Figure(task, "CPU seconds per model", float(np.mean(seconds))),
    ]


def _is_named(defect: Defect, findings: Iterable[str]) -> bool:
    return any(word in text for word in defect.words for text in findings)
