"""A fault planted in a learner, and found by relations: for the demo."""

from __future__ import annotations

from dataclasses import dataclass

from ...data import knn
from ...mutation.forge import SourceMutant, load_module, make_mutants, read_program
from ...relations.check.api import check
from ...relations.check.result import CheckReport

RELATIONS = ("MR-0", "MR-1.2", "MR-2.1", "MR-3.1", "MR-3.2", "MR-4.2", "sample order")


@dataclass(frozen=True)
class Planted:
    """What was changed in the learner, and what the relations said."""

    mutant: SourceMutant
    report: CheckReport

    @property
    def found(self) -> list[str]:
        """The names of the relations that notice it."""
        return [entry.relation for entry in self.report.faults]


def planted_and_found(seed: int) -> Planted:
    """Let a nearest-neighbour learner forget to add up its distances, and check what it then promises."""
    program = read_program(knn)
    faults = make_mutants(program.text, ["ASR"], name=program.name)
    mutant = next(
        each for each in faults if each.function == "squared_distance" and each.after.startswith("total = ")
    )
    with load_module(mutant.source, program.name, program.package) as module:
        return Planted(mutant, check(module.KNN(3), "random", RELATIONS, inputs=60, seed=seed, progress=False))
