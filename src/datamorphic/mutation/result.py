"""`Mutation`: which mutants of a program the relations kill, which live, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._stats import compute_wilson_interval
from .._text import pluralize, to_jsonable
from ..reporting.text import to_printable
from .cross_validation import CrossValidationRules, is_passing
from .forge import SourceMutant
from .kill_matrix import (
    CRASHED,
    DIED,
    KILLED,
    OUT_OF_MEMORY,
    SAME_BYTECODE,
    SURVIVED,
    TIMED_OUT,
    UNREACHED,
    KillMatrix,
)
from .runner import MutantOutcome, OriginalOutcome

if TYPE_CHECKING:
    import pandas as pd

STATES_BY_OUTCOME = {"timed out": TIMED_OUT, "out of memory": OUT_OF_MEMORY, "died": DIED, "raised": CRASHED}


@dataclass(frozen=True)
class MutantResult:
    """A mutant, its state, and what is known of it: its fate in its process, or what was said when there was none."""

    mutant: SourceMutant
    state: str
    outcome: MutantOutcome | None = None
    message: str = ""

    @property
    def different(self) -> bool:
        """Whether its labels are known to differ from the original's somewhere."""
        return self.outcome is not None and self.outcome.different_count > 0

    @property
    def killed_by_rival(self) -> bool | None:
        """Whether cross-validation notices it; None where that was not tried."""
        if self.outcome is None or not self.outcome.errors:
            return None
        return not all(is_passing(errors) for errors in self.outcome.errors.values())

    def explain_survival(self, compared_inputs: int) -> str:
        """Return why it is not killed; an empty text where it is."""
        if self.state == KILLED:
            return ""
        if self.state == SAME_BYTECODE:
            twin = self.mutant.same_as
            return f"it compiles to the bytecode of {'the original' if twin == 'original' else twin}"
        if self.state == UNREACHED:
            return "no input that was traced reaches the changed line"
        if self.state != SURVIVED or self.outcome is None:
            return self.message
        if not self.outcome.different_count:
            return f"its labels are those of the original on all {compared_inputs:,} inputs: perhaps an equivalent mutant"
        share = self.outcome.different_count / max(1, compared_inputs)
        return (
            f"its labels differ on {self.outcome.different_count:,} of {compared_inputs:,} inputs ({share:.2%}), but alike in source and "
            "follow-up: another learner that keeps the same promises"
        )


def classify_mutant(mutant: SourceMutant, outcome: Any, original: OriginalOutcome) -> MutantResult:
    """Return what became of a mutant, from what its process said."""
    if mutant.same_as:
        return MutantResult(mutant, SAME_BYTECODE)
    if outcome.state != "done":
        return MutantResult(mutant, STATES_BY_OUTCOME[outcome.state], None, _format_outcome(outcome))
    mutant_outcome: MutantOutcome = outcome.value
    if any(mutant_outcome.violation_counts.values()):
        return MutantResult(mutant, KILLED, mutant_outcome)
    if mutant_outcome.undefined_count:
        return MutantResult(mutant, CRASHED, mutant_outcome, mutant_outcome.message)
    if not mutant_outcome.different_count and not mutant.is_reached(set(original.lines)):
        return MutantResult(mutant, UNREACHED, mutant_outcome)
    return MutantResult(mutant, SURVIVED, mutant_outcome)


def _format_outcome(outcome: Any) -> str:
    if outcome.state == "timed out":
        return f"it had no end after {outcome.seconds:g} s"
    if outcome.state == "out of memory":
        return "it wanted more memory than it may have"
    if outcome.state == "died":
        return f"its process ended with code {outcome.code}"
    return str(outcome.message)


@dataclass(frozen=True, eq=False)
class Mutation:
    """What became of the mutants of a program.

    Attributes
    ----------
    program : str
        Its name.
    tried : sequence of Tried
        The mutants, in the order of the text.
    original : Original
        What the program itself does; what it violates is not held against its mutants.
    inputs, compared : int
        How many inputs relations were tried on, and labels compared on.
    rules : Rules, optional
        The simulated data of cross-validation, where it was tried, too.
    seed, seconds
        Where randomness started, and what it cost.
    """

    program: str
    tried: Sequence[MutantResult]
    original: OriginalOutcome
    inputs: int
    compared: int
    rules: CrossValidationRules | None = None
    seed: int = 0
    seconds: float = 0.0
    notes: Sequence[str] = field(default_factory=tuple)

    @cached_property
    def _keys(self) -> list[tuple[str, str]]:
        return list(self.original.judged_counts)

    def _format_relation(self, key: tuple[str, str]) -> str:
        return key[1] if len(self.original.relations) == 1 else f"{key[1]} ({key[0]})"

    @cached_property
    def kills(self) -> KillMatrix:
        """Which relation kills which mutant, with violation rates."""
        rates = np.full((len(self._keys), len(self.tried)), np.nan)
        for column, result in enumerate(self.tried):
            for row, key in enumerate(self._keys):
                if result.outcome is not None and result.outcome.judged_counts.get(key):
                    rates[row, column] = result.outcome.violation_counts[key] / result.outcome.judged_counts[key]
        other_states = {
            result.mutant.id: result.state for result in self.tried if result.state not in (KILLED, SURVIVED)
        }
        names = [self._format_relation(key) for key in self._keys]
        return KillMatrix.from_rates(names, [result.mutant.id for result in self.tried], rates, other_states)

    @property
    def score(self) -> float:
        """The share of mutants that is killed, of those that are killed or survive."""
        return self.kills.score

    @property
    def different(self) -> list[MutantResult]:
        """The mutants whose labels differ from the original's somewhere, and that neither crash nor hang."""
        return [result for result in self.tried if result.state in (KILLED, SURVIVED) and result.different]

    @property
    def killed_of_different(self) -> float:
        """The share of the mutants that differ which the relations kill; NaN if none differs."""
        results = self.different
        return sum(result.state == KILLED for result in results) / len(results) if results else float("nan")

    @property
    def rival_of_different(self) -> float:
        """The share of the mutants that differ which cross-validation notices; NaN if it was not tried."""
        rival_kills = [result.killed_by_rival for result in self.different]
        known_kills = [killed for killed in rival_kills if killed is not None]
        return sum(known_kills) / len(known_kills) if known_kills else float("nan")

    @property
    def violations(self) -> int:
        """How many cases the program itself violates a necessary relation on."""
        return sum(len(cases) for cases in self.original.violating_cases.values())

    @cached_property
    def mutants(self) -> pd.DataFrame:
        """A row a mutant: what was changed, its state, who kills it, and why it lives if it does."""
        import pandas as pd

        rows = []
        killed = self.kills.killed
        for column, result in enumerate(self.tried):
            killers = [name for row, name in enumerate(self.kills.relations) if killed[row, column]]
            rows.append(
                {
                    "mutant": result.mutant.id,
                    "operator": result.mutant.operator,
                    "line": result.mutant.line,
                    "function": result.mutant.function,
                    "before": result.mutant.before,
                    "after": result.mutant.after,
                    "state": result.state,
                    "killed_by": ", ".join(killers),
                    "differs": None if result.outcome is None else result.different,
                    "cross_validation": {None: "", True: "killed", False: "survived"}[result.killed_by_rival],
                    "why": result.explain_survival(self.compared),
                }
            )
        return pd.DataFrame(rows)

    @property
    def survivors(self) -> pd.DataFrame:
        """The mutants that live, each with why."""
        return self.mutants[self.mutants["state"] == SURVIVED].reset_index(drop=True)

    @cached_property
    def relations(self) -> pd.DataFrame:
        """A row a relation: kills, kills of it alone, mean rate, how much its two runs differ, whether it is needed."""
        import pandas as pd

        kills, unique, needed = self.kills.kills, self.kills.unique_kills, set(self.kills.smallest_set())
        counted = np.array([state in (KILLED, SURVIVED) for state in self.kills.states], dtype=bool)
        rows = []
        for row, (key, name) in enumerate(zip(self._keys, self.kills.relations, strict=True)):
            rates = self.kills.rates[row][counted]
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
        """What matters most, in a line."""
        killed_count, survived_count = self.kills.count(KILLED), self.kills.count(SURVIVED)
        low, high = compute_wilson_interval(killed_count, killed_count + survived_count)
        share = f" ({self.score:.1%}; {low:.0%} to {high:.0%})" if killed_count + survived_count else ""
        return f"{killed_count} of {pluralize(killed_count + survived_count, 'mutant')} killed{share}"

    def describe(self) -> str:
        """Return everything in words."""
        from .text import format_mutation

        return to_printable(format_mutation(self))

    def document(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        content: dict[str, Any] = to_jsonable(
            {
                "program": self.program,
                "headline": self.headline,
                "score": self.score,
                "killed_of_different": self.killed_of_different,
                "rival_of_different": self.rival_of_different,
                "average_rate": self.kills.average_rate,
                "states": {state: self.kills.count(state) for state in dict.fromkeys(self.kills.states)},
                "relations": self.relations.to_dict("records"),
                "smallest_set": self.kills.smallest_set(),
                "mutants": self.mutants.astype(object).to_dict("records"),
                "own_violations": self.violations,
                "inputs": self.inputs,
                "compared": self.compared,
                "notes": list(self.notes),
                "seed": self.seed,
                "seconds": self.seconds,
            }
        )
        return content

    def to_json(self, path: str | Path | None = None) -> str:
        """Return it as JSON, and write it to a file if one is named."""
        from ..reporting.html import write_text

        text = json.dumps(self.document(), indent=1, allow_nan=False)
        if path is not None:
            write_text(text, path, "JSON file")
        return text

    def to_html(self, path: str | Path | None = None) -> str:
        """Return it as one HTML page, and write it to a file if one is named."""
        from ..reporting.html import render_page, write_text
        from .text import build_page

        page = render_page(build_page(self))
        if path is not None:
            write_text(page, path, "report")
        return page

    def __repr__(self) -> str:
        return f"Mutation({self.program}: {self.headline})"


def count_by_killer(mutation: Mutation) -> Mapping[tuple[bool, bool], int]:
    """Return how many mutants that differ are killed by relations (first), by cross-validation (second), both or neither."""
    counts = {(a, b): 0 for a in (True, False) for b in (True, False)}
    for result in mutation.different:
        if result.killed_by_rival is not None:
            counts[result.state == KILLED, result.killed_by_rival] += 1
    return counts
