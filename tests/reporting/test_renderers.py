"""Every result names a function that builds its page, in full or in the short form for terminals."""

from __future__ import annotations

import importlib
import inspect

from datamorphic.reporting.export import Exportable, load_renderer
from support.cases import in_one_test

RESULTS = [
    ("audit.result", "AuditResult"),
    ("exploration.front", "Front"),
    ("exploration.diff.diff", "Difference"),
    ("hunting.result", "Hunt"),
    ("hunting.simulation", "Simulation"),
    ("morphisms.law_result", "LawReport"),
    ("mutation.result", "Mutation"),
    ("relations.check.result", "CheckReport"),
    ("relations.patterns.catalogue", "PatternCatalogue"),
    ("studies.overview", "StudyOverview"),
    ("studies.result", "Study"),
    ("trees.coverage.coverage", "Coverage"),
    ("trees.coverage.mutation", "MutationScore"),
    ("trees.coverage.selection", "Selection"),
]


@in_one_test(("module", "name"), RESULTS)
def test_renderers_exist(module, name):
    result = getattr(importlib.import_module(f"datamorphic.{module}"), name)
    assert issubclass(result, Exportable)
    build_page = load_renderer(result._PAGE)
    assert inspect.signature(build_page).parameters["brief"].default is False
