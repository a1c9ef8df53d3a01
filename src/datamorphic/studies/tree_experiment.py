"""The experiment of Silveira et al. (2025) with data of the user: test sets that trees choose, and scores of 3-NN on them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .._lazy import pd
from ..core.execute import Execution
from ..data.sets import TARGET
from ..errors import DataError
from .intervals import estimate_mean
from .tree_comparisons import Scores, compare_test_sets
from .tree_data_sets import DataSet
from .tree_experiment_result import TreeExperiment
from .tree_trials import (
    NEIGHBOURS,
    SCORES,
    TEST_METHODS,
    cross_validate,
    fit_nearest_without,
    score_model,
    score_selections,
    select_by_criteria,
    split_folds,
    split_inputs_and_labels,
)
from .trees import SEEDS_PER_STUDY, fit_tree
from .workload import SCALES, Figures, Job, Workbench

ALL_ROWS, IN_FOLDS = "all rows", "all folds but one"  # what trees are grown on
TREE_FIGURES = ("nodes", "leaves", "decision nodes", "mutants", "killed", "mutation score")


# -- measurements ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExperimentJob(Job):
    """A tree of a data set, the test sets that it chooses, and the scores of 3-NN on them.

    Without a fold the tree is grown on all rows, and 3-NN is cross-validated beside it. Otherwise the tree is grown on the rows
    inside a fold, and 3-NN is tested on those outside, too.
    """

    data: DataSet
    number: int  # of the repetition
    fold: int | None = None

    @property
    def label(self) -> str:
        """The data set, and the fold."""
        return self.data.name if self.fold is None else f"{self.data.name}, fold {self.fold + 1}"

    @property
    def weight(self) -> int:
        """The expected duration, relative to others: cross-validation is done with the tree of all rows."""
        return 1 if self.fold is not None else 2

    def _compute_figures(self, seed: int) -> Figures:
        seed = SEEDS_PER_STUDY * seed + self.number
        data, splits = self.data.frame, split_folds(self.data.frame, seed, self.data.folds)
        inside, outside = (slice(None), slice(0)) if self.fold is None else splits[self.fold]
        rows, other_rows = data.iloc[inside], data.iloc[outside]
        tree = fit_tree(rows, seed)
        selections = select_by_criteria(tree, rows, seed)
        for selection in selections.values():
            if len(rows) - len(set(selection.places.tolist())) < NEIGHBOURS:
                raise DataError(
                    f"The test set of {selection.criterion} takes {len(selection):,} of {len(rows):,} rows of {self.data.name}, and "
                    f"the 3-NN that is tested needs {NEIGHBOURS} others. Give more rows."
                )
        scores = score_selections(rows, selections)
        if self.fold is None:
            scores["CV"] = cross_validate(data, splits)
            tested = len(data)
        else:
            nearest = fit_nearest_without(rows, selections["DTC"].places)
            scores["CV"] = score_model(nearest, *split_inputs_and_labels(other_rows))
            tested = len(other_rows)
        mutation = selections["DTMT"].mutation
        assert mutation is not None
        figures = {f"{way} {score}": value for way, values in scores.items() for score, value in values.items()}
        figures |= {f"{way} rows": float(len(selection)) for way, selection in selections.items()} | {
            "CV rows": float(tested)
        }
        figures |= {
            "nodes": selections["DTC"].nodes,
            "leaves": selections["DTC"].leaves.leaves,
            "decision nodes": selections["DTC"].decision_nodes,
            "mutants": len(mutation.killed),
            "killed": int(mutation.killed.sum()),
            "mutation score": mutation.score,
        }
        if self.fold is not None:
            figures["tree accuracy"] = score_model(tree, *_split_frame(other_rows))["accuracy"]
        return figures


def _split_frame(rows: pd.DataFrame) -> tuple[Any, Any]:
    """Return inputs with the names of their columns, by which trees know them, and labels."""
    return rows.drop(columns=TARGET), rows[TARGET].to_numpy()


# -- the plan --------------------------------------------------------------------------------------------------------


class ExperimentPlan:
    """The measurements of the experiment, and its result."""

    def __init__(self, sets: tuple[DataSet, ...], target: str, scale: str, seed: int) -> None:
        self._sets, self._target, self._scale = sets, target, scale
        self._bench = Workbench(SCALES[scale], seed)
        self._repetitions = range(SCALES[scale].repetitions)
        for job in self._list_jobs():
            self._bench.figure(job, "nodes")

    @property
    def fingerprints(self) -> dict[str, str]:
        """Hashes of the data by name, so that a resumed run has the same data."""
        return {data.name: data.fingerprint for data in self._sets}

    def _list_jobs(self) -> Iterable[ExperimentJob]:
        for number in self._repetitions:
            for data in self._sets:
                yield ExperimentJob(data, number)
                yield from (ExperimentJob(data, number, fold) for fold in range(data.folds))

    def _figures(
        self, data: DataSet, measure: str, *, folds: bool, repetitions: Iterable[int] | None = None
    ) -> list[float]:
        """Return a measure of the trees of a data set: those of all rows, or those of the folds."""
        places = range(data.folds) if folds else (None,)
        numbers = self._repetitions if repetitions is None else repetitions
        jobs = [ExperimentJob(data, number, fold) for number in numbers for fold in places]
        return [value for job in jobs if math.isfinite(value := self._bench.figure(job, measure))]

    def compute(self, execution: Execution[Any]) -> TreeExperiment:
        """Measure what has to be measured, and return the result."""
        self._bench.work("trees", execution)
        by_file = {
            f"{way} {score}": [_compute_mean(self._figures(data, f"{way} {score}", folds=False)) for data in self._sets]
            for way in TEST_METHODS
            for score in SCORES
        }
        by_fold = {
            f"{way} {score}": [
                value
                for data in self._sets
                for value in self._figures(data, f"{way} {score}", folds=True, repetitions=[0])
            ]
            for way in TEST_METHODS
            for score in SCORES
        }
        pairing, comparisons, normality = compare_test_sets(Scores(by_file=by_file, by_fold=by_fold))
        return TreeExperiment(
            scale=self._scale,
            seed=self._bench.seed,
            seconds=execution.seconds,
            unfinished=tuple(execution.unfinished),
            interrupted=execution.counter.interrupted,
            target=self._target,
            repetitions=len(self._repetitions),
            pairing=pairing,
            trees=pd.DataFrame([self._describe_trees(data) for data in self._sets]),
            scores=pd.DataFrame(list(self._build_scores())),
            comparisons=comparisons,
            normality=normality,
            data_sets=self._sets,
        )

    def _describe_trees(self, data: DataSet) -> dict[str, Any]:
        """Return the size of a data set and the mean figures of the trees of all its rows."""
        frame = data.frame
        figures = {name: _compute_mean(self._figures(data, name, folds=False)) for name in TREE_FIGURES}
        return {
            "data": data.name,
            "rows": len(frame),
            "inputs": len(frame.columns) - 1,
            "classes": frame[TARGET].nunique(),
            **figures,
            "tree accuracy": _compute_mean(self._figures(data, "tree accuracy", folds=True)),
            "folds": data.folds,
        }

    def _build_scores(self) -> Iterable[dict[str, Any]]:
        for data in self._sets:
            for grown_on, folds in ((ALL_ROWS, False), (IN_FOLDS, True)):
                for way in TEST_METHODS:
                    sizes = self._figures(data, f"{way} rows", folds=folds)
                    for score in SCORES:
                        figure = estimate_mean(self._figures(data, f"{way} {score}", folds=folds))
                        yield {
                            "data": data.name,
                            "trees": grown_on,
                            "tests": way,
                            "size": _compute_mean(sizes),
                            "score": score,
                            "value": figure.value,
                            "margin": figure.margin,
                            "trials": figure.trials,
                        }


def _compute_mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
