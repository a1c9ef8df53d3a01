"""The catalogue of patterns as a page, with its trees drawn."""

from __future__ import annotations

from ...reporting.document import Page, Section, Snippet, Table
from .catalogue import SCOPES, PatternCatalogue
from .code import format_code
from .drawing import draw_tree
from .pattern import KINDS, Pattern
from .published import published_relations
from .text import format_abstraction, format_edge


def build_page(catalogue: PatternCatalogue) -> Page:
    """Return the page: the trees, every pattern by scope, and the published relations."""
    trees = [
        Section(heading=f"The tree of {root}", text=catalogue[root].definition, drawing=draw_tree(catalogue, root))
        for root in catalogue.roots
        if catalogue.find_children(root)
    ]
    sections = [
        Section(
            heading="Trees",
            text="More abstract patterns are on the left. A pattern appears in the layer of its lowest level of abstraction, and may "
            "belong to several trees.",
            parts=trees,
            anchor="trees",
        )
    ]
    scopes = [*SCOPES, *dict.fromkeys(pattern.scope for pattern in catalogue.values() if pattern.scope not in SCOPES)]
    for scope in scopes:
        members = [pattern for pattern in catalogue.values() if pattern.scope == scope]
        if members:
            sections.append(
                Section(
                    heading=f"{scope[:1].upper()}{scope[1:]}",
                    text="",
                    parts=[_build_pattern_section(catalogue, pattern) for pattern in members],
                    searchable=True,
                )
            )
    sections.append(_build_published_section())
    return Page(
        title="Patterns of metamorphic relations",
        lead="A pattern says what many relations have in common. An input pattern says how follow-up inputs come from source inputs, "
        "an output pattern how the outputs relate, and input >> output is a relation that runs.",
        facts=[(kind, meaning) for kind, meaning in KINDS.items()],
        sections=sections,
        contents=True,
    )


def _build_pattern_section(catalogue: PatternCatalogue, pattern: Pattern) -> Section:
    facts = [
        ("Proposed by", pattern.reference),
        ("Abstraction", format_abstraction(catalogue, pattern.name)),
        ("Super-patterns", "; ".join(map(format_edge, pattern.edges)) or "none: it is the root of a tree"),
        ("Sub-patterns", ", ".join(catalogue.find_children(pattern.name)) or "none"),
    ]
    if pattern.partners:
        facts.append(("Goes with", ", ".join(pattern.partners)))
    for example in pattern.examples:
        facts.append(
            (
                f"Example {example.relation.name}",
                f"{example.relation.statement}. The {example.system} satisfies it; its fault {example.fault!r} violates it.",
            )
        )
    return Section(
        heading=pattern.name,
        badge=pattern.kind,
        state="note",
        text=f"{pattern.definition} {pattern.note}".strip(),
        facts=facts,
        snippets=[
            Snippet(label=example.relation.name, text=format_code(example.relation)) for example in pattern.examples
        ],
        snippets_title="As code",
        folding="closed",
    )


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
