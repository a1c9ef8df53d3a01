"""Testing classifiers, and anything else, without an oracle.

This module is the public API. Names are imported on first use, so that ``import datamorphic`` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import list_modules, make_getattr
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from . import data as data
    from . import errors as errors
    from . import hunting as hunting
    from . import relations as relations
    from . import results as results
    from . import systems as systems
    from . import trees as trees
    from .audit.result import Result as Result
    from .audit.run import test as test
    from .comparison.run import compare as compare
    from .data.programs import programs as programs
    from .data.subjects import subjects as subjects
    from .exploration.front import Front as Front
    from .exploration.plan import plan as plan
    from .exploration.run import explore as explore
    from .hunting.generation import generate as generate
    from .hunting.run import hunt as hunt
    from .hunting.simulation import simulate as simulate
    from .morphisms.case_statistics import compute_statistics as compute_statistics
    from .morphisms.cases import TestSet as TestSet
    from .morphisms.decorators import analyser as analyser
    from .morphisms.decorators import case_filter as case_filter
    from .morphisms.decorators import case_metric as case_metric
    from .morphisms.decorators import datamorphism as datamorphism
    from .morphisms.decorators import executor as executor
    from .morphisms.decorators import metamorphism as metamorphism
    from .morphisms.decorators import seed_maker as seed_maker
    from .morphisms.decorators import set_filter as set_filter
    from .morphisms.decorators import set_metric as set_metric
    from .morphisms.run import laws as laws
    from .morphisms.system import TestSystem as TestSystem
    from .mutation.run import mutate as mutate
    from .relations.algebra.base import Relation as Relation
    from .relations.algebra.feature import invariant as invariant
    from .relations.algebra.feature import monotone as monotone
    from .relations.algebra.function import FunctionRelation as FunctionRelation
    from .relations.catalogue.functions import relations_for as relations_for
    from .relations.check.run import check as check
    from .relations.learners.base import ClusterRelation as ClusterRelation
    from .relations.learners.base import LearnerRelation as LearnerRelation
    from .relations.patterns.catalogue import patterns as patterns
    from .relations.patterns.relation import PatternRelation as PatternRelation
    from .risk.credit.run import credit as credit
    from .risk.fairness.run import fairness as fairness
    from .runs.store import Store as Store
    from .scripting.pool import TestPool as TestPool
    from .scripting.recorder import record as record
    from .scripting.run import play as play
    from .space.blocks import Audio as Audio
    from .space.blocks import Image as Image
    from .space.blocks import Sequence as Sequence
    from .space.column_relations import find_constraints as find_constraints
    from .space.constraints import AllowedCombinations as AllowedCombinations
    from .space.constraints import OneHot as OneHot
    from .space.constraints import Rule as Rule
    from .space.description import read_space as read_space
    from .space.features import Categorical as Categorical
    from .space.features import Continuous as Continuous
    from .space.features import Integer as Integer
    from .space.outputs import Outputs as Outputs
    from .space.outputs import Status as Status
    from .space.points import Points as Points
    from .space.space import Space as Space
    from .space.text_feature import Text as Text
    from .studies.run import study as study
    from .synthesis.combination.run import combine as combine
    from .synthesis.optimisation.run import optimise as optimise
    from .systems.wrap import wrap as wrap
    from .testing.assertions import assert_covers as assert_covers
    from .testing.assertions import assert_holds as assert_holds
    from .testing.baselines import assert_front_unchanged as assert_front_unchanged
    from .testing.parametrize import parametrize_with_relations as parametrize_with_relations
    from .trees.coverage.run import cover as cover
    from .trees.coverage.run import select as select


#: the public names of each module
_NAMES = {
    "": "data errors hunting relations results systems trees",
    "audit.run": "test",
    "audit.result": "Result",
    "comparison.run": "compare",
    "data.programs": "programs",
    "data.subjects": "subjects",
    "exploration.run": "explore",
    "exploration.front": "Front",
    "exploration.plan": "plan",
    "hunting.generation": "generate",
    "hunting.run": "hunt",
    "hunting.simulation": "simulate",
    "morphisms.run": "laws",
    "morphisms.case_statistics": "compute_statistics",
    "morphisms.cases": "TestSet",
    "morphisms.decorators": "analyser case_filter case_metric datamorphism executor metamorphism seed_maker set_filter set_metric",
    "morphisms.system": "TestSystem",
    "mutation.run": "mutate",
    "relations.algebra.base": "Relation",
    "relations.catalogue.functions": "relations_for",
    "relations.check.run": "check",
    "relations.algebra.feature": "invariant monotone",
    "relations.algebra.function": "FunctionRelation",
    "relations.learners.base": "ClusterRelation LearnerRelation",
    "relations.patterns.catalogue": "patterns",
    "relations.patterns.relation": "PatternRelation",
    "risk.credit.run": "credit",
    "risk.fairness.run": "fairness",
    "runs.store": "Store",
    "scripting.run": "play",
    "scripting.pool": "TestPool",
    "scripting.recorder": "record",
    "space.blocks": "Audio Image Sequence",
    "space.column_relations": "find_constraints",
    "space.constraints": "AllowedCombinations OneHot Rule",
    "space.description": "read_space",
    "space.features": "Categorical Continuous Integer",
    "space.text_feature": "Text",
    "space.outputs": "Outputs Status",
    "space.points": "Points",
    "space.space": "Space",
    "studies.run": "study",
    "synthesis.combination.run": "combine",
    "synthesis.optimisation.run": "optimise",
    "systems.wrap": "wrap",
    "testing.assertions": "assert_covers assert_holds",
    "testing.baselines": "assert_front_unchanged",
    "testing.parametrize": "parametrize_with_relations",
    "trees.coverage.run": "cover select",
}
_MODULES = list_modules(_NAMES)
__all__ = sorted(_MODULES)

#: the groups into which names went
_GROUPED = {
    "relations": "Affine Box InputPattern OutputPattern Pattern image_relations "
    "route_relations search_relations sequence_relations text_relations translation_relations",
    "results": "AuditResult CombinationResult Correctness CreditReport FairnessReport Optimisation",
    "systems": "ApertiumTranslator HttpService SqliteSearch TantivySearch Training ValhallaRouter Weka",
    "trees": "read_forest read_pmml write_pmml",
}
#: former names, which warn
_RENAMED = {
    **{name: f"{group}.{name}" for name, group in list_modules(_GROUPED).items()},
    "Combination": "results.CombinationResult",
    "Combinations": "AllowedCombinations",
    "forest_of": "trees.read_forest",
}
__getattr__ = make_getattr(__name__, _MODULES, _RENAMED)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
