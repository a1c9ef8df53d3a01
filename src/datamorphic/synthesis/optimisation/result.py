"""`Optimisation`: what an optimisation of a test set found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..._lazy import pd
from ..._text import format_short
from ..._validation import check_types, validate_choice
from ...core.result import FileWriter, Result, make_writer
from ...morphisms.cases import TestSet
from ...reporting.junit import JUnitCase
from ...runs.driver import CallCounter
from ..stored_tests import TESTS_FILE
from .metrics import FitnessMetric, Numbers
from .search import CycleRecord, StopReason


@dataclass(frozen=True, eq=False, kw_only=True)
class Optimisation(Result):
    """The result of `dm.optimise`.

    Attributes
    ----------
    system, strategy : str
        The name of the test system, and the published name of the strategy.
    tests : TestSet
        The best set. It has as many cases as the first one, unless declared filters left fewer; then `notes` say so.
    metrics : tuple of str
        The names of the metrics.
    sets : tuple of TestSet
        For several metrics, all sets that were kept: none of them is at least as good as another in every metric.
    stopped : {"converged", "steps", "budget", "interrupted"}
        Why the search ended.
    settings : dict
        The options, and the seed.
    notes : list of str
        Remarks for readers.
    tally : CallCounter
        What the executions cost.
    """

    _SUMMARY = ("strategy", "cases", "start", "fitness", "cycles", "stopped", "executions")
    _PAGE: ClassVar[str] = "synthesis.optimisation.page:build_page"

    system: str
    strategy: str
    tests: TestSet
    metrics: tuple[str, ...]
    sets: tuple[TestSet, ...]
    set_fitness: Numbers = field(repr=False)  # one row per set, one column per metric
    best: int  # the number of `tests` among the sets
    start: TestSet = field(repr=False)  # the set to start from, as it was given
    start_values: Numbers = field(repr=False)
    cycles: tuple[CycleRecord, ...] = field(repr=False)
    pool_parts: tuple[TestSet, ...] = field(repr=False)
    stopped: StopReason
    settings: Mapping[str, Any]
    notes: Sequence[str] = ()
    tally: CallCounter = field(default_factory=CallCounter, repr=False)
    measures: Sequence[FitnessMetric] = field(default=(), repr=False)

    def __repr__(self) -> str:
        values = ", ".join(
            f"{name} from {format_short(self.start_fitness[name])} to {format_short(value)}"
            for name, value in self.fitness.items()
        )
        return f"Optimisation({self.strategy}, {len(self.tests):,} cases, {values})"

    # -- figures -----------------------------------------------------------------------------------------------------

    @property
    def fitness(self) -> dict[str, float]:
        """The value of each metric for `tests`."""
        return dict(zip(self.metrics, self.set_fitness[self.best].tolist(), strict=True))

    @property
    def start_fitness(self) -> dict[str, float]:
        """The value of each metric for the set to start from, as the filters left it."""
        return dict(zip(self.metrics, self.start_values.tolist(), strict=True))

    @property
    def gain(self) -> dict[str, float]:
        """The growth of each metric as a share of its first value; infinite if that was 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            growth = self.set_fitness[self.best] - self.start_values
            shares = np.where(growth == 0, 0.0, growth / np.abs(self.start_values))
        return dict(zip(self.metrics, shares.tolist(), strict=True))

    @property
    def executions(self) -> int:
        """The number of cases that were executed; 0 if no metric looks at outputs."""
        return self.cycles[-1].executions

    @property
    def calls(self) -> int:
        """The rows that the system computed for the executions."""
        return self.tally.calls

    @property
    def seconds(self) -> float:
        """The duration of the search."""
        return self.tally.seconds

    @property
    def interrupted(self) -> bool:
        """Whether the user ended the search. The best sets so far are kept."""
        return self.stopped == "interrupted"

    @property
    def new_case_count(self) -> int:
        """The number of cases of `tests` that were not in the set to start from."""
        return int((~np.isin(self.tests.ids, self.start.ids)).sum())

    @cached_property
    def history(self) -> pd.DataFrame:
        """A frame with a row per cycle: ``cycle``, ``size``, the best value of each metric so far, ``executions``.

        Also ``improved``, whether the cycle found a set that is better in some metric, and ``sets``, how many are kept.
        Cycle 0 is the set to start from.
        """
        rows = [
            {
                "cycle": cycle.cycle,
                "size": cycle.size,
                **dict(zip(self.metrics, cycle.fitness.tolist(), strict=True)),
                "executions": cycle.executions,
                "improved": cycle.improved,
                "sets": cycle.sets,
            }
            for cycle in self.cycles
        ]
        return pd.DataFrame(rows)

    @cached_property
    def trade_offs(self) -> pd.DataFrame:
        """A frame with the metrics of every set that was kept, in the order of `sets`, and which one is `tests`."""
        frame = pd.DataFrame(self.set_fitness, columns=list(self.metrics))
        return frame.assign(chosen=np.arange(len(frame)) == self.best)

    @cached_property
    def pool(self) -> TestSet:
        """All cases that were given or made, so that the origins of every case can be traced: ``pool.lineage(id)``."""
        return TestSet.concat(self.pool_parts)

    @check_types
    def measure(self, tests: TestSet) -> dict[str, float]:
        """Return the metrics of another test set of the same space, for comparison."""
        return {metric.name: metric.measure(tests) for metric in self.measures}

    def describe_metric(self, name: str) -> str:
        """Return the first and the last value of a metric as text, and its growth unless it began at 0."""
        validate_choice("name", "Optimisation.describe_metric", name, self.fitness)
        values = f"{name} from {self.start_fitness[name]:.4g} to {self.fitness[name]:.4g}"
        gain = self.gain[name]
        if not math.isfinite(gain):
            return values
        return f"{values} ({'unchanged' if gain == 0 else f'{gain:+.1%}'})"

    # -- exports -----------------------------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """Return the result as a JSON-serialisable dict."""
        return self._collect(
            *("system", "strategy", "metrics", "fitness", "gain", "stopped", "executions", "calls", "seconds"),
            *("settings", "history", "notes"),
            cases=len(self.tests),
            start_cases=len(self.start),
            new_cases=self.new_case_count,
            start=self.start_fitness,
            cycles=self.cycles[-1].cycle,
            sets=self.trade_offs,
        )

    @property
    def headline(self) -> str:
        """The growth of every metric in one line."""
        return "; ".join(map(self.describe_metric, self.metrics))

    def stored_verdicts(self) -> list[dict[str, Any]]:
        """Return nothing: no case of an optimisation can fail."""
        return []

    def stored_files(self) -> dict[str, FileWriter]:
        """Return the best test set as a file."""
        return {TESTS_FILE: make_writer(self.tests.to_parquet, len(self.tests))}

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return one test case per metric, which passes; its output says how much was gained."""
        return [JUnitCase(name=f"optimise {name}", output=self.describe_metric(name)) for name in self.metrics]

    def _export_name(self) -> str:
        return f"optimisation of {self.system}"

    def _export_properties(self) -> Mapping[str, str]:
        return {"strategy": self.strategy, **{name: str(value) for name, value in self.settings.items()}}
