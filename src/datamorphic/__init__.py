"""Testing classifiers, and anything else, without an oracle.

The public names are found here and nowhere else. They are imported when first used, so that
``import datamorphic`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import data as data
    from . import errors as errors
    from .asserts.asserting import assert_covers as assert_covers
    from .asserts.asserting import assert_holds as assert_holds
    from .asserts.baselines import assert_front_unchanged as assert_front_unchanged
    from .asserts.parametrizing import parametrize_with_relations as parametrize_with_relations
    from .cases import TestSet as TestSet
    from .checkup.result import AuditResult as AuditResult
    from .checkup.result import Result as Result
    from .data.programs import programs as programs
    from .data.subjects import subjects as subjects
    from .fronts.front import Front as Front
    from .morphisms.marks import analyser as analyser
    from .morphisms.marks import case_filter as case_filter
    from .morphisms.marks import case_metric as case_metric
    from .morphisms.marks import datamorphism as datamorphism
    from .morphisms.marks import executor as executor
    from .morphisms.marks import metamorphism as metamorphism
    from .morphisms.marks import seed_maker as seed_maker
    from .morphisms.marks import set_filter as set_filter
    from .morphisms.marks import set_metric as set_metric
    from .morphisms.system import TestSystem as TestSystem
    from .outputs import Outputs as Outputs
    from .outputs import Status as Status
    from .relations.base import Relation as Relation
    from .relations.boxes import Affine as Affine
    from .relations.boxes import Box as Box
    from .relations.learners import LearnerRelation as LearnerRelation
    from .relations.numeric import FunctionRelation as FunctionRelation
    from .relations.sweeps import invariant as invariant
    from .relations.sweeps import monotone as monotone
    from .runs.store import Store as Store
    from .space.constraints import Combinations as Combinations
    from .space.constraints import OneHot as OneHot
    from .space.constraints import Rule as Rule
    from .space.features import Categorical as Categorical
    from .space.features import Continuous as Continuous
    from .space.features import Integer as Integer
    from .space.points import Points as Points
    from .space.space import Space as Space
    from .sut.training import Training as Training
    from .sut.weka import Weka as Weka
    from .sut.wrap import wrap as wrap
    from .trees.pmml.files import read_pmml as read_pmml
    from .trees.pmml.files import write_pmml as write_pmml
    from .trees.reading import forest_of as forest_of
    from .verbs.check import check as check
    from .verbs.cover import cover as cover
    from .verbs.explore import explore as explore
    from .verbs.hunt import generate as generate
    from .verbs.hunt import hunt as hunt
    from .verbs.laws import laws as laws
    from .verbs.mutate import mutate as mutate
    from .verbs.plan import plan as plan
    from .verbs.select import select as select
    from .verbs.simulate import simulate as simulate
    from .verbs.testing import test as test

__version__ = "0.1.0"

_MODULES = {
    "Affine": "relations.boxes",
    "AuditResult": "checkup.result",
    "Box": "relations.boxes",
    "Categorical": "space.features",
    "Combinations": "space.constraints",
    "Continuous": "space.features",
    "Front": "fronts.front",
    "FunctionRelation": "relations.numeric",
    "Integer": "space.features",
    "LearnerRelation": "relations.learners",
    "OneHot": "space.constraints",
    "Outputs": "outputs",
    "Points": "space.points",
    "Relation": "relations.base",
    "Result": "checkup.result",
    "Rule": "space.constraints",
    "Space": "space.space",
    "Status": "outputs",
    "Store": "runs.store",
    "TestSet": "cases",
    "TestSystem": "morphisms.system",
    "Training": "sut.training",
    "Weka": "sut.weka",
    "analyser": "morphisms.marks",
    "assert_covers": "asserts.asserting",
    "assert_front_unchanged": "asserts.baselines",
    "assert_holds": "asserts.asserting",
    "case_filter": "morphisms.marks",
    "case_metric": "morphisms.marks",
    "check": "verbs.check",
    "cover": "verbs.cover",
    "forest_of": "trees.reading",
    "generate": "verbs.hunt",
    "hunt": "verbs.hunt",
    "programs": "data.programs",
    "simulate": "verbs.simulate",
    "read_pmml": "trees.pmml.files",
    "select": "verbs.select",
    "write_pmml": "trees.pmml.files",
    "data": "",
    "datamorphism": "morphisms.marks",
    "errors": "",
    "executor": "morphisms.marks",
    "explore": "verbs.explore",
    "invariant": "relations.sweeps",
    "laws": "verbs.laws",
    "metamorphism": "morphisms.marks",
    "monotone": "relations.sweeps",
    "mutate": "verbs.mutate",
    "parametrize_with_relations": "asserts.parametrizing",
    "plan": "verbs.plan",
    "seed_maker": "morphisms.marks",
    "set_filter": "morphisms.marks",
    "set_metric": "morphisms.marks",
    "subjects": "data.subjects",
    "test": "verbs.testing",
    "wrap": "sut.wrap",
}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
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
