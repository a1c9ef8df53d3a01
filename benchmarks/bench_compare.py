"""Two that must be one: planted differences that no row of the data shows, and equal twins, on six kinds of model.

    python benchmarks/bench_compare.py [--labels-only] [--seconds 20]

prints for every model and planted difference whether it was reported as a fault of the right feature, and the seconds; and for
equal twins what was reported by mistake.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.comparison.disagreement.search import compare_twins
from datamorphic.core.result import Finding

GRADES = ["low", "mid", "high", "top"]
EDGES = [25.0, 45.0, 65.0]
LIMIT = 0.3  # of the ratio, which float32 cannot represent
MODELS: dict[str, Callable[[], BaseEstimator]] = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "tree": lambda: DecisionTreeClassifier(max_depth=6, random_state=0),
    "forest": lambda: RandomForestClassifier(31, max_depth=8, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=40, random_state=0),
    "naive Bayes": lambda: GaussianNB(),
    "network": lambda: make_pipeline(StandardScaler(), MLPClassifier((16,), max_iter=300, random_state=0)),
}
#: The planted difference and the feature at fault.
PLANTED = {
    "rounding": "years",
    "order of categories": "grade",
    "float32 at a threshold": "ratio",
    "default for missing": "income",
    "bin edge": "age",
}


def make_loans(count: int = 1_500, seed: int = 0, *, for_training: bool = False) -> pd.DataFrame:
    """Return loans whose values show none of the planted differences, unless they are for training."""
    rng = np.random.default_rng(seed)
    age = rng.integers(19, 80, count).astype(float)
    ratio = np.round(rng.beta(2, 4, count), 2)
    frame = pd.DataFrame(
        {
            "age": np.where(np.isin(age, EDGES), age + 1, age),
            "income": np.round(rng.lognormal(10, 0.5, count)),
            "ratio": np.where(ratio == LIMIT, 0.31, ratio),
            "years": rng.integers(0, 300, count) / 10 if for_training else rng.integers(0, 30, count).astype(float),
            "grade": pd.Categorical(rng.choice(GRADES[: 4 if for_training else 2], count), categories=GRADES),
            "region": rng.choice(["north", "south", "east"], count),
        }
    )
    risk = (frame.age < 45) * 0.8 + (frame.ratio > LIMIT) * 1.2 - np.log(frame.income / 22_000) - 0.05 * frame.years
    risk += frame.grade.cat.codes * 0.4 + (frame.age >= 65) * 0.6 + rng.normal(0, 0.5, count)
    return frame.assign(target=np.where(risk > risk.median(), "late", "paid"))


def prepare(frame: pd.DataFrame, median: float, planted: str = "") -> pd.DataFrame:
    """Return the features of the model; `planted` names the step that is done in another way."""
    grades = ["low", "mid", "top", "high"] if planted == "order of categories" else GRADES
    ratio = frame["ratio"].to_numpy(dtype=np.float32 if planted == "float32 at a threshold" else np.float64)
    years = frame["years"].to_numpy(dtype=float)
    income = frame["income"].to_numpy(dtype=float)
    return pd.DataFrame(
        {
            "age group": np.digitize(frame["age"].to_numpy(dtype=float), EDGES, right=planted == "bin edge"),
            "income": np.log1p(
                np.where(np.isnan(income), 0.0 if planted == "default for missing" else median, income).clip(0)
            ),
            "high ratio": (ratio.astype(float) > LIMIT).astype(float),
            "years": np.round(years) if planted == "rounding" else years,
            "grade": [grades.index(grade) if grade in grades else -1 for grade in frame["grade"].astype(object)],
            "north": (frame["region"].astype(object) == "north").astype(float),
        }
    ).fillna(-1.0)


class Scorer:
    """A pipeline of plain code: features, then a model; with noise as another library would add it."""

    def __init__(self, model: Any, median: float, planted: str = "", noise: float = 0.0) -> None:
        self.model, self.median, self.planted, self.noise = model, median, planted, noise
        self.classes_ = model.classes_

    def predict_proba(self, frame: pd.DataFrame) -> Any:
        """Return the probabilities of both classes."""
        shares = self.model.predict_proba(prepare(frame, self.median, self.planted))
        if self.noise:
            shift = self.noise * np.sin(1e6 * shares[:, :1])
            shares = shares + np.hstack([shift, -shift])
        return shares

    def predict(self, frame: pd.DataFrame) -> Any:
        """Return the class with the larger probability."""
        return self.classes_[self.predict_proba(frame).argmax(axis=1)]


def fit_scorer(name: str) -> Scorer:
    """Return the training pipeline, fitted to rows that show all values."""
    frame = make_loans(seed=1, for_training=True)
    median = float(frame["income"].median())
    model = MODELS[name]().fit(prepare(frame, median), frame["target"])
    return Scorer(model, median)


def compare(old: Any, new: Any, frame: pd.DataFrame, seconds: float, labels_only: bool) -> tuple[list[Finding], float]:
    """Return the findings about two scorers, and the seconds."""
    inputs = frame.drop(columns="target")
    space = dm.Space.from_frame(inputs, kinds={"grade": "categorical"})
    systems = [dm.wrap(scorer.predict if labels_only else scorer, space=space) for scorer in (old, new)]
    start = time.perf_counter()
    findings = compare_twins(*systems, space.points(inputs), seconds=seconds)
    return findings, time.perf_counter() - start


def shows(old: Scorer, new: Scorer) -> bool:
    """Return whether a planted difference changes an answer to any of many made rows."""
    frame = make_loans(50_000, seed=2, for_training=True)
    rng = np.random.default_rng(0)
    frame["age"], frame["ratio"] = (
        rng.choice([*EDGES, 30.0, 50.0], len(frame)),
        rng.choice([LIMIT, 0.2, 0.4], len(frame)),
    )
    frame.loc[rng.random(len(frame)) < 0.1, "income"] = np.nan
    return bool((old.predict(frame) != new.predict(frame)).any())


def main() -> None:
    """Print what is found, and what is reported although nothing differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels-only", action="store_true", help="hide the scores of the models")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each comparison")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    options = parser.parse_args()
    frame = make_loans()
    found_count = false_count = planted_count = 0
    for name in options.models:
        old = fit_scorer(name)
        for planted, feature in PLANTED.items():
            new = Scorer(old.model, old.median, planted)
            findings, seconds = compare(old, new, frame, options.seconds, options.labels_only)
            faults = [finding for finding in findings if finding.level == "fault"]
            found = any(finding.about == feature for finding in faults)
            if not found and not shows(old, new):
                print(f"{name:12} {planted:24} {'-':7} {seconds:5.1f} s  the model does not look at it")
                continue
            planted_count += 1
            others = [finding.title for finding in findings if finding.about != feature]
            found_count, false_count = found_count + found, false_count + len(others)
            titles = [finding.title for finding in faults if finding.about == feature]
            print(f"{name:12} {planted:24} {'found' if found else 'MISSED':7} {seconds:5.1f} s  {titles}")
            for title in others:
                print(f"{'':12} BESIDE IT: {title}")
        twins = {"copy": pickle.loads(pickle.dumps(old)), "noise of 1e-12": Scorer(old.model, old.median, noise=1e-12)}
        for twin, new in twins.items():
            findings, seconds = compare(old, new, frame, options.seconds, options.labels_only)
            false_count += len(findings)
            print(
                f"{name:12} {'twin: ' + twin:24} {len(findings)} findings {seconds:5.1f} s  {[f.title for f in findings]}"
            )
    print(f"found {found_count} of {planted_count}; beside them, or about equal twins: {false_count}")


if __name__ == "__main__":
    main()
