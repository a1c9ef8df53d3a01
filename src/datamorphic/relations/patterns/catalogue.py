"""The catalogue of patterns by name: ``dm.patterns``. Its entries are in patterns.toml."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from ..._registry import CaseInsensitiveMapping
from ...core.result import Result
from ...errors import ArgumentError
from ...reporting.junit import JUnitCase
from .hierarchy import find_children, find_layers, find_roots, measure_abstraction, validate_hierarchy
from .pattern import SIDES, Pattern
from .published import published_relations
from .tables import read_patterns

ANY_SYSTEM = "no restriction"

#: the scopes of Table 14 of Ying (2024) and one of ours, in the order of the catalogue
SCOPES = tuple(dict.fromkeys(pattern.scope for pattern in read_patterns()))


class PatternCatalogue(CaseInsensitiveMapping[Pattern], Result):
    """Patterns by name; upper and lower case make no difference.

    ``describe()`` lists them, ``to_html("patterns.html")`` writes a page with the trees drawn.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.patterns["similar"].parents, dm.patterns.find_children("Irrelevance")
    (('Symmetry',), ['Fully-Equal', 'Partially-Equal'])
    """

    _PAGE = "relations.patterns.page:build_page"

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._patterns: dict[str, Pattern] = {}
        for pattern in patterns:
            if pattern.name.casefold() in {name.casefold() for name in self._patterns}:
                raise ArgumentError(f"Two patterns are called {pattern.name!r}. Give each a name of its own.")
            self._patterns[pattern.name] = pattern
        super().__init__("pattern", self._patterns)
        validate_hierarchy(self._patterns)

    def add(self, *patterns: Pattern) -> PatternCatalogue:
        """Return a catalogue with further patterns, such as those that the guide derives."""
        return PatternCatalogue([*self._patterns.values(), *patterns])

    @cached_property
    def roots(self) -> list[str]:
        """The patterns without a super-pattern."""
        return find_roots(self._patterns)

    def find_children(self, name: str) -> list[str]:
        """Return the direct sub-patterns of a pattern."""
        return find_children(self._patterns, self[name].name)

    def find_layers(self, root: str) -> list[list[str]]:
        """Return the patterns of a tree by layers, the root first."""
        return find_layers(self._patterns, self[root].name)

    @cached_property
    def abstraction(self) -> dict[str, float]:
        """How abstract each pattern is, from 0 to 1; see `measure_abstraction`."""
        memberships = {
            example.relation.name: {pattern.name} for pattern in self._patterns.values() for example in pattern.examples
        }
        for relation in published_relations.values():  # some of them are examples, and count once
            memberships.setdefault(relation.name, set()).update(relation.patterns)
        return measure_abstraction(self._patterns, memberships.values())

    def document(self) -> dict[str, Any]:
        """Return the catalogue as a JSON-serialisable dict."""
        return {
            "patterns": [self.describe_pattern(name) for name in self],
            "trees": {root: self.find_layers(root) for root in self.roots},
            "published": [
                {
                    "name": item.name,
                    "patterns": list(item.patterns),
                    "statement": item.statement,
                    "domain": item.domain,
                    "promise": item.promise,
                    "reference": item.reference,
                    "section": item.section,
                    "system": item.system or None,
                    "note": item.note,
                }
                for item in published_relations.values()
            ],
        }

    def describe_pattern(self, name: str) -> dict[str, Any]:
        """Return one pattern as a JSON-serialisable dict."""
        pattern = self[name]
        return {
            "name": pattern.name,
            "kind": pattern.kind,
            "scope": pattern.scope,
            "definition": pattern.definition,
            "reference": pattern.reference,
            "note": pattern.note,
            "abstraction": self.abstraction[pattern.name],
            "parents": [
                {"name": edge.parent, "inferred": edge.inferred, "source": edge.source} for edge in pattern.edges
            ],
            "children": self.find_children(pattern.name),
            "partners": list(pattern.partners),
            "parameters": {
                side: [
                    {"name": item.name, "help": item.help, "required": item.required}
                    for item in pattern.parameters(side)
                ]
                for side in SIDES
            },
            "examples": [
                {
                    "relation": example.relation.name,
                    "promise": example.relation.promise,
                    "says": example.relation.statement,
                    "system": example.system,
                    "fault": example.fault,
                }
                for example in pattern.examples
            ],
        }

    def test_cases(self) -> list[JUnitCase]:
        """Return nothing: a catalogue neither passes nor fails."""
        return []

    def __repr__(self) -> str:
        return f"PatternCatalogue({len(self)} patterns)"


#: the patterns by name
patterns = PatternCatalogue(read_patterns())
