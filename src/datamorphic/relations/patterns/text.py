"""The catalogue of patterns, and one pattern, as text."""

from __future__ import annotations

import textwrap

from .catalogue import SCOPES, PatternCatalogue
from .code import format_code
from .drawing import format_tree
from .pattern import KINDS, SIDES, ParentEdge, Pattern, PatternParameter
from .published import published_relations

LINE_CHARACTERS = 100


def format_catalogue(catalogue: PatternCatalogue) -> str:
    """Return all patterns by scope, one line each."""
    lines = [f"{len(catalogue)} patterns of metamorphic relations"]
    width = max(map(len, catalogue))
    scopes = [*SCOPES, *dict.fromkeys(pattern.scope for pattern in catalogue.values() if pattern.scope not in SCOPES)]
    for scope in scopes:
        members = [pattern for pattern in catalogue.values() if pattern.scope == scope]
        if members:
            lines += ["", f"{scope[:1].upper()}{scope[1:]}"]
            lines += [f"  {pattern.name:<{width}}  {pattern.kind:<4}  {pattern.definition}" for pattern in members]
    lines += ["", *(f"{kind:<4}  {meaning}" for kind, meaning in KINDS.items())]
    lines += ["To explain one: datamorphic patterns NAME. To show the trees: datamorphic patterns --tree."]
    return "\n".join(lines)


def format_trees(catalogue: PatternCatalogue) -> str:
    """Return the tree of every root, the patterns with their kind, scope and abstraction."""
    trees = [format_tree(catalogue, root) for root in catalogue.roots]
    note = (
        "The number is the abstraction: the share of all known patterns and relations that fall under the pattern. "
        "Edges that chapter 6 of Ying (2024) does not state are marked as inferred."
    )
    return "\n\n".join([*trees, "\n".join(textwrap.wrap(note, LINE_CHARACTERS))])


def format_pattern(catalogue: PatternCatalogue, pattern: Pattern) -> str:
    """Return what a pattern says, where it belongs, its parameters, and relations that follow from it."""
    children = catalogue.find_children(pattern.name)
    lines = [
        f"{pattern.name} ({KINDS[pattern.kind]})",
        *textwrap.wrap(pattern.definition, LINE_CHARACTERS),
        *(textwrap.wrap(pattern.note, LINE_CHARACTERS) if pattern.note else []),
        "",
        f"scope          {pattern.scope}",
        f"proposed by    {pattern.reference}",
        f"abstraction    {format_abstraction(catalogue, pattern.name)}",
        f"super-patterns {'; '.join(map(format_edge, pattern.edges)) or 'none: it is the root of a tree'}",
        f"sub-patterns   {', '.join(children) or 'none'}",
    ]
    if pattern.partners:
        lines.append(f"goes with      {', '.join(pattern.partners)}")
    for side in SIDES:
        parameters = pattern.parameters(side)
        if parameters:
            lines += ["", f'Parameters of dm.patterns["{pattern.name}"].{side}(...)']
            width = max(len(parameter.name) for parameter in parameters)
            for parameter in parameters:
                lines.append(f"  {parameter.name:<{width}}  {parameter.help}{_format_default(parameter)}")
    for example in pattern.examples:
        lines += ["", f"Example: the {example.system} satisfies it, and its fault {example.fault!r} violates it"]
        lines += [f"  {line}" for line in str(example.relation).split("\n")]
        lines += [f"  {format_code(example.relation)}"]
    followers = [relation for relation in published_relations.values() if pattern.name in relation.patterns]
    if followers:
        lines += ["", "Published relations"]
        width = max(len(relation.name) for relation in followers)
        lines += [f"  {item.name:<{width}}  {item.statement} ({item.reference})" for item in followers]
    return "\n".join(lines)


def format_abstraction(catalogue: PatternCatalogue, name: str) -> str:
    """Return how abstract a pattern is, with the meaning of the number."""
    return (
        f"{catalogue.abstraction[name]:.2f} (the share of known patterns and relations that fall under it, from 0 to 1)"
    )


def format_edge(edge: ParentEdge) -> str:
    """Return a super-pattern with the source of the edge."""
    return f"{edge.parent} ({'inferred: ' if edge.inferred else ''}{edge.source})"


def _format_default(parameter: PatternParameter) -> str:
    """Return the default of a parameter; nothing for an empty one, which the help explains."""
    if parameter.required or parameter.default in (None, (), ""):
        return ""
    return f" Default: {parameter.default!r}."
