"""What was measured of one model: its power to rank borrowers, and its violations per relation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...core.result import Measure, ResultPart, to_plain
from .judging import MAX_WORST_CASES, WRONGNESS_EDGES, RelationTally, WorstCase
from .ladder import Rung
from .measures import Floats, Measurement, average_measurements, average_shares, to_gini
from .roc import RocCurve, average_roc


@dataclass(frozen=True, kw_only=True)
class RepetitionResult:
    """What was measured of one model in one repetition, on one test set."""

    repetition: int
    tallies: tuple[RelationTally, ...]
    scores: Floats = field(repr=False)  # of the applicants as they are; to compare models
    auc: Measurement | None = None
    ks: Measurement | None = None
    roc: RocCurve | None = field(default=None, repr=False)
    default_rate: float | None = None  # among approved loans
    coefficients: Mapping[str, float] = field(default_factory=dict)

    @property
    def violations(self) -> int:
        """The number of violations of all relations."""
        return sum(tally.violations for tally in self.tallies)


@dataclass(frozen=True, kw_only=True)
class ViolationShare(ResultPart):
    """How often a model breaks a relation, over all repetitions."""

    strong: Measure
    weak: Measure
    cases: int
    clipped: int
    inapplicable: int
    undefined: int


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelResult:
    """One model over all its repetitions."""

    rung: Rung
    repetitions: tuple[RepetitionResult, ...]
    test_to_training: float = 1 / 3  # sizes of test and training set, for the interval over repetitions

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.rung.name

    # -- ranking -----------------------------------------------------------------------------------------------------

    @cached_property
    def auc(self) -> Measure | None:
        """The mean AUC with its interval; None without known outcomes."""
        return self._average([repetition.auc for repetition in self.repetitions])

    @cached_property
    def ks(self) -> Measure | None:
        """The mean Kolmogorov-Smirnov statistic with its interval."""
        return self._average([repetition.ks for repetition in self.repetitions])

    @cached_property
    def roc(self) -> RocCurve | None:
        """The mean ROC curve, whose area is the AUC up to thinning; None without known outcomes."""
        curves = [repetition.roc for repetition in self.repetitions if repetition.roc is not None]
        return average_roc(curves) if curves else None

    @property
    def gini(self) -> Measure | None:
        """The mean Gini coefficient with its interval."""
        return None if self.auc is None else to_gini(self.auc)

    @property
    def default_rate(self) -> float | None:
        """The mean share of defaults among approved loans."""
        rates = [repetition.default_rate for repetition in self.repetitions if repetition.default_rate is not None]
        return float(np.mean(rates)) if rates else None

    @property
    def auc_deviation(self) -> float | None:
        """The standard deviation of the AUC between repetitions."""
        values = [repetition.auc.value for repetition in self.repetitions if repetition.auc is not None]
        return float(np.std(values, ddof=1)) if len(values) > 1 else None

    def _average(self, measurements: Sequence[Measurement | None]) -> Measure | None:
        known = [measurement for measurement in measurements if measurement is not None]
        if not known:
            return None
        mean = average_measurements(known, self.test_to_training)
        return Measure(mean.value, max(0.0, mean.low), min(1.0, mean.high))

    # -- violations --------------------------------------------------------------------------------------------------

    @cached_property
    def shares(self) -> dict[str, ViolationShare]:
        """The shares of strong and weak violations by relation."""
        shares = {}
        for tallies in zip(*(repetition.tallies for repetition in self.repetitions), strict=True):
            cases = [tally.cases for tally in tallies]
            shares[tallies[0].relation] = ViolationShare(
                strong=average_shares([tally.strong for tally in tallies], cases),
                weak=average_shares([tally.weak for tally in tallies], cases),
                cases=sum(cases),
                clipped=sum(tally.clipped for tally in tallies),
                inapplicable=sum(tally.inapplicable for tally in tallies),
                undefined=sum(tally.undefined for tally in tallies),
            )
        return shares

    @cached_property
    def strong_share(self) -> Measure:
        """The share of strong violations over all relations together."""
        return self._pool("strong")

    @cached_property
    def weak_share(self) -> Measure:
        """The share of weak violations over all relations together."""
        return self._pool("weak")

    @property
    def worst_share(self) -> Measure:
        """The share of strong violations of the relation that the model breaks most often."""
        shares = [share.strong for share in self.shares.values() if share.cases]
        return max(shares, key=lambda share: share.value, default=Measure(0.0, 0.0, 1.0))

    def _pool(self, kind: str) -> Measure:
        counts = [sum(getattr(tally, kind) for tally in repetition.tallies) for repetition in self.repetitions]
        cases = [sum(tally.cases for tally in repetition.tallies) for repetition in self.repetitions]
        return average_shares(counts, cases)

    @property
    def violation_free(self) -> tuple[int, int]:
        """In how many repetitions no relation was broken, strongly or weakly, and the number of repetitions."""
        return sum(not repetition.violations for repetition in self.repetitions), len(self.repetitions)

    @cached_property
    def histogram(self) -> dict[str, tuple[int, ...]]:
        """The number of violations by relation and size; see `WRONGNESS_EDGES`."""
        totals = {}
        for tallies in zip(*(repetition.tallies for repetition in self.repetitions), strict=True):
            totals[tallies[0].relation] = tuple(map(sum, zip(*(tally.histogram for tally in tallies), strict=True)))
        return totals

    @cached_property
    def worst_cases(self) -> dict[str, list[WorstCase]]:
        """The worst violations by relation, over all repetitions, worst first."""
        cases: dict[str, list[WorstCase]] = {}
        for repetition in self.repetitions:
            for tally in repetition.tallies:
                cases.setdefault(tally.relation, []).extend(tally.worst_cases)
        return {
            name: sorted(own_cases, key=lambda case: -case.wrongness)[:MAX_WORST_CASES]
            for name, own_cases in cases.items()
        }

    def count_wrong_signs(self, directions: Mapping[str, int]) -> dict[str, int]:
        """Return in how many repetitions a linear model had the wrong sign, by column.

        Empty for models without coefficients.
        """
        return {
            column: sum(
                repetition.coefficients[column] * direction < 0
                for repetition in self.repetitions
                if column in repetition.coefficients
            )
            for column, direction in directions.items()
            if any(column in repetition.coefficients for repetition in self.repetitions)
        }

    def document(self) -> dict[str, Any]:
        """Return the figures as a JSON-serialisable dict."""
        free, total = self.violation_free
        document = {
            "model": self.name,
            "family": self.rung.family,
            "size": self.rung.size,
            "constrained": self.rung.constrained,
            "repetitions": total,
            "auc": self.auc,
            "auc_deviation": self.auc_deviation,
            "gini": self.gini,
            "ks": self.ks,
            "roc": self.roc,
            "default_rate": self.default_rate,
            "strong": self.strong_share,
            "weak": self.weak_share,
            "violation_free_repetitions": free,
            "relations": self.shares,
            "histogram": {
                "edges": list(WRONGNESS_EDGES),
                **{name: list(bins) for name, bins in self.histogram.items()},
            },
            "worst_cases": [case for cases in self.worst_cases.values() for case in cases],
        }
        return dict(to_plain(document))
