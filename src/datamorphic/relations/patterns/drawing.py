"""A tree of patterns as a drawing, and as text."""

from __future__ import annotations

import textwrap

from ...reporting.document import Drawing, Shape, TextLabel
from .catalogue import PatternCatalogue

COLUMN_WIDTH, ROW_HEIGHT, BOX_WIDTH, BOX_HEIGHT = 226.0, 50.0, 192.0, 38.0
MARGIN, KEY_HEIGHT = 14.0, 44.0
LINE_CHARACTERS = 100

#: the look of a box by the kind of its pattern, as classes of ``drawing.css``
BOX_KINDS = {"MRP": "asks", "MRIP": "reached", "MROP": "outcome"}
KIND_NAMES = {"MRP": "relation pattern", "MRIP": "input pattern", "MROP": "output pattern"}
STATED_EDGE, INFERRED_EDGE = "edge w1", "edge w0"


def draw_tree(catalogue: PatternCatalogue, root: str) -> Drawing:
    """Draw the tree of a pattern from left to right, each pattern in its layer.

    A solid line is an edge that Ying (2024) states, a dotted one is inferred.

    Examples
    --------
    >>> import datamorphic as dm
    >>> drawing = draw_tree(dm.patterns, "Sets")
    >>> drawing.alt.partition(":")[0]
    'The tree of the pattern Sets'
    """
    root = catalogue[root].name
    layers = catalogue.find_layers(root)
    rows = _find_rows(catalogue, root, layers)
    columns = {name: depth for depth, layer in enumerate(layers) for name in layer}
    places = {
        name: (MARGIN + COLUMN_WIDTH * columns[name], KEY_HEIGHT + MARGIN + ROW_HEIGHT * rows[name]) for name in columns
    }
    shapes: list[Shape | TextLabel] = [*_draw_key(), *_draw_edges(catalogue, places)]
    for name, (x, y) in places.items():
        pattern = catalogue[name]
        outside = [parent for parent in pattern.parents if parent not in places]
        others = f" Also a sub-pattern of {', '.join(outside)}." if outside else ""
        note = f"{pattern.definition}{others} Abstraction {catalogue.abstraction[name]:.2f}. {pattern.reference}."
        shapes.append(
            Shape(f"M{x:g} {y:g}h{BOX_WIDTH:g}v{BOX_HEIGHT:g}h{-BOX_WIDTH:g}z", BOX_KINDS[pattern.kind], note)
        )
        shapes.append(TextLabel(x + 9, y + 16, name, "strong"))
        shapes.append(TextLabel(x + 9, y + 31, pattern.scope, "small"))
    return Drawing(
        width=2 * MARGIN + COLUMN_WIDTH * (len(layers) - 1) + BOX_WIDTH,
        height=KEY_HEIGHT + 2 * MARGIN + ROW_HEIGHT * max(rows.values()) + BOX_HEIGHT,
        shapes=shapes,
        alt=_describe_tree(catalogue, root, layers),
        caption="A solid line is stated by Ying (2024), a dotted one is inferred. Point at a box for the definition.",
    )


def _find_rows(catalogue: PatternCatalogue, root: str, layers: list[list[str]]) -> dict[str, float]:
    """Return the row of each pattern: leaves one below the other, a parent in the middle of its children."""
    depths = {name: depth for depth, layer in enumerate(layers) for name in layer}
    children: dict[str, list[str]] = {name: [] for name in depths}
    for name in depths:
        # a pattern with several parents hangs below the lowest of them, whose layer is just above its own
        owners = [parent for parent in catalogue[name].parents if depths.get(parent) == depths[name] - 1]
        if owners:
            children[owners[0]].append(name)
    branches = {name for name in depths if depths.keys() & set(catalogue.find_children(name))}
    rows: dict[str, float] = {}
    leaf_count = 0

    def place(name: str) -> float:
        nonlocal leaf_count
        # patterns without sub-patterns first, so that longer branches are neighbours
        below = [place(child) for child in sorted(children[name], key=lambda child: child in branches)]
        if below:
            rows[name] = (below[0] + below[-1]) / 2
        else:
            rows[name] = float(leaf_count)
            leaf_count += 1
        return rows[name]

    place(root)
    return rows


def _draw_edges(catalogue: PatternCatalogue, places: dict[str, tuple[float, float]]) -> list[Shape]:
    edges = []
    for name, (x, y) in places.items():
        for edge in catalogue[name].edges:
            if edge.parent in places:
                left, top = places[edge.parent]
                start, first, last = left + BOX_WIDTH, top + BOX_HEIGHT / 2, y + BOX_HEIGHT / 2
                turn = x - (COLUMN_WIDTH - BOX_WIDTH)  # a line over several columns stays in the row of the parent
                bend = (x - turn) / 2
                path = f"M{start:g} {first:g}H{turn:g}C{turn + bend:g} {first:g} {x - bend:g} {last:g} {x:g} {last:g}"
                source = f"inferred: {edge.source}" if edge.inferred else edge.source
                note = f"{name} is a sub-pattern of {edge.parent} ({source})"
                edges.append(Shape(path, INFERRED_EDGE if edge.inferred else STATED_EDGE, note))
    return edges


def _draw_key() -> list[Shape | TextLabel]:
    shapes: list[Shape | TextLabel] = []
    x = MARGIN
    for kind, name in KIND_NAMES.items():
        shapes.append(Shape(f"M{x:g} 14h16v14h-16z", BOX_KINDS[kind]))
        shapes.append(TextLabel(x + 22, 26, name, "small"))
        x += 132
    for kind, name in ((STATED_EDGE, "stated"), (INFERRED_EDGE, "inferred")):
        shapes.append(Shape(f"M{x:g} 21h22", kind))
        shapes.append(TextLabel(x + 28, 26, name, "small"))
        x += 84
    return shapes


def _describe_tree(catalogue: PatternCatalogue, root: str, layers: list[list[str]]) -> str:
    members = {name for layer in layers for name in layer}
    parts = []
    for name in (name for layer in layers for name in layer):
        children = [child for child in catalogue.find_children(name) if child in members]
        if children:
            parts.append(f"{', '.join(children)} below {name}")
    return f"The tree of the pattern {root}: {'; '.join(parts)}."


def format_tree(catalogue: PatternCatalogue, root: str) -> str:
    """Return the tree of a pattern as text; a pattern with several parents in the tree is expanded once.

    Examples
    --------
    >>> import datamorphic as dm
    >>> print(format_tree(dm.patterns, "Irrelevance"))
    Irrelevance          0.12  MRP   big-data systems
    |-- Fully-Equal      0.03  MROP  big-data systems
    `-- Partially-Equal  0.04  MROP  big-data systems
    """
    root = catalogue[root].name
    depths = {name: depth for depth, layer in enumerate(catalogue.find_layers(root)) for name in layer}
    rows: list[tuple[str, str]] = []  # what stands on the left and on the right

    def add(name: str, prefix: str, connector: str, inferred: bool) -> None:
        pattern = catalogue[name]
        facts = f"{catalogue.abstraction[name]:.2f}  {pattern.kind:<4}  {pattern.scope}"
        rows.append((f"{prefix}{connector}{name}{' (inferred)' if inferred else ''}", facts))
        children = [child for child in catalogue.find_children(name) if child in depths]
        below = prefix + {"": "", "|-- ": "|   ", "`-- ": "    "}[connector]
        for child in children:
            branch = "`-- " if child == children[-1] else "|-- "
            edge = next(edge for edge in catalogue[child].edges if edge.parent == name)
            owner = _find_owner(catalogue, child, depths)
            if owner == name:
                add(child, below, branch, edge.inferred)
            else:
                rows.append((f"{below}{branch}{child}: see {owner}", ""))

    add(root, "", "", False)
    width = max(len(left) for left, _ in rows)
    return "\n".join(f"{left:<{width}}  {right}".rstrip() for left, right in rows)


def format_trees(catalogue: PatternCatalogue) -> str:
    """Return the tree of every root, the patterns with their kind, scope and abstraction."""
    trees = [format_tree(catalogue, root) for root in catalogue.roots]
    note = (
        "The number is the abstraction: the share of all known patterns and relations that fall under the pattern. "
        "Edges that chapter 6 of Ying (2024) does not state are marked as inferred."
    )
    return "\n\n".join([*trees, "\n".join(textwrap.wrap(note, LINE_CHARACTERS))])


def _find_owner(catalogue: PatternCatalogue, name: str, depths: dict[str, int]) -> str:
    """Return the parent below which a pattern is expanded: the first of the lowest ones."""
    return next(parent for parent in catalogue[name].parents if depths.get(parent) == depths[name] - 1)
