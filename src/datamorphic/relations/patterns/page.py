"""The catalogue of patterns as a page, with its trees drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...reporting.document import Page, Section, Snippet, Table
from .catalogue import SCOPES, PatternCatalogue
from .code import format_code
from .drawing import draw_tree
from .pattern import KINDS, SIDES, ParentEdge, Pattern, PatternParameter
from .published import published_relations


def build_page(catalogue: PatternCatalogue, brief: bool = False) -> Page:
    """Return the page: the trees, every pattern by scope, and the published relations.

    With `brief`, it is the short form for terminals: one line per pattern.
    """
    scopes = [*SCOPES, *dict.fromkeys(pattern.scope for pattern in catalogue.values() if pattern.scope not in SCOPES)]
    by_scope = {scope: [pattern for pattern in catalogue.values() if pattern.scope == scope] for scope in scopes}
    sections = [
        Section(
            heading=f"{scope[:1].upper()}{scope[1:]}",
            text="",
            table=_tabulate_patterns(members) if brief else None,
            parts=[] if brief else [_build_pattern_section(catalogue, pattern) for pattern in members],
            searchable=True,
        )
        for scope, members in by_scope.items()
        if members
    ]
    if brief:
        hint = "To explain one: datamorphic patterns NAME. To show the trees: datamorphic patterns --tree."
        sections.append(Section(heading="", text=hint))
    else:
        sections = [_build_trees_section(catalogue), *sections, _build_published_section()]
    return Page(
        title=f"{len(catalogue)} patterns of metamorphic relations",
        lead="A pattern says what many relations have in common. An input pattern says how follow-up inputs come from source inputs, "
        "an output pattern how the outputs relate, and input >> output is a relation that runs.",
        facts=[(kind, meaning) for kind, meaning in KINDS.items()],
        sections=sections,
        contents=True,
    )


def build_pattern_page(catalogue: PatternCatalogue, pattern: Pattern) -> Page:
    """Return the page of one pattern."""
    section = _build_pattern_section(catalogue, pattern)
    return Page(
        title=f"{pattern.name} ({KINDS[pattern.kind]})",
        lead="",
        sections=[replace(section, heading="", badge="", parts=()), *section.parts],
    )


def _tabulate_patterns(patterns: Sequence[Pattern]) -> Table:
    rows = [[pattern.name, pattern.kind, pattern.definition] for pattern in patterns]
    return Table(columns=["pattern", "kind", "definition"], rows=rows, main_rows=len(rows))


def _build_trees_section(catalogue: PatternCatalogue) -> Section:
    trees = [
        Section(heading=f"The tree of {root}", text=catalogue[root].definition, drawing=draw_tree(catalogue, root))
        for root in catalogue.roots
        if catalogue.find_children(root)
    ]
    return Section(
        heading="Trees",
        text="More abstract patterns are on the left. A pattern appears in the layer of its lowest level of abstraction, and may "
        "belong to several trees.",
        parts=trees,
        anchor="trees",
    )


def _build_pattern_section(catalogue: PatternCatalogue, pattern: Pattern) -> Section:
    """Return what a pattern says, where it belongs, its parameters, and relations that follow from it."""
    abstraction = f"{catalogue.abstraction[pattern.name]:.2f}"
    facts = [
        ("Scope", pattern.scope),
        ("Proposed by", pattern.reference),
        ("Abstraction", f"{abstraction} (the share of known patterns and relations that fall under it, from 0 to 1)"),
        ("Super-patterns", "; ".join(map(_format_edge, pattern.edges)) or "none: it is the root of a tree"),
        ("Sub-patterns", ", ".join(catalogue.find_children(pattern.name)) or "none"),
        ("Goes with", ", ".join(pattern.partners)),
    ]
    parameters = [
        Section(
            heading=f'Parameters of dm.patterns["{pattern.name}"].{side}(...)',
            text="",
            table=_tabulate_parameters(pattern.parameters(side)),
        )
        for side in SIDES
        if pattern.parameters(side)
    ]
    examples = [
        Section(
            heading=f"Example {example.relation.name}",
            text=f"The {example.system} satisfies it, and its fault {example.fault!r} violates it.",
            snippets=[
                Snippet(label="In words", text=str(example.relation)),
                Snippet(label="As code", text=format_code(example.relation)),
            ],
            snippets_title="In words and as code",
        )
        for example in pattern.examples
    ]
    followers = [
        [relation.name, relation.statement, relation.reference]
        for relation in published_relations.values()
        if pattern.name in relation.patterns
    ]
    published = [
        Section(
            heading="Published relations",
            text="",
            table=Table(columns=["relation", "statement", "reference"], rows=followers, main_rows=len(followers)),
        )
    ]
    return Section(
        heading=pattern.name,
        badge=pattern.kind,
        state="note",
        text=f"{pattern.definition} {pattern.note}".strip(),
        facts=[(term, value) for term, value in facts if value],
        parts=[*parameters, *examples, *(published if followers else [])],
        folding="closed",
    )


def _format_edge(edge: ParentEdge) -> str:
    """Return a super-pattern with the source of the edge."""
    return f"{edge.parent} ({'inferred: ' if edge.inferred else ''}{edge.source})"


def _tabulate_parameters(parameters: Sequence[PatternParameter]) -> Table:
    """Return parameters with their defaults; an empty default is explained by the help."""
    rows = []
    for parameter in parameters:
        is_explained = parameter.required or parameter.default in (None, (), "")
        rows.append([parameter.name, parameter.help, "" if is_explained else repr(parameter.default)])
    return Table(columns=["parameter", "meaning", "default"], rows=rows, main_rows=len(rows), sortable=False)


def _build_published_section() -> Section:
    rows = [
        [
            item.name,
            ", ".join(item.patterns),
            item.statement,
            item.domain,
            item.reference,
            item.section,
            item.system,
            item.note,
        ]
        for item in published_relations.values()
    ]
    return Section(
        heading="Published relations",
        text="Relations that section 6.3.8 of Ying (2024) classifies, and those of chapter 6 itself.",
        table=Table(
            columns=["relation", "patterns", "statement", "domain", "reference", "section", "runs on", "note"],
            rows=rows,
        ),
        anchor="published",
    )
