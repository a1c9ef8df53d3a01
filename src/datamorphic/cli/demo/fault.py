"""A fault planted in a learner and detected by metamorphic relations, for the demo."""

from __future__ import annotations

from dataclasses import dataclass

from ...data import knn
from ...mutation.forge import SourceMutant, load_module, make_mutants, read_program
from ...relations.check.api import check
from ...relations.check.result import CheckReport

RELATIONS = ("MR-0", "MR-1.2", "MR-2.1", "MR-3.1", "MR-3.2", "MR-4.2", "sample order")


@dataclass(frozen=True)
class PlantedFault:
    """The change of the learner, and the report of the relations."""

    mutant: SourceMutant
    report: CheckReport

    @property
    def violated_relations(self) -> list[str]:
        """The names of the relations that detect the fault."""
        return [entry.relation for entry in self.report.faults]


def plant_fault(seed: int) -> PlantedFault:
    """Make a nearest-neighbour learner that does not add up its distances, and check its relations."""
    program = read_program(knn)
    mutants = make_mutants(program.text, ["ASR"], name=program.name)
    mutant = next(
        mutant for mutant in mutants if mutant.function == "squared_distance" and mutant.after.startswith("total = ")
    )
    with load_module(mutant.source, program.name, program.package) as module:
        return PlantedFault(mutant, check(module.KNN(3), "random", RELATIONS, inputs=60, seed=seed, progress=False))
