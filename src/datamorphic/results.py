"""What the public functions return, by name: for annotations, and to look them up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import list_modules, make_getattr

if TYPE_CHECKING:
    from .audit.result import AuditResult as AuditResult
    from .comparison.result import ModelComparison as ModelComparison
    from .core.result import Example as Example
    from .core.result import Finding as Finding
    from .core.result import Measure as Measure
    from .exploration.diff.diff import Difference as Difference
    from .exploration.front import Front as Front
    from .hunting.generation import GeneratedGroups as GeneratedGroups
    from .hunting.result import Hunt as Hunt
    from .hunting.simulation import Simulation as Simulation
    from .hunting.violation_regions import ViolationRegion as ViolationRegion
    from .morphisms.case_columns import Correctness as Correctness
    from .morphisms.case_statistics import CaseStatistics as CaseStatistics
    from .morphisms.law_result import LawReport as LawReport
    from .mutation.result import Mutation as Mutation
    from .relations.check.ranking import LearnerRanking as LearnerRanking
    from .relations.check.result import CheckReport as CheckReport
    from .risk.credit.result import CreditReport as CreditReport
    from .risk.fairness.result import FairnessReport as FairnessReport
    from .scripting.result import ScriptResult as ScriptResult
    from .studies.overview import StudyOverview as StudyOverview
    from .studies.result import Study as Study
    from .studies.tree_experiment_result import TreeExperiment as TreeExperiment
    from .synthesis.combination.result import CombinationResult as CombinationResult
    from .synthesis.optimisation.result import Optimisation as Optimisation
    from .trees.coverage.coverage import Coverage as Coverage
    from .trees.coverage.mutation import MutationScore as MutationScore
    from .trees.coverage.selection import Selection as Selection

_MODULES = list_modules(
    {
        ".audit.result": "AuditResult",
        ".comparison.result": "ModelComparison",
        ".core.result": "Example Finding Measure",
        ".exploration.diff.diff": "Difference",
        ".exploration.front": "Front",
        ".hunting.generation": "GeneratedGroups",
        ".hunting.result": "Hunt",
        ".hunting.simulation": "Simulation",
        ".hunting.violation_regions": "ViolationRegion",
        ".morphisms.case_columns": "Correctness",
        ".morphisms.case_statistics": "CaseStatistics",
        ".morphisms.law_result": "LawReport",
        ".mutation.result": "Mutation",
        ".relations.check.ranking": "LearnerRanking",
        ".relations.check.result": "CheckReport",
        ".risk.credit.result": "CreditReport",
        ".risk.fairness.result": "FairnessReport",
        ".scripting.result": "ScriptResult",
        ".studies.overview": "StudyOverview",
        ".studies.result": "Study",
        ".studies.tree_experiment_result": "TreeExperiment",
        ".synthesis.combination.result": "CombinationResult",
        ".synthesis.optimisation.result": "Optimisation",
        ".trees.coverage.coverage": "Coverage",
        ".trees.coverage.mutation": "MutationScore",
        ".trees.coverage.selection": "Selection",
    }
)
__all__ = sorted(_MODULES)
__getattr__ = make_getattr(__name__, _MODULES)
