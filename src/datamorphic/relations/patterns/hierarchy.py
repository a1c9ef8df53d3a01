"""The hierarchy of patterns: sub-patterns, super-patterns, layers, and how abstract each pattern is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..._text import suggest_name
from ...errors import ArgumentError
from .pattern import Pattern

Patterns = Mapping[str, Pattern]


def validate_hierarchy(patterns: Patterns) -> None:
    """Raise an error if a parent is unknown or a pattern is its own ancestor."""
    for pattern in patterns.values():
        for parent in pattern.parents:
            if parent not in patterns:
                raise ArgumentError(
                    f"The pattern {pattern.name!r} has the unknown parent {parent!r}. {suggest_name(parent, patterns)}"
                )
    for name in patterns:
        if name in find_ancestors(patterns, name):
            raise ArgumentError(f"The pattern {name!r} is its own super-pattern. Remove one of its parents.")


def find_children(patterns: Patterns, name: str) -> list[str]:
    """Return the direct sub-patterns of a pattern, in the order of the catalogue."""
    return [pattern.name for pattern in patterns.values() if name in pattern.parents]


def find_ancestors(patterns: Patterns, name: str) -> set[str]:
    """Return all super-patterns of a pattern, however far."""
    ancestors: set[str] = set()
    todo = list(patterns[name].parents)
    while todo:
        parent = todo.pop()
        if parent not in ancestors:
            ancestors.add(parent)
            todo += patterns[parent].parents
    return ancestors


def find_descendants(patterns: Patterns, name: str) -> set[str]:
    """Return all sub-patterns of a pattern, however far."""
    descendants: set[str] = set()
    todo = find_children(patterns, name)
    while todo:
        child = todo.pop()
        if child not in descendants:
            descendants.add(child)
            todo += find_children(patterns, child)
    return descendants


def find_roots(patterns: Patterns) -> list[str]:
    """Return the patterns without a super-pattern: each is the root of a tree."""
    return [pattern.name for pattern in patterns.values() if not pattern.edges]


def find_layers(patterns: Patterns, root: str) -> list[list[str]]:
    """Return the patterns of a tree by layers, the root first.

    A pattern appears once, in the layer of its lowest level of abstraction: one below the lowest of its parents in this tree.

    Examples
    --------
    >>> import datamorphic as dm
    >>> [len(layer) for layer in find_layers(dm.patterns, "Symmetry")][0]
    1
    """
    members = {root} | find_descendants(patterns, root)
    depths: dict[str, int] = {}

    def find_depth(name: str) -> int:
        if name not in depths:
            parents = [parent for parent in patterns[name].parents if parent in members]
            depths[name] = 0 if name == root else 1 + max(map(find_depth, parents))
        return depths[name]

    layers: list[list[str]] = []
    for name in (name for name in patterns if name in members):
        depth = find_depth(name)
        layers += [[] for _ in range(depth + 1 - len(layers))]
        layers[depth].append(name)
    return layers


def measure_abstraction(patterns: Patterns, relations: Iterable[Iterable[str]] = ()) -> dict[str, float]:
    """Return how abstract each pattern is, from 0 to 1.

    Ying (2024, definition 6.1) orders patterns by the groups of relations they stand for: the group of a sub-pattern is contained in
    that of its super-pattern. The measure follows this definition: it is the share of everything known that falls under a
    pattern, that is of the patterns themselves and of the known concrete relations. A super-pattern contains itself and all
    that its sub-patterns contain, so it is strictly more abstract than each of them, with any number of parents and for any
    catalogue. No expert has to judge. The price is that the figures depend on what is known: they are comparable within one
    catalogue, and a pattern that few relations were published for looks more concrete than it is.

    Parameters
    ----------
    patterns : mapping of str to Pattern
        The catalogue.
    relations : iterable of iterables of str
        For each known relation the names of its patterns. ``dm.patterns.abstraction`` counts the examples of all patterns and
        the published relations.

    Examples
    --------
    >>> import datamorphic as dm
    >>> abstraction = measure_abstraction(dm.patterns)
    >>> abstraction["Symmetry"] > abstraction["Similar"] > abstraction["Query-Meaning"]
    True
    """
    memberships = [frozenset(names) for names in relations]
    total = len(patterns) + len(memberships)
    measures = {}
    for name in patterns:
        members = {name} | find_descendants(patterns, name)
        measures[name] = (len(members) + sum(bool(names & members) for names in memberships)) / total
    return measures
