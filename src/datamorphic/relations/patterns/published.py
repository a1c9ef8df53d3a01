"""Published relations and the patterns they follow from: published.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..._tables import read_document
from .relation import PatternRelation, Promise
from .tables import RelationRow, build_relation, read_patterns


@dataclass(frozen=True, kw_only=True)
class PublishedRelation:
    """A relation from the literature, and the patterns that it follows from."""

    name: str  # with a namespace
    printed_name: str
    statement: str  # in our words
    domain: str
    patterns: tuple[str, ...]  # the most concrete ones
    reference: str
    section: str  # of Ying (2024), where it is classified
    promise: Promise = "MR"
    relation: PatternRelation | None = None  # to run on an example system
    system: str = ""  # the name of that system
    note: str = ""  # such as a misprint


@dataclass(frozen=True, kw_only=True)
class _PublishedRow(RelationRow):
    statement: str
    domain: str
    patterns: tuple[str, ...]
    reference: str
    section: str
    printed_name: str | None = None  # by default the name without its namespace
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class _PublishedTable:
    relations: tuple[_PublishedRow, ...]


def _read_relations() -> dict[str, PublishedRelation]:
    """Return the published relations by name."""
    examples = {example.relation.name: example for pattern in read_patterns() for example in pattern.examples}
    relations = {}
    for row in read_document(__package__, "published.toml", _PublishedTable).relations:
        example = None if row.input else examples.get(row.name)
        relations[row.name] = PublishedRelation(
            name=row.name,
            printed_name=row.name.partition(".")[2] if row.printed_name is None else row.printed_name,
            statement=row.statement,
            domain=row.domain,
            patterns=row.patterns,
            reference=row.reference,
            section=row.section,
            promise=row.promise,
            relation=build_relation(row) if row.input else example.relation if example else None,
            system=example.system if example else row.system,
            note=row.note,
        )
    return relations


#: the published relations by name
published_relations: Mapping[str, PublishedRelation] = _read_relations()
