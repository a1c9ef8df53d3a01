"""The result of ``dm.mutate``: which mutants are killed, which survive, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._deprecation import rename_attribute
from .._lazy import pd
from .._text import format_percent, pluralise
from ..core.result import Measure, Result
from ..reporting.junit import JUnitCase
from ..runs.jobs import JobCrash, JobError, JobOutcome, JobOutOfMemory, JobTimeout
from .child import MutantOutcome, OriginalOutcome
from .cross_validation import CrossValidationRules, is_passing
from .forge import SourceMutant
from .kill_matrix import CRASHED, DIED, KILLED, OUT_OF_MEMORY, SAME_BYTECODE, SURVIVED, TIMED_OUT, UNREACHED, KillMatrix


@dataclass(frozen=True)
class MutantResult:
    """A mutant, its state, and its outcome or an error message."""

    mutant: SourceMutant
    state: str
    outcome: MutantOutcome | None = None
    message: str = ""

    @property
    def different(self) -> bool:
        """Whether its answers differ from those of the original on some input."""
        return self.outcome is not None and self.outcome.different_count > 0

    @property
    def killed_by_rival(self) -> bool | None:
        """Whether cross-validation kills it; None if cross-validation was not tried."""
        if self.outcome is None or not self.outcome.errors:
            return None
        return not all(is_passing(errors) for errors in self.outcome.errors.values())

    def explain_survival(self, compared_inputs: int) -> str:
        """Return why the mutant is not killed; empty if it is."""
        if self.state == KILLED:
            return ""
        if self.state == SAME_BYTECODE:
            twin = self.mutant.same_as
            return f"it compiles to the bytecode of {'the original' if twin == 'original' else twin}"
        if self.state == UNREACHED:
            return "no traced input reaches the changed line"
        if self.state != SURVIVED or self.outcome is None:
            return self.message
        count = self.outcome.different_count
        if not count:
            return f"its answers equal those of the original on all {compared_inputs:,} inputs: it may be equivalent"
        return (
            f"its answers differ on {count:,} of {compared_inputs:,} inputs ({format_percent(count / max(1, compared_inputs))}), but in "
            "the same way before and after each change: it is a different program that satisfies the same relations"
        )


def classify_mutant(mutant: SourceMutant, job: JobOutcome | None, original: OriginalOutcome) -> MutantResult:
    """Return the state of a mutant, given the outcome of its job, if it was run."""
    if mutant.same_as or job is None:
        return MutantResult(mutant, SAME_BYTECODE)
    if isinstance(job, JobTimeout):
        return MutantResult(mutant, TIMED_OUT, message=f"it did not end within {job.seconds:g} s")
    if isinstance(job, JobOutOfMemory):
        return MutantResult(mutant, OUT_OF_MEMORY, message="it needed more memory than allowed")
    if isinstance(job, JobCrash):
        return MutantResult(mutant, DIED, message=f"its process ended with code {job.code}")
    if isinstance(job, JobError):
        return MutantResult(mutant, CRASHED, message=job.message)
    outcome: MutantOutcome = job.value
    if any(outcome.violation_counts.values()):
        return MutantResult(mutant, KILLED, outcome)
    if outcome.undefined_count:
        return MutantResult(mutant, CRASHED, outcome, outcome.message)
    if not outcome.different_count and not mutant.is_reached(original.lines):
        return MutantResult(mutant, UNREACHED, outcome)
    return MutantResult(mutant, SURVIVED, outcome)


@dataclass(frozen=True, eq=False, kw_only=True)
class Mutation(Result):
    """The mutants of a program and their states."""

    _SUMMARY = ("score", "states", "own_violations")
    _PAGE = "mutation.page:build_page"

    program: str
    results: Sequence[MutantResult]  # in the order of the source text
    original: OriginalOutcome  # mutants are not blamed for violations of the program itself
    inputs: int  # on which relations were checked
    compared: int  # inputs on which answers were compared
    rules: CrossValidationRules | None = None  # None: no cross-validation
    seed: int = 0
    seconds: float = 0.0
    notes: Sequence[str] = ()
    unfinished: tuple[str, ...] = ()  # what was not tried, because the budget was spent or the user ended the run
    interrupted: bool = False

    tried = rename_attribute("Mutation.tried", "results")

    @property
    def complete(self) -> bool:
        """Whether all mutants were tried."""
        return not self.unfinished

    @cached_property
    def kills(self) -> KillMatrix:
        """The violation rate of each relation on each mutant."""
        keys = list(self.original.judged_counts)
        rates = np.full((len(keys), len(self.results)), np.nan)
        for column, result in enumerate(self.results):
            for row, key in enumerate(keys):
                if result.outcome is not None and result.outcome.judged_counts.get(key):
                    rates[row, column] = result.outcome.violation_counts[key] / result.outcome.judged_counts[key]
        states = {result.mutant.id: result.state for result in self.results}
        other_states = {mutant: state for mutant, state in states.items() if state not in (KILLED, SURVIVED)}
        several = len(self.original.relations) > 1
        names = [f"{relation} ({learner})" if several else relation for learner, relation in keys]
        return KillMatrix.from_rates(names, states, rates, other_states)

    @property
    def score(self) -> float:
        """The share of killed mutants among those that are killed or survive."""
        return self.kills.score

    @property
    def different(self) -> list[MutantResult]:
        """The counted mutants whose answers differ from those of the original."""
        return [result for result in self.results if result.state in (KILLED, SURVIVED) and result.different]

    @property
    def killed_of_different(self) -> float:
        """The share of `different` mutants that the relations kill."""
        results = self.different
        return sum(result.state == KILLED for result in results) / len(results) if results else float("nan")

    @property
    def rival_of_different(self) -> float:
        """The share of `different` mutants that cross-validation kills."""
        kills = [result.killed_by_rival for result in self.different if result.killed_by_rival is not None]
        return sum(kills) / len(kills) if kills else float("nan")

    @property
    def violations(self) -> int:
        """The number of cases on which the program itself violates a necessary relation."""
        return sum(len(cases) for cases in self.original.violating_cases.values())

    @cached_property
    def mutants(self) -> pd.DataFrame:
        """One row per mutant: the change, its state, and what kills it."""
        names = np.array(self.kills.relations, dtype=object)
        rows = [
            {
                "mutant": result.mutant.id,
                **{key: getattr(result.mutant, key) for key in ("operator", "line", "function", "before", "after")},
                "state": result.state,
                "killed_by": ", ".join(names[killed]),
                "differs": None if result.outcome is None else result.different,
                "cross_validation": {None: "", True: "killed", False: "survived"}[result.killed_by_rival],
                "why": result.explain_survival(self.compared),
            }
            for result, killed in zip(self.results, self.kills.killed.T, strict=True)
        ]
        return pd.DataFrame(rows)

    @property
    def survivors(self) -> pd.DataFrame:
        """The rows of `mutants` that survive."""
        return self.mutants[self.mutants["state"] == SURVIVED].reset_index(drop=True)

    @cached_property
    def relations(self) -> pd.DataFrame:
        """One row per relation: kills, unique kills, mean rate, difference of traces."""
        kills, unique, needed = self.kills.kills, self.kills.unique_kills, set(self.kills.smallest_set())
        rows = []
        for key, name, rates in zip(self.original.judged_counts, self.kills.relations, self.kills.rates, strict=True):
            known_rates = rates[~np.isnan(rates)]
            rows.append(
                {
                    "relation": name,
                    "kills": kills[name],
                    "alone": len(unique[name]),
                    "rate": float(known_rates.mean()) if len(known_rates) else float("nan"),
                    "traces": self.original.traces.get(key, float("nan")),
                    "needed": name in needed,
                    "own_violations": len(self.original.violating_cases[key]),
                }
            )
        return pd.DataFrame(rows)

    @property
    def headline(self) -> str:
        """The score in one line."""
        killed, total = self.kills.count(KILLED), self.kills.count(KILLED) + self.kills.count(SURVIVED)
        measure = Measure.from_counts(killed, total)
        share = f" ({format_percent(self.score)}; {measure.low:.0%} to {measure.high:.0%})" if total else ""
        return f"{killed} of {pluralise(total, 'mutant')} killed{share}"

    def document(self) -> dict[str, Any]:
        """Return the result as a JSON-serialisable dict."""
        return self._collect(
            *("program", "headline", "score", "killed_of_different", "rival_of_different", "relations", "mutants"),
            *("inputs", "compared", "notes", "complete", "unfinished", "interrupted", "seed", "seconds"),
            average_rate=self.kills.average_rate,
            states={state: self.kills.count(state) for state in dict.fromkeys(self.kills.states)},
            smallest_set=self.kills.smallest_set(),
            own_violations=self.violations,
        )

    def stored_verdicts(self) -> list[dict[str, Any]]:
        """Return per relation whether the program itself satisfies it, and how many mutants it kills."""
        return [
            {
                "relation": row["relation"],
                "says": f"{row['relation']} kills {pluralise(row['kills'], 'mutant')}",
                "verdict": "VIOLATED" if row["own_violations"] else "HOLDS",
                "cases": row["own_violations"],
            }
            for row in self.relations.to_dict("records")
        ]

    def test_cases(self) -> list[JUnitCase]:
        """Return one test case per mutant; a survivor fails."""
        return [self._build_test_case(result) for result in self.results]

    def _build_test_case(self, result: MutantResult) -> JUnitCase:
        if result.state == KILLED:
            return JUnitCase(name=str(result.mutant))
        reason = result.explain_survival(self.compared)
        if result.state == SURVIVED:
            return JUnitCase(name=str(result.mutant), outcome="failed", kind=SURVIVED, message=reason)
        message = f"{result.state}: {reason}" if reason else result.state
        return JUnitCase(name=str(result.mutant), outcome="skipped", message=message)

    def _export_name(self) -> str:
        return self.program

    def __repr__(self) -> str:
        return f"Mutation({self.program}: {self.headline})"


def count_by_killer(mutation: Mutation) -> Mapping[tuple[bool, bool], int]:
    """Return the number of different mutants by what kills them."""
    counts = {(a, b): 0 for a in (True, False) for b in (True, False)}
    for result in mutation.different:
        if result.killed_by_rival is not None:
            counts[result.state == KILLED, result.killed_by_rival] += 1
    return counts
