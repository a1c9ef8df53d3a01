"""The requirement of every relation for every learner of the table, with a reason.

learners.csv names the sections of necessity.csv that describe a learner. Their rows are read in this order: a row replaces earlier
rows about the same relations. It counts if all conditions of `when` are true of the learner's parameters; "not" negates a
condition. "stop" ends the table: the remaining relations are unknown.

ties.csv says for which necessary relations of a section a tie may decide, since the definition of the learner leaves a choice open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from ..._tables import read_rows
from ...errors import DataError
from ...systems.traits import LearnerKind
from .requirement import EstimatorParameters, Requirement, RequirementTable, Strictness
from .smoothing import STRONG_VAR_SMOOTHING

Decision = Literal[
    "must hold", "must hold in scores", "may fail", "may fail if necessary", "may vary", "known to fail", "stop"
]
_STRICTNESS: dict[Decision, Strictness] = {
    "must hold in scores": "score_exact",
    "may vary": "class_stat",
    "known to fail": "expected_failure",
}
_METRICS = ("minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev")
_START_PARAMETERS = ("weights_init", "means_init", "precisions_init")
_PRIOR_PARAMETERS = ("weight_concentration_prior", "mean_prior", "covariance_prior", "mean_precision_prior")


@dataclass(frozen=True, kw_only=True)
class LearnerRow:
    """A learner of scikit-learn: the sections of the table that describe it."""

    learner: str  # its class, or "any" and a kind: the learners of known libraries that have no row of their own
    kind: LearnerKind
    sections: tuple[str, ...]
    exemption: str = ""  # from necessary relations, depending on the data: see exemptions.py


@dataclass(frozen=True, kw_only=True)
class RequirementRow:
    """Requirements of some relations in a section, and the conditions under which they count."""

    section: str
    when: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    requirement: Decision
    reason: str = ""

    def __post_init__(self) -> None:
        for condition in self.when:
            if condition.removeprefix("not ") not in CONDITIONS:
                raise DataError(f"There is no condition {condition!r}.")


@dataclass(frozen=True, kw_only=True)
class TieRow:
    """Whether a tie may decide about relations of a section ("*": about all others), and why."""

    section: str
    relations: tuple[str, ...]
    ties: bool
    reason: str


@cache
def read_ties() -> dict[tuple[str, str], bool]:
    """Return whether a tie may decide, by section and relation."""
    rows = read_rows(__package__, "ties.csv", TieRow)
    return {(row.section, relation): row.ties for row in rows for relation in row.relations}


@cache
def read_learners() -> dict[str, LearnerRow]:
    """Return the learners of the table by their classes."""
    return {row.learner: row for row in read_rows(__package__, "learners.csv", LearnerRow)}


@cache
def read_sections() -> dict[str, list[RequirementRow]]:
    """Return the rows of every section."""
    sections: dict[str, list[RequirementRow]] = {}
    for row in read_rows(__package__, "necessity.csv", RequirementRow):
        sections.setdefault(row.section, []).append(row)
    return sections


def build_requirements(learner: LearnerRow, model: EstimatorParameters, scaler: str) -> RequirementTable:
    """Return the requirements of a learner with its parameters, behind a scaler or none."""
    requirements: dict[str, Requirement] = {}
    for row in (row for section in learner.sections for row in read_sections()[section]):
        if not all(_is_met(condition, model, scaler) for condition in row.when):
            continue
        if row.requirement == "stop":
            break
        relations = tuple(requirements) if row.relations == ("*",) else row.relations
        if row.requirement == "may fail if necessary":
            relations = tuple(name for name in relations if requirements[name].necessary)
        strictness = _STRICTNESS.get(row.requirement, "class_exact")
        necessary = row.requirement.startswith("must")
        for name in relations:
            requirements[name] = Requirement(necessary, strictness, row.reason, may_ties_decide(row.section, name))
    return requirements


def may_ties_decide(section: str, relation: str) -> bool:
    """Return whether ties.csv leaves a choice open; it does if it does not mention the relation."""
    ties = read_ties()
    return ties.get((section, relation), ties.get((section, "*"), True))


def _is_met(condition: str, model: EstimatorParameters, scaler: str) -> bool:
    name = condition.removeprefix("not ")
    return bool(CONDITIONS[name](model, scaler)) == (name == condition)


def _sums_differences(model: EstimatorParameters, scaler: str) -> bool:
    return model.metric in _METRICS[1:-1] or (model.metric == "minkowski" and model.p in (1, 2))


def _takes_largest_difference(model: EstimatorParameters, scaler: str) -> bool:
    return model.metric == "chebyshev" or (model.metric == "minkowski" and model.p == np.inf)


def _is_exact_solver(model: EstimatorParameters, scaler: str) -> bool:
    exact = model.solver == "newton-cholesky" or (model.solver == "lbfgs" and scaler)
    squared = getattr(model, "penalty", "l2") in ("l2", "deprecated") and not model.l1_ratio
    return bool(exact and squared and model.C <= 100 and not isinstance(model.class_weight, dict))


def _is_near_solver(model: EstimatorParameters, scaler: str) -> bool:
    return bool(
        model.solver in ("lbfgs", "newton-cg", "newton-cholesky")
        and (getattr(model, "penalty", "l2") in ("l2", "deprecated") and not model.l1_ratio)
        and model.C <= 100
        and not isinstance(model.class_weight, dict)
    )


def _splits_to_the_end(model: EstimatorParameters, scaler: str) -> bool:
    return model.class_weight is None and (model.min_samples_split, model.min_samples_leaf) == (2, 1)


def _has_pure_leaves(model: EstimatorParameters, scaler: str) -> bool:
    limits = (model.max_depth, model.max_leaf_nodes, model.monotonic_cst)
    thresholds = (model.min_impurity_decrease, model.min_weight_fraction_leaf, model.ccp_alpha)
    return _splits_to_the_end(model, scaler) and limits == (None, None, None) and not any(thresholds)


def _has_numbers_only(model: EstimatorParameters, scaler: str) -> bool:
    return isinstance(model.categorical_features, str | None) and model.categorical_features in (None, "from_dtype")


# conditions of necessity.csv: functions of the learner's parameters and of the name of the scaler in front of it
CONDITIONS: dict[str, Callable[[EstimatorParameters, str], object]] = {
    "other metric": lambda model, _: (
        model.metric not in _METRICS or model.metric_params or model.weights not in ("uniform", "distance")
    ),
    "one neighbour": lambda model, _: model.n_neighbors == 1,
    "uniform votes": lambda model, _: model.weights == "uniform",
    # of two weighted neighbours the nearer one decides alone
    "two weighted neighbours": lambda model, _: model.weights != "uniform" and model.n_neighbors == 2,
    "largest difference": _takes_largest_difference,
    "summed distance": _sums_differences,
    "shrunken or weighted centres": lambda model, _: (
        model.shrink_threshold is not None or not (isinstance(model.priors, str) and model.priors == "uniform")
    ),
    "fixed priors": lambda model, _: model.priors is not None,
    "no smoothing": lambda model, _: model.var_smoothing < 1e-12,
    "strong smoothing": lambda model, _: model.var_smoothing > STRONG_VAR_SMOOTHING,
    "exact solver": _is_exact_solver,
    "near solver": _is_near_solver,
    "behind a scaler": lambda _, scaler: scaler,  # which turns a constant into zeros, whose coefficient stays zero
    "standardised": lambda _, scaler: scaler == "StandardScaler",
    "class weights": lambda model, _: model.class_weight is not None,
    "other kernel": lambda model, _: model.kernel not in ("linear", "rbf"),
    # gamma is divided by the variance of all values
    "scaled gamma": lambda model, _: model.kernel == "rbf" and model.gamma == "scale",
    "fixed gamma": lambda model, _: model.kernel == "linear" or not isinstance(model.gamma, str),
    "split to the end": _splits_to_the_end,
    "pure leaves": _has_pure_leaves,
    "gini": lambda model, _: model.criterion == "gini",
    "bootstrap": lambda model, _: model.bootstrap,
    "solved in the primal": lambda model, _: (
        model.dual is False
        and (model.penalty, model.loss) == ("l2", "squared_hinge")
        and not isinstance(model.class_weight, dict)
    ),
    "regression split to the end": lambda model, _: (
        (model.min_samples_split, model.min_samples_leaf, model.max_leaf_nodes) == (2, 1, None)
    ),
    "missing outside": lambda model, _: model.out_of_bounds == "nan",
    "other ridge solver": lambda model, _: model.solver not in ("auto", "cholesky", "svd") or model.positive,
    "several threads": lambda model, _: model.n_jobs not in (None, 1),
    "own start": lambda model, _: model.init not in (None, "zero"),
    "numbers only": _has_numbers_only,
    "columns alike": lambda model, scaler: (
        _has_numbers_only(model, scaler)
        and (model.max_features, model.monotonic_cst, model.interaction_cst) == (1.0, None, None)
    ),
    "given centres": lambda model, _: not isinstance(model.init, str),  # they do not move with the rows
    "other linkage": lambda model, _: model.connectivity is not None or model.metric not in _METRICS[1:-1],
    "threshold": lambda model, _: model.distance_threshold is not None,
    "ward threshold": lambda model, _: model.linkage == "ward" and model.distance_threshold is not None,
    "other distance": lambda model, _: model.metric not in _METRICS[:-1] or model.metric_params,
    "other hierarchy": lambda model, _: model.metric not in ("euclidean", "manhattan") or model.metric_params,
    "merged by distance": lambda model, _: model.cluster_selection_epsilon,
    "given start": lambda model, _: any(getattr(model, name, None) is not None for name in _START_PARAMETERS),
    "random start": lambda model, _: model.init_params not in ("kmeans", "k-means++"),
    "given priors": lambda model, _: any(getattr(model, name, None) is not None for name in _PRIOR_PARAMETERS),
    "estimated bandwidth": lambda model, _: model.bandwidth is None and not model.bin_seeding,
    "kernel affinity": lambda model, _: model.affinity == "rbf",
}
