"""The published relations, classified by patterns."""

from __future__ import annotations

import pytest

import datamorphic as dm
from datamorphic.relations.patterns.published import published_relations
from support.cases import LONG, in_one_test

RUNNABLE = [relation for relation in published_relations.values() if relation.relation is not None]


@pytest.mark.parametrize("published", RUNNABLE if LONG else RUNNABLE[::2], ids=lambda published: published.name)
def test_a_published_relation_holds_on_the_example_system(published):
    system = dm.data.example_systems[published.system]
    outcome = dm.check(system, system.cases, relations=[published.relation]).table.iloc[0]
    assert outcome.holds > 0
    assert (outcome.violated, outcome.undefined) == (0, 0)
    assert published.relation.promise == published.promise
    assert published.relation.name == published.name


@pytest.mark.slow
@in_one_test(
    ("name", "fault"),
    [
        ("search.SwapJD", "first word decides"),
        ("search.MPReverseJD", "first word decides"),
        ("routes.TrimOff", "closes at night"),
        ("routes.Environment", "the app rounds"),
        ("search.HMR1", "advertises"),
        ("translation.case", "small letters confuse it"),
    ],
)
def test_a_published_relation_finds_a_fault(name, fault):
    published = published_relations[name]
    system = dm.data.example_systems[published.system].with_fault(fault)
    assert dm.check(system, system.cases, relations=[published.relation], shrink=False).table.violated[0] > 0


def test_all_relations_of_the_section_are_classified():
    section = [relation for relation in published_relations.values() if relation.section == "6.3.8"]
    assert len(section) == 9
    families = {"Similar": 0, "Irrelevance": 0}
    for relation in section:
        for pattern in relation.patterns:
            lineage = {pattern, *dm.patterns[pattern].parents}
            for family in families:
                families[family] += family in lineage
    assert families == {"Similar": 7, "Irrelevance": 2}
    assert all(pattern in dm.patterns for relation in published_relations.values() for pattern in relation.patterns)


def test_misprints_are_noted():
    assert "Printed reversed" in published_relations["search.HMR1"].note
    assert published_relations["translation.MRR4"].patterns == ("Subtraction",)
    assert "Printed as Substitution" in published_relations["translation.MRR4"].note
