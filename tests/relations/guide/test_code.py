"""Modules that the guide writes: whatever the user answered, it stays data."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import datamorphic as dm
from datamorphic.relations.guide.code import (
    DerivedPattern,
    format_call,
    format_pattern_module,
    format_relation_code,
    format_relation_module,
)
from datamorphic.relations.guide.systems import open_system, read_space
from datamorphic.relations.patterns.pattern import ParentEdge

NASTY = "\"\"\"\n'''; import os #\\"


def make_relation(name="a.MR1", values=("x",), domain="shops"):
    change = dm.patterns["Conjunctive Conditions"].input(column="brand", values=values)
    return (change >> dm.patterns["Subset"].output()).named(name, promise="MR", domain=domain, needs=(domain,))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=50)
@given(st.text(max_size=200), st.lists(st.text(max_size=80).filter(lambda text: text != "any"), min_size=1, max_size=4))
def test_a_relation_is_the_same_after_it_was_written(text, values):
    relation = make_relation(name=text or "a", values=tuple(values), domain=text or "a")
    namespace = {"dm": dm}
    exec("\n".join(format_relation_code(relation)), namespace)
    written = namespace["RELATION"]
    assert (written.name, written.input, written.domain, written.needs) == (
        relation.name,
        relation.input,
        relation.domain,
        relation.needs,
    )


def test_nothing_that_a_user_answers_becomes_code(tmp_path):
    space = read_space("brand = any, x")
    system = open_system(
        model_name=NASTY,
        model=lambda frame: frame.brand,
        data_name="none",
        data=space,
        target=None,
        trust=False,
        seed=0,
    )
    module = format_relation_module(system, make_relation(NASTY, (NASTY,), NASTY), tmp_path / "test_x.py")
    tree = ast.parse(module)
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert names == {"pkgutil", "datamorphic"}
    literals = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert literals.count(NASTY) == 5  # the model, the value, the name, the domain and the assumption


def test_long_calls_are_broken_as_a_formatter_breaks_them():
    lines = format_call("x = ", "f", ["a" * 100, "b" * 100])
    assert lines == ["x = f(", f"    {'a' * 100},", f"    {'b' * 100},", ")"]


@pytest.mark.parametrize(
    "pattern",
    [
        DerivedPattern(
            name=NASTY,
            kind="MRP",
            scope="shops",
            definition=NASTY,
            way="lower",
            edges=(ParentEdge("Monotone", True, NASTY),),
            input=dm.patterns["Monotone"].input(columns=("x",), factor=1.1),
            output=dm.patterns["Monotone"].output(direction="down"),
        ),
        DerivedPattern(
            name="Stability",
            kind="MRP",
            scope="shops",
            definition="Small differences do not matter.",
            way="raise",
            edges=(ParentEdge("Symmetry", True, "common"),),
            children=("Noise", "Similar"),
        ),
    ],
)
def test_a_derived_pattern_runs_and_is_in_its_catalogue(pattern, tmp_path):
    file = tmp_path / "test_pattern.py"
    file.write_text(format_pattern_module(pattern, Path(file)), encoding="utf-8")
    module = runpy.run_path(str(file))
    module["test_the_pattern_is_in_the_catalogue"]()
    derived_pattern = module["PATTERN"]
    assert (derived_pattern.name, derived_pattern.definition, derived_pattern.parents) == (
        pattern.name,
        pattern.definition,
        tuple(edge.parent for edge in pattern.edges),
    )
    if pattern.input is not None:
        assert derived_pattern.input(columns=("y",)).describe() == "y is multiplied by 1.1"
        assert derived_pattern.output().describe() == "the answer does not rise"
