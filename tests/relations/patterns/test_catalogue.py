"""Every pattern of the catalogue on a system that keeps its relation and on a fault that breaks it."""

from __future__ import annotations

import re

import pytest

import datamorphic as dm
from datamorphic.relations.patterns.catalogue import SCOPES
from datamorphic.relations.patterns.pattern import KINDS
from support.cases import in_one_test

_DOMAINS = {
    "product search": "product searches",
    "translator": "machine translation",
    "route finder": "maps and routes",
    "temperature converter": "conversions of units",
}
CASES = [
    pytest.param(name, example, id=f"{name}: {example.relation.name}")
    for name, pattern in dm.patterns.items()
    for example in pattern.examples
]


@pytest.mark.parametrize(
    ("name", "example"),
    [
        pytest.param(*case.values, marks=() if n % 6 == 0 else pytest.mark.slow, id=case.id)
        for n, case in enumerate(CASES)
    ],
)
def test_a_relation_of_the_pattern_holds_on_a_system_and_finds_its_fault(name, example):
    system = dm.data.example_systems[example.system]
    correct = dm.check(system, system.cases, relations=[example.relation], shrink=False).table.iloc[0]
    assert correct.holds > 0
    assert (correct.violated, correct.undefined) == (0, 0)
    faulty_system = system.with_fault(example.fault)
    faulty = dm.check(faulty_system, system.cases, relations=[example.relation], shrink=False).table.iloc[0]
    assert faulty.violated > 0


@in_one_test("pattern", dm.patterns.values())
def test_every_pattern_is_complete(pattern):
    assert pattern.examples
    assert pattern.scope in SCOPES
    assert pattern.kind in KINDS
    assert re.fullmatch(r"[A-Z].*\.", pattern.definition)
    assert pattern.reference
    for partner in pattern.partners:
        assert partner in dm.patterns
    makes_inputs, makes_outputs = pattern.inputs is not None, pattern.outputs is not None
    assert makes_inputs == (pattern.kind != "MROP")
    if pattern.kind != "MRIP":
        assert makes_outputs
    for side in ("input", "output"):
        assert all(parameter.help for parameter in pattern.parameters(side))
    assert pattern.name in str(pattern)


@in_one_test(("name", "example"), CASES)
def test_an_example_uses_the_pattern_it_illustrates(name, example):
    """One side of the example is that of the pattern, or of one of its sub-patterns or of its root."""
    pattern = dm.patterns[name]
    sides = {
        type(example.relation.input),
        type(getattr(example.relation.input, "change", None)),
        type(example.relation.output),
    }
    assert sides & {pattern.inputs, pattern.outputs}
    assert example.relation.domain == _DOMAINS.get(example.system, "numeric programs")
    assert example.relation.statement in str(example.relation).replace(",\n  then ", ": ").replace("\n", "")


def test_names_of_examples_are_unique_and_have_a_namespace():
    names = [example.relation.name for pattern in dm.patterns.values() for example in pattern.examples]
    assert len(set(names)) == len(names)
    assert all("." in name for name in names)


def test_the_catalogue_has_the_patterns_of_the_literature():
    counts = {scope: sum(pattern.scope == scope for pattern in dm.patterns.values()) for scope in SCOPES}
    assert list(counts.values()) == [4, 9, 6, 4, 5, 7]
    assert dm.patterns["CHANGE direction"].name == "Change Direction"
    assert "change direction" in dm.patterns


def test_two_faults_are_told_apart_by_two_relations():
    search = dm.data.example_systems["product search"]
    relations = [dm.patterns[name].examples[0].relation for name in ("Complete Partitions", "Partition Difference")]
    report = dm.check(search.with_fault("filters lose items"), search.cases, relations=relations, shrink=False)
    assert (report.table.violated > 0).tolist() == [False, True]
