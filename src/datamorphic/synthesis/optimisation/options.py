"""The options of `optimise`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from ..._typing import ModelLike
from ..._validation import is_number, reject, validate_integer, validate_timeout
from ...errors import ArgumentError
from ...morphisms.cases import TestSet
from ...runs.flow import Budget
from .strategies import FilterStrategy, find_strategy

#: the name of a metric, or a function of a test set
MetricLike: TypeAlias = str | Callable[[TestSet], float]


@dataclass(frozen=True, kw_only=True)
class OptimiseOptions:
    """The options of `dm.optimise`, validated; see there for their meaning."""

    OWNER: ClassVar[str] = "optimise"

    strategy: str = "GAOptimizeFilter"
    metric: MetricLike | Sequence[MetricLike] = "mean_nearest_distance"
    steps: int = 50
    mutant_ratio: float = 0.5
    remove_ratio: float | None = None
    change_rate: float = 0.001
    patience: int = 10
    datamorphisms: Sequence[str] | str | None = None
    filters: Sequence[str] | str | None = None
    tree: ModelLike | None = None
    tolerance: float | None = None
    timeout: float | None = None
    batch: int | None = None
    budget: Budget | str | float | None = None

    def __post_init__(self) -> None:
        strategy = find_strategy(self.strategy)
        object.__setattr__(self, "strategy", strategy.name)
        object.__setattr__(self, "metric", self._read_metrics())
        validate_integer("steps", self.OWNER, self.steps, low=1)
        validate_integer("patience", self.OWNER, self.patience, low=1)
        _validate_share("mutant_ratio", self.mutant_ratio, highest=None)
        if self.remove_ratio is not None:
            _validate_share("remove_ratio", self.remove_ratio, highest=1.0)
        if not is_number(self.change_rate) or not 0 <= self.change_rate < 1:
            reject("change_rate", self.OWNER, "a share from 0 to below 1", self.change_rate)
        for name in ("datamorphisms", "filters"):
            value = getattr(self, name)
            names = [value] if isinstance(value, str) else None if value is None else list(value)
            if not all(isinstance(item, str) for item in names or ()):
                reject(name, self.OWNER, "a list of names", value)
            object.__setattr__(self, name, names)
        if self.filters and strategy is not FilterStrategy:
            raise ArgumentError(
                f"Filters are applied by GAOptimizeFilter, not by {strategy.name}. Leave filters out, or use that strategy."
            )
        if self.timeout is not None:
            validate_timeout("timeout", self.OWNER, self.timeout)
        if self.batch is not None:
            validate_integer("batch", self.OWNER, self.batch, 1)
        object.__setattr__(self, "budget", Budget.parse(self.budget))

    def _read_metrics(self) -> list[MetricLike]:
        given: Any = self.metric
        metrics = [given] if isinstance(given, str) or callable(given) else given
        expected = "the name of a metric, a function of a test set, or a list of them"
        if not isinstance(metrics, Sequence) or not metrics:
            reject("metric", self.OWNER, expected, given)
        for metric in metrics:
            if not isinstance(metric, str) and not callable(metric):
                reject("metric", self.OWNER, expected, metric)
        return list(metrics)

    @property
    def metrics(self) -> Sequence[MetricLike]:
        """The metrics as a list."""
        return list(self.metric)  # type: ignore[arg-type]  # a list since `__post_init__`

    @property
    def limits(self) -> Budget:
        """The budget, parsed."""
        return Budget.parse(self.budget)

    def to_settings(self) -> dict[str, Any]:
        """Return the options that a result lists in its settings."""
        return {
            "steps": self.steps,
            "mutant_ratio": self.mutant_ratio,
            "remove_ratio": self.remove_ratio,
            "change_rate": self.change_rate,
            "patience": self.patience,
            "datamorphisms": self.datamorphisms,
            "filters": self.filters,
        }

    def to_request(self, metric_names: Sequence[str], case_count: int) -> dict[str, Any]:
        """Return what a run store keeps of the request, to compare with when the run is resumed."""
        limits = {name: limit for name, limit in vars(self.limits).items() if limit is not None}
        return {
            "strategy": self.strategy,
            "metrics": list(metric_names),
            **self.to_settings(),
            "tolerance": self.tolerance,
            "timeout": self.timeout,
            "batch": self.batch,
            "budget": limits or None,
            "cases": case_count,
        }


def _validate_share(name: str, value: object, highest: float | None) -> None:
    expected = "a number above 0" if highest is None else f"a share above 0, at most {highest:g}"
    if not is_number(value) or not 0 < value <= (10.0 if highest is None else highest):
        reject(name, OptimiseOptions.OWNER, expected if highest is not None else f"{expected}, at most 10", value)
