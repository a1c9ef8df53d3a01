"""`rank_learners`: several learners on the same data, ordered by the relations that they violate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._lazy import pd
from ..._validation import check_types, reject, validate_integer
from ...core.result import Measure, Result
from ...errors import DataError
from ...reporting.junit import JUnitCase
from ...runs.driver import Driver
from ...runs.flow import Budget, ask
from ...systems.files import load_model
from ...systems.learner import Learner, format_learner, is_regressor
from ...systems.training import Training, TrainingBatch
from .result import CheckReport
from .run import check

if TYPE_CHECKING:
    from ..algebra.base import SystemRelation

DEFAULT_INPUTS = 100
DEFAULT_FOLDS = 5


@dataclass(frozen=True, eq=False, kw_only=True)
class RankedLearner:
    """A learner with the report of its check, and its accuracy by cross-validation; None if it has no labels to compare."""

    name: str
    report: CheckReport
    accuracy: Measure | None

    @property
    def violated(self) -> list[str]:
        """The necessary relations that it violates."""
        return [entry.relation for entry in self.report.faults]

    @property
    def judged(self) -> int:
        """The number of necessary relations that could be judged."""
        return sum(entry.necessary and entry.judged > 0 for entry in self.report.entries)

    @cached_property
    def share(self) -> Measure:
        """The share of the judged cases of necessary relations that violate them."""
        entries = [entry for entry in self.report.entries if entry.necessary]
        return Measure.from_counts(sum(entry.violated for entry in entries), sum(entry.judged for entry in entries))

    @property
    def rank_key(self) -> tuple[bool, int, float, float]:
        """What learners are ordered by; those of which nothing could be judged come last."""
        accuracy = -math.inf if self.accuracy is None else self.accuracy.value
        return not self.judged, len(self.violated), self.share.value, -accuracy


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnerRanking(Result):
    """The result of `rank_learners`: learners, the one that violates fewest necessary relations first."""

    _SUMMARY = ("best",)
    _PAGE: ClassVar[str] = "relations.check.ranking_page:build_page"

    data: str
    learners: Sequence[RankedLearner]
    folds: int
    seed: int

    def __getitem__(self, name: str) -> RankedLearner:
        return {learner.name: learner for learner in self.learners}[name]

    @property
    def best(self) -> str:
        """The name of the first learner."""
        return self.learners[0].name

    @property
    def complete(self) -> bool:
        """Whether all checks were completed."""
        return all(learner.report.complete for learner in self.learners)

    @property
    def headline(self) -> str:
        """The order in one line."""
        counts = ", ".join(f"{learner.name} ({len(learner.violated)})" for learner in self.learners)
        return f"necessary relations violated, fewest first: {counts}"

    @cached_property
    def table(self) -> pd.DataFrame:
        """A frame with a row per learner, in their order."""
        rows, no_accuracy = [], dict.fromkeys(("accuracy", "accuracy_low", "accuracy_high"))
        for learner in self.learners:
            accuracy = learner.accuracy
            rows.append(
                {
                    "learner": learner.name,
                    "violated": len(learner.violated),
                    "judged": learner.judged,
                    **learner.share.to_columns("share"),
                    **(no_accuracy if accuracy is None else accuracy.to_columns("accuracy")),
                    "relations": ", ".join(learner.violated),
                }
            )
        return pd.DataFrame(rows)

    def document(self) -> dict[str, Any]:
        """Return the order, and the reports of the checks, as a JSON-serialisable dict."""
        learners = [
            {
                "learner": learner.name,
                "violated": learner.violated,
                "judged": learner.judged,
                "share": learner.share,
                "accuracy": learner.accuracy,
                "check": learner.report.document(),
            }
            for learner in self.learners
        ]
        return self._collect("data", "best", "complete", "folds", "seed", learners=learners)

    def test_cases(self) -> list[JUnitCase]:
        """Return the test cases of all checks."""
        return [
            JUnitCase(
                name=f"{learner.name}: {case.name}",
                outcome=case.outcome,
                kind=case.kind,
                message=case.message,
                detail=case.detail,
            )
            for learner in self.learners
            for case in learner.report.test_cases()
        ]


@check_types
def rank_learners(
    learners: Mapping[str, Any] | Sequence[Any],
    data: pd.DataFrame,
    target: str,
    *,
    relations: str | Sequence[SystemRelation | str] = "necessary",
    inputs: int = DEFAULT_INPUTS,
    folds: int = DEFAULT_FOLDS,
    budget: str | Budget | None = None,
    seed: int = 0,
    name: str = "data",
) -> LearnerRanking:
    """Check several learners on the same data, and order them by the relations that they violate.

    First comes the learner that violates the fewest necessary relations, then the one that violates them in the smaller share of
    cases, then the more accurate one. What is necessary is different for different learners, and one that is not in the table
    of requirements is judged by fewer relations: compare the numbers of relations, too.

    Parameters
    ----------
    learners : list or dict
        Unfitted learners or names such as ``"weka:IBk -K 3"``, or learners by name.
    data : DataFrame
        Rows to learn from, with their labels in the column `target`.
    target : str
        The column of the labels.
    relations, inputs, budget, seed
        As for `datamorphic.check`; the budget is that of each learner.
    folds : int
        The number of parts of the data for the accuracy by cross-validation.
    name : str
        What reports call the data.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
    >>> wine = dm.data.load("wine")[["alcohol", "flavanoids", "target"]]
    >>> learners = {"3 neighbours": KNeighborsClassifier(3), "centroids": NearestCentroid()}
    >>> ranking = dm.relations.rank_learners(learners, wine, "target", relations=["MR-0", "MR-1.1", "MR-1.2"], inputs=20)
    >>> sorted(ranking.table[["learner", "violated"]].values.tolist())
    [['3 neighbours', 0], ['centroids', 0]]
    """
    named_learners = dict(learners) if isinstance(learners, Mapping) else _name_learners(learners)
    named_learners = {
        name: load_model(learner) if isinstance(learner, str) else learner for name, learner in named_learners.items()
    }
    if not named_learners:
        reject("learners", "rank_learners", "at least one learner", learners)
    validate_integer("folds", "rank_learners", folds, 2)
    ranked_learners = [
        RankedLearner(
            name=learner_name,
            report=check(
                learner,
                data,
                relations,
                target=target,
                inputs=inputs,
                seed=seed,
                budget=budget,
                shrink=False,
                progress=False,
            ),
            accuracy=measure_accuracy(learner, data, target, folds, seed),
        )
        for learner_name, learner in named_learners.items()
    ]
    ranked_learners.sort(key=lambda learner: learner.rank_key)
    return LearnerRanking(data=name, learners=ranked_learners, folds=folds, seed=seed)


def _name_learners(learners: Sequence[Any]) -> dict[str, Any]:
    """Return learners by name; equal names get a number."""
    named_learners: dict[str, Any] = {}
    for learner in learners:
        name = learner if isinstance(learner, str) else format_learner(learner)
        repeats = sum(other == name or other.startswith(f"{name}, ") for other in named_learners)
        named_learners[f"{name}, {repeats + 1}" if repeats else name] = learner
    return named_learners


def measure_accuracy(learner: Any, data: pd.DataFrame, target: str, folds: int, seed: int) -> Measure | None:
    """Return the share of rows that a learner labels correctly when it has not seen them; None for numbers and failures."""
    rows = data[data[target].notna()]
    x, y = rows.drop(columns=[target]), rows[target].to_numpy()
    if len(rows) < folds:
        raise DataError(f"Cross-validation with {folds} folds needs as many labelled rows. The data have {len(rows)}.")
    if is_regressor(learner, y):
        return None
    parts = np.random.default_rng(seed).permutation(len(rows)) % folds
    trainings = [
        Training(x[parts != part].reset_index(drop=True), y[parts != part], x[parts == part].reset_index(drop=True))
        for part in range(folds)
    ]
    system = Learner(learner, seed=seed)
    drive = Driver({"progress": False}).drive
    outputs = drive(ask(TrainingBatch(trainings)), system, recheck=0, alive=True, cache=None)
    if not outputs.ok.any():
        return None
    labels = np.concatenate([y[parts == part] for part in range(folds)])
    correct = sum(str(answer) == str(label) for answer, label in zip(outputs.values, labels, strict=True))
    return Measure.from_counts(correct, len(labels))
