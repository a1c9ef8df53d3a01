"""`Brackets`: pairs of cases with a border between them; `ExplorationRecord`: all that an exploration finds and uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..space.features import Codes, Mask
from ..space.points import Points
from ..space.space import Space
from .changes import Rows


class Brackets:
    """Pairs of cases with a border between them, one per row; refinement narrows them in place.

    At any time, every row is a pair whose two answers the system gave, with a border between them. `part` is the number
    of the label that changes, with several labels, and else 0. `walk` is the number of the walk that found the pair, and
    `runs` the number of cases used to narrow it.
    """

    def __init__(self, width: int) -> None:
        self.x = self.y = np.empty((0, width), order="F")  # the codes of the two cases
        self.x_state = self.y_state = np.empty(0)  # the answers to them, as numbers of the border
        self.part = self.walk = self.runs = np.empty(0, dtype=np.intp)

    def __len__(self) -> int:
        return len(self.x_state)

    def add(self, x: Codes, y: Codes, x_state: Codes, y_state: Codes, part: Rows, walk: Rows) -> None:
        """Append pairs."""
        new_rows = (x, y, x_state, y_state, part, walk, np.zeros(len(walk), dtype=np.intp))
        for (name, values), new_values in zip(vars(self).items(), new_rows, strict=True):
            setattr(self, name, np.asfortranarray(np.concatenate([values, new_values])))

    @staticmethod
    def concat(parts: Sequence[Brackets], width: int) -> Brackets:
        """Return all rows of all parts."""
        result = Brackets(width)
        for name, empty in vars(result).items():
            setattr(result, name, np.concatenate([empty, *(getattr(part, name) for part in parts)]))
        return result

    def take(self, rows: Rows) -> Brackets:
        """Return a copy of some rows."""
        subset = Brackets(self.x.shape[1])
        for name, values in vars(self).items():
            setattr(subset, name, values[rows])
        return subset

    def replace_ends(self, rows: Rows, replacements: Brackets) -> None:
        """Replace the cases and answers of some rows; their runs stay."""
        for name in ("x", "y", "x_state", "y_state"):
            getattr(self, name)[rows] = getattr(replacements, name)

    def keep_rows(self, rows: npt.NDArray[Any]) -> None:
        """Drop all other rows."""
        for name, values in vars(self).items():
            setattr(self, name, np.asfortranarray(values[rows]))


@dataclass
class ExplorationRecord:
    """The pairs and the cost of an exploration, filled while it runs."""

    space: Space
    brackets: list[Brackets] = field(default_factory=list)  # the pairs, one entry per wave
    strategies: list[str] = field(default_factory=list)  # of each wave
    walk_runs: list[Rows] = field(default_factory=list)  # the generated cases per walk, one entry per wave
    walk_starts: list[Rows] = field(default_factory=list)  # the numbers of the cases each walk starts from, -1 for none
    seeds_used: int = 0  # executed seed cases
    lost: int = 0  # walks that ended because the system gave no answer
    slopes: int = 0  # brackets that turned out to have no jump
    unfinished: int = 0  # walks that the budget cut short
    exhausted: bool = False  # whether the budget ended the exploration
    choices: list[Mapping[str, Any]] = field(default_factory=list)  # the decisions of the auto strategy, by round
    notes: list[str] = field(default_factory=list)  # remarks for the reader

    def open_wave(self, walks: int, strategy: str) -> tuple[Brackets, Rows]:
        """Add a wave of walks, and return its brackets and its runs per walk, to be filled."""
        self.brackets.append(Brackets(len(self.space)))
        self.walk_runs.append(np.zeros(walks, dtype=np.intp))
        self.strategies.append(strategy)
        return self.brackets[-1], self.walk_runs[-1]

    @property
    def walks_begun(self) -> int:
        """The number of walks that were begun."""
        return sum(map(len, self.walk_runs))

    @property
    def runs(self) -> int:
        """The number of executed test cases, each counted once."""
        return self.seeds_used + sum(int(runs.sum()) for runs in self.walk_runs)

    def add_note(self, text: str) -> None:
        """Add a remark, unless it is there already."""
        if text not in self.notes:
            self.notes.append(text)


@dataclass
class SeedPool:
    """The test cases that walks start from, with their known answers."""

    points: Points
    states: Codes = field(init=False)  # the answers, as numbers of the border; NaN where unknown or without an answer
    executed: Mask = field(init=False)  # the cases that were executed for a walk, and count as runs
    known: Mask = field(init=False)  # the cases whose answers are known

    def __post_init__(self) -> None:
        self.states = np.full(len(self.points), np.nan)
        self.executed = np.zeros(len(self.points), dtype=bool)
        self.known = self.executed.copy()

    def __len__(self) -> int:
        return len(self.points)

    def add_pairs(self, brackets: Brackets) -> None:
        """Add both ends of every pair, so that later walks may start from them."""
        codes = np.concatenate([self.points.codes, brackets.x, brackets.y])
        self.points = Points(self.points.space, codes)
        self.states = np.concatenate([self.states, brackets.x_state, brackets.y_state])
        flags = np.ones(2 * len(brackets), dtype=bool)
        self.executed, self.known = np.concatenate([self.executed, flags]), np.concatenate([self.known, flags])
