"""`Brackets`: pairs of cases with a border between them, and `Found`: all that an exploration found and spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..space.features import Codes
from ..space.points import Points
from ..space.space import Space

Rows = npt.NDArray[np.intp]


class Brackets:
    """Pairs of cases between which a border lies, a row each; refinement narrows them in place.

    Whatever stops it, every row is a pair whose two answers the system gave and that are apart.

    Attributes
    ----------
    x, y : ndarray
        The codes of the two cases.
    x_state, y_state : ndarray
        The answers to them, as the border reads them.
    part : ndarray
        Which of several borders it is (multi-label); else 0.
    walk : ndarray
        The number of the walk that found it.
    runs : ndarray
        How many cases narrowing it took.
    """

    def __init__(self, width: int) -> None:
        self.x = self.y = np.empty((0, width), order="F")
        self.x_state = self.y_state = np.empty(0)
        self.part = self.walk = self.runs = np.empty(0, dtype=np.intp)

    def __len__(self) -> int:
        return len(self.x_state)

    def add(self, x: Codes, y: Codes, x_state: Codes, y_state: Codes, part: Rows, walk: Rows) -> None:
        """Add pairs."""
        self.x = np.asfortranarray(np.concatenate([self.x, x]))
        self.y = np.asfortranarray(np.concatenate([self.y, y]))
        self.x_state = np.concatenate([self.x_state, x_state])
        self.y_state = np.concatenate([self.y_state, y_state])
        self.part = np.concatenate([self.part, part])
        self.walk = np.concatenate([self.walk, walk])
        self.runs = np.concatenate([self.runs, np.zeros(len(x_state), dtype=np.intp)])

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
        """Put the pairs of others, as many as there are rows, in their places; what they cost stays."""
        for name in ("x", "y", "x_state", "y_state"):
            getattr(self, name)[rows] = getattr(replacements, name)

    def keep_rows(self, rows: npt.NDArray[Any]) -> None:
        """Drop all rows but some."""
        for name, values in vars(self).items():
            setattr(self, name, np.asfortranarray(values[rows]))


@dataclass
class ExplorationRecord:
    """What an exploration found and what it spent, filled while it goes on.

    Attributes
    ----------
    brackets : list of Brackets
        The pairs, one entry a wave of walks.
    strategy : list of str
        By which strategy each wave walked.
    walk_runs : list of ndarray
        How many cases each walk generated, one entry a wave.
    seeds_used : int
        How many seeds were executed.
    lost : int
        Walks that ended because the system gave no answer.
    unfinished : int
        Walks that the budget ended before they met a border or were long enough.
    slopes : int
        Brackets that turned out to hold no jump.
    exhausted : bool
        Whether the budget ended it.
    choices : list of dict
        What a mixed strategy decided, round by round.
    notes : list of str
        What else is to be told.
    """

    space: Space
    brackets: list[Brackets] = field(default_factory=list)
    strategies: list[str] = field(default_factory=list)
    walk_runs: list[Rows] = field(default_factory=list)
    seeds_used: int = 0
    lost: int = 0
    slopes: int = 0
    unfinished: int = 0
    exhausted: bool = False
    choices: list[Mapping[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def open_wave(self, walks: int, strategy: str) -> tuple[Brackets, Rows]:
        """Begin a wave of walks; what is put into its brackets counts as found from then on."""
        self.brackets.append(Brackets(len(self.space)))
        self.walk_runs.append(np.zeros(walks, dtype=np.intp))
        self.strategies.append(strategy)
        return self.brackets[-1], self.walk_runs[-1]

    @property
    def walks_begun(self) -> int:
        """How many walks were begun."""
        return sum(map(len, self.walk_runs))

    @property
    def runs(self) -> int:
        """How many test cases were executed, each once."""
        return self.seeds_used + sum(int(runs.sum()) for runs in self.walk_runs)

    def add_note(self, text: str) -> None:
        """Say something once."""
        if text not in self.notes:
            self.notes.append(text)


@dataclass
class SeedPool:
    """The test cases that walks start from, with what is known of them.

    Attributes
    ----------
    points : Points
        The cases.
    states : ndarray
        Their answers as the border reads them; NaN where unknown or without one.
    asked : ndarray of bool
        Which were executed.
    seen : ndarray of bool
        Whose answers are known, executed for a walk or not.
    """

    points: Points
    states: Codes = field(init=False)
    executed: npt.NDArray[np.bool_] = field(init=False)
    known: npt.NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.states = np.full(len(self.points), np.nan)
        self.executed = np.zeros(len(self.points), dtype=bool)
        self.known = self.executed.copy()

    def __len__(self) -> int:
        return len(self.points)

    def add_pairs(self, brackets: Brackets) -> None:
        """Let later walks start from both ends of every pair."""
        codes = np.concatenate([self.points.codes, brackets.x, brackets.y])
        self.points = Points(self.points.space, codes)
        self.states = np.concatenate([self.states, brackets.x_state, brackets.y_state])
        flags = np.ones(2 * len(brackets), dtype=bool)
        self.executed, self.known = np.concatenate([self.executed, flags]), np.concatenate([self.known, flags])
