"""Statistics of a test set: counts as Morphy prints them, distances, correctness and the failed cases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import pluralise
from .._validation import check_types, reject, validate_integer
from ..core.result import Result
from ..reporting.junit import JUnitCase
from ..space.neighbours import find_nearest
from ..space.outputs import Status
from .case_ancestry import CaseAncestry
from .case_columns import NO_ORIGIN, CaseKind, Correctness
from .cases import TestSet, Verdict
from .stock import nearest_distance
from .system import TestSystem

#: the columns of the statistics that Morphy's test systems save
MORPHY_COLUMNS = ("#Runs", "#Test Cases", "#Original TC", "#Mutants", "Runs/Mutant")
MAX_LISTED_FAILURES = 100
MAX_CASES_FOR_ALL_DISTANCES = 10_000  # the time grows with the square
MAX_CASES_FOR_TREE_DISTANCES = 100_000  # where all features are continuous


@dataclass(frozen=True, kw_only=True)
class MorphismCounts:
    """How many cases a seed maker or datamorphism made, by correctness."""

    morphism: str
    cases: int
    correct: int
    incorrect: int
    not_judged: int


@dataclass(frozen=True, kw_only=True)
class MetamorphismCounts:
    """How often a metamorphism held."""

    metamorphism: str
    message: str  # what it demands, as declared
    holds: int
    violated: int
    undefined: int
    inapplicable: int


@dataclass(frozen=True, kw_only=True)
class FailedCase:
    """An incorrect case with its lineage."""

    id: int
    input: Mapping[str, Any]
    output: Any
    chain: Sequence[str]  # the morphisms that made it, the seed maker first, along the first origins
    lineage: Sequence[int]  # the ids of all ancestors, the nearest first
    metamorphisms: Sequence[str]  # those that it violates, if known


@dataclass(frozen=True, kw_only=True)
class CaseStatistics(Result):
    """Counts of a test set, and its incorrect cases."""

    name: str
    runs: int
    originals: int
    mutants: int
    correct: int
    incorrect: int
    not_judged: int
    mean_distance: float  # to the nearest case, in the units of the features; NaN if it was not measured
    distance_deviation: float
    labels: Mapping[str, int]
    morphisms: Sequence[MorphismCounts]
    metamorphisms: Sequence[MetamorphismCounts]
    failures: Sequence[FailedCase]  # the first `MAX_LISTED_FAILURES`
    notes: Sequence[str] = ()

    _PAGE: ClassVar[str] = "morphisms.statistics_page:build_page"

    @property
    def test_cases_count(self) -> int:
        """The number of cases."""
        return self.originals + self.mutants

    @property
    def runs_per_mutant(self) -> float:
        """The cost of a mutant: infinite without mutants."""
        return self.runs / self.mutants if self.mutants else math.inf

    def morphy_values(self) -> list[int | float]:
        """Return the values of `MORPHY_COLUMNS`."""
        return [self.runs, self.test_cases_count, self.originals, self.mutants, self.runs_per_mutant]

    def document(self) -> dict[str, Any]:
        """Return the statistics as a JSON-serialisable dict."""
        return self._collect(
            *(
                "name",
                "runs",
                "originals",
                "mutants",
                "runs_per_mutant",
                "mean_distance",
                "distance_deviation",
                "correct",
            ),
            *("incorrect", "not_judged", "labels", "morphisms", "metamorphisms", "failures", "notes"),
            test_cases=self.test_cases_count,
        )

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return one test case per metamorphism if they are known, else one per morphism that made cases."""
        if self.metamorphisms:
            return [_to_metamorphism_case(counts) for counts in self.metamorphisms]
        return [_to_morphism_case(counts) for counts in self.morphisms]

    def _export_name(self) -> str:
        return f"test set {self.name}"

    def _export_properties(self) -> Mapping[str, str]:
        return {"runs": str(self.runs), "test cases": str(self.test_cases_count), "mutants": str(self.mutants)}

    def __str__(self) -> str:
        return self.describe()


@check_types
def compute_statistics(
    tests: TestSet,
    runs: int | None = None,
    *,
    system: TestSystem | None = None,
    verdicts: Mapping[str, npt.NDArray[Any]] | None = None,
    name: str = "test set",
    distances: bool | None = None,
) -> CaseStatistics:
    """Return the statistics of a test set.

    Parameters
    ----------
    tests : TestSet
        The cases. Their correctness is taken as it is; `TestSystem.judge` finds it.
    runs : int, optional
        How often the system under test was executed; by default the number of cases that have an output.
    system, verdicts : optional
        The test system whose metamorphisms are counted, and what its method `check` returned, if that is known already.
    name : str
        The name of the test set, for the report.
    distances : bool, optional
        Whether to measure distances between cases; by default unless the set is too large.

    Examples
    --------
    >>> import datamorphic as dm
    >>> system = dm.subjects["Box 1"]
    >>> seeds = system.make_seeds(n=10)
    >>> tests = dm.TestSet.concat([seeds, system.mutate("upward", seeds)])
    >>> compute_statistics(tests, runs=40).morphy_values()
    [40, 20, 10, 10, 4.0]
    """
    if runs is None:
        runs = 0 if tests.outputs is None else int((tests.outputs.status != Status.MISSING).sum())
    runs = validate_integer("runs", "compute_statistics", runs, 0)
    if verdicts is None:
        verdicts = {} if system is None or tests.outputs is None else system.check(tests)
    notes = []
    limit = MAX_CASES_FOR_TREE_DISTANCES if tests.space.smooth else MAX_CASES_FOR_ALL_DISTANCES
    if distances is None:
        distances = len(tests) <= limit
        if not distances:
            notes.append(f"Distances are not measured above {pluralise(limit, 'case')}.")
    nearest = nearest_distance(tests, scaled=False) if distances and len(tests) > 1 else np.full(1, math.nan)
    mutants = int((tests.kinds == CaseKind.MUTANT).sum())
    correctness = np.bincount(tests.correctness, minlength=len(Correctness)).tolist()
    failures = np.flatnonzero(tests.correctness == Correctness.INCORRECT)
    if len(failures) > MAX_LISTED_FAILURES:
        notes.append(f"The first {MAX_LISTED_FAILURES} of {pluralise(len(failures), 'incorrect case')} are listed.")
    return CaseStatistics(
        name=name,
        runs=runs,
        originals=len(tests) - mutants,
        mutants=mutants,
        correct=correctness[Correctness.CORRECT],
        incorrect=correctness[Correctness.INCORRECT],
        not_judged=correctness[Correctness.NOT_JUDGED],
        mean_distance=float(nearest.mean()),
        distance_deviation=float(nearest.std()),
        labels={} if tests.outputs is None else {str(k): int(n) for k, n in tests.count_by("label").items()},
        morphisms=_count_morphisms(tests),
        metamorphisms=[_count_verdicts(name, column, system) for name, column in verdicts.items()],
        failures=_describe_failures(tests, failures[:MAX_LISTED_FAILURES], verdicts),
        notes=notes,
    )


def measure_distances(tests: TestSet, *, scaled: bool = False) -> pd.DataFrame:
    """Return the nearest other case of each case: ``id``, ``nearest`` and ``distance``."""
    codes = tests.inputs.codes
    distances, rows = find_nearest(tests.space, codes, codes, 2, scaled=scaled)
    is_self = rows[:, 0] == np.arange(len(tests))  # of equal cases, another one may come first
    nearest = np.where(is_self, rows[:, 1], rows[:, 0]) if len(tests) > 1 else np.full(len(tests), -1)
    ids = np.where(nearest < 0, NO_ORIGIN, tests.ids[nearest]) if len(tests) else tests.ids
    return pd.DataFrame({"id": tests.ids, "nearest": ids, "distance": distances[:, 1]})


def list_failures(tests: TestSet) -> pd.DataFrame:
    """Return the incorrect cases: ``id``, ``in.<feature>``, ``output``, ``made_by`` (the chain of morphisms), ``lineage``."""
    failures = tests.filter(tests.correctness == Correctness.INCORRECT)
    ancestry = CaseAncestry(tests)
    frame = failures.input.add_prefix("in.")
    frame.insert(0, "id", failures.ids)
    frame["output"] = None if failures.outputs is None else failures.outputs.to_objects()
    frame["made_by"] = [" > ".join(ancestry.find_chain(case_id)) for case_id in failures.ids.tolist()]
    frame["lineage"] = [" ".join(map(str, ancestry.find_ancestors(case_id))) for case_id in failures.ids.tolist()]
    return frame


def _count_morphisms(tests: TestSet) -> list[MorphismCounts]:
    table = np.zeros((len(tests.morphisms), len(Correctness)), dtype=np.int64)
    np.add.at(table, (tests.made_by, tests.correctness), 1)
    return [
        MorphismCounts(
            morphism=name,
            cases=int(counts.sum()),
            correct=int(counts[Correctness.CORRECT]),
            incorrect=int(counts[Correctness.INCORRECT]),
            not_judged=int(counts[Correctness.NOT_JUDGED]),
        )
        for name, counts in zip(tests.morphisms, table, strict=True)
        if counts.any()
    ]


def _count_verdicts(name: str, verdicts: npt.NDArray[Any], system: TestSystem | None) -> MetamorphismCounts:
    if not isinstance(verdicts, np.ndarray):
        reject("verdicts", "compute_statistics", "a dict of arrays with one verdict per case", verdicts)
    counts = {verdict: int((verdicts == verdict).sum()) for verdict in Verdict}
    message = "" if system is None else str(system.metamorphisms[name].mark.message or "")
    return MetamorphismCounts(
        metamorphism=name,
        message=message,
        holds=counts[Verdict.HOLDS],
        violated=counts[Verdict.VIOLATED],
        undefined=counts[Verdict.UNDEFINED],
        inapplicable=counts[Verdict.INAPPLICABLE],
    )


def _describe_failures(
    tests: TestSet, rows: npt.NDArray[np.intp], verdicts: Mapping[str, npt.NDArray[Any]]
) -> list[FailedCase]:
    failures, ancestry = tests.take(rows), CaseAncestry(tests)
    inputs = failures.input.astype(object).to_dict("records")
    outputs = [None] * len(failures) if failures.outputs is None else failures.outputs.to_objects().tolist()
    return [
        FailedCase(
            id=int(tests.ids[row]),
            input={str(name): value for name, value in values.items()},
            output=output,
            chain=ancestry.find_chain(int(tests.ids[row])),
            lineage=ancestry.find_ancestors(int(tests.ids[row])),
            metamorphisms=[name for name, column in verdicts.items() if column[row] == Verdict.VIOLATED],
        )
        for row, values, output in zip(rows.tolist(), inputs, outputs, strict=True)
    ]


def _to_metamorphism_case(counts: MetamorphismCounts) -> JUnitCase:
    name = counts.metamorphism
    if counts.violated:
        message = f"violated by {pluralise(counts.violated, 'case')}, holds for {counts.holds:,}"
        return JUnitCase(name=name, outcome="failed", kind="violation", message=message, detail=counts.message)
    if not counts.holds:
        return JUnitCase(name=name, outcome="skipped", message="It applies to no case with an output.")
    return JUnitCase(name=name, output=f"holds for {pluralise(counts.holds, 'case')}")


def _to_morphism_case(counts: MorphismCounts) -> JUnitCase:
    name = f"cases of {counts.morphism}"
    if counts.incorrect:
        message = f"{counts.incorrect:,} of {pluralise(counts.cases, 'case')} incorrect"
        return JUnitCase(name=name, outcome="failed", kind="incorrect", message=message)
    if not counts.correct:
        return JUnitCase(name=name, outcome="skipped", message="No case is judged.")
    return JUnitCase(name=name, output=f"{pluralise(counts.correct, 'case')} correct")
