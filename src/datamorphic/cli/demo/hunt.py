"""A wrong program hunted by random testing and by SFIDMT-ART: for the demo."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.programs import programs
from ...hunting.api import hunt
from ...hunting.measures import IntervalEstimate, estimate, f_ratio
from ...hunting.result import Hunt

PROGRAM, MUTANT, RELATION = "tanh", "emu10", "tripling"
GENERATORS = ("MT-RT", "SFIDMT-ART")
TRIALS = 40  # the demo installs no compiler, and may take seconds


@dataclass(frozen=True)
class Race:
    """What each generator needed until the first violation."""

    change: str
    hunts: dict[str, Hunt]

    def mean(self, generator: str) -> IntervalEstimate:
        """Return the groups a generator needs, with an interval."""
        return estimate(self.hunts[generator].f_measures)

    @property
    def ratio(self) -> float:
        """What the second needs, compared with the first."""
        first, second = (self.hunts[name].measured for name in GENERATORS)
        return f_ratio(second, first).value


def raced(seed: int) -> Race:
    """Let a program compute with 10 where it should with 1, and hunt it."""
    program = programs[PROGRAM]
    mutant = program.mutants[MUTANT]
    relation = program.relations[RELATION]
    hunts = {name: hunt(mutant, relation, name, trials=TRIALS, seed=seed, progress=False) for name in GENERATORS}
    line = mutant.source.splitlines()[mutant.line - 1].strip()
    return Race(f"{mutant.before} became {mutant.after} in one line, {line}", hunts)
