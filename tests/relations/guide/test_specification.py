"""A relation as one line of text."""

from __future__ import annotations

import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError, DataError
from datamorphic.relations.guide.specification import parse_pattern_relation

SEARCH = dm.data.example_systems["product search"]
RIDES = dm.Space([dm.Continuous("km", 0, 40), dm.Continuous("minutes", 0, 90), dm.Categorical("night", ["yes", "no"])])


def fail(frame):
    raise AssertionError("the system is not queried")


def test_parameters_are_those_of_the_patterns():
    line = "additive: columns = minutes, KM; amount = 5 >> Additive: amount = 2.5; tolerance = 0.1"
    relation = parse_pattern_relation(line, fail, RIDES)
    assert relation.input == dm.patterns["Additive"].input(columns=("minutes", "km"), amount=5.0)
    assert relation.output == dm.patterns["Additive"].output(amount=2.5, tolerance=0.1)


def test_values_are_those_of_the_column():
    relation = parse_pattern_relation(
        "Conjunctive Conditions: values = Acme, Bolt; column = brand >> Subset", SEARCH, SEARCH.cases
    )
    assert relation.input == dm.patterns["Conjunctive Conditions"].input(column="brand", values=("Acme", "Bolt"))
    assert relation.output == dm.patterns["Subset"].output()


def test_the_output_pattern_is_that_of_the_same_name():
    relation = parse_pattern_relation("Monotone: columns = km; amount = 1", fail, RIDES)
    assert relation.output == dm.patterns["Monotone"].output()


def test_parts_are_those_of_the_answers():
    routes = dm.data.example_systems["route finder"]
    line = "Symmetry: columns = start, goal >> Partially-Equal: parts = km"
    relation = parse_pattern_relation(line, routes, routes.cases)
    dm.assert_holds(routes, routes.cases, relation)
    with pytest.raises(ArgumentError, match="There is no part 'miles'"):
        parse_pattern_relation(line.replace("= km", "= miles"), routes, routes.cases)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "names no input pattern. Expected INPUT PATTERN: parameter = value"),
        (">> Subset", "names no input pattern"),
        ("Aditive: columns = km", "Additive"),
        ("Additive", "needs the parameter columns"),
        ("Additive: columns = miles", "There is no column 'miles'"),
        ("Additive: columns = km; ammount = 1", "no parameter 'ammount'. Did you mean 'amount'"),
        ("Additive: columns = km; amount = much", "is not understood. .*much"),
        ("Additive: columns", "Expected name = "),
        ("Input-Merge: text = night; filter = night; words = a -> b", "says nothing about outputs"),
    ],
)
def test_wrong_lines(line, why):
    with pytest.raises((ArgumentError, DataError), match=why):
        parse_pattern_relation(line, fail, RIDES)
