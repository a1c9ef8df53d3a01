"""The entries of patterns.toml are built from rows; a wrong row is named."""

from __future__ import annotations

import pytest

from datamorphic.errors import DataError
from datamorphic.relations.patterns.tables import RelationRow, build_relation, read_patterns


def _make_row(**changes):
    row = {
        "name": "search.test",
        "promise": "HMR",
        "input": {"Restrict": {"column": "brand", "values": ("Acme",)}, "where": {"sort": "name"}},
        "output": {"Within": {}},
        "system": "product search",
    }
    return RelationRow(**{**row, **changes})


def test_a_row_becomes_a_relation():
    relation = build_relation(_make_row())
    assert (relation.name, relation.promise, relation.domain) == ("search.test", "HMR", "product searches")
    assert relation.input.conditions == {"sort": "name"}
    assert relation.output.pattern == "Subset"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"output": {"Withim": {}}}, "'search.test'.*no executable pattern 'Withim'.*Within"),
        ({"input": {"Restrict": {"colum": "brand"}}}, "'search.test'.*colum"),
        ({"input": {"Restrict": {"column": "brand", "values": ()}}}, "'search.test'.*at least 1 value"),
    ],
)
def test_a_wrong_row_is_named(changes, message):
    with pytest.raises(DataError, match=message):
        build_relation(_make_row(**changes))


def test_patterns_are_read_once():
    assert read_patterns() is read_patterns()
