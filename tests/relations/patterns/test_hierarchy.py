"""Parents, layers and the measure of abstraction."""

from __future__ import annotations

import pytest

import datamorphic as dm
from datamorphic.relations.patterns.catalogue import PatternCatalogue
from datamorphic.relations.patterns.hierarchy import find_ancestors, find_descendants, find_layers, measure_abstraction
from datamorphic.relations.patterns.pattern import ParentEdge, Pattern


def make_pattern(name, *parents):
    edges = tuple(ParentEdge(parent) for parent in parents)
    return Pattern(name=name, kind="MRP", scope="", definition="", reference="", edges=edges)


def test_edges_that_chapter_6_states_are_not_marked_as_inferred():
    stated = {
        (pattern.name, edge.parent) for pattern in dm.patterns.values() for edge in pattern.edges if not edge.inferred
    }
    similar = {(name, "Similar") for name in ("Query-Meaning", "Input-Merge")}
    translation = {
        (name, parent)
        for name in ("Addition", "Subtraction", "Substitution", "Combination")
        for parent in ("Sets", "Similar")
    }
    others = {("Similar", "Symmetry"), ("Irrelevance", "Symmetry")}
    parts = {("Fully-Equal", "Irrelevance"), ("Partially-Equal", "Irrelevance")}
    assert stated == similar | translation | others | parts
    assert all(edge.source for pattern in dm.patterns.values() for edge in pattern.edges)


def test_a_pattern_appears_once_in_the_layer_of_its_lowest_level():
    catalogue = PatternCatalogue(
        [make_pattern("A"), make_pattern("B", "A"), make_pattern("C", "B"), make_pattern("D", "A", "C")]
    )
    assert catalogue.find_layers("A") == [["A"], ["B"], ["C"], ["D"]]
    layers = dm.patterns.find_layers("Symmetry")
    names = [name for layer in layers for name in layer]
    assert len(names) == len(set(names)) == 1 + len(find_descendants(dm.patterns, "Symmetry"))
    assert "Query-Meaning" in layers[2]
    assert "Addition" in find_layers(dm.patterns, "Sets")[1]
    assert find_ancestors(dm.patterns, "Addition") == {"Sets", "Similar", "Symmetry"}


def test_a_super_pattern_is_more_abstract_than_its_sub_patterns():
    for relations in ([], [["Query-Meaning"], ["Addition", "Fully-Equal"]] * 7):
        abstraction = measure_abstraction(dm.patterns, relations)
        for pattern in dm.patterns.values():
            for parent in pattern.parents:
                assert abstraction[parent] > abstraction[pattern.name], (parent, pattern.name)
        assert all(0 < value <= 1 for value in abstraction.values())


def test_relations_make_a_pattern_more_abstract_together_with_all_above_it():
    few, many = measure_abstraction(dm.patterns), measure_abstraction(dm.patterns, [["Query-Meaning"]] * 20)
    for name in ("Query-Meaning", "Similar", "Symmetry"):
        assert many[name] > few[name]
    assert many["Affine"] < few["Affine"]


def test_a_new_pattern_joins_the_catalogue():
    catalogue = dm.patterns.add(make_pattern("Typing Errors", "Noise", "Substitution"))
    assert catalogue.find_children("Noise") == ["Typing Errors"]
    assert catalogue.abstraction["Typing Errors"] < catalogue.abstraction["Noise"]
    assert "Typing Errors" not in dm.patterns


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        ([make_pattern("A", "B"), make_pattern("B", "A")], "its own super-pattern"),
        ([make_pattern("A", "C")], "unknown parent 'C'"),
        ([make_pattern("A"), make_pattern("a")], "Two patterns are called 'a'"),
    ],
)
def test_a_wrong_hierarchy_gets_one_clear_line(patterns, message):
    with pytest.raises(dm.errors.ArgumentError, match=message):
        PatternCatalogue(patterns)
