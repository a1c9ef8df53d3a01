"""Metrics by name: those that a test system declares, and the stock ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..._text import suggest_name
from ..._typing import CodeLike, ModelLike
from ...errors import ArgumentError
from ...morphisms.code_coverage import make_recorder
from ...morphisms.morphism import normalise_name
from ...morphisms.system import TestSystem
from ...systems.code_recorder import CODE_METRICS, CodeRecorder
from .code_coverage import CodeCoverage
from .coverage_metrics import BorderCoverage, LeafCoverage, TreeMutationScore, find_forest
from .diversity import MeanNearestDistance
from .metrics import DeclaredMetric, FitnessMetric, FunctionMetric, LabelBalance, MetricLike
from .subject import OptimisationSubject

ALIASES = {"diversity": "mean_nearest_distance", "codecoverage": "line_coverage"}


def build_metrics(
    chosen_metrics: Sequence[MetricLike],
    subject: OptimisationSubject,
    *,
    tree: ModelLike | None,
    tolerance: float | None,
    code: CodeLike | None,
) -> list[FitnessMetric]:
    """Return the metrics that are named, or given as functions."""
    system, sut = subject.system, subject.sut
    labels = None if sut is None or sut.labels is None else tuple(sut.labels)
    recorders: list[CodeRecorder] = []  # one at most, since all metrics of code share it

    def build_code_coverage(name: str) -> CodeCoverage:
        recorders[:] = recorders or [make_recorder(name, sut, system.name, code)]
        return CodeCoverage(name, recorders[0])

    stock: dict[str, Callable[[], FitnessMetric]] = {
        "mean_nearest_distance": MeanNearestDistance,
        "border_coverage": lambda: BorderCoverage(labels, numeric=subject.has_numeric_answers),
        "leaf_coverage": lambda: LeafCoverage(find_forest(tree, sut, "leaf_coverage")),
        "mutation_score": lambda: TreeMutationScore(find_forest(tree, sut, "mutation_score"), tolerance),
        "label_balance": lambda: LabelBalance(labels),
        **{name: partial(build_code_coverage, name) for name in CODE_METRICS},
    }
    metrics = [_build_metric(metric, stock, system, sut is not None) for metric in chosen_metrics]
    names = [metric.name for metric in metrics]
    for metric in metrics:
        if names.count(metric.name) > 1:
            raise ArgumentError(f"The metric {metric.name!r} is given more than once. Name it once.")
        if metric.needs_outputs and sut is None:
            raise ArgumentError(
                f"{metric.name} looks at the answers of a system, but {system.name} has none. Mark the function that "
                "queries it with @executor."
            )
    return metrics


def _build_metric(
    metric: MetricLike, stock: dict[str, Callable[[], FitnessMetric]], system: TestSystem, executable: bool
) -> FitnessMetric:
    if not isinstance(metric, str):
        return FunctionMetric(metric, executable=executable)
    key = normalise_name(ALIASES.get(normalise_name(metric), metric))
    if any(normalise_name(name) == key for name in system.set_metrics):
        return DeclaredMetric(system.find("set_metric", metric), executable=executable)
    for name, build in stock.items():
        if normalise_name(name) == key:
            return build()
    known = [*system.set_metrics, *stock]
    raise ArgumentError(f"There is no metric {metric!r}. {suggest_name(metric, known)}")
