"""The kill matrix: which relation kills which mutant, and the score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import pluralise
from ..errors import ArgumentError

KILLED, SURVIVED = "killed", "survived"
#: the other states of a mutant, which do not enter the score
SAME_BYTECODE, UNREACHED = "equivalent: same bytecode", "equivalent: never reached"
CRASHED, TIMED_OUT, OUT_OF_MEMORY, DIED = "crashed", "timed out", "out of memory", "died"
STATES = (KILLED, SURVIVED, SAME_BYTECODE, UNREACHED, CRASHED, TIMED_OUT, OUT_OF_MEMORY, DIED)


@dataclass(frozen=True, eq=False)
class KillMatrix:
    """Violation rates of relations (rows) on mutants (columns)."""

    relations: tuple[str, ...]
    mutants: tuple[str, ...]
    rates: npt.NDArray[np.float64]  # the share of inputs that violate a relation; NaN if it does not apply
    states: tuple[str, ...]  # of each mutant, one of `STATES`

    @classmethod
    def from_rates(
        cls,
        relations: Iterable[str],
        mutants: Iterable[str],
        rates: npt.ArrayLike,
        other_states: Mapping[str, str] | None = None,
    ) -> KillMatrix:
        """Return the matrix of violation rates, or of True where a mutant is killed.

        `other_states` names mutants that are neither killed nor survive, each with one of `STATES`; their rates do not count.
        """
        relations, mutants, other_states = tuple(relations), tuple(mutants), dict(other_states or {})
        table = np.array(rates, dtype=np.float64)
        if table.shape != (len(relations), len(mutants)):
            raise ArgumentError(
                f"The table of {pluralise(len(relations), 'relation')} and {pluralise(len(mutants), 'mutant')} has the "
                f"shape {table.shape}. It needs a row for each relation and a column for each mutant."
            )
        for mutant, state in other_states.items():
            if mutant not in mutants or state not in STATES[2:]:
                raise ArgumentError(
                    f"The state of {mutant!r} is {state!r}. Expected a mutant of the table and one of {STATES[2:]}."
                )
        table[:, [mutant in other_states for mutant in mutants]] = np.nan
        states = tuple(
            other_states.get(mutant, KILLED if (table[:, place] > 0).any() else SURVIVED)
            for place, mutant in enumerate(mutants)
        )
        return cls(relations, mutants, table, states)

    @property
    def killed(self) -> npt.NDArray[np.bool_]:
        """Which relation kills which mutant."""
        return self.rates > 0

    def count(self, state: str) -> int:
        """Return the number of mutants in a state."""
        return self.states.count(state)

    @property
    def score(self) -> float:
        """The share of killed mutants among those that are killed or survive."""
        scored_count = self.count(KILLED) + self.count(SURVIVED)
        return self.count(KILLED) / scored_count if scored_count else math.nan

    @property
    def average_rate(self) -> float:
        """The mean violation rate over all relations and counted mutants."""
        finite = self.rates[np.isfinite(self.rates)]
        return float(finite.mean()) if finite.size else math.nan

    @property
    def kills(self) -> dict[str, int]:
        """The number of mutants that each relation kills."""
        return dict(zip(self.relations, self.killed.sum(axis=1).tolist(), strict=True))

    @property
    def unique_kills(self) -> dict[str, list[str]]:
        """The mutants that only this relation kills, by relation."""
        unique = self.killed & (self.killed.sum(axis=0) == 1)
        return {
            relation: [self.mutants[place] for place in np.flatnonzero(row)]
            for relation, row in zip(self.relations, unique, strict=True)
        }

    def smallest_set(self) -> list[str]:
        """Return the fewest relations that kill all killed mutants."""
        needed = np.unique(self.killed[:, self.killed.any(axis=0)], axis=1)
        selection = np.zeros(len(self.relations))
        size = _compute_cover_size(needed, selection)
        for place in range(len(selection)):  # prefer the first relations that keep the set as small
            selection[place] = 1
            if selection.sum() > size or _compute_cover_size(needed, selection) > size:
                selection[place] = 0
        return [relation for relation, is_needed in zip(self.relations, selection, strict=True) if is_needed]

    @property
    def frame(self) -> pd.DataFrame:
        """One row per mutant: the violation rates by relation, and its state."""
        table = pd.DataFrame(self.rates.T, index=pd.Index(self.mutants, name="mutant"), columns=list(self.relations))
        return table.assign(state=list(self.states))

    def format_other_states(self) -> str:
        """Return how many mutants are neither killed nor survive, by state; "" if none."""
        return ", ".join(f"{self.count(state)} {state}" for state in STATES[2:] if self.count(state))


def _compute_cover_size(needed: npt.NDArray[np.bool_], selection: npt.NDArray[np.float64]) -> int:
    """Return the least number of rows, `selection` included, that cover all columns."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    if not needed.shape[1]:
        return int(selection.sum())
    ones = np.ones(len(needed))
    covered = LinearConstraint(needed.T.astype(float), 1)
    return round(milp(ones, integrality=ones, bounds=Bounds(selection, ones), constraints=covered).fun)
