"""The public names, and an import that loads nothing heavy."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from operator import attrgetter

import pytest

import datamorphic as dm

MAX_NAMES = 74  # more are in groups
NAMES = [
    "AllowedCombinations",
    "Audio",
    "Categorical",
    "ClusterRelation",
    "Continuous",
    "Front",
    "FunctionRelation",
    "Image",
    "Integer",
    "LearnerRelation",
    "OneHot",
    "Outputs",
    "PatternRelation",
    "Points",
    "Relation",
    "Result",
    "Rule",
    "Sequence",
    "Space",
    "Status",
    "Store",
    "TestPool",
    "TestSet",
    "TestSystem",
    "Text",
    "analyser",
    "assert_covers",
    "assert_front_unchanged",
    "assert_holds",
    "case_filter",
    "case_metric",
    "check",
    "combine",
    "compare",
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
    "generate",
    "hunt",
    "hunting",
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
    "read_space",
    "record",
    "relations",
    "relations_for",
    "results",
    "seed_maker",
    "select",
    "set_filter",
    "set_metric",
    "simulate",
    "study",
    "subjects",
    "systems",
    "test",
    "trees",
    "wrap",
]
GROUPS = {
    "hunting": [
        "classify_region",
        "discrepancy",
        "dispersion",
        "draw_region",
        "make_generator",
        "make_selector",
        "measure_spread",
    ],
    "relations": [
        "Affine",
        "Box",
        "InputPattern",
        "NumberRange",
        "OutputPattern",
        "Pattern",
        "audio_relations",
        "compare_traces",
        "image_relations",
        "parse_pattern_relation",
        "rank_learners",
        "route_relations",
        "search_relations",
        "sequence_relations",
        "text_relations",
        "translation_relations",
    ],
    "results": [
        "AuditResult",
        "CaseStatistics",
        "CheckReport",
        "CombinationResult",
        "Correctness",
        "Coverage",
        "CreditReport",
        "Difference",
        "Example",
        "FairnessReport",
        "Finding",
        "Front",
        "GeneratedGroups",
        "Hunt",
        "LawReport",
        "LearnerRanking",
        "Measure",
        "ModelComparison",
        "Mutation",
        "MutationScore",
        "Optimisation",
        "ScriptResult",
        "Selection",
        "Simulation",
        "Study",
        "StudyOverview",
        "TreeExperiment",
        "ViolationRegion",
    ],
    "systems": [
        "ApertiumTranslator",
        "HttpService",
        "SqliteSearch",
        "TantivySearch",
        "Training",
        "ValhallaRouter",
        "Weka",
    ],
    "trees": ["read_forest", "read_pmml", "write_pmml"],
}


def test_public_names_do_not_change():
    assert dm.__all__ == NAMES
    assert len(NAMES) <= MAX_NAMES
    for group, names in GROUPS.items():
        module = getattr(dm, group)
        assert module.__all__ == names
        assert all(getattr(module, name).__doc__ for name in names), group
    assert set(NAMES) <= set(dir(dm))
    for name in NAMES:
        assert getattr(dm, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dm.nothing


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Combination", "results.CombinationResult"),
        ("Combinations", "AllowedCombinations"),
        ("forest_of", "trees.read_forest"),
        ("HttpService", "systems.HttpService"),
        ("text_relations", "relations.text_relations"),
    ],
)
def test_old_public_names_warn(old, new):
    with pytest.warns(DeprecationWarning, match=f"datamorphic.{old} is deprecated .* Use datamorphic.{new}"):
        value = getattr(dm, old)
    assert value is attrgetter(new)(dm)


def test_names_that_went_into_groups_still_work():
    names = {f"{group}.{name}": name for group, members in GROUPS.items() for name in members if name in dm._RENAMED}
    assert len(names) >= 23
    for new, old in names.items():
        with pytest.warns(DeprecationWarning, match=new):
            assert getattr(dm, old) is attrgetter(new)(dm)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("relations.change", "relations.algebra.change"),
        ("relations.credit", "relations.catalogue.credit"),
        ("relations.learner.base", "relations.learners.base"),
    ],
)
def test_modules_that_moved_are_found_under_their_former_names(old, new):
    sys.modules.pop(f"datamorphic.{old}", None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module = importlib.import_module(f"datamorphic.{old}")
    message = f"datamorphic.{old} is deprecated since datamorphic 0.2. Use datamorphic.{new}."
    assert str(caught[-1].message) == message  # the last one: its package may warn first
    assert module is importlib.import_module(f"datamorphic.{new}")


def test_every_public_name_has_a_docstring():
    for name in NAMES:
        assert getattr(dm, name).__doc__, name


def test_import_loads_nothing_heavy():
    code = "import sys, datamorphic; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"numpy", "pandas", "scipy", "sklearn", "plotly", "hypothesis", "rich", "typer", "jinja2", "pyarrow"}
    assert heavy.isdisjoint(loaded)


def test_a_space_needs_only_numpy():
    code = "import sys, datamorphic as dm; dm.Space([dm.Continuous('x')]); print('pandas' in sys.modules, 'numpy' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "True"]


LIST_MODULES = """
import sys
from datamorphic.cli.main import main
try:
    main()
finally:
    print(*sys.modules)
"""
#: slow to import, and not needed to explore a coded classifier
SLOW_IMPORTS = {"pandas", "pydantic", "joblib", "scipy", "sklearn", "numba", "plotly", "hypothesis", "jinja2"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("store", "unneeded"), [("none", {"datamorphic.runs.store", "pyarrow"}), ("runs.sqlite", {"sqlalchemy", "psycopg"})]
)
def test_an_exploration_from_the_command_line_imports_only_what_it_needs(store, unneeded, tmp_path):
    options = ["explore", "--subject", "Box 2", "--walks", "50", "--seeds", "20", "--store", store]
    command = [sys.executable, "-c", LIST_MODULES, *options]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    printed = set(run.stdout.split())
    unneeded |= SLOW_IMPORTS | {
        "importlib.metadata",
        "datamorphic.cli.credit",
        "datamorphic.data.products",
        "datamorphic.exploration.augment",
        "datamorphic.exploration.counterfactual",
        "datamorphic.exploration.diff.diff",
        "datamorphic.exploration.plan",
        "datamorphic.exploration.trials",
        "datamorphic.morphisms.case_files",
        "datamorphic.morphisms.image_moves",
        "datamorphic.morphisms.morphy_files",
        "datamorphic.data.programs",
        "datamorphic.relations.catalogue.search",
        "datamorphic.reporting.block_pictures",
        "datamorphic.reporting.thinning",
    }
    assert not unneeded & printed
    assert "datamorphic.exploration.run" in printed


def test_the_version_is_printed_without_importing_commands():
    command = [sys.executable, "-c", LIST_MODULES, "--version"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.startswith(f"datamorphic {dm.__version__}\n")
    assert not {"numpy", "pydantic", "rich", "datamorphic.cli.explore"} & set(run.stdout.split())
