"""Jobs of the tree study: 3-NN tested on rows that trees choose, cross-validated, and trained on such rows."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from ..data.sets import TARGET
from ..trees.boundaries import STEP, Offset
from ..trees.coverage.options import ANY_ROWS
from ..trees.coverage.run import select
from ..trees.coverage.selection import Selection
from .trees import DataSetJob, fit_tree, load_prepared
from .workload import Figures

SCORES = ("precision", "recall", "accuracy", "F1")
CRITERIA = ("DTC", "BVA", "DTMT")
TEST_METHODS = (*CRITERIA, "CV")
LEARNERS = ("3-NN", "tree")
NEIGHBOURS = 3
FOLDS = 10
DRAWS = 5

Array = npt.NDArray[Any]


def score_model(model: Any, inputs: Array, labels: Array) -> dict[str, float]:
    """Return the four scores of a model on rows, weighted by class sizes."""
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support

    predictions = model.predict(inputs)
    weighted = precision_recall_fscore_support(labels, predictions, average="weighted", zero_division=0)
    precision, recall, f1 = map(float, weighted[:3])
    return dict(zip(SCORES, (precision, recall, float(accuracy_score(labels, predictions)), f1), strict=True))


def split_inputs_and_labels(data: pd.DataFrame) -> tuple[Array, Array]:
    """Return inputs and labels."""
    return data.drop(columns=TARGET).to_numpy(dtype=float), data[TARGET].to_numpy()


def fit_nearest_without(data: pd.DataFrame, left_out: Array) -> Any:
    """Return a 3-NN fitted to all rows except some."""
    from sklearn.neighbors import KNeighborsClassifier

    inputs, labels = split_inputs_and_labels(data)
    return KNeighborsClassifier(NEIGHBOURS).fit(np.delete(inputs, left_out, 0), np.delete(labels, left_out))


def select_by_criteria(tree: Any, data: pd.DataFrame, seed: int, offset: Offset = STEP) -> dict[str, Selection]:
    """Return the test set of each criterion; boundary rows derive from the covering rows, which the same seed chooses."""
    return {name: select(tree, data, name, target=TARGET, seed=seed, offset=offset) for name in CRITERIA}


def score_selections(data: pd.DataFrame, selections: Mapping[str, Selection]) -> dict[str, dict[str, float]]:
    """Return the scores of 3-NN on test sets, trained without the rows that were chosen.

    Boundary rows are made from the covering rows, so the same 3-NN is tested on both.
    """
    models = {name: fit_nearest_without(data, selections[name].places) for name in ("DTC", "DTMT")}
    return {
        name: score_model(models["DTC" if name == "BVA" else name], *split_inputs_and_labels(selection.rows))
        for name, selection in selections.items()
    }


def _score_by_criteria(data: pd.DataFrame, seed: int) -> dict[str, dict[str, float]]:
    return score_selections(data, select_by_criteria(fit_tree(data, seed), data, seed))


class ScoreJob(DataSetJob):
    """Scores of a data set, such as "DTC precision"."""

    def _compute_figures(self, seed: int) -> Figures:
        scores = self._scores(load_prepared(self.data), seed)
        return {f"{way} {score}": value for way, values in scores.items() for score, value in values.items()}

    def _scores(self, data: pd.DataFrame, seed: int) -> dict[str, dict[str, float]]:
        raise NotImplementedError


@dataclass(frozen=True)
class Splitting(ScoreJob):
    """3-NN on rows that a tree of all the data chose, and cross-validated."""

    def _scores(self, data: pd.DataFrame, seed: int) -> dict[str, dict[str, float]]:
        return {**_score_by_criteria(data, seed), "CV": cross_validate(data, split_folds(data, seed))}


@dataclass(frozen=True)
class Moving(ScoreJob):
    """3-NN on boundary rows with another offset."""

    offset: Offset

    def _scores(self, data: pd.DataFrame, seed: int) -> dict[str, dict[str, float]]:
        boundary = select(fit_tree(data, seed), data, "BVA", target=TARGET, seed=seed, offset=self.offset)
        return {"BVA": score_model(fit_nearest_without(data, boundary.places), *split_inputs_and_labels(boundary.rows))}


@dataclass(frozen=True)
class MovingAny(ScoreJob):
    """3-NN on boundary rows whose other columns are those of any row, not of one that reaches the leaf."""

    offset: Offset

    def _scores(self, data: pd.DataFrame, seed: int) -> dict[str, dict[str, float]]:
        tree = fit_tree(data, seed)
        covering = select(tree, data, "DTC", target=TARGET, seed=seed)
        boundary = select(tree, data, "BVA", target=TARGET, seed=seed, offset=self.offset, base=ANY_ROWS)
        return {"BVA": score_model(fit_nearest_without(data, covering.places), *split_inputs_and_labels(boundary.rows))}


@dataclass(frozen=True)
class Folding(ScoreJob):
    """Scores inside cross-validation: trees and tests of nine folds, ten times."""

    def _scores(self, data: pd.DataFrame, seed: int) -> dict[str, dict[str, float]]:
        scores_by_way: dict[str, list[dict[str, float]]] = {way: [] for way in TEST_METHODS}
        for inside, outside in split_folds(data, seed):
            nine = data.iloc[inside]
            for way, scores in _score_by_criteria(nine, seed).items():
                scores_by_way[way].append(scores)
            covering = select(fit_tree(nine, seed), nine, "DTC", target=TARGET, seed=seed)
            scores_by_way["CV"].append(
                score_model(fit_nearest_without(nine, covering.places), *split_inputs_and_labels(data.iloc[outside]))
            )
        return {way: _average_scores(fold_scores) for way, fold_scores in scores_by_way.items()}


def split_folds(data: pd.DataFrame, seed: int, folds: int = 0) -> list[tuple[Array, Array]]:
    """Return the rows inside and outside of each of ten folds, or of another number of folds."""
    from sklearn.model_selection import StratifiedKFold

    splitter = StratifiedKFold(folds or FOLDS, shuffle=True, random_state=seed)
    return list(splitter.split(data, data[TARGET]))


def cross_validate(data: pd.DataFrame, folds: list[tuple[Array, Array]]) -> dict[str, float]:
    """Return the mean scores of 3-NN over folds, trained without the rows on which it is tested."""
    inputs, labels = split_inputs_and_labels(data)
    return _average_scores([score_model(fit_nearest_without(data, out), inputs[out], labels[out]) for _, out in folds])


def _average_scores(fold_scores: list[dict[str, float]]) -> dict[str, float]:
    return {score: statistics.fmean(scores[score] for scores in fold_scores) for score in SCORES}


@dataclass(frozen=True)
class Learning(ScoreJob):
    """Learners trained on rows that a tree chose, on as many random ones, and on all."""

    def _scores(self, data: pd.DataFrame, seed: int) -> dict[str, dict[str, float]]:
        from sklearn.model_selection import train_test_split

        candidate_rows, test_rows = train_test_split(data, test_size=1 / 3, stratify=data[TARGET], random_state=seed)
        rng = np.random.default_rng(seed)
        accuracies = {"all": self._score_trained(candidate_rows, test_rows, seed)}
        for criterion in ("DTC", "DTMT"):
            chosen = select(fit_tree(candidate_rows, seed), candidate_rows, criterion, target=TARGET, seed=seed)
            accuracies[criterion] = self._score_trained(chosen.rows, test_rows, seed)
            draws = [
                self._score_trained(
                    candidate_rows.iloc[rng.choice(len(candidate_rows), len(chosen), replace=False)], test_rows, seed
                )
                for _ in range(DRAWS)
            ]
            accuracies[f"random {criterion}"] = {
                name: statistics.fmean(accuracies[name] for accuracies in draws) for name in LEARNERS
            }
        return accuracies

    def _score_trained(self, rows: pd.DataFrame, test_rows: pd.DataFrame, seed: int) -> dict[str, float]:
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.tree import DecisionTreeClassifier

        inputs, labels = split_inputs_and_labels(test_rows)
        models = (KNeighborsClassifier(min(NEIGHBOURS, len(rows))), DecisionTreeClassifier(random_state=seed))
        return {
            name: float(model.fit(*split_inputs_and_labels(rows)).score(inputs, labels))
            for name, model in zip(LEARNERS, models, strict=True)
        }
