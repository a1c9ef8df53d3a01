"""Testing classifiers, and anything else, without an oracle.

This module is the public API. Names are imported on first use, so that ``import datamorphic`` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from . import data as data
    from . import errors as errors
    from .audit.api import test as test
    from .audit.result import AuditResult as AuditResult
    from .audit.result import Result as Result
    from .data.programs import programs as programs
    from .data.subjects import subjects as subjects
    from .exploration.front import Front as Front
    from .exploration.plan import plan as plan
    from .exploration.run import explore as explore
    from .hunting.api import generate as generate
    from .hunting.api import hunt as hunt
    from .hunting.api import simulate as simulate
    from .morphisms.api import laws as laws
    from .morphisms.case_columns import Correctness as Correctness
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
    from .morphisms.system import TestSystem as TestSystem
    from .mutation.api import mutate as mutate
    from .relations.base import Relation as Relation
    from .relations.box import Affine as Affine
    from .relations.box import Box as Box
    from .relations.check.api import check as check
    from .relations.feature import invariant as invariant
    from .relations.feature import monotone as monotone
    from .relations.function import FunctionRelation as FunctionRelation
    from .relations.image import image_relations as image_relations
    from .relations.image import sequence_relations as sequence_relations
    from .relations.learner.base import ClusterRelation as ClusterRelation
    from .relations.learner.base import LearnerRelation as LearnerRelation
    from .relations.patterns.catalogue import patterns as patterns
    from .relations.patterns.pattern import Pattern as Pattern
    from .relations.patterns.relation import InputPattern as InputPattern
    from .relations.patterns.relation import OutputPattern as OutputPattern
    from .relations.patterns.relation import PatternRelation as PatternRelation
    from .relations.routes import route_relations as route_relations
    from .relations.search import search_relations as search_relations
    from .relations.text import text_relations as text_relations
    from .relations.translation import translation_relations as translation_relations
    from .risk.credit.result import CreditReport as CreditReport
    from .risk.credit.run import credit as credit
    from .risk.fairness.result import FairnessReport as FairnessReport
    from .risk.fairness.run import fairness as fairness
    from .runs.store import Store as Store
    from .scripting.api import play as play
    from .scripting.pool import TestPool as TestPool
    from .scripting.recorder import record as record
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
    from .synthesis.combination.result import CombinationResult as CombinationResult
    from .synthesis.combination.run import combine as combine
    from .synthesis.optimisation.api import optimise as optimise
    from .synthesis.optimisation.result import Optimisation as Optimisation
    from .systems.http import HttpService as HttpService
    from .systems.router import ValhallaRouter as ValhallaRouter
    from .systems.search_engines import SqliteSearch as SqliteSearch
    from .systems.search_engines import TantivySearch as TantivySearch
    from .systems.training import Training as Training
    from .systems.translator import ApertiumTranslator as ApertiumTranslator
    from .systems.weka import Weka as Weka
    from .systems.wrap import wrap as wrap
    from .testing.assertions import assert_covers as assert_covers
    from .testing.assertions import assert_holds as assert_holds
    from .testing.baselines import assert_front_unchanged as assert_front_unchanged
    from .testing.parametrize import parametrize_with_relations as parametrize_with_relations
    from .trees.coverage.run import cover as cover
    from .trees.coverage.run import select as select
    from .trees.pmml.files import read_pmml as read_pmml
    from .trees.read import read_forest as read_forest
    from .trees.write import write_pmml as write_pmml


#: the public names of each module
_NAMES = {
    "": "data errors",
    "audit.api": "test",
    "audit.result": "AuditResult Result",
    "data.programs": "programs",
    "data.subjects": "subjects",
    "exploration.run": "explore",
    "exploration.front": "Front",
    "exploration.plan": "plan",
    "hunting.api": "generate hunt simulate",
    "morphisms.api": "laws",
    "morphisms.case_columns": "Correctness",
    "morphisms.case_statistics": "compute_statistics",
    "morphisms.cases": "TestSet",
    "morphisms.decorators": "analyser case_filter case_metric datamorphism executor metamorphism seed_maker set_filter set_metric",
    "morphisms.system": "TestSystem",
    "mutation.api": "mutate",
    "relations.base": "Relation",
    "relations.box": "Affine Box",
    "relations.check.api": "check",
    "relations.feature": "invariant monotone",
    "relations.function": "FunctionRelation",
    "relations.image": "image_relations sequence_relations",
    "relations.learner.base": "ClusterRelation LearnerRelation",
    "relations.patterns.catalogue": "patterns",
    "relations.patterns.pattern": "Pattern",
    "relations.patterns.relation": "InputPattern OutputPattern PatternRelation",
    "relations.routes": "route_relations",
    "relations.search": "search_relations",
    "relations.text": "text_relations",
    "relations.translation": "translation_relations",
    "risk.credit.run": "credit",
    "risk.credit.result": "CreditReport",
    "risk.fairness.run": "fairness",
    "risk.fairness.result": "FairnessReport",
    "runs.store": "Store",
    "scripting.api": "play",
    "scripting.pool": "TestPool",
    "scripting.recorder": "record",
    "space.blocks": "Image Sequence",
    "space.column_relations": "find_constraints",
    "space.constraints": "AllowedCombinations OneHot Rule",
    "space.description": "read_space",
    "space.features": "Categorical Continuous Integer",
    "space.text_feature": "Text",
    "space.outputs": "Outputs Status",
    "space.points": "Points",
    "space.space": "Space",
    "synthesis.combination.run": "combine",
    "synthesis.combination.result": "CombinationResult",
    "synthesis.optimisation.api": "optimise",
    "synthesis.optimisation.result": "Optimisation",
    "systems.http": "HttpService",
    "systems.router": "ValhallaRouter",
    "systems.search_engines": "SqliteSearch TantivySearch",
    "systems.training": "Training",
    "systems.translator": "ApertiumTranslator",
    "systems.weka": "Weka",
    "systems.wrap": "wrap",
    "testing.assertions": "assert_covers assert_holds",
    "testing.baselines": "assert_front_unchanged",
    "testing.parametrize": "parametrize_with_relations",
    "trees.coverage.run": "cover select",
    "trees.pmml.files": "read_pmml",
    "trees.write": "write_pmml",
    "trees.read": "read_forest",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_MODULES)


#: old names, which warn
_RENAMED = {"Combination": "CombinationResult", "Combinations": "AllowedCombinations", "forest_of": "read_forest"}


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        import warnings

        message = f"datamorphic.{name} is deprecated since datamorphic 0.2. Use {_RENAMED[name]}."
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return __getattr__(_RENAMED[name])
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'datamorphic' has no attribute {name!r}")
    if not module:
        return importlib.import_module(f".{name}", __name__)
    value = getattr(importlib.import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
