"""A faulty program hunted by random testing and by SFIDMT-ART, for the demo."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.programs import programs
from ...hunting.api import hunt
from ...hunting.measures import IntervalEstimate, estimate, f_ratio
from ...hunting.result import Hunt

PROGRAM, MUTANT, RELATION = "tanh", "emu10", "tripling"
GENERATORS = ("MT-RT", "SFIDMT-ART")
TRIALS = 40  # so that the demo takes seconds without compiled kernels


@dataclass(frozen=True)
class HuntRace:
    """The hunts of each generator until the first violation."""

    change: str
    hunts: dict[str, Hunt]

    def mean(self, generator: str) -> IntervalEstimate:
        """Return the mean number of groups that a generator needs, with an interval."""
        return estimate(self.hunts[generator].f_measures)

    @property
    def ratio(self) -> float:
        """The groups of the second generator divided by those of the first."""
        first, second = (self.hunts[name].measured for name in GENERATORS)
        return f_ratio(second, first).value


def race_generators(seed: int) -> HuntRace:
    """Hunt a program that uses 10 instead of 1, with each generator."""
    program = programs[PROGRAM]
    mutant = program.mutants[MUTANT]
    relation = program.relations[RELATION]
    hunts = {name: hunt(mutant, relation, name, trials=TRIALS, seed=seed, progress=False) for name in GENERATORS}
    line = mutant.source.splitlines()[mutant.line - 1].strip()
    return HuntRace(f"{mutant.before} became {mutant.after} in one line, {line}", hunts)
