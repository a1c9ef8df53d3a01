"""The public names, and an import that loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

import datamorphic as dm

NAMES = [
    "Affine",
    "ApertiumTranslator",
    "AuditResult",
    "Box",
    "Categorical",
    "ClusterRelation",
    "Combination",
    "Combinations",
    "Continuous",
    "Correctness",
    "CreditReport",
    "FairnessReport",
    "Front",
    "FunctionRelation",
    "HttpService",
    "Image",
    "InputPattern",
    "Integer",
    "LearnerRelation",
    "OneHot",
    "Optimisation",
    "OutputPattern",
    "Outputs",
    "Pattern",
    "PatternRelation",
    "Points",
    "Relation",
    "Result",
    "Rule",
    "Sequence",
    "Space",
    "SqliteSearch",
    "Status",
    "Store",
    "TantivySearch",
    "TestPool",
    "TestSet",
    "TestSystem",
    "Text",
    "Training",
    "ValhallaRouter",
    "Weka",
    "analyser",
    "assert_covers",
    "assert_front_unchanged",
    "assert_holds",
    "case_filter",
    "case_metric",
    "check",
    "combine",
    "compute_statistics",
    "cover",
    "credit",
    "data",
    "datamorphism",
    "errors",
    "executor",
    "explore",
    "fairness",
    "find_constraints",
    "forest_of",
    "generate",
    "hunt",
    "image_relations",
    "invariant",
    "laws",
    "metamorphism",
    "monotone",
    "mutate",
    "optimise",
    "parametrize_with_relations",
    "patterns",
    "plan",
    "play",
    "programs",
    "read_pmml",
    "read_space",
    "record",
    "route_relations",
    "search_relations",
    "seed_maker",
    "select",
    "sequence_relations",
    "set_filter",
    "set_metric",
    "simulate",
    "subjects",
    "test",
    "text_relations",
    "translation_relations",
    "wrap",
    "write_pmml",
]


def test_public_names_do_not_change():
    assert dm.__all__ == NAMES
    assert set(NAMES) <= set(dir(dm))
    for name in NAMES:
        assert getattr(dm, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dm.nothing


def test_every_public_name_has_a_docstring():
    for name in NAMES:
        assert getattr(dm, name).__doc__, name


def test_import_loads_nothing_heavy():
    code = "import sys, datamorphic; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {
        "numpy",
        "pandas",
        "scipy",
        "sklearn",
        "plotly",
        "hypothesis",
        "rich",
        "typer",
        "jinja2",
        "sqlalchemy",
        "pyarrow",
    }
    assert heavy.isdisjoint(loaded)


def test_a_space_needs_only_numpy():
    code = "import sys, datamorphic as dm; dm.Space([dm.Continuous('x')]); print('pandas' in sys.modules, 'numpy' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "True"]


def test_an_exploration_from_the_command_line_imports_only_what_it_needs(tmp_path):
    code = """
import sys
from datamorphic.cli.main import main
sys.argv = ["datamorphic", "explore", "--subject", "Box 1", "--walks", "50", "--store", sys.argv[1]]
try:
    main()
finally:
    print(*sys.modules)
"""
    command = [sys.executable, "-c", code, str(tmp_path / "runs.sqlite")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    unneeded = {
        "scipy",
        "sklearn",
        "sqlalchemy.dialects.postgresql",
        "datamorphic.cli.credit",
        "datamorphic.data.products",
        "datamorphic.data.programs",
        "datamorphic.relations.search",
    }
    assert unneeded.isdisjoint(printed)
    assert "datamorphic.exploration.api" in printed
