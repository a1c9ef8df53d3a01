"""Check all learners of scikit-learn, XGBoost, LightGBM, CatBoost, imbalanced-learn and InterpretML with the relations that must hold.

``python -m benchmarks.learners`` writes docs/learners.md: a verdict per learner, or one sentence that says why there is none. Names of
learners after the command check only these.
"""

from __future__ import annotations

import importlib
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import datamorphic as dm
from datamorphic.errors import DatamorphicError

OTHER_LIBRARIES = {
    "xgboost": ("XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor", "XGBRanker"),
    "lightgbm": ("LGBMClassifier", "LGBMRegressor", "LGBMRanker"),
    "catboost": ("CatBoostClassifier", "CatBoostRegressor"),
    "imblearn.ensemble": (
        *(
            "BalancedBaggingClassifier",
            "BalancedRandomForestClassifier",
            "EasyEnsembleClassifier",
            "RUSBoostClassifier",
        ),
    ),
    "interpret.glassbox": (
        *("ExplainableBoostingClassifier", "ExplainableBoostingRegressor", "LogisticRegression", "ClassificationTree"),
    ),
}
BUDGET, LONG_BUDGET = "60s", "15m"  # per learner
SLOW_LEARNERS = ("ExplainableBoostingClassifier", "ExplainableBoostingRegressor")  # one fit to 50 rows takes 5 seconds
PAGE = Path(__file__).parents[1] / "docs" / "learners.md"
INTRODUCTION = """# Which relations learners satisfy

<!-- Written by `python -m benchmarks.learners`. Do not edit. -->

All learners of scikit-learn, XGBoost, LightGBM, CatBoost, imbalanced-learn and InterpretML with their default parameters, checked with the
relations that must hold: `dm.check(learner, relations="necessary", inputs=300, budget="60s")`, on random training sets of many kinds;
boosting of InterpretML has 15 minutes. Seconds are of processor time, without the shrinking of what is violated. Every violation was
repeated with the library alone: see [In current releases](gallery.md#in-current-releases).
"""
QUIET_PARAMETERS = {"LGBM": {"verbosity": -1}, "CatBoost": {"verbose": 0, "allow_writing_files": False}}


@dataclass(kw_only=True)
class LearnerVerdict:
    """What the relations that must hold say about a learner."""

    name: str
    library: str
    verdict: str
    necessary: int = 0  # relations
    judged: int = 0  # cases of necessary relations
    violated: int = 0
    seconds: float = 0.0  # of processor time

    def format(self) -> str:
        """Return the verdict as a row of the table."""
        figures = f"{self.necessary} | {self.judged:,} | {self.violated:,} | {self.seconds:.1f}"
        return f"| {self.library} | `{self.name}` | {figures} | {self.verdict.replace('|', ',')} |"


def iterate_learners() -> Iterator[tuple[str, str, Any]]:
    """Yield library, name and learner; None instead of a learner that needs further parameters."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.utils import all_estimators

    for name, kind in all_estimators():
        for arguments in (
            {},
            {"estimator": LogisticRegression()},
            {"estimator": Ridge()},
            *_list_special_parameters(name),
        ):
            try:
                learner = kind(**arguments)
            except TypeError:
                continue
            if not _misfits(name, arguments):
                yield "sklearn", name, learner
                break
        else:
            yield "sklearn", name, None
    for library, names in OTHER_LIBRARIES.items():
        try:
            module = importlib.import_module(library)
        except ImportError as error:
            print(f"{library} is left out: {error}", file=sys.stderr)
            continue
        for name in names:
            quiet = next((values for prefix, values in QUIET_PARAMETERS.items() if name.startswith(prefix)), {})
            yield library.partition(".")[0], name, getattr(module, name)(**quiet)


def _misfits(name: str, arguments: dict[str, Any]) -> bool:
    estimator = type(arguments.get("estimator")).__name__
    return ("Regressor" in name and estimator == "LogisticRegression") or (
        name == "SelfTrainingClassifier" and not arguments
    )


def _list_special_parameters(name: str) -> list[dict[str, Any]]:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    logistic, tree = LogisticRegression(), DecisionTreeClassifier()
    if name in ("StackingClassifier", "VotingClassifier"):
        return [{"estimators": [("logistic", logistic), ("tree", tree)]}]
    if name in ("StackingRegressor", "VotingRegressor"):
        return [{"estimators": [("ridge", Ridge()), ("tree", DecisionTreeRegressor())]}]
    if name in ("GridSearchCV", "HalvingGridSearchCV"):
        return [{"estimator": logistic, "param_grid": {"C": [0.1, 1.0]}}]
    if name in ("RandomizedSearchCV", "HalvingRandomSearchCV"):
        return [{"estimator": logistic, "param_distributions": {"C": [0.1, 1.0]}, "n_iter": 2}]
    return [
        {"steps": [("scale", StandardScaler()), ("learn", logistic)]},
        {"transformers": [("scale", StandardScaler(), [0])]},
        {"transformer_list": [("scale", StandardScaler())]},
        {"estimators": [("logistic", logistic)]},
    ]


def check_learner(library: str, name: str, learner: Any, inputs: int = 300) -> LearnerVerdict:
    """Check one learner with the relations that must hold, on random data of many kinds."""
    verdict = LearnerVerdict(name=name, library=library, verdict="")
    if learner is None:
        verdict.verdict = "it cannot be made without further parameters"
        return verdict
    budget = LONG_BUDGET if name in SLOW_LEARNERS else BUDGET
    start = time.process_time()
    try:
        report = dm.check(learner, relations="necessary", inputs=inputs, budget=budget, progress=False, shrink=False)
    except DatamorphicError as error:
        verdict.verdict = " ".join(str(error).split())
        return verdict
    verdict.seconds = time.process_time() - start
    verdict.verdict = report.headline
    entries = [entry for entry in report.entries if entry.necessary]
    verdict.necessary = len(entries)
    verdict.judged = sum(entry.judged for entry in entries)
    verdict.violated = sum(entry.violated for entry in entries)
    if entries and not verdict.judged:
        verdict.verdict += f"; {entries[0].format_messages()}"
    for entry in entries:
        if entry.violated:
            verdict.verdict += f"; {entry.relation}: {entry.violated} of {entry.judged}"
    return verdict


def main(names: list[str]) -> None:
    """Check the learners, and write the page if these are all."""
    warnings.simplefilter("ignore")
    verdicts = []
    for library, name, learner in iterate_learners():
        if names and name not in names:
            continue
        verdicts.append(check_learner(library, name, learner))
        print(verdicts[-1].format(), flush=True)
    print(summarise(verdicts))
    if not names:
        PAGE.write_text(build_page(verdicts), encoding="utf-8")


def build_page(verdicts: list[LearnerVerdict]) -> str:
    """Return the page of the documentation."""
    header = (
        "| library | learner | relations | judged cases | violated | seconds | verdict |\n|---|---|---|---|---|---|---|"
    )
    return "\n".join([INTRODUCTION, summarise(verdicts), "", header, *(verdict.format() for verdict in verdicts), ""])


def summarise(verdicts: list[LearnerVerdict]) -> str:
    """Return how much was judged and violated, and how long a learner takes."""
    judged, violated = sum(verdict.judged for verdict in verdicts), sum(verdict.violated for verdict in verdicts)
    seconds = [verdict.seconds for verdict in verdicts if verdict.judged]
    return (
        f"{len(verdicts)} learners, {len(seconds)} of them judged: {judged:,} cases of relations that must hold, {violated:,} "
        f"violations; the median learner takes {median(seconds) if seconds else 0:.1f} s."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
