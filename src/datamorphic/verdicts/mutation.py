"""`Mutation`: which mutants of a program the relations kill, which live, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import jsonable, plural
from .._intervals import wilson
from ..mutants.forge import Mutant
from ..mutants.kills import CRASHED, DIED, KILLED, OUT_OF_MEMORY, SAME, SURVIVED, TIMED_OUT, UNREACHED, Kills
from ..reports.texts import printable
from .killing import Fate, Original
from .rival import Rules, passes

if TYPE_CHECKING:
    import pandas as pd

LOST = {"timed out": TIMED_OUT, "out of memory": OUT_OF_MEMORY, "died": DIED, "raised": CRASHED}


@dataclass(frozen=True)
class Tried:
    """A mutant, its state, and what is known of it: its fate in its process, or what was said when there was none."""

    mutant: Mutant
    state: str
    fate: Fate | None = None
    message: str = ""

    @property
    def different(self) -> bool:
        """Whether its labels are known to differ from the original's somewhere."""
        return self.fate is not None and self.fate.different > 0

    @property
    def rival_kills(self) -> bool | None:
        """Whether cross-validation notices it; None where that was not tried."""
        if self.fate is None or not self.fate.errors:
            return None
        return not all(passes(errors) for errors in self.fate.errors.values())

    def why(self, compared: int) -> str:
        """Return why it is not killed; an empty text where it is."""
        if self.state == KILLED:
            return ""
        if self.state == SAME:
            twin = self.mutant.same_as
            return f"it compiles to the bytecode of {'the original' if twin == 'original' else twin}"
        if self.state == UNREACHED:
            return "no input that was traced reaches the changed line"
        if self.state != SURVIVED or self.fate is None:
            return self.message
        if not self.fate.different:
            return f"its labels are those of the original on all {compared:,} inputs: perhaps an equivalent mutant"
        share = self.fate.different / max(1, compared)
        return (
            f"its labels differ on {self.fate.different:,} of {compared:,} inputs ({share:.2%}), but alike in source and "
            "follow-up: another learner that keeps the same promises"
        )


def tried_of(mutant: Mutant, outcome: Any, original: Original) -> Tried:
    """Return what became of a mutant, from what its process said."""
    if mutant.same_as:
        return Tried(mutant, SAME)
    if outcome.state != "done":
        return Tried(mutant, LOST[outcome.state], None, _said(outcome))
    fate: Fate = outcome.value
    if any(fate.violated.values()):
        return Tried(mutant, KILLED, fate)
    if fate.undefined:
        return Tried(mutant, CRASHED, fate, fate.message)
    if not fate.different and not mutant.is_reached(set(original.lines)):
        return Tried(mutant, UNREACHED, fate)
    return Tried(mutant, SURVIVED, fate)


def _said(outcome: Any) -> str:
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
    tried: Sequence[Tried]
    original: Original
    inputs: int
    compared: int
    rules: Rules | None = None
    seed: int = 0
    seconds: float = 0.0
    notes: Sequence[str] = field(default_factory=tuple)

    @cached_property
    def _keys(self) -> list[tuple[str, str]]:
        return list(self.original.judged)

    def _name(self, key: tuple[str, str]) -> str:
        return key[1] if len(self.original.relations) == 1 else f"{key[1]} ({key[0]})"

    @cached_property
    def kills(self) -> Kills:
        """Which relation kills which mutant, with violation rates."""
        rates = np.full((len(self._keys), len(self.tried)), np.nan)
        for column, each in enumerate(self.tried):
            for row, key in enumerate(self._keys):
                if each.fate is not None and each.fate.judged.get(key):
                    rates[row, column] = each.fate.violated[key] / each.fate.judged[key]
        lost = {each.mutant.id: each.state for each in self.tried if each.state not in (KILLED, SURVIVED)}
        names = [self._name(key) for key in self._keys]
        return Kills.of(names, [each.mutant.id for each in self.tried], rates, lost)

    @property
    def score(self) -> float:
        """The share of mutants that is killed, of those that are killed or survive."""
        return self.kills.score

    @property
    def different(self) -> list[Tried]:
        """The mutants whose labels differ from the original's somewhere, and that neither crash nor hang."""
        return [each for each in self.tried if each.state in (KILLED, SURVIVED) and each.different]

    @property
    def killed_of_different(self) -> float:
        """The share of the mutants that differ which the relations kill; NaN if none differs."""
        differ = self.different
        return sum(each.state == KILLED for each in differ) / len(differ) if differ else float("nan")

    @property
    def rival_of_different(self) -> float:
        """The share of the mutants that differ which cross-validation notices; NaN if it was not tried."""
        differ = [each.rival_kills for each in self.different]
        known = [each for each in differ if each is not None]
        return sum(known) / len(known) if known else float("nan")

    @property
    def violations(self) -> int:
        """How many cases the program itself violates a necessary relation on."""
        return sum(len(each) for each in self.original.violated.values())

    @cached_property
    def mutants(self) -> pd.DataFrame:
        """A row a mutant: what was changed, its state, who kills it, and why it lives if it does."""
        import pandas as pd

        rows = []
        killed = self.kills.killed
        for column, each in enumerate(self.tried):
            by = [name for row, name in enumerate(self.kills.relations) if killed[row, column]]
            rows.append(
                {
                    "mutant": each.mutant.id,
                    "operator": each.mutant.operator,
                    "line": each.mutant.line,
                    "function": each.mutant.function,
                    "before": each.mutant.before,
                    "after": each.mutant.after,
                    "state": each.state,
                    "killed_by": ", ".join(by),
                    "differs": None if each.fate is None else each.different,
                    "cross_validation": {None: "", True: "killed", False: "survived"}[each.rival_kills],
                    "why": each.why(self.compared),
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
            known = rates[~np.isnan(rates)]
            rows.append(
                {
                    "relation": name,
                    "kills": kills[name],
                    "alone": len(unique[name]),
                    "rate": float(known.mean()) if len(known) else float("nan"),
                    "traces": self.original.traces.get(key, float("nan")),
                    "needed": name in needed,
                    "own_violations": len(self.original.violated[key]),
                }
            )
        return pd.DataFrame(rows)

    @property
    def headline(self) -> str:
        """What matters most, in a line."""
        killed, lived = self.kills.count(KILLED), self.kills.count(SURVIVED)
        low, high = wilson(killed, killed + lived)
        share = f" ({self.score:.1%}; {low:.0%} to {high:.0%})" if killed + lived else ""
        return f"{killed} of {plural(killed + lived, 'mutant')} killed{share}"

    def describe(self) -> str:
        """Return everything in words."""
        from .mutation_told import text

        return printable(text(self))

    def document(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        told: dict[str, Any] = jsonable(
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
        return told

    def to_json(self, path: str | Path | None = None) -> str:
        """Return it as JSON, and write it to a file if one is named."""
        from ..reports.html import written

        text = json.dumps(self.document(), indent=1, allow_nan=False)
        if path is not None:
            written(text, path, "JSON file")
        return text

    def to_html(self, path: str | Path | None = None) -> str:
        """Return it as one HTML page, and write it to a file if one is named."""
        from ..reports.html import render, written
        from .mutation_told import page_of

        page = render(page_of(self))
        if path is not None:
            written(page, path, "report")
        return page

    def __repr__(self) -> str:
        return f"Mutation({self.program}: {self.headline})"


def table_of_rivals(mutation: Mutation) -> Mapping[tuple[bool, bool], int]:
    """Return how many mutants that differ are killed by relations (first), by cross-validation (second), both or neither."""
    counts = {(a, b): 0 for a in (True, False) for b in (True, False)}
    for each in mutation.different:
        if each.rival_kills is not None:
            counts[each.state == KILLED, each.rival_kills] += 1
    return counts
